// Decisions: `if`, `?:` for its effect, `switch`.
import { boolType } from "../../language/types.ts";
import type { Expression, Statement } from "../../language/program.ts";
import { declare } from "./assign.ts";
import type { FunctionState } from "./state.ts";

/** A chain of `else if` is as long as it is: each goes on in the block that the one before leads to otherwise. */
export function ifElse(f: FunctionState, first: Extract<Statement, { kind: "if" }>): void {
  const { build } = f;
  const joins: number[] = [];
  for (let s: typeof first | undefined = first; s !== undefined;) {
    const [then, otherwise, join] = [build.newBlock(), build.newBlock(), build.newBlock()];
    joins.push(join);
    f.condition(s.condition, then, otherwise);
    build.seal(then);
    build.start(then);
    f.run(s.then);
    build.jump(join);
    build.seal(otherwise);
    build.start(otherwise);
    const { otherwise: rest }: typeof first = s;
    const only: Statement | undefined = rest?.statements.length === 1 ? rest.statements[0] : rest;
    s = only?.kind === "if" ? only : undefined;
    if (s === undefined && only !== undefined) f.run(only);
  }
  for (const join of joins.reverse()) {
    build.jump(join);
    build.seal(join);
    build.start(join);
  }
}

/** What a condition decides between, and both ways go on together. */
export function eitherWay(f: FunctionState, condition: Expression, then: () => void, otherwise: () => void): void {
  const { build } = f;
  const ways = [
    [build.newBlock(), then],
    [build.newBlock(), otherwise],
  ] as const;
  const join = build.newBlock();
  f.condition(condition, ways[0][0], ways[1][0]);
  for (const [block, way] of ways) {
    build.seal(block);
    build.start(block);
    way();
    build.jump(join);
  }
  build.seal(join);
  build.start(join);
}

/** The values are compared one after the other; each body goes on into the next one unless it is left. */
export function switchCases(f: FunctionState, s: Extract<Statement, { kind: "switch" }>): void {
  const { build } = f;
  const exit = build.newBlock();
  const bodies = s.cases.map(() => build.newBlock());
  declare(f, s.subject, s.of);
  s.cases.forEach(({ values }, i) => {
    for (const value of values) {
      const other = build.newBlock();
      const { span } = value;
      f.condition(
        { kind: "binary", operator: "==", left: s.subject, right: value, span, type: boolType },
        bodies[i],
        other,
      );
      build.seal(other);
      build.start(other);
    }
  });
  const byDefault = s.cases.findIndex(({ otherwise }) => otherwise);
  build.jump(byDefault < 0 ? exit : bodies[byDefault]);
  f.loops.push({ kind: "switch", exit });
  s.cases.forEach(({ body }, i) => {
    build.seal(bodies[i]);
    build.start(bodies[i]);
    f.run(body);
    build.jump(bodies[i + 1] ?? exit);
  });
  f.loops.pop();
  build.seal(exit);
  build.start(exit);
}
