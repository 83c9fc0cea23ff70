// `argc` and `argv[1]`: what the command line gives, as variables.
import type { Span } from "../diagnostic.ts";
import { namesIn, visitNodes } from "./names.ts";
import type { Expr, Global, ProbeDefinition, Script, Stmt } from "./syntax.ts";

/** A script that names them has both; what it declares itself is its own. */
export function withArguments(script: Script, positional: readonly string[]): Script {
  const { length } = script.source.text;
  const span: Span = { start: length, end: length };
  const own = new Set(script.globals.map(({ name }) => name));
  const bodies = [script.probes, script.aliases, script.functions];
  const named = namesIn(bodies);
  const wantsCount = named.has("argc") && !own.has("argc");
  const wantsTexts = !own.has("argv") && hasElements("argv", bodies);
  if (!wantsCount && !wantsTexts) return script;
  const globals: Global[] = [];
  const probes: ProbeDefinition[] = [];
  const number = (of: number): Expr => ({ kind: "number", value: BigInt(of), span });
  if (wantsCount) globals.push({ name: "argc", wraps: false, initial: number(positional.length), span });
  if (wantsTexts) {
    globals.push({ name: "argv", wraps: false, span });
    // With none it still is an array of texts.
    const texts = positional.length > 0 ? positional : [""];
    const statements = texts.map((text, i): Stmt => {
      const target: Expr = { kind: "element", name: "argv", keys: [number(i + 1)], span };
      const value: Expr = { kind: "string", value: text, span };
      return { kind: "expression", expression: { kind: "assign", operator: "=", target, value, span }, span };
    });
    const point = { components: [{ name: "begin", argument: first, span }], optional: false, sufficient: false, span };
    if (positional.length === 0) {
      const target: Expr = { kind: "element", name: "argv", keys: [number(1)], span };
      statements.push({ kind: "delete", target, span });
    }
    probes.push({ points: [{ ...point, text: "begin" }], body: { kind: "block", statements, span }, span });
  }
  return { ...script, globals: [...script.globals, ...globals], probes: [...probes, ...script.probes] };
}

/** Before all other `begin` probes. */
const first = -(2n ** 31n);

function hasElements(name: string, nodes: unknown): boolean {
  let found = false;
  visitNodes(nodes, (one) => {
    if (
      one.kind === "element" ? one.name === name : (one.kind === "foreach" || one.kind === "in") && one.array === name
    )
      found = true;
  });
  return found;
}
