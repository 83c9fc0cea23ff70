// What slots hold at a point of a function, as text: equal texts are equal bytes. And when maps and other memory last
// changed.
import { hostText } from "../../language/host-texts.ts";
import { type Instruction, type IrFunction, type Place, type Source, sourceSize } from "../ir/ir.ts";
import { PersistentArray } from "./persistent-array.ts";

interface Piece {
  readonly offset: number;
  readonly size: number;
  readonly what: string;
}

/** A slot's writes, the last one last, without those that later ones cover; the same as text. */
interface Contents {
  readonly writes: readonly Piece[];
  readonly text: string;
}
const nothing: Contents = { writes: [], text: "" };

/** What all states of a function share. */
class Names {
  readonly fn: IrFunction;
  /** Slots by what they hold, or held, ascending. */
  readonly holders = new Map<string, number[]>();
  readonly #short = new Map<string, string>();
  #made = 0;

  constructor(fn: IrFunction) {
    this.fn = fn;
  }

  /** A text that was never given before. */
  fresh(): string {
    return `#${this.#made++}`;
  }

  /** The same short text for the same long one: texts go into other texts. */
  short(text: string): string {
    let name = this.#short.get(text);
    if (name === undefined) this.#short.set(text, (name = this.fresh()));
    return name;
  }

  /** Takes note that a slot holds something at some point. */
  hold(slot: number, text: string): void {
    const all = this.holders.get(text);
    if (all === undefined) {
      this.holders.set(text, [slot]);
      return;
    }
    let at = all.length;
    while (at > 0 && all[at - 1] > slot) at--;
    if (all[at - 1] !== slot) all.splice(at, 0, slot);
  }
}

/**
 * Slots, or maps, of which nothing is known since a point have no entry: what they hold is named after the point; "" is
 * the entry.
 */
interface Known<T> {
  readonly since: string;
  readonly entries: PersistentArray<T>;
}

export class MemoryState {
  readonly #names: Names;
  #slots: Known<Contents>;
  /** When each map last changed, and, before them, "memory": what a kernel or a program has. */
  #versions: Known<string>;

  private constructor(names: Names, slots: Known<Contents>, versions: Known<string>) {
    this.#names = names;
    this.#slots = slots;
    this.#versions = versions;
  }

  /** At the entry: slots hold nothing yet. */
  static first(fn: IrFunction): MemoryState {
    return MemoryState.#unknown(new Names(fn), "");
  }

