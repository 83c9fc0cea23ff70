// Arguments of a static user probe, as its ELF note describes them in the assembler's words
// (https://sourceware.org/systemtap/wiki/UserSpaceProbeImplementation, and <sys/sdt.h>, which writes them):
//   SIZE@OPERAND …   SIZE: bytes, negative when signed, with an `f` for floating point
// x86-64 operands: `%rdi`, `%ah`, `$5`, `$sym`, `8(%rbp)`, `-4(%rbp,%rax,4)`, `sym(%rip)`, `sym+8(%rip)`, `sym+8`, `sym(,%rax,4)`
// arm64 operands:  `x0`, `wzr`, `5`, `[sp, 16]`, `[x1]`, `[x1, x2, lsl 3]`, `[x1, w2, sxtw 2]`
import type { Fetch } from "../../language/context.ts";
import { fetchRegister, registersOf, type Machine, type RegisterFile } from "../contexts/registers.ts";
import { Failure } from "../../base/failure.ts";
import { variableReasons } from "../../messages/on-demand.ts";

export interface UsdtArgument {
  /** As the note has it: `-4@%edi`. */
  readonly text: string;
  /** Bytes. */
  readonly size: Width;
  readonly signed: boolean;
  /** A float or a double: the fetch gives its bits. */
  readonly float: boolean;
  /** It is counted from a symbol: how far that is differs from place to place. */
  readonly bySymbol: boolean;
  /** How it is read, or in words why it is not. */
  readonly value: Fetch | Failure;
}

/** Where symbols of the binary are, for operands that name one. */
export interface SymbolPlaces {
  /** Bytes from the probe's instruction. */
  distance(symbol: string): bigint | undefined;
  /** Where programs are that are always loaded at the same addresses. */
  address(symbol: string): bigint | undefined;
}

type Width = 1 | 2 | 4 | 8;
interface Shape {
  readonly size: Width;
  readonly signed: boolean;
}

/** One entry an argument, in order. */
export function parseUsdtArguments(text: string, machine: Machine, places: SymbolPlaces): UsdtArgument[] {
  const file = registersOf(machine);
  return split(text).map((argument): UsdtArgument => {
    const match = /^(?:(-?)([1248])(f?)@)?(.+)$/s.exec(argument);
    // A bare operand is as wide as a register.
    const [size, signed, float] =
      match?.[2] === undefined
        ? [8 as const, false, false]
        : [Number(match[2]) as Width, match[1] === "-", match[3] === "f"];
    const shape = { size, signed };
    // One space at a time: patterns with several places for spaces take the square of how many there are.
    const operand = match?.[4].replace(/\s+/g, " ").trim() ?? "";
    let bySymbol = false;
    const noticing =
      (find: (symbol: string) => bigint | undefined) =>
      (symbol: string): bigint | undefined => {
        bySymbol = true;
        return find(symbol);
      };
    const seen = {
      distance: noticing((symbol) => places.distance(symbol)),
      address: noticing((symbol) => places.address(symbol)),
    };
    const value = machine === "x86-64" ? x86Operand(operand, shape, file, seen) : arm64Operand(operand, shape, file);
    return { text: argument, ...shape, float, bySymbol, value };
  });
}

/** Arguments stand apart by spaces, but memory operands may have spaces inside. */
function split(text: string): string[] {
  return text.match(/(?:\[[^\]]*\]?|\([^)]*\)?|[^\s[(])+/g) ?? [];
}

function sized(of: Fetch, { size, signed }: Shape): Fetch {
  return size === 8 ? of : { kind: "narrow", of, size, signed };
}

function constant(value: bigint, { size, signed }: Shape): Fetch {
  return { kind: "constant", value: signed ? BigInt.asIntN(size * 8, value) : BigInt.asUintN(size * 8, value) };
}

function wholeNumber(text: string): bigint | undefined {
  const match = /^([-+]?)(0[xX][\da-fA-F]+|\d+)$/.exec(text.trim());
  return match ? (match[1] === "-" ? -BigInt(match[2]) : BigInt(match[2])) : undefined;
}

/** `-8`, `sym`, `sym+8`, `8+sym-4`, nothing; in words what of it is not known. */
function sum(text: string, symbol: (name: string) => bigint | undefined): bigint | Failure {
  let total = 0n;
  for (const term of text.replace(/\s+/g, "").match(/[-+]?[^-+]+/g) ?? []) {
    const name = term.replace(/^[-+]/, "");
    const number = wholeNumber(term) ?? (term.startsWith("-") ? undefined : symbol(name));
    if (number === undefined) return new Failure(variableReasons().countedFrom(name));
    total += number;
  }
  return total;
}

// ── x86-64 ───────────────────────────────────────────────────────────────────────────────────────────────────────────

