// Stacks, and names of addresses.
import type { Span } from "../../diagnostic.ts";
import type { Expression } from "../../program.ts";
import type { StackMode, SymbolPart } from "../../types.ts";
import type { CallingUnit, LibraryFunction } from "./function.ts";
import * as tree from "../tree.ts";

const { call, integer } = tree;

/** How SystemTap writes a stack. */
type Style = Extract<StackMode, `systemtap${string}`>;

const drawn = (of: "kstack" | "ustack", span: Span, style: Style): Expression =>
  call(of, [tree.word(style, span)], span);

const stack = (of: "kstack" | "ustack", doc: string, style: Style = "systemtap"): LibraryFunction => ({
  parameters: [],
  doc,
  does: (_, span) => [tree.statement(call("printf", [tree.text("%s", span), drawn(of, span, style)], span))],
});

/** A stack by itself is found where it is printed; one that is compared or joined with others is a text. */
const stackText = (of: "kstack" | "ustack", doc: string, style: Style): LibraryFunction => ({
  parameters: [],
  result: "string",
  stack: true,
  doc,
  text: (_, span, unit) => ({ format: "%s", args: [unit.shownStack(drawn(of, span, style))] }),
  value: (_, span, unit) => unit.stack(drawn(of, span, style)),
});

const shows = (doc: string): LibraryFunction => ({
  parameters: ["string"],
  doc,
  does: ([of], span) => [tree.statement(call("printf", [tree.text("%s", span), withNames(of)], span))],
});

/** Of a symbol: what SystemTap's own functions of addresses tell of it. */
const ofSymbol = (of: "ksym" | "usym", part: SymbolPart, doc: string): LibraryFunction => ({
  parameters: ["long"],
  result: "string",
  doc,
  text: ([address], span) => ({
    format: "%s",
    args: [call(`${of}_part`, [address, tree.word(part, span)], span)],
  }),
  // Several addresses have one name.
  value: ([address], span) =>
    tree.hostText("shownText", [call(`${of}_part`, [address, tree.word(part, span)], span)], span),
});

/** A stack with names in place of addresses: one that is kept, or the text of one. */
function withNames(of: Expression): Expression {
  if (of.kind !== "call" || of.name !== "host_text")
    return call("stack_as", [of, tree.word("systemtap", of.span)], of.span);
  const [word, ...args] = of.args;
  return { ...of, args: [word, ...args.map(withNames)] };
}

/** So many frames behind the first; all of -1. */
const framesBehind = (of: "kstack" | "ustack", doc: string): LibraryFunction => ({
  parameters: ["long"],
  result: "string",
  stack: true,
  doc,
  text: (args, span, unit) => ({ format: "%s", args: [unit.shownStack(frames(of, args, span, unit))] }),
  value: (args, span, unit) => unit.stack(frames(of, args, span, unit)),
});

function frames(of: "kstack" | "ustack", [count]: readonly Expression[], span: Span, unit: CallingUnit): Expression {
  if (count.kind === "integer" && count.value === -1n) return drawn(of, span, "systemtap_callers");
  if (count.kind !== "integer" || count.value < 0n || count.value > 126n) return unit.refuseFrames(count.span);
  return call(of, [tree.word("systemtap_callers", span), integer(count.value + 1n, span)], span);
}

const named = (doc: string): LibraryFunction => ({
  parameters: ["string"],
  result: "string",
  doc,
  value: ([of]) => withNames(of),
});

export const stacks: Readonly<Record<string, LibraryFunction>> = {
  symname: ofSymbol("ksym", "name", "Name of the kernel function that an address lies in."),
  symdata: ofSymbol("ksym", "name", "The same."),
  usymname: ofSymbol("usym", "name", "Name of the user function that an address lies in."),
  usymdata: ofSymbol("usym", "name", "The same."),
  callers: framesBehind(
    "kstack",
    "Addresses of so many frames of the kernel's call stack behind the first, or of all (-1).",
  ),
  ucallers: framesBehind(
    "ustack",
    "Addresses of so many frames of the process's call stack behind the first, or of all (-1).",
  ),
  sprint_stack: named("A stack of addresses with their names, as text."),
  sprint_syms: named("A stack of addresses with their names, as text."),
  sprint_ustack: named("A stack of addresses with their names, as text."),
  sprint_usyms: named("A stack of addresses with their names, as text."),
  print_backtrace_fileline: stack("kstack", "Prints the kernel's call stack."),
  print_ubacktrace_fileline: stack(
    "ustack",
    "Prints the process's call stack, with places in the source where they are known.",
    "systemtap_lines",
  ),
  print_ubacktrace_brief: stack("ustack", "Prints the process's call stack, by names.", "systemtap_brief"),
  symfile: ofSymbol("ksym", "file", "File of the source of an address, or the address."),
  symline: ofSymbol("ksym", "line", "Line of the source of an address, or the address."),
  symfileline: ofSymbol("ksym", "file and line", "File and line of the source of an address, or the address."),
  usymfile: ofSymbol("usym", "file", "File of the source of a user address, or the address."),
  usymline: ofSymbol("usym", "line", "Line of the source of a user address, or the address."),
  usymfileline: ofSymbol("usym", "file and line", "File and line of the source of a user address, or the address."),
  modname: ofSymbol("ksym", "owner", "Name of the module that an address lies in, `kernel` for the kernel itself."),
  umodname: ofSymbol("usym", "owner", "Name of the file that a user address lies in, without its folders."),
  print_backtrace: stack("kstack", "Prints the kernel's call stack."),
  print_ubacktrace: stack("ustack", "Prints the process's call stack."),
  backtrace: stackText("kstack", "Addresses of the kernel's call stack.", "systemtap_addresses"),
  ubacktrace: stackText("ustack", "Addresses of the process's call stack.", "systemtap_addresses"),
  sprint_backtrace: stackText("kstack", "The kernel's call stack, by names.", "systemtap_module"),
  sprint_ubacktrace: stackText("ustack", "The process's call stack, by names.", "systemtap_module"),
  print_stack: shows("Prints a stack of addresses with their names."),
  print_syms: shows("Prints a stack of addresses with their names."),
  print_ustack: shows("Prints a stack of addresses with their names."),
  print_usyms: shows("Prints a stack of addresses with their names."),
};
