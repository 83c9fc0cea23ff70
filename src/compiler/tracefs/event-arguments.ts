// A handler's function as it runs in strobe's process over the records of an event: what it fetches of the moment is
// asked of the event as fetch arguments, or is in the record that the kernel writes anyway.
import { Failure } from "../../base/failure.ts";
import type { Fetch } from "../../language/context.ts";
import type { BinaryOp, Instruction, IrFunction, Source, Value } from "../ir/ir.ts";
import { optimizeFunction } from "../optimize/optimize.ts";
import { bytesWords, numberWords, textWords, type EventPlace, type FetchWords } from "./fetch-words.ts";
import { MadeValues } from "./made-values.ts";
import type { EventArgument } from "./tracefs-plan.ts";
import { tracefsReasons } from "../../messages/tracefs.ts";

/** Where an event's record has what it is asked for, and where the kernel says the event is. */
export interface RecordShape {
  /** Bytes before the first argument. */
  readonly head: number;
  /** Of the address of the probed place, or of the function that returns; absent where it is none. */
  readonly address?: number;
  /** Bytes that any argument has at least. */
  readonly slot?: number;
}

/** Arguments stand so far apart until it is known which of them are left. */
const stride = 16;
/** No record and no struct pt_regs is so long. */
const provisional = 1 << 20;

/** MAX_TRACE_ARGS of kernel/trace/trace_probe.h. */
const mostArguments = 128;

/** What the handlers of an event ask of it together: equal arguments are one. */
export class EventArguments {
  readonly all: EventArgument[] = [];
  readonly shape: RecordShape;
  #size: number;

  constructor(shape: RecordShape) {
    this.shape = shape;
    this.#size = shape.head;
  }

  /** Where the record has it. */
  offset(asked: FetchWords): number {
    const known = this.all.find(({ words, type }) => words === asked.words && type === asked.type);
    if (known !== undefined) return known.offset;
    const offset = this.#size;
    this.all.push({ ...asked, offset });
    this.#size += Math.max(sizeOfType(asked.type), this.shape.slot ?? 0);
    return offset;
  }
}

/** A handler at a place whose registers it is given, over the event's records. @returns what cannot be fetched */
export function withArguments(fn: IrFunction, place: EventPlace, args: EventArguments): IrFunction | Failure {
  const writing = new Writing(fn, place, args.shape);
  const failed = writing.rewrite();
  if (failed !== undefined) return failed;
  const finished = writing.finish(args);
  return args.all.length > mostArguments
    ? new Failure(tracefsReasons.tooManyValues(args.all.length, mostArguments))
    : finished;
}

class Writing {
  readonly #fn: IrFunction;
  readonly #place: EventPlace;
  readonly #shape: RecordShape;
  readonly #made: MadeValues;
  readonly #values: IrFunction["values"][number][];
  readonly #asked: FetchWords[] = [];
  readonly #known = new Map<string, number>();
  /** Constants that say where in the record an argument lies. */
  readonly #places = new Set<Value>();
  #out: Instruction[] = [];
  #blocks: IrFunction["blocks"] = [];

  constructor(fn: IrFunction, place: EventPlace, shape: RecordShape) {
    this.#fn = fn;
    this.#place = place;
    this.#shape = shape;
    this.#values = [...fn.values];
    this.#made = new MadeValues(fn);
  }

