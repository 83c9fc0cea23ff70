// Pairs of events that the kernel can find by itself: one handler stores the time by a key, another takes it away and does
// something with what has passed. A histogram of the kernel's keeps the time of the first, one of the second looks for it, and
// where it is there a synthetic event tells both times and what the second handler looks at: one record a pair.
// (Documentation/trace/histogram.rst, "Inter-event hist triggers")
import type { TracepointField } from "../../machine/system.ts";
import type { Instruction, IrFunction, IrMap, IrModule, Place, Value } from "../ir/ir.ts";
import type { LoweredProgram } from "../lower/lower.ts";
import { isInPowers, isTotal } from "../../language/aggregations/repeated.ts";
import type { AggregateType } from "../../language/types.ts";
import { operandsOf, terminatorOperands } from "../optimize/operands.ts";
import { both, isSayable, processesIn, type EventFilter } from "./event-filter.ts";
import { isSilent, wholeFilter } from "./handler-filter.ts";
import type { EventArgument, HistogramKey } from "./tracefs-plan.ts";

/** Where the handler of a pair finds what the kernel computes: behind any field. */
const ownFields = 1 << 16;

/** One event of a pair: by what they belong together, and which of its events count. */
interface Side {
  readonly keys: readonly HistogramKey[];
  readonly filter: EventFilter;
}

interface OfThreads {
  /** Both events are of one thread. */
  readonly threads: boolean;
}

export interface FoundPair {
  readonly sides: readonly [Side & OfThreads, Side & OfThreads];
  /** The second handler, over the pair. */
  readonly fn: IrFunction;
  /** What the kernel computes, by where the handler finds it: `$time`, `$passed`, `$passed+1`. */
  readonly own: ReadonlyMap<number, string>;
}

/** Functions that store to a map and take from it, while nobody else looks at it and what is left in the end is not shown. */
export function* storedAndTaken(
  { maps, functions }: IrModule,
  { schemas, handlers }: LoweredProgram,
  mapsAtEnd: boolean,
): Iterable<{ readonly map: number; readonly start: IrFunction; readonly end: IrFunction }> {
  const atEnd = new Set(
    handlers.flatMap(({ handler, function: index }) => (handler.provider === "end" ? [index] : [])),
  );
  for (const map of maps.keys()) {
    if (maps[map].keys.length === 0) continue;
    const stores: IrFunction[] = [];
    const takes: IrFunction[] = [];
    let emptied = !mapsAtEnd;
    let other = false;
    for (const [index, fn] of functions.entries()) {
      const ops = new Set(opsOn(fn, map, schemas));
      if (ops.size === 0) continue;
      if (ops.size === 1 && ops.has("map-store")) stores.push(fn);
      else if (ops.size === 1 && ops.has("clear-map") && atEnd.has(index)) emptied = true;
      else if ([...ops].every((op) => taking.has(op))) takes.push(fn);
      else other = true;
    }
    if (other || !emptied || stores.length !== 1 || takes.length !== 1) continue;
    yield { map, start: stores[0], end: takes[0] };
  }
}

const taking = new Set(["map-lookup", "entry-load", "entry-copy", "map-delete"]);

function* opsOn({ blocks }: IrFunction, map: number, schemas: LoweredProgram["schemas"]): Iterable<string> {
  for (const { instructions } of blocks)
    for (const i of instructions) {
      if ("map" in i && i.map === map) yield i.op;
      if (i.op !== "emit") continue;
      const { action } = schemas[i.schema];
      if ("map" in action && action.map === map) yield action.kind;
    }
}

/** @returns undefined where the kernel would do something else than both handlers */
export function pairOf(
  { map, start, end }: { readonly map: number; readonly start: IrFunction; readonly end: IrFunction },
  maps: readonly IrMap[],
  fields: readonly [readonly TracepointField[], readonly TracepointField[]],
): FoundPair | undefined {
  const keys = maps[map].keys.length;
  const stored = storedBy(start, map, keys);
  if (stored === undefined) return undefined;
  const taken = new Taking(end, map, stored.value, maps);
  const looked = taken.side(keys);
  if (looked === undefined) return undefined;
  const sides = [stored.side, looked] as const;
  const threads = sides.every((side) => side.keys.includes("thread")) && isOneKey(sides);
  const [ofFirst, ofSecond] = sides.map(({ filter }) => processesIn(filter));
  const checked = threads && ofSecond === undefined && ofFirst?.size === 1 ? [...ofFirst][0] : undefined;
  // The handler decides whose the thread is of a pair.
  const apart = threads && (checked !== undefined || isSameSet(ofFirst, ofSecond));
  const [first, second] = sides.map((side) => ({
    ...side,
    threads: apart,
    filter: apart ? ofAnyProcess(side.filter) : side.filter,
  }));
  if (!isSayable(first.filter, fields[0]) || !isSayable(second.filter, fields[1])) return undefined;
  const over = taken.overPair();
  const fn = over === undefined || checked === undefined ? over : ofProcess(over, checked, threadIn(start));
  return fn === undefined ? undefined : { sides: [first, second], fn, own: taken.own };
}

