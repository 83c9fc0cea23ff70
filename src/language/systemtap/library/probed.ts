// What a handler asks of the probe that it runs in: its point, its arguments and registers, who called.
import type { Span } from "../../diagnostic.ts";
import type { Expression } from "../../program.ts";
import { unknownType } from "../../types.ts";
import { number, type CallingUnit, type LibraryFunction } from "./function.ts";
import { loaded } from "./memory.ts";
import * as tree from "../tree.ts";

const { builtin, call, integer, member, toLong } = tree;

const argument = (doc: string, cut?: string): LibraryFunction => ({
  ofProbe: true,
  parameters: ["long"],
  result: "long",
  doc,
  value([which], span, unit) {
    const count = which.kind === "integer" ? which.value : 0n;
    if (count < 1n || count > 12n) return unit.refuseArgument(which.span);
    const value = builtin(`arg${count - 1n}`, span);
    return toLong(
      cut === undefined
        ? value
        : {
            kind: "cast",
            to: { name: cut, pointers: 0, dimensions: [], span },
            operand: value,
            span,
            type: value.type,
          },
    );
  },
});

/** Of a register of 32 bits, and of one that SystemTap's names lead to: what the kernel's struct pt_regs calls it. */
function registerOf(name: string): { readonly name: string; readonly narrow: boolean } | undefined {
  if (/^r(?:8|9|1[0-5])$/.test(name)) return { name, narrow: false };
  const [, size = "", of = ""] = /^([re]?)(ax|bx|cx|dx|si|di|bp|sp|ip)$/.exec(name) ?? [];
  if (of !== "") return { name: of, narrow: size === "e" };
  if (name === "flags" || name === "eflags") return { name: "flags", narrow: true };
  if (/^x?[cs]s$/.test(name)) return { name: name.slice(-2), narrow: true };
  if (/^orig_[re]?ax$/.test(name)) return { name: "orig_ax", narrow: name === "orig_eax" };
  return undefined;
}

const register = (narrow: "int32" | "uint32", doc: string): LibraryFunction => ({
  ofProbe: true,
  parameters: ["string"],
  result: "long",
  doc,
  value([name], span, unit) {
    const found = name.kind === "string" ? registerOf(name.value) : undefined;
    if (found === undefined) return unit.refuseRegister(name.span);
    const value = call("reg", [tree.text(found.name, span)], span);
    return toLong(found.narrow ? tree.cast(tree.typeName(narrow, span), value) : value);
  },
});

/** Where the function returns to: on the stack at its entry, reached at its return. */
function callerAddress(span: Span, { where: { returns, space } }: CallingUnit): Expression {
  const at = (of: string): Expression => call("reg", [tree.text(of, span)], span);
  return returns ? toLong(at("ip")) : loaded(space === "kernel" ? "kptr" : "uptr", "int64", at("sp"), span);
}

const functionName: LibraryFunction = {
  ofProbe: true,
  parameters: [],
  result: "string",
  doc: "Name of the function that was probed.",
  text: (_, span) => ({ format: "%s", args: [builtin("func", span)] }),
  value: (_, span) => tree.hostText("shownText", [builtin("func", span)], span),
};

export const probed: Readonly<Record<string, LibraryFunction>> = {
  probefunc: functionName,
  ppfunc: functionName,
  pfunc: functionName,
  pp: {
    ofProbe: true,
    parameters: [],
    result: "string",
    doc: "The probe point that fired.",
    value: (_, span, unit) => unit.point(span),
  },
  pn: {
    ofProbe: true,
    parameters: [],
    result: "string",
    doc: "The probe point as the script has it.",
    value: (_, span, unit) => unit.point(span),
  },
  probemod: {
    ofProbe: true,
    parameters: [],
    result: "string",
    doc: "The kernel's module that the probe point is in, `kernel` for the kernel itself.",
    value: (_, span, unit) => unit.moduleOfPoint(span),
  },
  pnlabel: {
    ofProbe: true,
    parameters: [],
    result: "string",
    doc: "Name of the label that was probed.",
    value: (_, span, unit) => unit.label(span),
  },
  probe_type: {
    ofProbe: true,
    parameters: [],
    result: "string",
    doc: "What SystemTap calls the kind of the probe: `begin_end`.",
    value: (_, span, unit) => unit.kindOfProbe(span),
  },
  is_return: {
    ofProbe: true,
    parameters: [],
    result: "long",
    doc: "1 in a `.return` probe, else 0.",
    value: (_, span, unit) => integer(unit.where.returns ? 1 : 0, span),
  },
  returnval: {
    ...number("retval", "What the probed function returns."),
    ofProbe: true,
    value: (_, span, { where: { result } }) =>
      toLong(result === undefined ? builtin("retval", span) : member(builtin("args", span), result, span)),
  },
  int_arg: argument("The Nth argument of the function, from 1, as an int.", "int32"),
  uint_arg: argument("The Nth argument of the function, from 1, as an unsigned int.", "uint32"),
  long_arg: argument("The Nth argument of the function, from 1."),
  ulong_arg: argument("The Nth argument of the function, from 1."),
  longlong_arg: argument("The Nth argument of the function, from 1."),
  ulonglong_arg: argument("The Nth argument of the function, from 1."),
  s32_arg: argument("The Nth argument of the function, from 1, as 32 bits.", "int32"),
  u32_arg: argument("The Nth argument of the function, from 1, as 32 unsigned bits.", "uint32"),
  s64_arg: argument("The Nth argument of the function, from 1."),
  u64_arg: argument("The Nth argument of the function, from 1."),
  pointer_arg: argument("The Nth argument of the function, from 1."),
  register: register("int32", "A register by its name, as the probe found it; of 32 bits with their sign."),
  u_register: register("uint32", "A register by its name, as the probe found it; of 32 bits without a sign."),
  registers_valid: {
    ofProbe: true,
    parameters: [],
    result: "long",
    doc: "1 where register() gives something, else 0.",
    value: (_, span) =>
      tree.conditional(
        {
          kind: "presence",
          asks: "sense",
          of: call("reg", [tree.text("ip", span)], span),
          span,
          type: unknownType,
        },
        integer(1, span),
        integer(0, span),
        span,
      ),
  },
  caller_addr: {
    ofProbe: true,
    parameters: [],
    result: "long",
    doc: "Address that the probed function returns to.",
    value: (_, span, unit) => callerAddress(span, unit),
  },
  caller: {
    ofProbe: true,
    parameters: [],
    result: "string",
    doc: "Name and address of where the probed function returns to.",
    text: (_, span, unit) => ({
      format: "%s 0x%x",
      args: [
        call(unit.where.space === "kernel" ? "ksym" : "usym", [callerAddress(span, unit)], span),
        callerAddress(span, unit),
      ],
    }),
  },
  addr: {
    ofProbe: true,
    parameters: [],
    result: "long",
    doc: "Address of the instruction.",
    value: (_, span) => toLong(call("reg", [tree.text("ip", span)], span)),
  },
  uaddr: {
    ofProbe: true,
    parameters: [],
    result: "long",
    doc: "Address of the instruction.",
    value: (_, span) => toLong(call("reg", [tree.text("ip", span)], span)),
  },
};
