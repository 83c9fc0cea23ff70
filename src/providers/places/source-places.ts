// Where places of programs are in the source, and the variables there, for languages that name probes by that.
import type { DebugInfo, Variable } from "../../debuginfo/dwarf/facts.ts";
import type { SourcePlace } from "../../language/probe-spec.ts";
import type { Binary } from "../../machine/system.ts";
import { debugInfoOf } from "../../machine/values/user-variables.ts";
import { Failure } from "../../base/failure.ts";
import type { Listed } from "../provider.ts";
import type { Place } from "./places.ts";

/** Where a place is in the source: the line that was asked for, or where its function is written. */
export function sourceOf(binary: Binary, place: Place): SourcePlace {
  const { path } = binary;
  if (place.source !== undefined) {
    const { function: of, ...line } = place.source;
    return { path, ...line, ...(of === undefined ? {} : { function: of }) };
  }
  const info = debugInfoOf(binary);
  const address = binary.address(place.returnsFrom ?? place.offset);
  if (info instanceof Failure || address === undefined) return { path };
  const fn = place.inlined?.fn ?? info.functionAt(address)?.fn;
  // Another name of the same code is none that debug information knows.
  const isOther = fn !== undefined && /^\w+$/.test(place.name) && fn.name !== place.name;
  return fn === undefined || isOther
    ? { path }
    : { path, function: fn.name, file: fn.declared.file, line: fn.declared.line };
}

/** `verbose`: with the variables; where a function returns its result and its parameters. */
export function sourceListed(
  binary: Binary,
  place: Place,
  verbose: boolean,
  returns = false,
): Pick<Listed, "source" | "variables"> {
  const source = sourceOf(binary, place);
  const info = verbose ? debugInfoOf(binary) : undefined;
  const address = binary.address(place.offset);
  if (info === undefined || info instanceof Failure || address === undefined) return { source };
  const variables = variablesOf(info, address, place.source !== undefined);
  if (!returns) return { source, variables };
  const result = info.functionAt(address)?.fn.result;
  return {
    source,
    variables: [
      ...(result === undefined ? [] : [{ name: "return", type: result }]),
      ...variables.filter(({ kind }) => kind === "parameter"),
    ],
  };
}

/** Of a line those in scope there; of a function those of its outermost block. Those without a value are left out. */
function variablesOf(info: DebugInfo, address: bigint, ofLine: boolean): readonly Variable[] {
  const body = info.functionAt(address)?.instance;
  const isThere = (one: Variable): boolean =>
    one.name !== "" && one.outer !== true && one.location(address).kind !== "absent";
  const outermost = body === undefined ? [] : info.variablesAt(ofLine ? body.entry : address).filter(isThere);
  const isOuter = new Set(outermost.map(({ name }) => name));
  const inner = ofLine ? info.variablesAt(address).filter((one) => isThere(one) && !isOuter.has(one.name)) : [];
  const parameters = outermost.filter(({ kind }) => kind === "parameter");
  return [...inner, ...parameters, ...outermost.filter(({ kind }) => kind !== "parameter")];
}
