// Writes machine instructions: fresh registers and labels, cold code put at the end, calls of kernel helpers.
import { type HelperName, helpers } from "../../bpf/helpers.ts";
import {
  type AccessWidth,
  Alu,
  type AluCode,
  Atomic,
  type Condition,
  FRAME,
  fitsImmediate,
  Pseudo,
} from "../../bpf/instruction.ts";
import {
  FIRST_VIRTUAL,
  type MemoryObject,
  type MachineInstruction,
  type Memory,
  NO_OBJECT,
  type Register,
  type RelocationNote,
} from "./machine.ts";

/** An argument of a helper. */
export type Argument =
  | { readonly kind: "register"; readonly register: Register }
  | { readonly kind: "constant"; readonly value: bigint }
  | { readonly kind: "address"; readonly memory: Memory }
  | { readonly kind: "map"; readonly map: number }
  | { readonly kind: "callback"; readonly callback: number };

export const inRegister = (register: Register): Argument => ({ kind: "register", register });
export const constant = (value: bigint | number): Argument => ({ kind: "constant", value: BigInt(value) });
export const addressOf = (memory: Memory): Argument => ({ kind: "address", memory });
export const kernelMap = (map: number): Argument => ({ kind: "map", map });

export class Emitter {
  code: MachineInstruction[] = [];
  /** Sizes of the objects, in bytes. */
  readonly objects: number[] = [];
  /** Those that are in scratch memory; the others are in the frame. */
  readonly scratchObjects = new Set<MemoryObject>();
  /** Registers that are never spilled (`bounded`). */
  readonly unspillable = new Set<Register>();
  readonly #cold: (() => void)[] = [];
  #registers = FIRST_VIRTUAL;
  #labels = 0;

  register(): Register {
    return this.#registers++;
  }
  label(): number {
    return this.#labels++;
  }
  get registerCount(): number {
    return this.#registers;
  }
  get labelCount(): number {
    return this.#labels;
  }
  object(size: number): MemoryObject {
    return this.objects.push(Math.ceil(size / 8) * 8) - 1;
  }
  /** Memory of this function in the frame. */
  temporary(size: number): Memory {
    return { base: FRAME, object: this.object(size), offset: 0 };
  }
  /** In scratch memory, behind what is always in use there (`base`). */
  inScratch(base: Register, size: number): Memory {
    const object = this.object(size);
    this.scratchObjects.add(object);
    return { base, object, offset: 0 };
  }
  touch(memory: Memory): void {
    if (memory.object !== NO_OBJECT) this.emit({ kind: "touch", object: memory.object });
  }

