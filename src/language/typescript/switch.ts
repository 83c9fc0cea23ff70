// `switch`: cases run on into the next one, unless `break` leaves them.
import type * as js from "acorn";
import type { Statement, SwitchCase } from "../program.ts";
import { jumpable } from "./jumps.ts";
import type { Reader } from "./reader.ts";
import { block, variable } from "./reader.ts";

export function choice(reader: Reader, node: js.SwitchStatement): Statement[] {
  const span = reader.span(node);
  const subject = variable(reader.temporary("case"), reader.span(node.discriminant));
  const of = reader.grammar.value(reader, node.discriminant);
  return jumpable(reader, "switch", span, () => ({ kind: "switch", subject, of, cases: casesOf(reader, node), span }));
}

/** Cases without statements share the body of the next one. */
function casesOf(reader: Reader, node: js.SwitchStatement): SwitchCase[] {
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
      values: tests.map((test) => reader.grammar.value(reader, test)),
      ...(otherwise ? { otherwise } : {}),
      body: reader.scoped(() =>
        block(
          statements.flatMap((s) => reader.grammar.statements(reader, s)),
          reader.span(item),
        ),
      ),
    });
    tests = [];
    otherwise = false;
  });
  return cases;
}
