// The names of a handler's own place, `probe` and `func`, as text. The kernel tells a place by a number, which is
// looked up when it is printed; where the text itself is asked for, each site gets a handler of its own, in which the
// name is written out.
import { declarations } from "../../messages/declarations.ts";
import type { Span } from "../diagnostic.ts";
import type { Expression } from "../program.ts";
import { partOfName, shortName } from "../resolved-probe.ts";
import { textLength } from "../text-bytes.ts";
import { unknownType, type ProbePart } from "../types.ts";
import type { Body } from "./pass.ts";
import { report } from "./pass.ts";

/** Bytes for a name that is not known yet. */
export const comingNames = 128;

/** Each site that is told apart takes a program. */
const mostSites = 1024;

/** `probe`, a part of it, and `func`: what asks for its own place. */
function asksName(value: Expression): "probe" | "func" | Exclude<ProbePart, "flow"> | undefined {
  if (value.type.kind !== "named") return undefined;
  if (value.kind === "call" && value.name === "probe_part" && value.type.part !== "flow") return value.type.part;
  return value.kind === "builtin" && (value.name === "probe" || value.name === "func") ? value.name : undefined;
}

/** `probe` and `func` as text; undefined for any other value, and where it is not known which sites there will be. */
export function siteName(value: Expression, body: Body): Expression | undefined {
  const asked = asksName(value);
  const names = siteNames(value, body);
  const growing = body.pass.options.growing === true;
  if (names === undefined || (asked === "func" && growing)) return undefined;
  // A handler whose sites are yet to come: of the type that they will have.
  const first = names[0] ?? (growing ? "" : undefined);
  if (first === undefined) return undefined;
  const { span } = value;
  if (names.every((name) => name === first)) return nameText(first, span, body);
  if (names.length > mostSites) {
    const type = report(body, span, declarations.textTakesProgramEachProbes(asked ?? "", names.length, mostSites));
    return { ...value, type };
  }
  body.apart = true;
  return { ...value, type: unknownType };
}

/** The text of a site's name. Where more sites may come it has room for most: maps keep the size that they are made with. */
export function nameText(value: string, span: Span, body: Body): Expression {
  const capacity = Math.max(textLength(value) + 1, body.pass.options.growing === true ? comingNames : 0);
  return { kind: "string", value, outside: true, span, type: { kind: "string", capacity } };
}

/** A part of a probe's name as text, which other probes may have as well: what is stored by it, or as it, is theirs too. */
export function namePart(value: Expression, body: Body): Expression {
  const part = value.type.kind === "named" && value.type.part !== undefined;
  return part ? (siteName(value, body) ?? value) : value;
}

/** As often as there are sites; undefined of what is no name of the handler's place. */
export function siteNames(value: Expression, body: Body): string[] | undefined {
  const asked = asksName(value);
  if (asked === undefined) return undefined;
  return body.sites.map((site) =>
    asked === "probe" ? site.name : asked === "func" ? shortName(site) : partOfName(site.name, asked, 0),
  );
}
