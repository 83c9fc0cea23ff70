// Writes IR by hand, for tests of the generators.
import type { Context, ProgramType } from "../../src/language/context.ts";
import type { AggregateType, Type } from "../../src/language/types.ts";
import { u64 } from "../../src/language/types.ts";
import type {
  BinaryOp,
  BuiltinValue,
  CompareOp,
  Instruction,
  IrBlock,
  IrFunction,
  IrMap,
  Place,
  Slot,
  Source,
  Terminator,
  Value,
  ValueInfo,
} from "../../src/compiler/ir/ir.ts";
import type { MapStorage } from "../../src/compiler/bpf/bpf-plan.ts";

/** A map, and where it is. */
export interface PlacedMap extends IrMap {
  readonly storage: MapStorage;
}

export function contextOf(type: ProgramType, more: Partial<Context> = {}): Context {
  return { provider: "test", program: { type, cookie: true }, defaultSpace: "kernel", stacks: true, ...more };
}

export function slotMap(index: number): PlacedMap {
  return {
    name: `out${index}`,
    shown: `@out${index}`,
    keys: [],
    value: u64,
    storage: { kind: "slot", offset: index * 16 },
    entries: 1,
  };
}
export function irMap(
  name: string,
  keys: readonly Type[],
  value: Type | AggregateType,
  storage: MapStorage,
  entries = 64,
): PlacedMap {
  return { name, shown: `@${name}`, keys, value, storage, entries };
}

/** One function; instructions go to the block begun last. */
export class IrBuilder {
  readonly #values: ValueInfo[] = [];
  readonly #slots: Slot[] = [];
  readonly #blocks: { parameters: Value[]; instructions: Instruction[]; terminator: Terminator }[] = [];
  #block = -1;
  readonly #kind: IrFunction["kind"];
  readonly #name: string;

  constructor(name = "test", kind: IrFunction["kind"] = "handler") {
    this.#name = name;
    this.#kind = kind;
    this.at(this.block());
  }

  fresh(): Value {
    return this.#values.push({}) - 1;
  }
  slot(size: number, align = 8): number {
    return this.#slots.push({ name: `s${this.#slots.length}`, size, align }) - 1;
  }
  /** A place in a new slot. */
  memory(size: number): Place {
    return { kind: "slot", slot: this.slot(size), offset: 0 };
  }
  block(parameters = 0): number {
    const values = Array.from({ length: parameters }, () => this.fresh());
    return this.#blocks.push({ parameters: values, instructions: [], terminator: { op: "return" } }) - 1;
  }
  parameter(block: number, index = 0): Value {
    return this.#blocks[block]?.parameters[index] ?? -1;
  }
  at(block: number): void {
    this.#block = block;
  }
  add(instruction: Instruction): void {
    this.#blocks[this.#block]?.instructions.push(instruction);
  }
  end(terminator: Terminator): void {
    const block = this.#blocks[this.#block];
    if (block !== undefined) block.terminator = terminator;
  }
  jump(to: number, ...args: Value[]): void {
    this.end({ op: "jump", to, args });
  }
  branch(condition: Value, then: number, otherwise: number): void {
    this.end({ op: "branch", condition, then, otherwise });
  }

  constant(value: bigint | number): Value {
    const result = this.fresh();
    this.add({ op: "constant", result, value: BigInt(value) });
    return result;
  }
  binary(kind: BinaryOp, left: Value, right: Value): Value {
    const result = this.fresh();
    this.add({ op: "binary", kind, result, left, right });
    return result;
  }
  compare(kind: CompareOp, left: Value, right: Value): Value {
    const result = this.fresh();
    this.add({ op: "compare", kind, result, left, right });
    return result;
  }
  builtin(name: BuiltinValue): Value {
    const result = this.fresh();
    this.add({ op: "builtin", result, name });
    return result;
  }
  /** The n-th u64 of the context. */
  argument(index: number): Value {
    const result = this.fresh();
    this.add({ op: "load-context", result, offset: index * 8, size: 8, signed: false });
    return result;
  }
  fill(to: Place, source: Source): void {
    this.add({ op: "fill", to, source });
  }
  text(to: Place, text: string, size: number): void {
    this.fill(to, { kind: "constant", bytes: Buffer.from(`${text}\0`), size });
  }
  key(value: Value): Place {
    const place = this.memory(8);
    this.add({ op: "store", to: place, value, size: 8 });
    return place;
  }
  /** Stores a result where the test reads it: maps 0 and up are `slotMap`s. */
  result(index: number, value: Value): void {
    this.add({ op: "map-store", map: index, source: { kind: "value", value, width: 8 } });
  }

  finish(context: Context | undefined, matches: readonly bigint[] = []): IrFunction {
    const blocks: IrBlock[] = this.#blocks;
    return {
      name: this.#name,
      kind: this.#kind,
      placement: "kernel",
      matches,
      values: this.#values,
      slots: this.#slots,
      blocks,
      ...(context === undefined ? {} : { context }),
    };
  }
}