  copy(): MemoryState {
    return new MemoryState(this.#names, this.#slots, this.#versions);
  }

  /** Where several ways meet: what is the same on all of them. Of a way back nothing is known. */
  static join(ways: readonly [MemoryState, ...(MemoryState | undefined)[]]): MemoryState {
    const [first, ...others] = ways;
    const names = first.#names;
    const joined = first.copy();
    for (const other of others) {
      if (other === undefined) return MemoryState.#unknown(names, names.fresh());
      joined.#slots = merged(
        joined.#slots,
        other.#slots,
        (a, b) => a.text === b.text,
        names,
        (slot) => joined.#unknownSlot(slot, names.fresh()),
      );
      joined.#versions = merged(
        joined.#versions,
        other.#versions,
        (a, b) => a === b,
        names,
        () => names.fresh(),
      );
    }
    return joined;
  }

  static #unknown(names: Names, since: string): MemoryState {
    return new MemoryState(
      names,
      { since, entries: PersistentArray.of(names.fn.slots.length) },
      { since, entries: PersistentArray.of(1 + mapsIn(names.fn)) },
    );
  }

  #contents(slot: number): Contents {
    const { since, entries } = this.#slots;
    return entries.get(slot) ?? (since === "" ? nothing : this.#unknownSlot(slot, `${since}.${slot}`));
  }

  #unknownSlot(slot: number, what: string): Contents {
    return this.#written(slot, [{ offset: 0, size: this.#names.fn.slots[slot].size, what }]);
  }

  /** What a slot holds. */
  slot(slot: number): string {
    return this.#contents(slot).text;
  }

  place(place: Place, size: number): string {
    // What a loop over a map is handed changes with the map.
    return place.kind === "slot" ? `${place.offset}+${size} of {${this.slot(place.slot)}}` : this.#names.fresh();
  }

  version(what: number | "memory"): string {
    const { since, entries } = this.#versions;
    return entries.get(what === "memory" ? 0 : what + 1) ?? (since === "" ? "start" : since);
  }

  /** The first slot that holds the same. */
  equalSlot(slot: number): number {
    const text = this.slot(slot);
    if (text === "") return slot;
    const { slots } = this.#names.fn;
    const { size, align } = slots[slot];
    for (const other of this.#names.holders.get(text) ?? []) {
      if (other >= slot) break;
      const found = slots[other];
      if (found.size === size && found.align >= align && this.slot(other) === text) return other;
    }
    return slot;
  }

  /** After an instruction. */
  after(i: Instruction): void {
    switch (i.op) {
      case "store":
        return this.#write(i.to, i.size, `v${i.value}`);
      case "zero":
        return this.#write(i.at, i.size, "zero");
      case "fill": {
        const copied = this.#copied(i);
        if (copied !== undefined && i.to.kind === "slot" && !addressedIn(this.#names.fn).has(i.to.slot))
          this.#hold(i.to.slot, copied);
        else this.#write(i.to, sourceSize(i.source), this.source(i.source));
        return;
      }
      case "fill-element":
        return this.#write(i.to, i.count * i.stride, this.#names.fresh());
      case "concat-strings":
        return this.#write(
          i.to,
          i.capacity,
          `${this.place(i.left, i.leftCapacity)} ${this.place(i.right, i.rightCapacity)}`,
        );
      case "cut-string":
        return this.#write(i.to, i.capacity, `v${i.length} of ${this.place(i.text, i.capacity)}`);
      case "host-text":
        if (hostText(i.name).onMemory) this.#change("memory");
        return i.to === undefined ? undefined : this.#write(i.to, i.capacity ?? 0, this.#names.fresh());
      case "entry-copy":
        return this.#write(i.to, i.size, `entry v${i.entry} at ${this.version(i.map)}`);
      case "map-copy":
        return this.#write(i.to, i.size, `map ${i.map} at ${this.version(i.map)}`);
      case "parse-address":
        return this.#write(i.to, i.text.includes(0x3a) ? 16 : 4, `address ${i.text.join(",")}`);
      case "map-store":
      case "map-make":
      case "map-add":
      case "map-delete":
      case "aggregate":
        if (addressedIn(this.#names.fn).has("map")) this.#change("memory");
        return this.#change(i.map);
      case "for-each":
        // The callback may change what the caller shares with it, and any map.
        if (i.captures !== undefined) this.#hold(i.captures, this.#unknownSlot(i.captures, this.#names.fresh()));
        this.#versions = MemoryState.#unknown(this.#names, this.#names.fresh()).#versions;
        return;
      case "call":
        this.#hold(i.frame, this.#unknownSlot(i.frame, this.#names.fresh()));
        this.#versions = MemoryState.#unknown(this.#names, this.#names.fresh()).#versions;
        return;
      case "write-user":
      case "signal":
        return this.#change("memory");
      default:
    }
  }

  /** What a source gives, as text. */
  source(source: Source): string {
    const memory = this.version("memory");
    switch (source.kind) {
      case "value":
        return `v${source.value}`;
      case "copy":
        return this.place(source.from, source.size);
      case "constant":
        return `constant ${source.bytes.join(",")}`;
      case "string":
        return `${source.space} string v${source.address} v${source.limit} ${source.padded} at ${memory}`;
      case "memory":
        return `${source.space} memory v${source.address} at ${memory}`;
      case "buffer":
        return `${source.space} buffer v${source.address} v${source.length} ${source.padded} at ${memory}`;
      case "comm":
        return "comm";
      case "stack":
        return `${source.space} stack ${source.map} ${source.limit} ${source.mode} ${source.unwind}`;
      case "path":
        return `path v${source.address} at ${memory}`;
    }
  }

  #write(to: Place, size: number, what: string): void {
    if (to.kind !== "slot") return this.#change("memory");
    // It can be read through a pointer as well.
    if (addressedIn(this.#names.fn).has(to.slot)) this.#change("memory");
    const earlier = this.#contents(to.slot).writes;
    const all = [...earlier, { offset: to.offset, size, what }];
    // What does not meet the last is covered no more than before.
    const kept = all.filter(
      (piece, i) =>
        piece.offset >= to.offset + size ||
        piece.offset + piece.size <= to.offset ||
        !isCovered(piece, all.slice(i + 1)),
    );
    this.#hold(to.slot, this.#written(to.slot, kept));
  }

  #written(slot: number, writes: readonly Piece[]): Contents {
    const text = this.#names.short(writes.map(({ offset, size, what }) => `${offset}+${size}=${what}`).join(";"));
    this.#names.hold(slot, text);
    return { writes, text };
  }

  #hold(slot: number, contents: Contents): void {
    this.#names.hold(slot, contents.text);
    this.#slots = { ...this.#slots, entries: this.#slots.entries.with(slot, contents) };
  }

  /** Another slot's bytes, all of them. */
  #copied(i: Instruction): Contents | undefined {
    if (i.op !== "fill" || i.source.kind !== "copy" || i.to.kind !== "slot" || i.source.from.kind !== "slot")
      return undefined;
    const { size, from } = i.source;
    const whole = [from, i.to].every(({ slot, offset }) => offset === 0 && this.#names.fn.slots[slot].size === size);
    if (!whole) return undefined;
    const contents = this.#contents(from.slot);
    return contents === nothing ? undefined : contents;
  }

  #change(what: number | "memory"): void {
    this.#versions = {
      ...this.#versions,
      entries: this.#versions.entries.with(what === "memory" ? 0 : what + 1, this.#names.fresh()),
    };
  }
}

