// `regs[R_RSI]`, the registers where a probe is, and what numbers their names stand for.
import { dDescriptions } from "../../messages/d-descriptions.ts";
import type { Span } from "../diagnostic.ts";
import * as nodes from "../nodes.ts";
import type { Expression } from "../program.ts";
import { unknownType } from "../types.ts";
import { constantValue } from "./type-names.ts";
import type { Unit } from "./unit.ts";

/** As reg() names them, in the order of struct pt_regs (arch/x86/include/asm/ptrace.h), which numbers them. */
const registers = "r15 r14 r13 r12 bp bx r11 r10 r9 r8 ax cx dx si di orig_ax ip cs flags sp ss".split(" ");

const spelled: Readonly<Record<string, string>> = {
  TRAPNO: "orig_ax",
  RFL: "flags",
  EFL: "flags",
  PC: "ip",
  PS: "flags",
  FP: "bp",
  R0: "ax",
  R1: "dx",
};

/** `R_RDI`, `R_EDI`, `R_R8`, `R_SP`: the register's number. */
export function registerNumber(name: string): number | undefined {
  const [, of] = /^R_([A-Z0-9]+)$/.exec(name) ?? [];
  if (of === undefined) return undefined;
  const known = Object.hasOwn(spelled, of) ? spelled[of] : undefined;
  const plain = known ?? (/^[RE](?:[A-D]X|[SD]I|[BSI]P)$/.test(of) ? of.slice(1) : of).toLowerCase();
  const number = registers.indexOf(plain);
  return number < 0 ? undefined : number;
}

/** `regs[…]` and `uregs[…]`; undefined where something else is indexed. */
export function registerOf(object: Expression, index: Expression, span: Span, unit: Unit): Expression | undefined {
  if (object.kind !== "identifier" || (object.name !== "regs" && object.name !== "uregs")) return undefined;
  const number = constantValue(index, unit);
  if (object.name === "uregs" && number !== undefined && number < 0n)
    unit.cursor.fail(dDescriptions.registerOutside(number), span);
  const name = number === undefined ? undefined : registers[Number(number)];
  if (name === undefined && object.name === "uregs" && number !== undefined)
    return unit.cursor.fail(dDescriptions.noSuchRegister(number), span);
  if (name === undefined) return unit.cursor.fail(dDescriptions.unknownRegister(), index.span);
  const { user, provider } = unit.clause;
  // Where a probe is in the process, those there are the process's.
  if (object.name === "uregs" && (!user || provider === "profile" || provider === "tick")) {
    const all: Expression = {
      kind: "unary",
      operator: "*",
      operand: nodes.builtin("user_registers", span),
      span,
      type: unknownType,
    };
    return unit.cast("uint64", nodes.member(all, name, span));
  }
  const value = unit.cast("uint64", nodes.call("reg", [nodes.text(name, span)], span));
  // A kprobe is told the address behind its breakpoint of one byte.
  return name === "ip" && unit.clause.provider === "kinst"
    ? unit.typed(nodes.binary("-", value, nodes.integer(1, span), span), "uint64")
    : value;
}