  rewrite(): Failure | undefined {
    const blocks = [];
    for (const block of this.#fn.blocks) {
      this.#out = [];
      for (const i of block.instructions) {
        const failed = this.#instruction(i);
        if (failed !== undefined) return failed;
      }
      blocks.push({ ...block, instructions: this.#out });
    }
    this.#blocks = blocks;
    return undefined;
  }

  /** Only what is used is asked for: a pointer on the way to something is not. */
  finish(args: EventArguments): IrFunction {
    const fn = optimizeFunction({ ...this.#fn, values: this.#values, blocks: this.#blocks });
    const place = (at: number): number => args.offset(this.#asked[(at - provisional) / stride]);
    const placed = (i: Instruction): Instruction => {
      if (i.op === "load-context" && i.offset >= provisional) return { ...i, offset: place(i.offset) };
      if (i.op === "constant" && this.#places.has(i.result)) return { ...i, value: BigInt(place(Number(i.value))) };
      return i;
    };
    return {
      ...fn,
      blocks: fn.blocks.map((block) => ({ ...block, instructions: block.instructions.map(placed) })),
    };
  }

  // ── instructions ──

  #instruction(i: Instruction): Failure | undefined {
    switch (i.op) {
      case "load-context": {
        const number = this.#number(this.#made.fetch(i.result));
        if (number instanceof Failure) return number;
        this.#out.push({ ...i, offset: number });
        return undefined;
      }
      case "extend": {
        const made = this.#made.fetch(i.value);
        if (made.kind !== "context" || made.size * 8 <= i.bits) {
          this.#out.push(i);
          return undefined;
        }
        // A part of a register is asked for as it is: filters know no parts.
        const { result, bits, signed } = i;
        const size = (bits / 8) as 1 | 2 | 4;
        const number = this.#number({ kind: "narrow", of: made, size, signed });
        if (number instanceof Failure) return number;
        this.#out.push({ op: "load-context", result, offset: number, size, signed });
        return undefined;
      }
      case "read": {
        const { result, size, signed } = i;
        const number = this.#number(this.#made.fetch(result));
        if (number instanceof Failure) return number;
        const { address, offset, space } = i;
        const loaded = this.#value();
        this.#out.push({ op: "load-context", result: loaded, offset: number, size, signed });
        const mask = this.#readable(address, offset, space);
        this.#out.push({ op: "binary", kind: "and", result, left: loaded, right: mask });
        return undefined;
      }
      case "builtin":
        if (i.name === "func-ip") {
          const { address } = this.#shape;
          if (address === undefined) return new Failure(tracefsReasons.functionAddress());
          this.#out.push({ op: "load-context", result: i.result, offset: address, size: 8, signed: false });
        } else this.#out.push(i);
        return undefined;
      case "fill":
      case "fill-element":
      case "map-store": {
        const source = this.#source(i.source);
        if (source instanceof Failure) return source;
        this.#out.push({ ...i, source });
        return undefined;
      }
      case "emit": {
        const fields: Source[] = [];
        for (const field of i.fields) {
          const source = this.#source(field);
          if (source instanceof Failure) return source;
          fields.push(source);
        }
        this.#out.push({ ...i, fields });
        return undefined;
      }
      default:
        this.#out.push(i);
        return undefined;
    }
  }

  /** What is read from memory is in the record instead. */
  #source(source: Source): Source | Failure {
    switch (source.kind) {
      case "string": {
        const own = this.#ownText(source.address);
        const asked = own ?? textWords(this.#made.fetch(source.address), source.space, this.#place);
        if (asked instanceof Failure) return asked;
        const located = this.#value();
        this.#out.push({ op: "load-context", result: located, offset: this.#ask(asked), size: 4, signed: false });
        const at = this.#binary("and", located, this.#constant(0xffffn));
        const address = this.#binary("add", this.#context(), at);
        const { watch: _, ...rest } = source;
        if (own !== undefined) return { ...rest, space: "kernel", address };
        const mask = this.#readable(source.address, 0, source.space);
        return { ...rest, space: "kernel", address: this.#binary("and", address, mask) };
      }
      case "memory": {
        const asked = bytesWords(this.#made.fetch(source.address), source.size, source.space, this.#place);
        if (asked instanceof Failure) return asked;
        const at = this.#constant(BigInt(this.#ask(asked)));
        this.#places.add(at);
        const address = this.#binary("add", this.#context(), at);
        const { watch: _, ...rest } = source;
        const mask = this.#readable(source.address, 0, source.space);
        return { ...rest, space: "kernel", address: this.#binary("and", address, mask) };
      }
      case "buffer":
        return new Failure(tracefsReasons.lengthToldLater());
      default:
        return source;
    }
  }

  /** A text that the event has which this one is on. */
  #ownText(address: Value): FetchWords | Failure | undefined {
    const text = this.#made.recordText(address);
    const words = text === undefined ? undefined : this.#place.named?.(text.offset);
    return words === undefined || words instanceof Failure ? words : { words, type: "string" };
  }

  // ── what makes a value ──

  #number(fetch: Fetch): number | Failure {
    const asked = numberWords(fetch, this.#place);
    return asked instanceof Failure ? asked : this.#ask(asked);
  }

  /** The provisional offset of an argument; equal ones are one. */
  #ask(words: FetchWords): number {
    const key = `${words.words}:${words.type}`;
    let number = this.#known.get(key);
    if (number === undefined) {
      number = this.#asked.push(words) - 1;
      this.#known.set(key, number);
    }
    return provisional + number * stride;
  }

  // ── instructions of ours ──

  /**
   * All ones where an address can be read, else 0: the kernel leaves a number that it could not read as it was (store_
   * trace_args of kernel/trace/trace_probe_tmpl.h), and so the record has anything there.
   */
  #readable(pointer: Value, offset: number, space: "kernel" | "user" | "typed"): Value {
    const address = offset === 0 ? pointer : this.#binary("add", pointer, this.#constant(BigInt(offset)));
    const [low, length] = space === "user" || this.#place.inProgram ? userAddresses : kernelAddresses;
    const within = this.#binary("sub", address, this.#constant(low));
    const result = this.#value();
    this.#out.push({ op: "compare", kind: "ult", result, left: within, right: this.#constant(length) });
    return this.#binary("sub", this.#constant(0n), result);
  }

  #value(): Value {
    return this.#values.push({}) - 1;
  }

  #constant(value: bigint): Value {
    const result = this.#value();
    this.#out.push({ op: "constant", result, value });
    return result;
  }

  #binary(kind: BinaryOp, left: Value, right: Value): Value {
    const result = this.#value();
    this.#out.push({ op: "binary", kind, result, left, right });
    return result;
  }

  #context(): Value {
    const result = this.#value();
    this.#out.push({ op: "builtin", result, name: "context" });
    return result;
  }
}

/** Where memory can be at all: first address, and how many. The first page and the last, of error numbers, never are. */
const userAddresses = [0x1000n, (1n << 56n) - 0x1000n] as const;
const kernelAddresses = [BigInt.asIntN(64, 1n << 63n), (1n << 63n) - 0x1000n] as const;

/** Bytes of an argument in the record: of a text, the word that says where it is. */
function sizeOfType(type: string): number {
  const [, bits, count = "1"] = /^[us](\d+)(?:\[(\d+)\])?$/.exec(type) ?? [];
  return bits === undefined ? 4 : (Number(bits) / 8) * Number(count);
}
