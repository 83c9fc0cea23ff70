// At which lines a variable has a value that has none at a place.
import { isUnset } from "../../debuginfo/entry-locations.ts";
import { framesIn } from "../../debuginfo/prologue.ts";
import type { DebugInfo, FunctionInstance, Variable } from "../../debuginfo/dwarf/facts.ts";
import type { Argument } from "../../language/context.ts";
import { variableReasons } from "../../messages/on-demand.ts";
import { bytesOfDebugType } from "./debug-types.ts";
import { valueOf, type Seen } from "./locations.ts";
import type { Binary } from "../system.ts";
import { type Around, codeFrom, longestPrologue } from "./function-around.ts";

/** Lines that are looked at for where a variable lives, and runs of them that are named. */
const [linesSearched, linesNamed] = [4096, 4];

/** Says at which lines of the function a variable has a value, when it has none here. */
export function withLines(
  argument: Argument,
  variable: Variable | undefined,
  around: Around | undefined,
  info: DebugInfo,
  seen: Seen,
  binary: Binary,
): Argument {
  const { absent } = argument;
  if (absent === variableReasons().notYet() && variable !== undefined && around?.instance !== undefined) {
    const line = lineWhenSet(variable, around.instance, around.fn.declared.file, info, binary);
    return line === undefined
      ? argument
      : {
          ...argument,
          absent: variableReasons().readAt(
            absent,
            `uprobe:${binary.shownPath}@${around.fn.declared.file.split("/").at(-1)}:${line}`,
          ),
        };
  }
  if (
    absent === undefined ||
    !/^optimised out( here|$)/.test(absent) ||
    variable === undefined ||
    around?.instance === undefined
  )
    return argument;
  const lines = linesWithValue(variable, around.instance.ranges, around.fn.declared.file, info, seen);
  return {
    ...argument,
    absent:
      lines === undefined
        ? variableReasons().goneAllOver(absent, around.fn.name)
        : variableReasons().valueAt(absent, lines),
  };
}

/** The lines of some code at which a variable has a value: `line 3`, `lines 12-15, 20`; undefined where there is none. */
export function linesWithValue(
  variable: Variable,
  ranges: FunctionInstance["ranges"],
  file: string,
  info: DebugInfo,
  seen: Seen,
): string | undefined {
  const lines = new Map<number, boolean>();
  let searched = 0;
  for (const { line, address } of info.lines(file)) {
    if (line === 0 || lines.get(line) === true || !ranges.some(({ low, high }) => low <= address && address < high))
      continue;
    if (++searched > linesSearched) break;
    const there = valueOf(variable, { ...seen, address });
    lines.set(line, there.absent === undefined && (there.type.kind !== "struct" || there.type.partial === undefined));
  }
  const runs = runsOf(lines);
  if (runs.length === 0) return undefined;
  const some = runs.length <= linesNamed ? runs.join(", ") : `${runs.slice(0, linesNamed).join(", ")} and others`;
  return `${runs.length === 1 && !runs[0].includes("-") ? "line" : "lines"} ${some}`;
}

/** Lines that have something, as in `3`, `12-15`: lines without code are in no one's way. */
function runsOf(lines: ReadonlyMap<number, boolean>): string[] {
  const runs: { readonly first: number; last: number }[] = [];
  let open = false;
  for (const [line, has] of [...lines].sort(([a], [b]) => a - b)) {
    const run = runs.at(-1);
    if (has && open && run !== undefined) run.last = line;
    else if (has) runs.push({ first: line, last: line });
    open = has;
  }
  return runs.map(({ first, last }) => (first === last ? `${first}` : `${first}-${last}`));
}

/** The first line of a function all of whose code runs when a parameter is where debug information has it. */
function lineWhenSet(
  variable: Variable,
  instance: FunctionInstance,
  file: string,
  info: DebugInfo,
  binary: Binary,
): number | undefined {
  const { entry, ranges } = instance;
  const bytes = bytesOfDebugType(variable.type);
  let set = info.prologueEnd(instance);
  for (const { offset, frame } of framesIn(codeFrom(instance, binary, longestPrologue))) {
    const at = entry + BigInt(offset);
    if (at > set && isUnset(variable.location(at), bytes, frame)) set = at + 1n;
  }
  const lines = new Map<number, { readonly line: number; first: bigint }>();
  for (const { line, address } of info.lines(file)) {
    if (line === 0 || !ranges.some(({ low, high }) => low <= address && address < high)) continue;
    const known = lines.get(line);
    if (known === undefined) lines.set(line, { line, first: address });
    else if (address < known.first) known.first = address;
  }
  return [...lines.values()].filter(({ first }) => first >= set).sort((a, b) => Number(a.first - b.first))[0]?.line;
}
