// What an event has to fulfil for a handler to do anything at all: found in the branches that the handler begins with,
// before anything is done. The handler decides anew over each event that comes through, so a condition may let more
// through than is needed, and what the kernel cannot look at is left out of it.
import { MadeValues, type RecordText } from "./made-values.ts";
import type { CompareOp, Instruction, IrBlock, IrFunction, Value } from "../ir/ir.ts";
import {
  both,
  either,
  testsIn,
  type Comparison,
  type EventFilter,
  type NumberTest,
  type TextTest,
} from "./event-filter.ts";

/** Filters are texts of a page at most, and are looked at in each event. */
const mostTests = 32;

/** @returns true where any event may be one that it does something for */
export function handlerFilter(fn: IrFunction): EventFilter {
  return new Finding(fn).of(0);
}

/** The same where it says all that decides; undefined where something else does, too. */
export function wholeFilter(fn: IrFunction): EventFilter | undefined {
  const finding = new Finding(fn);
  const filter = finding.of(0);
  return finding.whole ? filter : undefined;
}

/** What only computes: an event may be left out for which a handler does no more. */
const silent: ReadonlySet<Instruction["op"]> = new Set([
  "constant",
  "binary",
  "compare",
  "extend",
  "swap-bytes",
  "builtin",
  "load-context",
  "load",
  "address-of",
  "store",
  "zero",
  "read",
  "fill",
  "fill-element",
  "compare-strings",
  "compare-bytes",
  "find-string",
  "concat-strings",
  "cut-string",
  "string-length",
  "map-lookup",
  "entry-load",
  "entry-copy",
  "map-load",
  "map-copy",
  "map-has",
  "map-length",
]);

export function isSilent({ op }: Instruction): boolean {
  return silent.has(op);
}

class Finding {
  readonly #fn: IrFunction;
  readonly #made = new Map<Value, Instruction>();
  readonly #values: MadeValues;
  readonly #known = new Map<number, EventFilter>();
  readonly #within = new Set<number>();
  /** Nothing that decides was left out. */
  whole = true;

  constructor(fn: IrFunction) {
    this.#fn = fn;
    this.#values = new MadeValues(fn);
    for (const { instructions } of fn.blocks)
      for (const i of instructions) if ("result" in i && i.result !== undefined) this.#made.set(i.result, i);
  }

  /** For anything to be done from a block on. */
  of(number: number): EventFilter {
    const known = this.#known.get(number);
    if (known !== undefined) return known;
    // A loop.
    if (this.#within.has(number)) return this.#anything();
    this.#within.add(number);
    const found = this.#block(this.#fn.blocks[number]);
    this.#within.delete(number);
    const filter = testsIn(found) > mostTests ? this.#anything() : found;
    this.#known.set(number, filter);
    return filter;
  }

  #block({ instructions, terminator }: IrBlock): EventFilter {
    if (!instructions.every(({ op }) => silent.has(op))) return true;
    switch (terminator.op) {
      case "return":
        return false;
      case "guard":
        return this.#anything();
      case "jump":
        return this.of(terminator.to);
      case "branch": {
        const { condition, then, otherwise } = terminator;
        const [yes, no] = [this.of(then), this.of(otherwise)];
        const [is, isNot] = [this.#truth(condition, true), this.#truth(condition, false)];
        if (yes === true) return either(is, no);
        if (no === true) return either(isNot, yes);
        // `(a || b) && c`
        if (typeof no === "object" && no.kind === "and" && no.right === yes) return both(either(is, no.left), yes);
        return either(both(is, yes), both(isNot, no));
      }
    }
  }

  // ── conditions ──

  #anything(): true {
    this.whole = false;
    return true;
  }

