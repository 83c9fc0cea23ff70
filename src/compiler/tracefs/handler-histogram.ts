// Handlers that the kernel can count for: all that they do is to add to aggregations, and that follows from a few numbers
// of the event. A histogram of the kernel's (a `hist:` trigger) counts how often each combination of these came; the
// handler then runs once a combination. (Documentation/trace/histogram.rst; kernel/trace/trace_events_hist.c)
import { isRepeatable, isTotal } from "../../language/aggregations/repeated.ts";
import type { AggregateType } from "../../language/types.ts";
import { generate } from "../javascript/generate.ts";
import type { Instruction, IrFunction, IrMap, IrModule, Value } from "../ir/ir.ts";
import type { LoweredProgram } from "../lower/lower.ts";
import { operandsOf, terminatorOperands } from "../optimize/operands.ts";
import type { RecordedNumber } from "./event-filter.ts";
import { isRounded } from "./event-pairs.ts";
import { sumsAt, type EventArgument, type HandlerHistogram, type HistogramKey } from "./tracefs-plan.ts";

/** TRACING_MAP_KEYS_MAX and TRACING_MAP_VALS_MAX of kernel/trace/tracing_map.h; one of the values is the count itself. */
const mostKeys = 3;
const mostSums = 2;
/** Of the table, by its powers of two (TRACING_MAP_BITS_MIN, _DEFAULT, _MAX). */
const fewestEntries = 2048;
const mostEntries = 1 << 17;

/** `passed`: arguments that are lengths of time, of which hardly two are equal. @returns undefined where each event has to be looked at by itself */
export function handlerHistogram(
  fn: IrFunction,
  { functions, maps }: IrModule,
  schemas: LoweredProgram["schemas"],
  passed: readonly EventArgument[] = [],
): HandlerHistogram | undefined {
  if (fn.blocks.some(({ terminator }) => terminator.op === "guard")) return undefined;
  const instructions = fn.blocks.flatMap((block) => block.instructions);
  if (!instructions.every((one) => isPure(one) || isAdding(one, maps)) || !instructions.some(({ op }) => adds(op)))
    return undefined;
  const loads = instructions.filter((one) => one.op === "load-context");
  const builtins = new Set(instructions.flatMap((one) => (one.op === "builtin" ? [one.name] : [])));
  const summed = summedLoads(fn, loads, maps);
  const numbers = distinct(loads.filter((load) => !summed.has(load.result)));
  const sums = distinct(loads.filter((load) => summed.has(load.result)));
  const keys: HistogramKey[] = [];
  for (const number of numbers) {
    const time = passed.find(({ offset }) => offset === number.offset);
    if (time !== undefined && !isRounded(time)) return undefined;
    keys.push(time === undefined ? number : { ...number, powers: true });
  }
  if (builtins.has("pid-and-tid") || builtins.has("initial-pid-and-tid")) keys.push("thread");
  if (builtins.has("cpu")) keys.push("cpu");
  const touched = instructions.flatMap((one) => (adds(one.op) && "map" in one ? [one.map] : []));
  const most = Math.max(...touched.map((map) => (maps[map].keys.length === 0 ? 1 : maps[map].entries)));
  // Combinations are more than the keys of a map where a number of them only decides.
  const wanted = keys.length === 0 ? fewestEntries : most * 4;
  // A histogram has a key.
  if (keys.length === 0) keys.push("cpu");
  if (keys.length > mostKeys || sums.length > mostSums) return undefined;
  return {
    keys,
    sums,
    maps: [...new Set(touched)],
    entries: Math.min(mostEntries, Math.max(fewestEntries, 2 ** Math.ceil(Math.log2(wanted)))),
    source: generate(withSums(fn, summed, sums), { functions, maps, schemas, eachEvent: true }),
  };
}

/** What follows from the event alone. */
function isPure(instruction: Instruction): boolean {
  switch (instruction.op) {
    case "constant":
    case "binary":
    case "compare":
    case "extend":
    case "swap-bytes":
    case "load-context":
    case "load":
    case "store":
    case "zero":
    case "compare-strings":
    case "compare-bytes":
      return true;
    case "fill": {
      const { kind } = instruction.source;
      return kind === "value" || kind === "constant" || kind === "copy";
    }
    case "builtin":
      return pureBuiltins.has(instruction.name);
    default:
      return false;
  }
}

const pureBuiltins: ReadonlySet<string> = new Set([
  "pid-and-tid",
  "initial-pid-and-tid",
  "cpu",
  "child-pid",
  "attach-cookie",
]);

function adds(op: Instruction["op"]): boolean {
  return op === "aggregate" || op === "map-add";
}

/** Whether it adds, and the order of events and how they are put together make no difference. */
function isAdding(instruction: Instruction, maps: readonly IrMap[]): boolean {
  if (instruction.op === "map-add") return instruction.result === undefined;
  if (instruction.op !== "aggregate") return false;
  const { time, weight, map } = instruction;
  return time === undefined && weight === undefined && isRepeatable(maps[map].value as AggregateType);
}

type ContextLoad = Extract<Instruction, { op: "load-context" }>;

/** Loads of which nothing is used but as values of totals. */
function summedLoads(fn: IrFunction, loads: readonly ContextLoad[], maps: readonly IrMap[]): ReadonlySet<Value> {
  const summed = new Set(loads.map(({ result }) => result));
  const fails = (value: Value): void => {
    const load = loads.find(({ result }) => result === value);
    if (load === undefined) return;
    // The kernel sums a field as its type has it; of a field that is a key, too, nothing is saved.
    for (const { result, offset, size } of loads)
      if (offset === load.offset && size === load.size) summed.delete(result);
  };
  for (const { instructions, terminator } of fn.blocks) {
    for (const one of instructions) {
      const isSum = one.op === "aggregate" && isTotal(maps[one.map].value as AggregateType);
      if (!isSum) for (const value of operandsOf(one)) fails(value);
    }
    for (const value of terminatorOperands(terminator)) fails(value);
  }
  for (const { result, offset, size, signed } of loads)
    if (loads.some((other) => other.offset === offset && other.size === size && other.signed !== signed)) fails(result);
  return summed;
}

function distinct(loads: readonly ContextLoad[]): RecordedNumber[] {
  const found: RecordedNumber[] = [];
  for (const { offset, size, signed } of loads)
    if (!found.some((one) => one.offset === offset && one.size === size)) found.push({ offset, size, signed });
  return found;
}

/** What is summed is read where the sums are. */
function withSums(fn: IrFunction, summed: ReadonlySet<Value>, sums: readonly RecordedNumber[]): IrFunction {
  if (summed.size === 0) return fn;
  const values = [...fn.values];
  const zero = values.push({}) - 1;
  const replaced = (one: Instruction): Instruction => {
    if (one.op === "load-context" && summed.has(one.result)) {
      const at = sums.findIndex(({ offset, size }) => offset === one.offset && size === one.size);
      return { ...one, offset: sumsAt + at * 8, size: 8, signed: false };
    }
    return one.op === "aggregate" && one.value !== undefined && summed.has(one.value) ? { ...one, weight: zero } : one;
  };
  const blocks = fn.blocks.map((block, i) => ({
    ...block,
    instructions: [
      ...(i === 0 ? [{ op: "constant", result: zero, value: 0n } as const] : []),
      ...block.instructions.map(replaced),
    ],
  }));
  return { ...fn, values, blocks };
}
