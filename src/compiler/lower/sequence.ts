// What the kernel itself prints. printf in a pinned iterator: whoever reads the file makes the kernel run the handler
// and gets what it prints (bpf_seq_printf), since strobe is gone by then. And debugf, into the kernel's trace
// (bpf_trace_vprintk).
import { compiler } from "../../messages/compiler.ts";
import { parsePrintf, type PrintfConversion } from "../../language/printf.ts";
import type { Call, Expression } from "../../language/program.ts";
import { sizeOf } from "../../language/layout.ts";
import type { Fetch } from "../../language/context.ts";
import type { StringType, Type } from "../../language/types.ts";
import type { Value } from "../ir/ir.ts";
import { literalText } from "./call-arguments.ts";
import { fetchValue } from "./fetch.ts";
import { at } from "./memory.ts";
import { isRegister } from "./registers.ts";
import { convert } from "./scalars.ts";
import type { FunctionState } from "./state.ts";

/**
 * The kernel copies the numbers and texts of one call into 512 bytes, and takes 12 of them (MAX_BPRINTF_BIN_ARGS,
 * MAX_BPRINTF_VARARGS).
 */
const mostBytes = 500;
const mostValues = 12;

/** Lowers an action of such a handler. */
export function printInto(f: FunctionState, e: Call, sequence: Fetch): void {
  if (e.name !== "printf") {
    return f.refuse(e.span, compiler.notInPinnedIterator(e.name));
  }
  printAll(f, e, new Calls(f, "a pinned iterator", fetchValue(f, sequence)));
}

/** `debugf("…", …)` */
export function printIntoTrace(f: FunctionState, e: Call): void {
  printAll(f, e, new Calls(f, "debugf()", undefined));
}

function printAll(f: FunctionState, e: Call, calls: Calls): void {
  const [first, ...values] = e.args;
  const { pieces } = parsePrintf(literalText(first));
  let next = 0;
  for (const piece of pieces) {
    if (typeof piece === "string") calls.text(piece);
    else calls.value(piece, values[next++] ?? f.fault(e.span, "a format with fewer values than conversions"));
  }
  calls.end();
}

/** As many calls of the kernel's printf as one of strobe's takes. */
class Calls {
  readonly #f: FunctionState;
  readonly #printer: string;
  readonly #sequence: Value | undefined;
  #format = "";
  #values: Value[] = [];
  #bytes = 0;

  constructor(f: FunctionState, printer: string, sequence: Value | undefined) {
    this.#f = f;
    this.#printer = printer;
    this.#sequence = sequence;
  }

  text(text: string): void {
    // Its formats are of ASCII; what else there is goes as a text of its own.
    for (const part of text.split(/([^\t\n\v\f\r -~]+)/)) {
      if (/^[\t\n\v\f\r -~]*$/.test(part)) this.#format += part.replaceAll("%", "%%");
      else this.#add("%s", Buffer.byteLength(part) + 1, () => this.#constant(part));
    }
  }

  value(conversion: PrintfConversion, e: Expression): void {
    const { letter, flags, width, precision } = conversion;
    const f = this.#f;
    const no = (why: string): never => f.refuse(e.span, compiler.cannotPrint(this.#printer, why));
    if (precision !== -1) return no("the kernel knows no precision");
    if (/[#']/.test(flags)) return no(`the kernel knows no \`${/[#']/.exec(flags)?.[0]}\` in a conversion`);
    const spec = `%${flags}${width === 0 ? "" : width}`;
    const { type } = e;
    const number = (of: Type): Value => convert(f, f.value(e), type, of);
    switch (letter) {
      case "d":
      case "i":
        return this.#add(`${spec}lld`, 8, () => number(this.#sized(e, conversion, true)));
      case "u":
      case "x":
      case "X":
        return this.#add(`${spec}ll${letter}`, 8, () => number(this.#sized(e, conversion, false)));
      case "p":
        return this.#add(`${spec}llx`, 8, () => number({ kind: "integer", bits: 64, signed: false }), "0x");
      case "c":
        return this.#add(`${spec}s`, 2, () => this.#character(f.value(e)));
      case "s": {
        if (type.kind === "named" && type.of === "ksym" && type.symbol === undefined)
          return this.#add(`${spec}ps`, 8, () => f.value(e));
        if (type.kind !== "string") return no("%s wants a text");
        return this.#add(`${spec}s`, Math.min(type.capacity, mostBytes), () => this.#copy(e, type));
      }
      default:
        return no(`the kernel knows no %${letter}`);
    }
  }

  /** The bits of a value that its type, or the conversion, has, taken as signed or not. */
  #sized(e: Expression, { bits }: PrintfConversion, signed: boolean): Type {
    const { type } = e;
    if (!isRegister(type)) return this.#f.fault(e.span, "a value that is not a number");
    const own = type.kind === "integer" || type.kind === "enum" ? type.bits : 64;
    const fewer = bits !== undefined && bits < own ? bits : own;
    return { kind: "integer", bits: fewer, signed };
  }

  #add(spec: string, bytes: number, value: () => Value, before = ""): void {
    if (this.#values.length === mostValues || this.#bytes + bytes > mostBytes) this.end();
    this.#format += before + spec;
    this.#bytes += bytes;
    this.#values.push(value());
  }

  #constant(text: string): Value {
    const bytes = Buffer.from(`${text}\0`);
    const place = this.#f.slotOf("text", bytes.length);
    this.#f.build.emit({ op: "fill", to: place, source: { kind: "constant", bytes, size: bytes.length } });
    return this.#f.build.give((result) => ({ op: "address-of", result, what: place }));
  }

  #character(value: Value): Value {
    const place = this.#f.slotOf("character", 2);
    this.#f.build.emit({ op: "store", to: place, value, size: 1 });
    this.#f.build.emit({ op: "zero", at: at(place, 1), size: 1 });
    return this.#f.build.give((result) => ({ op: "address-of", result, what: place }));
  }

  #copy(e: Expression, type: StringType): Value {
    const place = this.#f.slotOf("text", sizeOf(type));
    this.#f.into(e, type, place);
    return this.#f.build.give((result) => ({ op: "address-of", result, what: place }));
  }

  end(): void {
    const { build } = this.#f;
    if (this.#format === "") return;
    const bytes = Buffer.from(`${this.#format}\0`);
    const format = this.#f.slotOf("format", bytes.length);
    build.emit({ op: "fill", to: format, source: { kind: "constant", bytes, size: bytes.length } });
    const data = this.#f.slotOf("values", Math.max(8, this.#values.length * 8));
    if (this.#values.length === 0) build.emit({ op: "zero", at: data, size: 8 });
    this.#values.forEach((value, i) => build.emit({ op: "store", to: at(data, i * 8), value, size: 8 }));
    build.emit({
      op: "kernel-print",
      ...(this.#sequence === undefined ? {} : { sequence: this.#sequence }),
      format,
      formatSize: bytes.length,
      data,
      values: this.#values.length,
    });
    this.#format = "";
    this.#values = [];
    this.#bytes = 0;
  }
}
