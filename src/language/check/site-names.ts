// The names of a handler's own place, `probe` and `func`, as text. The kernel tells a place by a number, which is
// looked up when it is printed; where the text itself is asked for, each site gets a handler of its own, in which the
// name is written out.
import { declarations } from "../../messages/declarations.ts";
import type { Expression } from "../program.ts";
import { shortName } from "../resolved-probe.ts";
import { textLength } from "../text-bytes.ts";
import { unknownType } from "../types.ts";
import type { Body } from "./pass.ts";
import { report } from "./pass.ts";

/** Each site that is told apart takes a program. */
const mostSites = 1024;

/** `probe` and `func` as text; undefined for any other value, and where it is not known which sites there will be. */
export function siteName(value: Expression, body: Body): Expression | undefined {
  if (value.kind !== "builtin" || (value.name !== "probe" && value.name !== "func") || value.type.kind !== "named")
    return undefined;
  const names = siteNames(value.name, body);
  const [first] = names;
  if (first === undefined || (value.name === "func" && body.pass.options.growing === true)) return undefined;
  const { span } = value;
  if (names.every((name) => name === first))
    return { kind: "string", value: first, span, type: { kind: "string", capacity: textLength(first) + 1 } };
  if (names.length > mostSites) {
    const type = report(body, span, declarations.textTakesProgramEachProbes(value.name, names.length, mostSites));
    return { ...value, type };
  }
  body.apart = true;
  return { ...value, type: unknownType };
}

/** As often as there are sites. */
export function siteNames(name: "probe" | "func", body: Body): string[] {
  return body.sites.map((site) => (name === "probe" ? site.name : shortName(site)));
}
