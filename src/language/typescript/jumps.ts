// break and continue. The tree's leave the innermost loop only: one that means a loop further out sets a variable,
// which is asked behind each loop that it leaves on its way. A labelled block is a loop of one round.
import type * as js from "acorn";
import type { Expression, Statement } from "../program.ts";
import type { Jumpable, Reader, LoopJump } from "./reader.ts";
import { binary, block, integer, variable } from "./reader.ts";

type Span = Expression["span"];

const ways = { break: 1n, continue: 2n } as const satisfies Record<LoopJump, bigint>;

/**
 * Reads what can be jumped out of: `read` gives the statement, made of one. Its labels are those that the reader has seen
 * just before. What comes behind it stands there for jumps that go further out.
 */
export function jumpable(reader: Reader, kind: Jumpable["kind"], span: Span, read: () => Statement): Statement[] {
  const own: Jumpable = { kind, labels: reader.takeLabels() };
  const before = reader.jumpables.map(({ leaving }) => leaving?.uses ?? 0);
  reader.jumpables.push(own);
  let statement: Statement;
  try {
    statement = read();
  } finally {
    reader.jumpables.pop();
  }
  const declared: Statement[] =
    own.leaving === undefined
      ? []
      : [{ kind: "declare", variable: variable(own.leaving.name, span), value: integer(0n, span), span }];
  const left = reader.jumpables.filter(({ leaving }, i) => (leaving?.uses ?? 0) > before[i]);
  return [...declared, statement, ...onwards(reader, left, span)];
}

/** Behind something that was left: what was left for something further out goes on there. */
function onwards(reader: Reader, targets: readonly Jumpable[], span: Span): Statement[] {
  const around = reader.jumpables.at(-1);
  return targets.flatMap((target) => {
    if (target.leaving === undefined) return [];
    const { name, ways: taken } = target.leaving;
    const left = variable(name, span);
    if (target !== around) return [when(binary("!=", left, integer(0n, span), span), [{ kind: "break", span }], span)];
    return [...taken].map((way) => {
      const then: Statement[] =
        way === "break"
          ? [{ kind: "break", span }]
          : [
              { kind: "assign", target: left, operator: null, value: integer(0n, span), span },
              { kind: "continue", span },
            ];
      return when(binary("==", left, integer(ways[way], span), span), then, span);
    });
  });
}

function when(condition: Expression, then: readonly Statement[], span: Span): Statement {
  return { kind: "if", condition, then: block(then, span), span };
}

export function jump(reader: Reader, node: js.BreakStatement | js.ContinueStatement): Statement[] {
  const span = reader.span(node);
  const way: LoopJump = node.type === "BreakStatement" ? "break" : "continue";
  const { label } = node;
  const target = reader.jumpables.findLast(({ kind, labels }) =>
    label ? labels.includes(label.name) : kind === "loop" || (kind === "switch" && way === "break"),
  );
  if (target === undefined) return reader.fault(node, "a jump out of nothing");
  // What goes on with a loop passes the switches in it.
  const around = way === "break" ? reader.jumpables.at(-1) : reader.jumpables.findLast(({ kind }) => kind !== "switch");
  if (target === around) return [{ kind: way, span }];
  target.leaving ??= { name: reader.temporary("leaves"), ways: new Set(), uses: 0 };
  target.leaving.ways.add(way);
  target.leaving.uses++;
  return [
    {
      kind: "assign",
      target: variable(target.leaving.name, span),
      operator: null,
      value: integer(ways[way], span),
      span,
    },
    { kind: "break", span },
  ];
}

/** `name: for (…) …`, `name: { … break name; … }` */
export function labelled(reader: Reader, node: js.LabeledStatement): Statement[] {
  const { body } = node;
  const span = reader.span(node);
  reader.labels.push(node.label.name);
  switch (body.type) {
    case "LabeledStatement":
      return labelled(reader, body);
    case "ForStatement":
    case "ForOfStatement":
    case "WhileStatement":
    case "DoWhileStatement":
    case "SwitchStatement":
      return reader.grammar.statements(reader, body);
    case "BlockStatement":
      return jumpable(reader, "block", span, () =>
        once(
          block(
            body.body.flatMap((each) => reader.grammar.statements(reader, each)),
            span,
          ),
        ),
      );
    default:
      reader.takeLabels();
      return reader.refuseSyntax(node, "LabeledStatement");
  }
}

/** A loop of one round. */
function once(body: Statement & { kind: "block" }): Statement {
  return { kind: "unroll", count: integer(1n, body.span), body, span: body.span };
}
