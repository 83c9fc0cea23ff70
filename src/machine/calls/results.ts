// What several functions of one spec return: one handler takes it, whatever type each has.
import type { Argument, Context } from "../../language/context.ts";
import type { Diagnostic } from "../../language/diagnostic.ts";
import type { ProbeSpec } from "../../language/probe-spec.ts";
import { integer, type Type } from "../../language/types.ts";
import type { Reason } from "../../base/failure.ts";
import { places } from "../../messages/places.ts";

/** `lacking`: what the handler mentions and is not there, and why. */
interface Seen {
  readonly context: Context;
  readonly lacking?: Reason;
}

/**
 * Functions that one handler serves may return different things, which it takes as numbers then, each with its sign: as
 * it would have to count or compare them. What is no number is lacking.
 */
export function alikeResults<T extends Seen>(seen: readonly T[]): readonly T[] {
  const kinds = new Set(
    seen.map(({ context: { retval } }) =>
      retval === undefined || retval.absent !== undefined ? "none" : kindOf(retval.type),
    ),
  );
  kinds.delete("none");
  if (kinds.size < 2) return seen;
  return seen.map((one) => {
    const { retval } = one.context;
    if (retval === undefined || retval.absent !== undefined || retval.type.kind === "integer") return one;
    const number = asNumber(retval);
    if (number === undefined)
      return {
        ...one,
        lacking:
          one.lacking ??
          `retval is ${retval.type.kind === "array" ? "an array" : `a ${retval.type.kind}`}, and elsewhere a number`,
      };
    return { ...one, context: { ...one.context, retval: number } };
  });
}

/** Integers go together; what else there is goes with its like. */
function kindOf(type: Type): string {
  return type.kind === "integer" || type.kind === "boolean"
    ? type.kind
    : `${type.kind} ${type.kind === "enum" || type.kind === "struct" ? type.name : ""}`;
}

function asNumber(retval: Omit<Argument, "name">): Omit<Argument, "name"> | undefined {
  switch (retval.type.kind) {
    case "boolean":
      return { ...retval, type: integer(8, false) };
    case "enum":
      return { ...retval, type: integer(retval.type.bits, retval.type.signed) };
    case "pointer":
      return { ...retval, type: integer(64, false) };
    default:
      return undefined;
  }
}

/**
 * Those that lack nothing, and how many do: of many places some may lack what others have. Where all do, or where the
 * handler asks what there is, all of them.
 */
export function withoutLacking<T extends Seen>(
  spec: ProbeSpec,
  seen: readonly T[],
  uses: ReadonlySet<string>,
  nameOf: (one: T) => string,
): { readonly complete: readonly T[]; readonly diagnostics: readonly Diagnostic[] } {
  const complete = seen.filter(({ lacking }) => lacking === undefined);
  const left = seen.find(({ lacking }) => lacking !== undefined);
  if (left === undefined || complete.length === 0 || uses.has("sense")) return { complete: seen, diagnostics: [] };
  const [some, all] = [seen.length - complete.length, seen.length];
  const message = places.placesLeftOut(some, all, spec.text, nameOf(left), left.lacking ?? "");
  return { complete, diagnostics: [{ severity: "warning", span: spec.span, ...message }] };
}