  /** For a value to be true, or not. */
  #truth(value: Value, wanted: boolean): EventFilter {
    const made = this.#made.get(value);
    switch (made?.op) {
      case "constant":
        return (made.value !== 0n) === wanted;
      case "compare":
        if ((made.kind === "eq" || made.kind === "ne") && this.#constant(made.right) === 0n && this.#isTruth(made.left))
          return this.#truth(made.left, (made.kind === "ne") === wanted);
        return this.#numbers(made.kind, made.left, made.right, wanted);
      case "compare-strings":
        return made.ordered === true ? this.#anything() : this.#texts(made, !wanted);
      case "binary": {
        const { kind, left, right } = made;
        if ((kind === "and" || kind === "or") && this.#isTruth(left) && this.#isTruth(right)) {
          const sides = [this.#truth(left, wanted), this.#truth(right, wanted)] as const;
          return (kind === "and") === wanted ? both(...sides) : either(...sides);
        }
        return this.#compared("ne", value, 0n, wanted);
      }
      default:
        return this.#compared("ne", value, 0n, wanted);
    }
  }

  /** 0 or 1; or 0 where texts are equal. */
  #isTruth(value: Value): boolean {
    const made = this.#made.get(value);
    return made?.op === "compare" || (made?.op === "compare-strings" && made.ordered !== true);
  }

  #constant(value: Value): bigint | undefined {
    const made = this.#made.get(value);
    return made?.op === "constant" ? made.value : undefined;
  }

  #numbers(kind: CompareOp, left: Value, right: Value, wanted: boolean): EventFilter {
    const bound = (value: Value): bigint | "child" | undefined => {
      const made = this.#made.get(value);
      return made?.op === "builtin" && made.name === "child-pid" ? "child" : this.#constant(value);
    };
    const [behind, before] = [bound(right), bound(left)];
    if (behind !== undefined) return this.#compared(kind, left, behind, wanted);
    return before === undefined ? this.#anything() : this.#compared(mirrored[kind], right, before, wanted);
  }

  #compared(kind: CompareOp, left: Value, right: bigint | "child", wanted: boolean): EventFilter {
    const asked = wanted ? kind : inverse[kind];
    return this.#tested(left, { test: tests[asked], value: right, unsigned: asked.startsWith("u") });
  }

  #tested(value: Value, asked: Pick<NumberTest, "test" | "value" | "unsigned">): EventFilter {
    const made = this.#made.get(value);
    switch (made?.op) {
      case "load-context": {
        const { offset, size, signed } = made;
        return { kind: "number", of: { offset, size, signed }, ...asked };
      }
      case "builtin":
        return made.name === "cpu" ? { kind: "number", of: "cpu", ...asked } : this.#anything();
      case "extend": {
        const from = this.#made.get(made.value);
        if (from?.op === "builtin")
          return made.bits === 32 && isThread(from.name) ? { kind: "number", of: "tid", ...asked } : this.#anything();
        if (from?.op !== "load-context" || from.size * 8 > made.bits) return this.#anything();
        const { offset, size } = from;
        if (size * 8 === made.bits) return { kind: "number", of: { offset, size, signed: made.signed }, ...asked };
        return from.signed && !made.signed ? this.#anything() : this.#tested(made.value, asked);
      }
      case "binary": {
        if (made.kind === "lshr" && this.#constant(made.right) === 32n) {
          const from = this.#made.get(made.left);
          if (from?.op === "builtin" && isThread(from.name)) return { kind: "number", of: "process", ...asked };
        }
        if (made.kind !== "and") return this.#anything();
        const { left, right } = made;
        // What could not be read is 0, and the record has anything there.
        if (this.#isReadable(right)) return passesZero(asked) ? this.#anything() : this.#tested(left, asked);
        const mask = this.#constant(right);
        const from = this.#made.get(left);
        if (mask === undefined) return this.#anything();
        if (mask === 0xffff_ffffn && from?.op === "builtin" && isThread(from.name))
          return { kind: "number", of: "tid", ...asked };
        const { test, value: bits } = asked;
        const single = mask !== 0n && (mask & (mask - 1n)) === 0n && bits === mask;
        if ((test !== "==" && test !== "!=") || (bits !== 0n && !single)) return this.#anything();
        return this.#tested(left, {
          test: (test === "==") === (bits === 0n) ? "!&" : "&",
          value: mask,
          unsigned: true,
        });
      }
      default:
        return this.#anything();
    }
  }

  /** All ones or 0 (EventArguments). */
  #isReadable(value: Value): boolean {
    const made = this.#made.get(value);
    return (
      made?.op === "binary" &&
      made.kind === "sub" &&
      this.#constant(made.left) === 0n &&
      this.#made.get(made.right)?.op === "compare"
    );
  }

  // ── texts ──

  #texts(compared: Extract<Instruction, { op: "compare-strings" }>, equal: boolean): EventFilter {
    const { left, right, length } = compared;
    if (!(right instanceof Uint8Array) || left.kind !== "slot" || left.offset !== 0) return this.#anything();
    const fills = this.#fills(left.slot);
    const end = right.indexOf(0);
    const text = Buffer.from(end < 0 ? right : right.subarray(0, end)).toString("latin1");
    const whole = end >= 0 && length > text.length;
    if (fills?.length !== 1 || text === "" || (!whole && length !== text.length)) return this.#anything();
    const [{ source }] = fills;
    const of =
      source.kind === "comm" ? "comm" : source.kind === "string" ? this.#textAt(source, text, equal) : undefined;
    if (of === undefined) return this.#anything();
    const test: TextTest["test"] = whole ? (equal ? "==" : "!=") : equal ? "begins" : "begins not";
    return { kind: "text", of, test, text };
  }

  /** What is written into a slot; undefined where that is not only by whole fills. */
  #fills(slot: number): Extract<Instruction, { op: "fill" }>[] | undefined {
    const fills = [];
    for (const { instructions } of this.#fn.blocks) {
      for (const i of instructions) {
        if (!("to" in i) || i.to === undefined || i.to.kind !== "slot" || i.to.slot !== slot) continue;
        if (i.op !== "fill" || i.to.offset !== 0) return undefined;
        fills.push(i);
      }
    }
    return fills;
  }

  #textAt(
    { address, limit, size }: Extract<Extract<Instruction, { op: "fill" }>["source"], { kind: "string" }>,
    text: string,
    equal: boolean,
  ): RecordText | undefined {
    // Of texts that were cut, the end is not known.
    if (limit !== undefined || text.length >= size - 1) return undefined;
    const made = this.#made.get(address);
    const masked = made?.op === "binary" && made.kind === "and" && this.#isReadable(made.right);
    // What could not be read is empty.
    if (masked && !equal) return undefined;
    return this.#values.recordText(masked ? made.left : address);
  }
}

