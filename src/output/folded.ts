// Maps for flame graphs: a line an entry, `outermost;…;innermost COUNT`, as flamegraph.pl, speedscope and others read
// it. What is no stack comes first, whatever the order of the key: the command, then the program's frames, then the
// kernel's, which end in `_[k]`. Inlined copies end in `_[i]`.
import { basename } from "node:path";
import { aggregateLayout, readResult } from "../language/aggregations/table.ts";
import { fieldLayout } from "../language/layout.ts";
import type { AggregateType, StackType, Type } from "../language/types.ts";
import type { ConsumerServices, Frame, MapSnapshot } from "../session/events.ts";
import { orderedEntries } from "./map-order.ts";
import { buildIdFrames, buildIdText, stackFrames } from "./stack-frames.ts";
import { aggregateText, memoryOf, readWords, valueText, type Memory } from "./values.ts";

/** The lines of a map; undefined when its values are no numbers. */
export function foldedLines(
  snapshot: MapSnapshot,
  top: number,
  divisor: number,
  services: ConsumerServices,
): string[] | undefined {
  const { map } = snapshot;
  if (!isNumber(map.value)) return undefined;
  const by = BigInt(divisor || 1);
  const lines: string[] = [];
  // Stacks that differ in offsets only are one to a flame graph.
  const sums = new Map<string, bigint>();
  const adds = map.value.kind !== "aggregate" || addsUp(map.value);
  for (const [key, value] of orderedEntries(snapshot, top)) {
    const memory = memoryOf(value);
    const number =
      map.value.kind === "aggregate"
        ? aggregateText(map.value, readWords(memory, 0, value.length), by)
        : String(BigInt(valueText(map.value, memory, 0, services)) / by);
    const path = map.keys.length === 0 ? [`@${map.name}`] : keyPath(map.keys, memoryOf(key), services);
    const line = path.map(plain).join(";");
    if (adds) sums.set(line, (sums.get(line) ?? 0n) + BigInt(number));
    else lines.push(`${line} ${number}`);
  }
  for (const [line, sum] of sums) lines.push(`${line} ${sum}`);
  return lines;
}

function isNumber(type: MapSnapshot["map"]["value"]): boolean {
  if (type.kind !== "aggregate") return type.kind === "integer";
  const result = readResult(type);
  return result !== undefined && "part" in result && type.float !== true;
}

/** Whether two of them are one of both: counts and sums, but no averages or extremes. */
function addsUp(type: AggregateType): boolean {
  const result = readResult(type);
  if (result === undefined || !("part" in result) || result.averaged === true) return false;
  const { kind } = aggregateLayout(type).parts[result.part].part;
  return kind === "count" || kind === "sum";
}

function keyPath(types: readonly Type[], memory: Memory, services: ConsumerServices): string[] {
  const rest: string[] = [];
  const stacks = { user: [] as string[], kernel: [] as string[] };
  const add = (parts: readonly Type[], at: number): void => {
    const { offsets } = fieldLayout(parts);
    parts.forEach((type, i) => {
      const offset = at + offsets[i];
      if (type.kind === "stack") stacks[type.space].push(...frameNames(type, memory, offset, services));
      else if (type.kind === "tuple") add(type.elements, offset);
      else if (type.kind === "record")
        add(
          type.fields.map((field) => field.type),
          offset,
        );
      else rest.push(valueText(type, memory, offset, services));
    });
  };
  add(types, 0);
  return [...rest, ...stacks.user, ...stacks.kernel];
}

/** Outermost first. */
function frameNames(type: StackType, { view }: Memory, offset: number, services: ConsumerServices): string[] {
  const id = view.getBigInt64(offset, true);
  if (id < 0n) return [];
  const pid = view.getUint32(offset + 8, true);
  if (type.mode === "build_id")
    return buildIdFrames(type, id, pid, services)
      .map((frame) => buildIdText(frame).trim())
      .reverse();
  const frames = stackFrames(type, id, pid, services);
  return frames.map((frame) => frameName(frame, type.space)).reverse();
}

function frameName({ symbol, module, inlined, mark, language, source }: Frame, space: StackType["space"]): string {
  if (mark !== undefined) return `[${mark}]`;
  if (language !== undefined)
    return `${symbol ?? "[unknown]"}${source === undefined ? "" : ` (${basename(source.file)})`} [${language}]`;
  const name = symbol ?? (module === undefined ? "[unknown]" : `[${basename(module)}]`);
  return space === "kernel" ? `${name}_[k]` : inlined ? `${name}_[i]` : name;
}

/** What would end the frame or the line. */
function plain(text: string): string {
  return text.replaceAll(";", ":").replaceAll(/\s*\n\s*/g, " ");
}