function isOneKey([first, second]: readonly [Side, Side]): boolean {
  return first.keys.indexOf("thread") === second.keys.indexOf("thread");
}

function isSameSet<T>(one: ReadonlySet<T> | undefined, other: ReadonlySet<T> | undefined): boolean {
  return one?.size === other?.size && [...(one ?? [])].every((item) => other?.has(item));
}

/** Without the tests that say whose an event is, where all of it has to be true. */
function ofAnyProcess(filter: EventFilter): EventFilter {
  if (typeof filter === "boolean") return filter;
  if (filter.kind === "and") return both(ofAnyProcess(filter.left), ofAnyProcess(filter.right));
  return processesIn(filter) === undefined ? filter : true;
}

/** Of a length of time one is asked for that is only told apart by powers of two. */
export function isRounded({ words }: EventArgument): boolean {
  return words.endsWith("+1");
}

/** Whether the kernel can hand over what is asked of the second event: fields as they are, and both times. */
export function isHandedOver({ words, type }: EventArgument, fields: readonly TracepointField[]): boolean {
  if (words.startsWith("$")) return type === "u64";
  const field = fields.find(({ name }) => name === words);
  if (field === undefined) return false;
  if (type === "string") return /\bchar ?\[/.test(field.declaration);
  return !field.declaration.includes("[") && type === `${field.signed ? "s" : "u"}${field.size * 8}`;
}

type ThreadName = "pid-and-tid" | "initial-pid-and-tid";

function threadIn({ blocks }: IrFunction): ThreadName {
  const isInitial = blocks.some(({ instructions }) =>
    instructions.some((i) => i.op === "builtin" && i.name === "initial-pid-and-tid"),
  );
  return isInitial ? "initial-pid-and-tid" : "pid-and-tid";
}

/** The handler for threads of a process alone. */
function ofProcess(fn: IrFunction, process: bigint | "child", thread: ThreadName): IrFunction {
  const [first, ...others] = fn.blocks;
  const [both, by, of, asked, condition] = [0, 1, 2, 3, 4].map((i) => fn.values.length + i);
  const instructions: Instruction[] = [
    { op: "builtin", result: both, name: thread },
    { op: "constant", result: by, value: 32n },
    { op: "binary", kind: "lshr", result: of, left: both, right: by },
    process === "child"
      ? { op: "builtin", result: asked, name: "child-pid" }
      : { op: "constant", result: asked, value: process },
    { op: "compare", kind: "eq", result: condition, left: of, right: asked },
  ];
  const [then, otherwise] = [fn.blocks.length, fn.blocks.length + 1];
  const entry = { ...first, instructions, terminator: { op: "branch" as const, condition, then, otherwise } };
  const left = { ...first, instructions: [], terminator: { op: "return" as const } };
  return { ...fn, values: [...fn.values, {}, {}, {}, {}, {}], blocks: [entry, ...others, first, left] };
}

// ── the first handler ──

/** Bytes of what is stored, and what makes them. */
type Parts = ReadonlyMap<number, Made>;
type Made =
  | { readonly op: "time" }
  | { readonly op: "constant"; readonly value: bigint }
  | { readonly op: "binary"; readonly kind: BinaryKind; readonly left: Made; readonly right: Made }
  | { readonly op: "extend"; readonly bits: 8 | 16 | 32; readonly signed: boolean; readonly value: Made };
type BinaryKind = Extract<Instruction, { op: "binary" }>["kind"];

function storedBy(
  fn: IrFunction,
  map: number,
  count: number,
): { readonly side: Side; readonly value: Parts } | undefined {
  const all = fn.blocks.flatMap(({ instructions }) => instructions);
  const acting = all.filter((i) => !isSilent(i));
  const filter = wholeFilter(fn);
  const [store] = acting;
  if (acting.length !== 1 || store.op !== "map-store" || store.key === undefined || filter === undefined)
    return undefined;
  const made = madeIn(fn);
  const keys = keysOf(fn, made, store.key, count);
  const { source } = store;
  const parts = new Map<number, Made | undefined>();
  if (source.kind === "value" && source.width === 8) parts.set(0, ofTime(source.value, made));
  else if (source.kind === "copy")
    for (const [offset, value] of storesTo(fn, source.from) ?? []) parts.set(offset, ofTime(value, made));
  const known = [...parts].filter((part): part is [number, Made] => part[1] !== undefined);
  if (keys === undefined || known.length === 0 || known.length !== parts.size || map !== store.map) return undefined;
  return { side: { keys, filter }, value: new Map(known) };
}

/** A value that follows from the time alone. */
function ofTime(value: Value, made: ReadonlyMap<Value, Instruction>): Made | undefined {
  const i = made.get(value);
  switch (i?.op) {
    case "constant":
      return { op: "constant", value: i.value };
    case "builtin":
      return i.name === "nsecs-boot" ? { op: "time" } : undefined;
    case "extend": {
      const of = ofTime(i.value, made);
      return of && { op: "extend", bits: i.bits, signed: i.signed, value: of };
    }
    case "binary": {
      const [left, right] = [ofTime(i.left, made), ofTime(i.right, made)];
      return left && right && { op: "binary", kind: i.kind, left, right };
    }
    default:
      return undefined;
  }
}

function madeIn({ blocks }: IrFunction): ReadonlyMap<Value, Instruction> {
  const made = new Map<Value, Instruction>();
  for (const { instructions } of blocks)
    for (const i of instructions) if ("result" in i && i.result !== undefined) made.set(i.result, i);
  return made;
}

/** What is stored in a slot, each once and of 8 bytes, by offset. */
function storesTo({ blocks }: IrFunction, place: Place): ReadonlyMap<number, Value> | undefined {
  if (place.kind !== "slot" || place.offset !== 0) return undefined;
  const stores = new Map<number, Value>();
  for (const { instructions } of blocks)
    for (const i of instructions) {
      if (i.op !== "store" || i.to.kind !== "slot" || i.to.slot !== place.slot) continue;
      if (i.size !== 8 || stores.has(i.to.offset)) return undefined;
      stores.set(i.to.offset, i.value);
    }
  return stores;
}

function keysOf(
  fn: IrFunction,
  made: ReadonlyMap<Value, Instruction>,
  place: Place,
  count: number,
): readonly HistogramKey[] | undefined {
  const stores = storesTo(fn, place);
  if (stores?.size !== count || count > 3) return undefined;
  const keys = [...stores].sort(([a], [b]) => a - b).map(([, value]) => keyOf(made.get(value), made));
  return keys.every((key) => key !== undefined) ? keys : undefined;
}

function keyOf(i: Instruction | undefined, made: ReadonlyMap<Value, Instruction>): HistogramKey | undefined {
  if (i?.op === "load-context") return { offset: i.offset, size: i.size, signed: i.signed };
  if (i?.op === "builtin") return i.name === "cpu" ? "cpu" : undefined;
  if (i?.op !== "extend" || i.bits !== 32 || i.signed) return undefined;
  const of = made.get(i.value);
  return of?.op === "builtin" && (of.name === "pid-and-tid" || of.name === "initial-pid-and-tid")
    ? "thread"
    : undefined;
}

// ── the second handler ──

class Taking {
  readonly #fn: IrFunction;
  readonly #map: number;
  readonly #stored: Parts;
  readonly #made: ReadonlyMap<Value, Instruction>;
  readonly #values: IrFunction["values"][number][];
  readonly #maps: readonly IrMap[];
  readonly own = new Map<number, string>();
  /** The block that looks, and where it goes on with what it found. */
  #looked = { at: -1, found: -1 };
  /** Of what has passed, what is counted by powers of two. */
  readonly #rounded = new Map<Value, Value>();
  #out: Instruction[] = [];

  constructor(fn: IrFunction, map: number, stored: Parts, maps: readonly IrMap[]) {
    this.#fn = fn;
    this.#maps = maps;
    this.#map = map;
    this.#stored = stored;
    this.#made = madeIn(fn);
    this.#values = [...fn.values];
  }

  /** Where it does nothing but take what is there, whenever it is there. */
  side(count: number): Side | undefined {
    const { blocks } = this.#fn;
    const lookups = blocks.flatMap(({ instructions }, block) =>
      instructions.flatMap((i) => (i.op === "map-lookup" && i.map === this.#map ? [{ i, block }] : [])),
    );
    const removals = blocks.flatMap(({ instructions }) =>
      instructions.filter((i) => i.op === "map-delete" && i.map === this.#map),
    );
    if (lookups.length !== 1 || removals.length !== 1) return undefined;
    const [{ i: lookup, block: at }] = lookups;
    const [removal] = removals;
    const { instructions, terminator } = blocks[at];
    if (removal.op !== "map-delete" || !isSamePlace(removal.key, lookup.key)) return undefined;
    if (this.#isUsed(removal.result) || terminator.op !== "branch" || !instructions.every(isSilent)) return undefined;
    const whenFound = this.#foundWhen(terminator.condition, lookup.result);
    if (whenFound === undefined) return undefined;
    const [found, missing] = whenFound
      ? [terminator.then, terminator.otherwise]
      : [terminator.otherwise, terminator.then];
    if (!this.#doesNothing(missing) || !this.#alwaysTakes(found)) return undefined;
    this.#looked = { at, found };
    // Reaching the look-up is what its condition is.
    const reached = { instructions: [removal], terminator: { op: "return" as const } };
    const filter = wholeFilter({
      ...this.#fn,
      blocks: blocks.map((block, i) => (i === at ? { ...block, ...reached } : block)),
    });
    const keys = keysOf(this.#fn, this.#made, lookup.key, count);
    return filter === undefined || keys === undefined ? undefined : { keys, filter };
  }

  #isUsed(value: Value | undefined): boolean {
    if (value === undefined) return false;
    return this.#fn.blocks.some(
      ({ instructions, terminator }) =>
        instructions.some((i) => operandsOf(i).includes(value)) || terminatorOperands(terminator).includes(value),
    );
  }

  /** Whether the entry is there when a value is true, or when it is not. */
  #foundWhen(value: Value, entry: Value): boolean | undefined {
    if (value === entry) return true;
    const i = this.#made.get(value);
    // A time is never 0.
    if (i?.op === "entry-load" && i.entry === entry) return this.#stored.get(0)?.op === "time" ? true : undefined;
    if (i?.op !== "compare" || (i.kind !== "eq" && i.kind !== "ne")) return undefined;
    const right = this.#made.get(i.right);
    if (right?.op !== "constant" || right.value !== 0n) return undefined;
    const inner = this.#foundWhen(i.left, entry);
    return inner === undefined ? undefined : inner === (i.kind === "ne");
  }

  #doesNothing(block: number, seen = new Set<number>()): boolean {
    if (seen.has(block)) return false;
    const { instructions, terminator } = this.#fn.blocks[block];
    if (!instructions.every(isSilent)) return false;
    seen.add(block);
    if (terminator.op === "jump") return this.#doesNothing(terminator.to, seen);
    return terminator.op === "return";
  }

  #alwaysTakes(block: number, seen = new Set<number>()): boolean {
    if (seen.has(block)) return true;
    seen.add(block);
    const { instructions, terminator } = this.#fn.blocks[block];
    if (instructions.some((i) => i.op === "map-delete" && i.map === this.#map)) return true;
    if (terminator.op === "jump") return this.#alwaysTakes(terminator.to, seen);
    if (terminator.op !== "branch") return false;
    return this.#alwaysTakes(terminator.then, seen) && this.#alwaysTakes(terminator.otherwise, seen);
  }

  /** The handler where the entry is there, and both times are in the record. */
  overPair(): IrFunction | undefined {
    const blocks: IrFunction["blocks"][number][] = [];
    for (const [number, block] of this.#fn.blocks.entries()) {
      this.#out = [];
      for (const i of block.instructions) if (!this.#instruction(i)) return undefined;
      const { at, found } = this.#looked;
      const terminator = number === at ? { op: "jump" as const, to: found, args: [] } : block.terminator;
      blocks.push({ ...block, instructions: this.#out, terminator });
    }
    return { ...this.#fn, values: this.#values, blocks };
  }

  /** @returns whether it can be over a pair */
  #instruction(i: Instruction): boolean {
    if (i.op === "builtin") {
      if (i.name === "nsecs-boot") this.#load("$time", i.result);
      else if (i.name.startsWith("nsecs") || i.name === "elapsed") return false;
      else this.#out.push(i);
      return true;
    }
    if (!("map" in i) || i.map !== this.#map) {
      const rounded =
        i.op === "aggregate" && this.#addsTo(i) === "powers" ? this.#rounded.get(i.value ?? -1) : undefined;
      if (this.#isPassed(i)) this.#pass(i.result);
      else if (rounded !== undefined)
        this.#out.push({ ...(i as Extract<Instruction, { op: "aggregate" }>), value: rounded });
      else this.#out.push(i);
      return true;
    }
    switch (i.op) {
      case "map-lookup":
        this.#out.push({ op: "constant", result: i.result, value: 1n });
        return true;
      case "map-delete":
        if (i.result !== undefined) this.#out.push({ op: "constant", result: i.result, value: 1n });
        return true;
      case "entry-load": {
        const part = this.#stored.get(0);
        if (part === undefined || i.size !== 8) return false;
        this.#make(part, i.result);
        return true;
      }
      case "entry-copy": {
        const parts = [...this.#stored].filter(([offset]) => offset + 8 <= i.size);
        if (parts.length * 8 !== i.size || i.to.kind !== "slot") return false;
        for (const [offset, part] of parts)
          this.#out.push({
            op: "store",
            to: { ...i.to, offset: i.to.offset + offset },
            value: this.#make(part),
            size: 8,
          });
        return true;
      }
      default:
        return false;
    }
  }

  // ── what has passed ──

  /** Whether an instruction makes the time between both events. */
  #isPassed(i: Instruction): i is Extract<Instruction, { op: "binary" }> {
    if (i.op !== "binary") return false;
    const [left, right] = [this.#made.get(i.left), this.#made.get(i.right)];
    const isNow = left?.op === "builtin" && left.name === "nsecs-boot";
    return i.kind === "sub" && isNow && this.#isStoredTime(right);
  }

  #isStoredTime(i: Instruction | undefined): boolean {
    if (this.#stored.size !== 1 || this.#stored.get(0)?.op !== "time") return false;
    if (i?.op === "entry-load") return i.size === 8;
    if (i?.op !== "load" || i.from.kind !== "slot" || i.size !== 8) return false;
    const { slot, offset } = i.from;
    const copies = this.#fn.blocks.flatMap(({ instructions }) =>
      instructions.filter((one) => "to" in one && one.to?.kind === "slot" && one.to.slot === slot),
    );
    const [copy] = copies;
    return copies.length === 1 && copy.op === "entry-copy" && copy.to.kind === "slot" && copy.to.offset === offset;
  }

  /** In powers of two alone it is another number, which the kernel can round as those are. */
  #pass(result: Value): void {
    this.#load("$passed", result);
    if (!this.#isOnlyAdded(result)) return;
    const [more, one, rounded] = [this.#load("$passed+1"), this.#value(), this.#value()];
    this.#out.push({ op: "constant", result: one, value: 1n });
    this.#out.push({ op: "binary", kind: "sub", result: rounded, left: more, right: one });
    this.#rounded.set(result, rounded);
  }

  #isOnlyAdded(value: Value): boolean {
    return this.#fn.blocks.every(
      ({ instructions, terminator }) =>
        !terminatorOperands(terminator).includes(value) &&
        instructions.every((i) => !operandsOf(i).includes(value) || this.#addsTo(i) !== undefined),
    );
  }

  #addsTo(i: Instruction): "powers" | "total" | undefined {
    if (i.op !== "aggregate") return undefined;
    const type = this.#maps[i.map].value as AggregateType;
    return isInPowers(type) ? "powers" : isTotal(type) ? "total" : undefined;
  }

  #load(words: string, result = this.#value()): Value {
    const known = [...this.own].find(([, asked]) => asked === words);
    const offset = known?.[0] ?? ownFields + this.own.size * 8;
    this.own.set(offset, words);
    this.#out.push({ op: "load-context", result, offset, size: 8, signed: false });
    return result;
  }

  #value(): Value {
    return this.#values.push({}) - 1;
  }

  /** What the first handler would have made of its time. */
  #make(made: Made, result = this.#value()): Value {
    switch (made.op) {
      case "time": {
        const [at, passed] = [this.#load("$time"), this.#load("$passed")];
        this.#out.push({ op: "binary", kind: "sub", result, left: at, right: passed });
        return result;
      }
      case "constant":
        this.#out.push({ op: "constant", result, value: made.value });
        return result;
      case "extend": {
        const value = this.#make(made.value);
        this.#out.push({ op: "extend", result, value, bits: made.bits, signed: made.signed });
        return result;
      }
      case "binary": {
        const [left, right] = [this.#make(made.left), this.#make(made.right)];
        this.#out.push({ op: "binary", kind: made.kind, result, left, right });
        return result;
      }
    }
  }
}

function isSamePlace(one: Place | undefined, other: Place): boolean {
  return one?.kind === "slot" && other.kind === "slot" && one.slot === other.slot && one.offset === other.offset;
}
