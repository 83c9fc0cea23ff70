// Calls that give addresses: of symbols, in another memory, of what a member is in; and registers.
import { calls } from "../../messages/calls.ts";
import { nearest } from "../nearest.ts";
import type { Expression } from "../program.ts";
import { boolType, u16, u32, u64, u8, unknownType } from "../types.ts";
import { checkCast } from "./casts.ts";
import { findMember } from "./members.ts";
import { defaultSpace, didYouMean, integerLiteral, report, resolveType } from "./pass.ts";
import type { CallCheck } from "./pass.ts";
import { notHere } from "./place-types.ts";
import { describe } from "./unify.ts";
import { checkValue } from "./values.ts";
import { checked, literalText, wantsInteger } from "./call-arguments.ts";

const space: CallCheck = (call, body) => {
  const [pointer] = checked(call, body) as [Expression];
  const target = call.name === "kptr" ? "kernel" : "user";
  if (pointer.type.kind === "pointer") {
    return { ...call, args: [pointer], type: { kind: "pointer", target: pointer.type.target, space: target } };
  }
  if (!wantsInteger(pointer, call, body) || pointer.type.kind === "unknown")
    return { ...call, args: [pointer], type: unknownType };
  return { ...call, args: [pointer], type: { kind: "pointer", target: u64, space: target } };
};

const kernelAddress: CallCheck = (call, body) => {
  const name = literalText(call, 0, body);
  const find = body.pass.options.facts?.kernelAddress;
  if (name === undefined || find === undefined) return { ...call, args: checked(call, body), type: u64 };
  const address = find(name);
  if (address === undefined)
    return {
      ...call,
      type: report(
        body,
        call.span,
        calls.failedResolveKernelSymbol(name, body.pass.options.facts?.addressesHidden?.()),
      ),
    };
  return integerLiteral(address, u64, call.span);
};

const userAddress: CallCheck = (call, body) => {
  const name = literalText(call, 0, body);
  const { context } = body;
  if (context === undefined || context === "host" || context.userSymbol === undefined) {
    report(body, call.span, notHere("uaddr", body, "it looks into the program that a probe at a function is in"));
    return { ...call, args: checked(call, body), type: unknownType };
  }
  if (name === undefined) return { ...call, args: checked(call, body), type: unknownType };
  const symbol = context.userSymbol(name);
  if (symbol === undefined || typeof symbol === "string") {
    return {
      ...call,
      type: report(body, call.span, calls.thereNoSymbolHere(name, symbol)),
    };
  }
  const target = { 1: u8, 2: u16, 4: u32 }[symbol.size] ?? u64;
  return { ...call, args: checked(call, body), type: { kind: "pointer", target, space: "user" } };
};

const perCpuAddress: CallCheck = (call, body) => {
  const name = literalText(call, 0, body);
  const find = body.pass.options.facts?.kernelAddress;
  if (name !== undefined && find !== undefined && find(name) === undefined) {
    return {
      ...call,
      type: report(
        body,
        call.span,
        calls.kernelDoesNotTellWhere(
          name,
          body.pass.options.facts?.addressesHidden?.() ??
            "it needs the variable in /proc/kallsyms (CONFIG_KALLSYMS_ALL)",
        ),
      ),
    };
  }
  const args = checked(call, body);
  if (args[1] !== undefined) wantsInteger(args[1], call, body);
  return { ...call, args, type: { kind: "pointer", target: u64, space: "kernel" } };
};

const register: CallCheck = (call, body) => {
  const name = literalText(call, 0, body);
  const { context } = body;
  const registers = context === undefined || context === "host" ? undefined : context.registers;
  if (registers === undefined) return { ...call, type: report(body, call.span, notHere("reg", body)) };
  if (name !== undefined && !registers.has(name)) {
    return {
      ...call,
      type: report(body, call.args[0].span, calls.thereNoRegister(name, didYouMean(nearest(name, registers.keys())))),
    };
  }
  return { ...call, args: checked(call, body), type: u64 };
};

/** Error pointers are the last 4095 addresses. */
const isError: CallCheck = (call, body) => {
  const address = checkCast(
    {
      kind: "cast",
      to: { name: "uint64", pointers: 0, dimensions: [], span: call.span },
      operand: call.args[0],
      span: call.span,
      type: unknownType,
    },
    body,
  );
  return {
    kind: "binary",
    operator: ">=",
    left: address,
    right: integerLiteral(0xffff_ffff_ffff_f001n, u64, call.span),
    span: call.span,
    type: boolType,
  };
};

const containerOf: CallCheck = (call, body) => {
  const [, type, member] = call.args as [Expression, Expression, Expression];
  const pointer = checkValue(call.args[0], body);
  // A member may have a builtin's name: `pid`.
  if (type.kind !== "identifier" || (member.kind !== "identifier" && member.kind !== "builtin")) {
    return {
      ...call,
      type: report(body, call.span, calls.containerExpectsPointerStructMember()),
    };
  }
  const where = pointer.type.kind === "pointer" ? pointer.type.space : defaultSpace(body);
  const to = { name: type.name, tag: "struct" as const, pointers: 1, dimensions: [], span: type.span };
  const resolved = resolveType(to, where, body);
  if (!("type" in resolved)) return { ...call, type: report(body, type.span, resolved.problem) };
  const struct = resolved.type.kind === "pointer" ? resolved.type.target : resolved.type;
  const found = struct.kind === "struct" ? findMember(struct, member.name) : undefined;
  if (found === undefined)
    return { ...call, type: report(body, member.span, calls.noMember(describe(struct), member.name)) };
  const { span } = call;
  const number: Expression = {
    kind: "cast",
    to: { name: "uint64", pointers: 0, dimensions: [], span },
    operand: pointer,
    span,
    type: u64,
  };
  const base: Expression = {
    kind: "binary",
    operator: "-",
    left: number,
    right: integerLiteral(BigInt(found.offset), u64, span),
    span,
    type: u64,
  };
  return { kind: "cast", to, operand: base, span, type: resolved.type };
};

export const addressCalls: Readonly<Record<string, CallCheck>> = {
  kptr: space,
  uptr: space,
  kaddr: kernelAddress,
  uaddr: userAddress,
  percpu_kaddr: perCpuAddress,
  reg: register,
  is_err: isError,
  container_of: containerOf,
};
