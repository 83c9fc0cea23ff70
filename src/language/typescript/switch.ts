// `switch`: a chain of ifs where each case ends by itself; else a loop of one round, in which cases run on into the
// next and break leaves from wherever it stands.
import type * as js from "acorn";
import type { Block, Expression, Statement } from "../program.ts";
import { jumpable, once } from "./jumps.ts";
import type { Unit } from "./unit.ts";
import { binary, block, integer, variable } from "./unit.ts";

/** Cases that share a body, the last of which may be the default. */
interface Branch {
  readonly tests: readonly js.Expression[];
  readonly otherwise: boolean;
  readonly body: readonly js.Statement[];
  readonly at: js.Node;
}

export function choice(unit: Unit, node: js.SwitchStatement): Statement[] {
  const span = unit.span(node);
  const subject = variable(unit.temporary("case"), unit.span(node.discriminant));
  const declared: Statement = {
    kind: "declare",
    variable: subject,
    value: unit.grammar.value(unit, node.discriminant),
    span,
  };
  const branches = branchesOf(node);
  const bodyOf = ({ at }: Branch, statements: readonly js.Statement[]): Block =>
    unit.scoped(() =>
      block(
        statements.flatMap((s) => unit.grammar.statements(unit, s)),
        unit.span(at),
      ),
    );
  const isOne = ({ tests }: Branch): Expression =>
    tests
      .map((test) => binary("==", subject, unit.grammar.value(unit, test), unit.span(test)))
      .reduce((left, right) => binary("||", left, right, { start: left.span.start, end: right.span.end }));

  if (branches.every((branch, i) => isSimple(branch, i === branches.length - 1))) {
    unit.takeLabels();
    const byDefault = branches.find(({ otherwise }) => otherwise);
    const chosen = branches.filter(({ otherwise }) => !otherwise);
    const simple = (branch: Branch): Block =>
      bodyOf(branch, branch.body.at(-1)?.type === "BreakStatement" ? branch.body.slice(0, -1) : branch.body);
    const chain = chosen.reduceRight<Block | undefined>(
      (rest, branch) => {
        const otherwise = rest === undefined ? {} : { otherwise: rest };
        const made: Statement = {
          kind: "if",
          condition: isOne(branch),
          then: simple(branch),
          ...otherwise,
          span: unit.span(branch.at),
        };
        return block([made], made.span);
      },
      byDefault === undefined ? undefined : simple(byDefault),
    );
    return [declared, ...(chain === undefined ? [] : chosen.length === 0 ? [chain] : chain.statements)];
  }

  // Where to begin, as the number of a branch; without a default behind the last one.
  const from = variable(unit.temporary("from"), span);
  const number = (i: number): Expression => integer(BigInt(i), span);
  const last = branches.findIndex(({ otherwise }) => otherwise);
  const begin = branches.reduceRight<Expression>(
    (rest, branch, i) =>
      branch.tests.length === 0
        ? rest
        : { kind: "conditional", condition: isOne(branch), then: number(i), otherwise: rest, span, type: from.type },
    number(last < 0 ? branches.length : last),
  );
  return [
    declared,
    { kind: "declare", variable: from, value: begin, span },
    ...jumpable(unit, "switch", span, () =>
      once(
        block(
          branches.map((branch, i): Statement => ({
            kind: "if",
            condition: binary("<=", from, number(i), span),
            then: bodyOf(branch, branch.body),
            span: unit.span(branch.at),
          })),
          span,
        ),
      ),
    ),
  ];
}

function branchesOf(node: js.SwitchStatement): Branch[] {
  const branches: Branch[] = [];
  let tests: js.Expression[] = [];
  let otherwise = false;
  node.cases.forEach((item, i) => {
    if (!item.test) otherwise = true;
    else tests.push(item.test);
    const [only] = item.consequent;
    const body = item.consequent.length === 1 && only.type === "BlockStatement" ? only.body : item.consequent;
    if (body.length === 0 && i < node.cases.length - 1) return;
    branches.push({ tests, otherwise, body, at: item });
    tests = [];
    otherwise = false;
  });
  return branches;
}

/** Whether a case ends by itself and is not left before. */
function isSimple({ body }: Branch, isLast: boolean): boolean {
  const end = body.at(-1);
  const ends =
    (end?.type === "BreakStatement" && !end.label) ||
    end?.type === "ReturnStatement" ||
    end?.type === "ContinueStatement";
  return (ends || isLast) && !(end?.type === "BreakStatement" && !end.label ? body.slice(0, -1) : body).some(breaks);
}

/** Whether a break in a statement would leave the switch around it. */
function breaks(node: js.Statement): boolean {
  switch (node.type) {
    case "BreakStatement":
      return true;
    case "BlockStatement":
      return node.body.some(breaks);
    case "IfStatement":
      return breaks(node.consequent) || (node.alternate ? breaks(node.alternate) : false);
    case "LabeledStatement":
      return breaks(node.body);
    default:
      return false;
  }
}
