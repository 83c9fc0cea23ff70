// A map as samples of stacks: what flame graphs, folded lines and profiles are made of.
import { basename } from "node:path";
import { aggregateLayout, readResult } from "../language/aggregations/table.ts";
import { fieldLayout } from "../language/layout.ts";
import type { AggregateType, StackType, Type } from "../language/types.ts";
import type { ConsumerServices, Frame, MapSnapshot } from "../session/events.ts";
import { firstField, orderedEntries } from "./map-order.ts";
import { buildIdFrames, buildIdText, stackFrames } from "./stack-frames.ts";
import { aggregateText, memoryOf, readWords, valueText, type Memory } from "./values.ts";

export interface SampledFrame {
  readonly name: string;
  /** `mark`: why the stack ends there. */
  readonly kind: StackType["space"] | "inlined" | "interpreted" | "mark";
  /** The file that its code is in. */
  readonly module?: string;
  /** `line`: 0 when unknown. */
  readonly source?: { readonly file: string; readonly line: number };
}

export interface StackSample {
  /** The parts of the key that are no stack, in its order. */
  readonly labels: readonly string[];
  /** Outermost first: the program's, then the kernel's, whatever their order in the key. */
  readonly frames: readonly SampledFrame[];
  readonly value: bigint;
}

export interface StackSamples {
  /** In the order in which the map is printed. */
  readonly samples: readonly StackSample[];
  /** Whether a key has a stack. */
  readonly stacks: boolean;
  /** Whether values of equal stacks may be added: counts and sums, but no averages or extremes. */
  readonly adds: boolean;
  /** `amount`: of sums, which may be of times or bytes. */
  readonly measure: "count" | "amount";
}

/** Undefined when the map's values are no numbers, nor records that begin with one. `top`: the largest so many entries; 0: all. */
export function stackSamples(
  snapshot: MapSnapshot,
  top: number,
  divisor: number,
  services: ConsumerServices,
): StackSamples | undefined {
  const { map } = snapshot;
  const type = firstField(map.value);
  if (!isNumber(type)) return undefined;
  const by = BigInt(divisor || 1);
  const sum = type.kind === "aggregate" ? partThatAdds(type) : type === map.value ? "count" : "sum";
  const samples = orderedEntries(snapshot, top).map(([key, value]) => {
    const memory = memoryOf(value);
    const number =
      type.kind === "aggregate"
        ? BigInt(aggregateText(type, readWords(memory, 0, value.length), by))
        : BigInt(valueText(type, memory, 0, services)) / by;
    return { ...keyParts(map.keys, memoryOf(key), services), value: number };
  });
  return {
    samples,
    stacks: map.keys.some(hasStack),
    adds: sum !== undefined,
    measure: sum === "sum" ? "amount" : "count",
  };
}

function isNumber(type: Type): boolean {
  if (type.kind !== "aggregate") return type.kind === "integer";
  const result = readResult(type);
  return result !== undefined && "part" in result && type.float !== true;
}

function partThatAdds(type: AggregateType): "count" | "sum" | undefined {
  const result = readResult(type);
  if (result === undefined || !("part" in result) || result.averaged === true) return undefined;
  const { kind } = aggregateLayout(type).parts[result.part].part;
  return kind === "count" || kind === "sum" ? kind : undefined;
}

function hasStack(type: Type): boolean {
  if (type.kind === "tuple") return type.elements.some(hasStack);
  return type.kind === "stack" || (type.kind === "record" && type.fields.some((field) => hasStack(field.type)));
}

function keyParts(types: readonly Type[], memory: Memory, services: ConsumerServices): Omit<StackSample, "value"> {
  const labels: string[] = [];
  const stacks = { user: [] as SampledFrame[], kernel: [] as SampledFrame[] };
  const add = (parts: readonly Type[], at: number): void => {
    const { offsets } = fieldLayout(parts);
    parts.forEach((type, i) => {
      const offset = at + offsets[i];
      if (type.kind === "stack") stacks[type.space].push(...sampledFrames(type, memory, offset, services));
      else if (type.kind === "tuple") add(type.elements, offset);
      else if (type.kind === "record")
        add(
          type.fields.map((field) => field.type),
          offset,
        );
      else labels.push(valueText(type, memory, offset, services));
    });
  };
  add(types, 0);
  return { labels, frames: [...stacks.user, ...stacks.kernel] };
}

function sampledFrames(type: StackType, { view }: Memory, offset: number, services: ConsumerServices): SampledFrame[] {
  const id = view.getBigInt64(offset, true);
  if (id < 0n) return [];
  const pid = view.getUint32(offset + 8, true);
  const frames =
    type.mode === "build_id"
      ? buildIdFrames(type, id, pid, services).map((frame): SampledFrame => ({
          name: buildIdText(frame).trim(),
          kind: type.space,
        }))
      : stackFrames(type, id, pid, services).map((frame) => sampledFrame(frame, type.space));
  return frames.reverse();
}

function sampledFrame(
  { symbol, module, inlined, mark, language, source }: Frame,
  space: StackType["space"],
): SampledFrame {
  if (mark !== undefined) return { name: `[${mark}]`, kind: "mark" };
  const place = { ...(module === undefined ? {} : { module }), ...(source === undefined ? {} : { source }) };
  if (language !== undefined) {
    const file = source === undefined ? "" : ` (${basename(source.file)})`;
    return { name: `${symbol ?? "[unknown]"}${file} [${language}]`, kind: "interpreted", ...place };
  }
  const name = symbol ?? (module === undefined ? "[unknown]" : `[${basename(module)}]`);
  return { name, kind: space === "kernel" ? "kernel" : inlined ? "inlined" : "user", ...place };
}

/** `vfs_read_[k]`: as folded lines mark frames of the kernel and inlined copies. */
export function markedName({ name, kind }: SampledFrame): string {
  return kind === "kernel" ? `${name}_[k]` : kind === "inlined" ? `${name}_[i]` : name;
}