function isThread(name: string): boolean {
  return name === "pid-and-tid" || name === "initial-pid-and-tid";
}

/** Whether 0 passes. */
function passesZero({ test, value: asked, unsigned }: Pick<NumberTest, "test" | "value" | "unsigned">): boolean {
  if (asked === "child") return true;
  const value = unsigned ? BigInt.asUintN(64, asked) : BigInt.asIntN(64, asked);
  switch (test) {
    case "==":
      return value === 0n;
    case "!=":
      return value !== 0n;
    case "&":
      return false;
    case "!&":
      return true;
    case "<":
      return 0n < value;
    case "<=":
      return 0n <= value;
    case ">":
      return 0n > value;
    case ">=":
      return 0n >= value;
  }
}

const tests: Readonly<Record<CompareOp, Comparison>> = {
  eq: "==",
  ne: "!=",
  ult: "<",
  ule: "<=",
  ugt: ">",
  uge: ">=",
  slt: "<",
  sle: "<=",
  sgt: ">",
  sge: ">=",
};

const inverse: Readonly<Record<CompareOp, CompareOp>> = {
  eq: "ne",
  ne: "eq",
  ult: "uge",
  ule: "ugt",
  ugt: "ule",
  uge: "ult",
  slt: "sge",
  sle: "sgt",
  sgt: "sle",
  sge: "slt",
};

/** With the sides exchanged. */
const mirrored: Readonly<Record<CompareOp, CompareOp>> = {
  eq: "eq",
  ne: "ne",
  ult: "ugt",
  ule: "uge",
  ugt: "ult",
  uge: "ule",
  slt: "sgt",
  sle: "sge",
  sgt: "slt",
  sge: "sle",
};
