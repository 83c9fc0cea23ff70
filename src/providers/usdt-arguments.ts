// Arguments of a static user probe, as its ELF note describes them in the assembler's words:
//   SIZE@OPERAND …   SIZE: bytes, negative when signed, with an `f` for floating point
// x86-64 operands: `%rdi`, `$5`, `8(%rbp)`, `-4(%rbp,%rax,4)`, `sym(%rip)`, `sym+8(%rip)`
// arm64 operands:  `x0`, `5`, `[sp, 16]`, `[x1]`, `[x1, x2, lsl 3]`
import type { Fetch } from "../language/context.ts";
import { fetchRegister, registersOf, type Machine, type RegisterFile } from "./registers.ts";

/** Undefined for what BPF cannot read (floating-point registers) or what nobody writes. */
export type UsdtArgument = Fetch | undefined;

/**
 * `distance` gives bytes from the probe's instruction to a symbol, for operands relative to the instruction pointer.
 * One entry an argument, in order.
 */
export function parseUsdtArguments(text: string, machine: Machine, distance: (symbol: string) => bigint | undefined): UsdtArgument[] {
  const file = registersOf(machine);
  return split(text).map((argument): UsdtArgument => {
    const match = /^(-?)([1248])(f?)@(.+)$/.exec(argument);
    if (!match || match[3] === "f") return undefined;
    const size = Number(match[2]) as 1 | 2 | 4 | 8;
    const signed = match[1] === "-";
    switch (machine) {
      case "x86-64": return x86Operand(match[4], size, signed, file, distance);
      case "arm64": return arm64Operand(match[4], size, signed, file);
    }
  });
}

/** Arguments stand apart by spaces, but arm64's memory operands have spaces inside. */
function split(text: string): string[] {
  return text.trim().match(/[^\s@]+@(?:\[[^\]]*\]|\S+)/g) ?? [];
}

function sized(of: Fetch, size: 1 | 2 | 4 | 8, signed: boolean): Fetch {
  return size === 8 ? of : { kind: "narrow", of, size, signed };
}

function constant(text: string, size: 1 | 2 | 4 | 8, signed: boolean): Fetch | undefined {
  const value = wholeNumber(text);
  if (value === undefined) return undefined;
  return { kind: "constant", value: signed ? BigInt.asIntN(size * 8, value) : BigInt.asUintN(size * 8, value) };
}

function wholeNumber(text: string): bigint | undefined {
  const match = /^([-+]?)(0[xX][\da-fA-F]+|\d+)$/.exec(text.trim());
  return match ? (match[1] === "-" ? -BigInt(match[2]) : BigInt(match[2])) : undefined;
}

// ── x86-64 ───────────────────────────────────────────────────────────────────────────────────────────────────────────

function x86Operand(text: string, size: 1 | 2 | 4 | 8, signed: boolean, file: RegisterFile, distance: (symbol: string) => bigint | undefined): UsdtArgument {
  if (text.startsWith("$")) return constant(text.slice(1), size, signed);
  if (text.startsWith("%")) {
    const register = x86Register(text.slice(1));
    if (register === undefined) return undefined;
    const whole = fetchRegister(file, register.name);
    // Second bytes (`%ah`) cannot be had by loading less of the register.
    return register.high ? undefined : sized(whole, size, signed);
  }
  const memory = /^([^()]*)\(\s*(%\w+)?\s*(?:,\s*(%\w+)\s*(?:,\s*([1248])\s*)?)?\)$/.exec(text);
  if (!memory) return undefined;
  const [, displacement = "", baseText, indexText, scaleText] = memory;
  const base = baseText === undefined ? undefined : x86Register(baseText.slice(1));
  const index = indexText === undefined ? undefined : x86Register(indexText.slice(1));
  if ((baseText !== undefined && base === undefined) || (indexText !== undefined && index === undefined)) return undefined;
  const offset = displaced(displacement, base?.name === "ip" ? distance : undefined);
  if (offset === undefined) return undefined;
  return {
    kind: "pointed",
    base: base ? fetchRegister(file, base.name) : { kind: "constant", value: 0n },
    ...(index ? { index: fetchRegister(file, index.name), scale: Number(scaleText ?? 1) as 1 | 2 | 4 | 8 } : {}),
    offset: Number(offset), size, signed, space: "user",
  };
}

/** `-8`, `sym`, `sym+8`, `8+sym`, nothing; symbols only where something knows how far they are. */
function displaced(text: string, distance: ((symbol: string) => bigint | undefined) | undefined): bigint | undefined {
  if (text.trim() === "") return 0n;
  let total = 0n;
  for (const term of text.replace(/\s+/g, "").match(/[-+]?[^-+]+/g) ?? []) {
    const number = wholeNumber(term);
    if (number !== undefined) total += number;
    else {
      const far = distance?.(term.replace(/^\+/, ""));
      if (far === undefined) return undefined;
      total += far;
    }
  }
  return total;
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

function arm64Operand(text: string, size: 1 | 2 | 4 | 8, signed: boolean, file: RegisterFile): UsdtArgument {
  const register = arm64Register(text);
  if (register !== undefined) return sized(fetchRegister(file, register), size, signed);
  const memory = /^\[\s*(\w+)\s*(?:,\s*([^,\]]+?)\s*(?:,\s*(?:lsl|sxtw|uxtw)\s*#?([0-3])\s*)?)?\]$/.exec(text);
  if (!memory) return constant(text.replace(/^#/, ""), size, signed);
  const base = arm64Register(memory[1]);
  if (base === undefined) return undefined;
  const second = memory[2] === undefined ? undefined : memory[2].replace(/^#/, "");
  const index = second === undefined ? undefined : arm64Register(second);
  const offset = second === undefined || index !== undefined ? 0n : wholeNumber(second);
  if (offset === undefined) return undefined;
  return {
    kind: "pointed",
    base: fetchRegister(file, base),
    ...(index === undefined ? {} : { index: fetchRegister(file, index), scale: (1 << Number(memory[3] ?? 0)) as 1 | 2 | 4 | 8 }),
    offset: Number(offset), size, signed, space: "user",
  };
}

function arm64Register(name: string): string | undefined {
  if (name === "sp" || name === "wsp") return "sp";
  const match = /^[xw](\d{1,2})$/.exec(name);
  return match && Number(match[1]) <= 30 ? `r${match[1]}` : undefined;
}
