// `switch`: cases run on into the next one, unless `break` leaves them.
import type * as js from "acorn";
import type { Statement, SwitchCase } from "../program.ts";
import { jumpable } from "./jumps.ts";
import type { Unit } from "./unit.ts";
import { block, variable } from "./unit.ts";

export function choice(unit: Unit, node: js.SwitchStatement): Statement[] {
  const span = unit.span(node);
  const subject = variable(unit.temporary("case"), unit.span(node.discriminant));
  const of = unit.grammar.value(unit, node.discriminant);
  return jumpable(unit, "switch", span, () => ({ kind: "switch", subject, of, cases: casesOf(unit, node), span }));
}

/** Cases without statements share the body of the next one. */
function casesOf(unit: Unit, node: js.SwitchStatement): SwitchCase[] {
  const cases: SwitchCase[] = [];
  let tests: js.Expression[] = [];
  let otherwise = false;
  node.cases.forEach((item, i) => {
    if (!item.test) otherwise = true;
    else tests.push(item.test);
    const [only] = item.consequent;
    const statements = item.consequent.length === 1 && only.type === "BlockStatement" ? only.body : item.consequent;
    if (statements.length === 0 && i < node.cases.length - 1) return;
    cases.push({
      values: tests.map((test) => unit.grammar.value(unit, test)),
      ...(otherwise ? { otherwise } : {}),
      body: unit.scoped(() =>
        block(
          statements.flatMap((s) => unit.grammar.statements(unit, s)),
          unit.span(item),
        ),
      ),
    });
    tests = [];
    otherwise = false;
  });
  return cases;
}