/** What two ways know both: of what differs, `other` says what there is now. */
function merged<T>(
  a: Known<T>,
  b: Known<T>,
  equal: (a: T, b: T) => boolean,
  names: Names,
  other: (index: number) => T,
): Known<T> {
  const alike = a.since === b.since;
  const both = (own: T | undefined, second: T | undefined): T | undefined =>
    own !== undefined && second !== undefined && equal(own, second) ? own : undefined;
  // Of what neither knows since the same point, nothing is known since this one.
  return {
    since: alike ? a.since : names.fresh(),
    entries: a.entries.merged(b.entries, alike ? (own, second, index) => both(own, second) ?? other(index) : both),
  };
}

const addressed = new WeakMap<IrFunction, ReadonlySet<number | "map">>();

/** Slots whose address is taken, and whether some map's is. */
function addressedIn(fn: IrFunction): ReadonlySet<number | "map"> {
  let found = addressed.get(fn);
  if (found === undefined) {
    const all = new Set<number | "map">();
    for (const { instructions } of fn.blocks) {
      for (const i of instructions) {
        if (i.op === "address-of" && i.what.kind !== "callback") all.add(i.what.kind === "map" ? "map" : i.what.slot);
      }
    }
    addressed.set(fn, (found = all));
  }
  return found;
}

function isCovered(piece: Piece, later: readonly Piece[]): boolean {
  let from = piece.offset;
  for (let next = from; next < piece.offset + piece.size; from = next) {
    for (const { offset, size } of later) if (offset <= next && offset + size > next) next = offset + size;
    if (next === from) return false;
  }
  return true;
}

const named = new WeakMap<IrFunction, number>();

/** The maps that a function names have numbers below this. */
function mapsIn(fn: IrFunction): number {
  let found = named.get(fn);
  if (found === undefined) {
    found = 0;
    for (const { instructions } of fn.blocks)
      for (const i of instructions) if ("map" in i) found = Math.max(found, i.map + 1);
    named.set(fn, found);
  }
  return found;
}