function x86Operand(text: string, shape: Shape, file: RegisterFile, places: SymbolPlaces): Fetch | Failure {
  if (text.startsWith("$")) {
    const value = sum(text.slice(1), (symbol) => places.address(symbol));
    return value instanceof Failure ? value : constant(value, shape);
  }
  if (/^%[fg]s:/.test(text)) return new Failure(variableReasons().ownOfThread());
  if (text.startsWith("%")) {
    if (/^%([xyz]mm|mm|st)\b|^%[xyz]?mm\d/.test(text)) return new Failure(variableReasons().inVector());
    const register = x86Register(text.slice(1));
    if (register === undefined) return new Failure(variableReasons().unknownPlace());
    const whole = fetchRegister(file, register.name);
    return sized(
      register.high ? { kind: "binary", operator: ">>>", left: whole, right: { kind: "constant", value: 8n } } : whole,
      shape,
    );
  }
  const memory = /^([^()]*)(?:\(\s*(%\w+)?\s*(?:,\s*(%\w+)\s*(?:,\s*([1248])\s*)?)?\))?$/.exec(text);
  if (!memory) return new Failure(variableReasons().unknownPlace());
  const [, displacement = "", baseText, indexText, scaleText] = memory;
  const base = baseText === undefined ? undefined : x86Register(baseText.slice(1));
  const index = indexText === undefined ? undefined : x86Register(indexText.slice(1));
  if ((baseText !== undefined && base === undefined) || (indexText !== undefined && index === undefined))
    return new Failure(variableReasons().unknownPlace());
  const offset = sum(displacement, (symbol) =>
    base?.name === "ip" ? places.distance(symbol) : places.address(symbol),
  );
  if (offset instanceof Failure) return offset;
  return {
    kind: "pointed",
    base: base ? fetchRegister(file, base.name) : { kind: "constant", value: 0n },
    ...(index ? { index: fetchRegister(file, index.name), scale: Number(scaleText ?? 1) as Width } : {}),
    offset: Number(offset),
    ...shape,
    space: "user",
  };
}

/** pt_regs' name of any of a register's names: rax, eax, ax, al are one. */
function x86Register(name: string): { name: string; high: boolean } | undefined {
  const numbered = /^(r(?:8|9|1[0-5]))[dwb]?$/.exec(name);
  if (numbered) return { name: numbered[1], high: false };
  if (/^[a-d]h$/.test(name)) return { name: `${name[0]}x`, high: true };
  const legacy = /^(?:[re]?(ax|bx|cx|dx|si|di|bp|sp|ip)|(si|di|bp|sp)l|([a-d])l)$/.exec(name);
  if (!legacy) return undefined;
  return { name: legacy[1] ?? legacy[2] ?? `${legacy[3]}x`, high: false };
}

// ── arm64 ────────────────────────────────────────────────────────────────────────────────────────────────────────────

function arm64Operand(text: string, shape: Shape, file: RegisterFile): Fetch | Failure {
  if (/^[xw]zr$/.test(text)) return constant(0n, shape);
  if (/^[bhsdqv]\d{1,2}(\.|$)/.test(text)) return new Failure(variableReasons().inVector());
  const register = arm64Register(text);
  if (register !== undefined) return sized(fetchRegister(file, register), shape);
  const memory = /^\[\s*(\w+)\s*(?:,\s*([^,\]]+?)\s*(?:,\s*(lsl|sxtw|uxtw|sxtx)\s*(?:#?([0-3]))?\s*)?)?\]$/.exec(text);
  if (!memory) {
    const value = wholeNumber(text.replace(/^#/, ""));
    return value === undefined ? new Failure(variableReasons().unknownPlace()) : constant(value, shape);
  }
  const [, baseText, secondText, extension, shift] = memory;
  const base = arm64Register(baseText);
  if (base === undefined) return new Failure(variableReasons().unknownPlace());
  const second = secondText?.replace(/^#/, "");
  const index = second === undefined ? undefined : arm64Register(second);
  const offset = second === undefined || index !== undefined ? 0n : wholeNumber(second);
  if (offset === undefined) return new Failure(variableReasons().countedByLinker(second));
  // The 32-bit half of a register, sign-extended or not.
  const half = extension === "sxtw" || extension === "uxtw";
  const counted = index === undefined ? undefined : fetchRegister(file, index);
  return {
    kind: "pointed",
    base: fetchRegister(file, base),
    ...(counted === undefined
      ? {}
      : {
          index: half ? ({ kind: "narrow", of: counted, size: 4, signed: extension === "sxtw" } as const) : counted,
          scale: (1 << Number(shift ?? 0)) as Width,
        }),
    offset: Number(offset),
    ...shape,
    space: "user",
  };
}

function arm64Register(name: string): string | undefined {
  if (name === "sp" || name === "wsp") return "sp";
  if (name === "fp") return "r29";
  if (name === "lr") return "r30";
  const match = /^[xw](\d{1,2})$/.exec(name);
  return match && Number(match[1]) <= 30 ? `r${Number(match[1])}` : undefined;
}
