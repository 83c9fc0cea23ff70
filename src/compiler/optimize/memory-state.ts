// What slots hold at a point of a function, as text: equal texts are equal bytes. And when maps and other memory last changed.
import type { Instruction, IrFunction, Place, Source } from "../ir.ts";
import { sourceSize } from "../source-size.ts";

interface Piece { readonly offset: number; readonly size: number; readonly what: string }

/** A slot's writes, the last one last, without those that later ones cover; the same as text. */
interface Contents { readonly writes: readonly Piece[]; readonly text: string }
const nothing: Contents = { writes: [], text: "" };

export class MemoryState {
  readonly #fn: IrFunction;
  readonly #fresh: () => string;
  readonly #slots: Map<number, Contents>;
  /** Of each map, and of "memory": what a kernel or a program has. Absent: as at the start. */
  readonly #versions: Map<number | "memory", string>;

  /** `fresh`: a text that was never given before. */
  private constructor(fn: IrFunction, fresh: () => string, slots: Map<number, Contents>, versions: Map<number | "memory", string>) {
    this.#fn = fn;
    this.#fresh = fresh;
    this.#slots = slots;
    this.#versions = versions;
  }

  /** At the entry: slots hold nothing yet. */
  static first(fn: IrFunction, fresh: () => string): MemoryState {
    return new MemoryState(fn, fresh, new Map(), new Map());
  }

  copy(): MemoryState {
    return new MemoryState(this.#fn, this.#fresh, new Map(this.#slots), new Map(this.#versions));
  }

  /** Where several ways meet: what is the same on all of them. Of a way back nothing is known. */
  static join(ways: readonly (MemoryState | undefined)[], fn: IrFunction, fresh: () => string): MemoryState {
    const known = ways.filter((way) => way !== undefined);
    const whole = known.length === ways.length;
    const joined = MemoryState.first(fn, fresh);
    for (const slot of whole ? new Set(known.flatMap((way) => [...way.#slots.keys()])) : fn.slots.keys()) {
      const [first, ...others] = known.map((way) => way.#slots.get(slot) ?? nothing);
      if (whole && others.every(({ text }) => text === first.text)) joined.#slots.set(slot, first);
      else joined.#forget(slot);
    }
    for (const what of whole ? new Set(known.flatMap((way) => [...way.#versions.keys()])) : ["memory" as const, ...mapsOf(fn)]) {
      const [version, ...others] = new Set(known.map((way) => way.version(what)));
      joined.#versions.set(what, whole && others.length === 0 ? version : fresh());
    }
    return joined;
  }

  /** What a slot holds. */
  slot(slot: number): string {
    return (this.#slots.get(slot) ?? nothing).text;
  }

  place(place: Place, size: number): string {
    // What a loop over a map is handed changes with the map.
    return place.kind === "slot" ? `${place.offset}+${size} of {${this.slot(place.slot)}}` : this.#fresh();
  }

  version(what: number | "memory"): string {
    return this.#versions.get(what) ?? "start";
  }

  /** The first slot that holds the same. */
  equalSlot(slot: number): number {
    const text = this.slot(slot);
    if (text === "") return slot;
    const { size, align } = this.#fn.slots[slot];
    let first = slot;
    for (const [other, contents] of this.#slots) {
      if (other >= first || contents.text !== text) continue;
      const found = this.#fn.slots[other];
      if (found.size === size && found.align >= align) first = other;
    }
    return first;
  }

  /** After an instruction. */
  after(i: Instruction): void {
    switch (i.op) {
      case "store": return this.#write(i.to, i.size, `v${i.value}`);
      case "zero": return this.#write(i.at, i.size, "zero");
      case "fill": {
        const copied = this.#copied(i);
        if (copied !== undefined && i.to.kind === "slot" && !addressedIn(this.#fn).has(i.to.slot)) this.#slots.set(i.to.slot, copied);
        else this.#write(i.to, sourceSize(i.source), this.source(i.source));
        return;
      }
      case "concat-strings": return this.#write(i.to, i.capacity, `${this.place(i.left, i.leftCapacity)} ${this.place(i.right, i.rightCapacity)}`);
      case "cut-string": return this.#write(i.to, i.capacity, `v${i.length} of ${this.place(i.text, i.capacity)}`);
      case "entry-copy": return this.#write(i.to, i.size, `entry v${i.entry} at ${this.version(i.map)}`);
      case "map-copy": return this.#write(i.to, i.size, `map ${i.map} at ${this.version(i.map)}`);
      case "parse-address": return this.#write(i.to, i.text.includes(0x3a) ? 16 : 4, `address ${i.text.join(",")}`);
      case "map-store":
      case "map-add":
      case "map-delete":
      case "aggregate":
        if (addressedIn(this.#fn).has("map")) this.#change("memory");
        return this.#change(i.map);
      case "for-each":
        // The callback may change what the caller shares with it, and any map.
        if (i.captures !== undefined) this.#forget(i.captures);
        for (const what of ["memory" as const, ...mapsOf(this.#fn)]) this.#change(what);
        return;
      case "write-user":
      case "signal": return this.#change("memory");
      default:
    }
  }

  /** What a source gives, as text. */
  source(source: Source): string {
    const memory = this.version("memory");
    switch (source.kind) {
      case "value": return `v${source.value}`;
      case "copy": return this.place(source.from, source.size);
      case "constant": return `constant ${source.bytes.join(",")}`;
      case "string": return `${source.space} string v${source.address} v${source.limit} ${source.padded} at ${memory}`;
      case "memory": return `${source.space} memory v${source.address} at ${memory}`;
      case "buffer": return `${source.space} buffer v${source.address} v${source.length} ${source.padded} at ${memory}`;
      case "comm": return "comm";
      case "stack": return `${source.space} stack ${source.map} ${source.limit} ${source.mode} ${source.unwind}`;
      case "path": return `path v${source.address} at ${memory}`;
    }
  }

  #write(to: Place, size: number, what: string): void {
    if (to.kind !== "slot") return this.#change("memory");
    // It can be read through a pointer as well.
    if (addressedIn(this.#fn).has(to.slot)) this.#change("memory");
    const all = [...(this.#slots.get(to.slot) ?? nothing).writes, { offset: to.offset, size, what }];
    this.#hold(to.slot, all.filter((piece, i) => !isCovered(piece, all.slice(i + 1))));
  }

  #hold(slot: number, writes: readonly Piece[]): void {
    this.#slots.set(slot, { writes, text: writes.map(({ offset, size, what }) => `${offset}+${size}=${what}`).join(";") });
  }

  /** Another slot's bytes, all of them. */
  #copied(i: Instruction): Contents | undefined {
    if (i.op !== "fill" || i.source.kind !== "copy" || i.to.kind !== "slot" || i.source.from.kind !== "slot") return undefined;
    const { size, from } = i.source;
    const whole = [from, i.to].every(({ slot, offset }) => offset === 0 && this.#fn.slots[slot].size === size);
    return whole ? this.#slots.get(from.slot) : undefined;
  }

  #forget(slot: number): void {
    this.#hold(slot, [{ offset: 0, size: this.#fn.slots[slot].size, what: this.#fresh() }]);
  }

  #change(what: number | "memory"): void {
    this.#versions.set(what, this.#fresh());
  }
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
    addressed.set(fn, found = all);
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

/** Maps that a function names. */
function mapsOf(fn: IrFunction): number[] {
  return [...new Set(fn.blocks.flatMap(({ instructions }) => instructions.flatMap((i) => ("map" in i ? [i.map] : []))))];
}
