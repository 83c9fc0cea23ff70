// What `-l` and `-lv` tell of programs from debug information: parameters, locals, source lines, inlined copies.
import type { DebugInfo, SourceFunction, SourcePosition, Variable } from "../../debuginfo/dwarf/facts.ts";
import { behindTypedefs, spellDebugType } from "../../machine/values/debug-types.ts";
import type { Listed, ListOptions } from "../provider.ts";
import type { Binary, BinarySymbol } from "../../machine/system.ts";
import { mergedWith } from "./merged-functions.ts";
import { copiesOf } from "./user-places.ts";
import { debugInfoOf } from "../../machine/values/user-variables.ts";
import { hasWildcard, matches } from "../../machine/wildcard.ts";
import { Failure } from "../../base/failure.ts";

/**
 * Parameters as the function declares them; for one function also its locals, and where it and its inlined copies are.
 */
export function describeFunction(binary: Binary, symbol: BinarySymbol, returns: boolean, whole: boolean): string[] {
  const info = debugInfoOf(binary);
  if (info instanceof Failure) return [];
  const functions = info.functionsNamed(symbol.name);
  const fn =
    functions.find((one) => one.instances.some(({ kind, entry }) => kind === "body" && entry === symbol.address)) ??
    functions[0] ??
    // An alias of the source's function.
    info.functionAt(symbol.address)?.fn;
  if (fn === undefined) return [];
  const lines = returns ? [] : fn.parameters.map((parameter) => declaration(parameter));
  const { result } = fn;
  if (returns && result !== undefined && behindTypedefs(result).kind !== "void")
    lines.push(`    ${spellDebugType(result, "retval")}`);
  if (!whole || returns) return lines;
  const merged = mergedWith(binary, symbol.name, [symbol.fileOffset]);
  return [
    ...lines,
    ...(merged.length === 0 ? [] : [`    one with ${merged.join(", ")}`]),
    ...localsOf(info, fn, symbol).map((local) => `    var ${spellDebugType(local.type, local.name)}`),
    `    at ${position(fn.declared)}`,
    ...copyLines([fn]),
  ];
}

function declaration({ type, name }: Variable): string {
  return `    ${spellDebugType(type, name)}`;
}

function position({ file, line, column }: SourcePosition): string {
  return `${file}:${line}${column > 0 ? `:${column}` : ""}`;
}

/** Locals of any block, from what is in scope at each line of the function's code. */
function localsOf(info: DebugInfo, fn: SourceFunction, symbol: BinarySymbol): Variable[] {
  const body = fn.instances.find(({ kind, entry }) => kind === "body" && entry === symbol.address);
  if (body === undefined) return [];
  const locals = new Map<string, Variable>();
  const look = (address: bigint): void => {
    for (const variable of info.variablesAt(address)) {
      if (variable.kind !== "parameter" && variable.name !== "")
        locals.set(`${variable.name} ${variable.declared.line}`, variable);
    }
  };
  look(info.afterPrologue(body));
  for (const { address } of info.lines(fn.declared.file)) {
    if (body.ranges.some(({ low, high }) => low <= address && address < high)) look(address);
  }
  return [...locals.values()].sort((a, b) => a.declared.line - b.declared.line);
}

function copyLines(functions: readonly SourceFunction[]): string[] {
  return copiesOf(functions).flatMap(({ instance: { caller } }) =>
    caller === undefined ? [] : [`    inlined into ${caller.name} at ${position(caller.position)}`],
  );
}

/** Where an address of a binary comes from, the innermost copy first. */
export function sourceLines(binary: Binary, address: bigint): string[] {
  const info = debugInfoOf(binary);
  const frames = info instanceof Failure ? [] : info.framesAt(address);
  return frames.map((frame, i) =>
    i === 0
      ? `    at ${position(frame.position)}${frame.inlined ? ` in ${frame.function}` : ""}`
      : `    inlined into ${frame.function} at ${position(frame.position)}`,
  );
}

/** Functions that have inlined copies. */
export function* listInlined(
  binary: Binary,
  pattern: string,
  provider: string,
  options: ListOptions,
): Iterable<Listed> {
  const info = debugInfoOf(binary);
  if (info instanceof Failure) return;
  const seen = new Set<string>();
  for (const name of hasWildcard(pattern) ? info.functionNames() : [pattern]) {
    if (seen.has(name) || !matches(pattern, name)) continue;
    seen.add(name);
    const functions = info.functionsNamed(name).filter((fn) => copiesOf([fn]).length > 0);
    const [fn] = functions;
    if (fn === undefined) continue;
    const probe = `${provider}:${binary.shownPath}:inlined:${name}`;
    yield options.verbose
      ? {
          probe,
          details: [...fn.parameters.map(declaration), `    at ${position(fn.declared)}`, ...copyLines(functions)],
        }
      : { probe };
  }
}