  emit(instruction: MachineInstruction): void {
    this.code.push(instruction);
  }
  /** Code that rarely runs: written after everything else. It must begin with `bind` and end with a jump. */
  cold(write: () => void): void {
    this.#cold.push(write);
  }
  flushCold(): void {
    for (let write = this.#cold.shift(); write !== undefined; write = this.#cold.shift()) write();
  }
  bind(label: number): void {
    this.emit({ kind: "label", label });
  }
  jump(to: number): void {
    this.emit({ kind: "jump", to });
  }

  move(dst: Register, src: Register): void {
    if (dst !== src) this.emit({ kind: "move", dst, src, narrow: false });
  }
  copy(src: Register): Register {
    const dst = this.register();
    this.move(dst, src);
    return dst;
  }
  set(dst: Register, value: bigint): void {
    this.emit({ kind: "constant", dst, value: BigInt.asIntN(64, value) });
  }
  /**
   * A copy that is compared, then used as an index or a size right away. What the verifier learns from a comparison is
   * about a register: of a copy in the frame that is loaded once more it may know nothing.
   */
  bounded(src: Register): Register {
    const dst = this.copy(src);
    this.unspillable.add(dst);
    return dst;
  }
  constant(value: bigint): Register {
    const dst = this.register();
    this.set(dst, value);
    return dst;
  }
  alu(operation: AluCode, dst: Register, src: Register, signed = false): void {
    this.emit({ kind: "alu", operation, wide: true, signed, dst, src });
  }
  /** With a constant of any size. */
  aluConstant(operation: AluCode, dst: Register, value: bigint, signed = false): void {
    const normal = BigInt.asIntN(64, value);
    if (fitsImmediate(normal))
      this.emit({ kind: "alu-immediate", operation, wide: true, signed, dst, immediate: Number(normal) });
    else this.alu(operation, dst, this.constant(normal), signed);
  }
  add(dst: Register, value: bigint | number): void {
    if (BigInt(value) !== 0n) this.aluConstant(Alu.ADD, dst, BigInt(value));
  }
  branch(condition: Condition, left: Register, right: Register, to: number, wide = true): void {
    this.emit({ kind: "branch", condition, wide, left, right, to });
  }
  /** With a constant of any size. */
  branchConstant(condition: Condition, left: Register, value: bigint, to: number): void {
    const normal = BigInt.asIntN(64, value);
    if (fitsImmediate(normal))
      this.emit({ kind: "branch-immediate", condition, wide: true, left, immediate: Number(normal), to });
    else this.branch(condition, left, this.constant(normal), to);
  }
  /** On the low 32 bits, with any 32-bit constant. */
  branchNarrow(condition: Condition, left: Register, immediate: number, to: number): void {
    this.emit({ kind: "branch-immediate", condition, wide: false, left, immediate: immediate | 0, to });
  }

  load(dst: Register, from: Memory, width: AccessWidth, signed = false): void {
    const at = this.reachable(from);
    this.emit({ kind: "load", width, signed, dst, base: at.base, object: at.object, offset: at.offset });
  }
  store(to: Memory, width: AccessWidth, src: Register): void {
    const at = this.reachable(to);
    this.emit({ kind: "store", width, base: at.base, object: at.object, offset: at.offset, src });
  }
  /** Any constant: in one instruction where it fits. */
  storeConstant(to: Memory, width: AccessWidth, value: bigint): void {
    const normal = BigInt.asIntN(width * 8, value);
    if (!fitsImmediate(normal)) return this.store(to, width, this.constant(normal));
    const at = this.reachable(to);
    this.emit({
      kind: "store-immediate",
      width,
      base: at.base,
      object: at.object,
      offset: at.offset,
      immediate: Number(normal),
    });
  }
  /** Adds atomically; with `fetch`, src becomes the old value. */
  atomicAdd(to: Memory, src: Register, fetch: boolean): void {
    const at = this.reachable(to);
    this.emit({
      kind: "atomic",
      operation: fetch ? Atomic.FETCH_ADD | Atomic.ADD : Atomic.ADD,
      fetch,
      base: at.base,
      object: at.object,
      offset: at.offset,
      src,
    });
  }
  /** Stores atomically; src becomes the old value. */
  exchange(to: Memory, src: Register): void {
    const at = this.reachable(to);
    this.emit({
      kind: "atomic",
      operation: Atomic.XCHG,
      fetch: true,
      base: at.base,
      object: at.object,
      offset: at.offset,
      src,
    });
  }
  /** Stores `next` where `expected` is, a constant or in a register, atomically: gives what was there. */
  compareExchange(to: Memory, expected: bigint | Register, next: Register): Register {
    const at = this.reachable(to);
    if (typeof expected === "bigint") this.set(0, expected);
    else this.move(0, expected);
    this.emit({ kind: "compare-exchange", base: at.base, object: at.object, offset: at.offset, src: next });
    return this.copy(0);
  }
  /** Instructions hold 16-bit offsets. */
  reachable(memory: Memory): Memory {
    if (memory.object !== NO_OBJECT || (memory.offset >= -32768 && memory.offset <= 32767)) return memory;
    const base = this.copy(memory.base);
    this.add(base, memory.offset);
    return { base, object: NO_OBJECT, offset: 0 };
  }

  /** The address of a place into a register. */
  address(dst: Register, memory: Memory): void {
    if (memory.object !== NO_OBJECT) {
      this.emit({ kind: "object-address", dst, base: memory.base, object: memory.object, offset: memory.offset });
      return;
    }
    this.move(dst, memory.base);
    this.add(dst, memory.offset);
  }
  addressRegister(memory: Memory): Register {
    if (memory.object === NO_OBJECT && memory.offset === 0) return memory.base;
    const dst = this.register();
    this.address(dst, memory);
    return dst;
  }
  map(dst: Register, map: number): void {
    this.emit({ kind: "patched", dst, pseudo: Pseudo.MAP_FD, note: { kind: "map", map, offset: 0 } });
  }
  /** The address of a byte of a one-entry array's value. */
  mapValue(map: number, offset: number): Register {
    const dst = this.register();
    this.emit({ kind: "patched", dst, pseudo: Pseudo.MAP_VALUE, note: { kind: "map-value", map, offset } });
    return dst;
  }
  patched(dst: Register, note: RelocationNote, pseudo = 0): void {
    this.emit({ kind: "patched", dst, pseudo, note });
  }

  /** Calls a helper: its result is in r0 until the next instruction that writes it; take it with `result`. */
  call(name: HelperName, ...args: readonly Argument[]): void {
    this.#arguments(args);
    this.emit({ kind: "call", helper: helpers[name].id, parameters: args.length });
  }
  /** Calls a function of this program. */
  callFunction(callback: number, ...args: readonly Argument[]): void {
    this.#arguments(args);
    this.emit({ kind: "call-function", callback, parameters: args.length });
  }
  #arguments(args: readonly Argument[]): void {
    // Addresses that need computing first, in registers of their own, so that no argument register is written too
    // early.
    args.forEach((argument, i) => {
      const register = i + 1;
      switch (argument.kind) {
        case "register":
          return this.move(register, argument.register);
        case "constant":
          return this.set(register, argument.value);
        case "address":
          return this.address(register, argument.memory);
        case "map":
          return this.map(register, argument.map);
        case "callback":
          return this.emit({ kind: "function", dst: register, callback: argument.callback });
      }
    });
  }
  /** Calls a function of the kernel by its BTF id, and takes its result. */
  callKernelFor(id: number, ...args: readonly Argument[]): Register {
    this.#arguments(args);
    this.emit({ kind: "call", helper: id, parameters: args.length, ofKernel: true });
    return this.copy(0);
  }
  /** Calls a helper and takes its result. */
  callFor(name: HelperName, ...args: readonly Argument[]): Register {
    this.call(name, ...args);
    return this.copy(0);
  }
}

/** A place some bytes further. */
export function at(memory: Memory, offset: number): Memory {
  return offset === 0 ? memory : { ...memory, offset: memory.offset + offset };
}
/** A place behind a pointer. */
export function behind(base: Register, offset = 0): Memory {
  return { base, object: NO_OBJECT, offset };
}
/** Widths that cover `size` bytes from an address of the given alignment. */
export function* pieces(
  alignment: number,
  size: number,
): Generator<{ readonly offset: number; readonly width: 1 | 2 | 4 | 8 }> {
  for (let offset = 0; offset < size;) {
    const left = size - offset;
    const width = [8, 4, 2, 1].find((candidate) => candidate <= left && candidate <= alignment) as 1 | 2 | 4 | 8;
    yield { offset, width };
    offset += width;
  }
}
