// Calls that act on what is traced, or take it along: signals, results, memory, packets.
import { calls } from "../../messages/calls.ts";
import { nearest } from "../nearest.ts";
import type { Expression } from "../program.ts";
import { boolType, i32, u64, unknownType } from "../types.ts";
import { constantOf } from "./constants.ts";
import { isIntegral, literalType } from "./integers.ts";
import { didYouMean, integerLiteral, report } from "./pass.ts";
import type { CallCheck } from "./pass.ts";
import { signalNames, signalNumber } from "./signals.ts";
import { notHere } from "./place-types.ts";
import { describeOne } from "./unify.ts";
import { checkValue } from "./values.ts";
import { checked, literalText, wantsInteger } from "./call-arguments.ts";

const signal: CallCheck = (call, body) => {
  const [value] = checked(call, body) as [Expression];
  if (value.kind === "string") {
    const number = signalNumber(value.value);
    if (number === undefined) {
      return {
        ...call,
        type: report(
          body,
          value.span,
          calls.unknownSignal(value.value, didYouMean(nearest(value.value, signalNames()))),
        ),
      };
    }
    return {
      ...call,
      args: [integerLiteral(BigInt(number), literalType(BigInt(number)), value.span)],
      type: { kind: "void" },
    };
  }
  wantsInteger(value, call, body);
  const constant = constantOf(value);
  if (constant !== undefined && (constant < 1n || constant > 64n)) report(body, value.span, calls.signalsGoFrom());
  return { ...call, args: [value], type: { kind: "void" } };
};

const override: CallCheck = (call, body) => {
  const args = checked(call, body);
  wantsInteger(args[0], call, body);
  if (body.context !== "host" && body.context !== undefined && body.context.overridable !== true) {
    report(body, call.span, notHere("override", body, "the kernel allows it in kprobes"));
  } else if (body.pass.options.facts?.kernelFunctionExists("bpf_override_return") === false) {
    report(body, call.span, calls.kernelLetsNoHandlerOverride());
  }
  return { ...call, args, type: { kind: "void" } };
};

const writeUser: CallCheck = (call, body) => {
  const args = checked(call, body);
  const [destination, source, length] = args;
  const addresses = ["pointer", "integer", "unknown"];
  for (const [{ type, span }, kinds] of [
    [destination, addresses],
    [source, [...addresses, "string", "array"]],
  ] as const)
    if (!kinds.includes(type.kind)) report(body, span, calls.expectsPointerNot(call.name, describeOne(type)));
  if (constantOf(length) === undefined && length.type.kind !== "unknown")
    report(body, length.span, calls.writeUserExpectsConstantLength());
  return { ...call, args, type: boolType };
};

const writeUserText: CallCheck = (call, body) => {
  const args = checked(call, body);
  wantsInteger(args[2], call, body);
  const known = args[1].type.kind === "string";
  return { ...call, args, type: known ? boolType : unknownType };
};

const socketCookie: CallCheck = (call, body) => {
  const args = checked(call, body);
  const { type, span } = args[0];
  if (type.kind !== "unknown" && (type.kind !== "pointer" || type.target.kind !== "struct"))
    report(body, span, calls.socketCookieExpectsStructSock(describeOne(type)));
  return { ...call, args, type: u64 };
};

/** The packet's own length is a further argument: what the file says that it had. */
const packet: CallCheck = (call, body) => {
  const [, skb, length, offset] = call.args;
  const path = literalText(call, 0, body);
  if (path === "") report(body, call.args[0].span, calls.captureFileNeedsName());
  const { context } = body;
  if (context !== undefined && context !== "host" && !context.kernelTypes) {
    return {
      ...call,
      type: report(
        body,
        call.span,
        notHere("skboutput", body, "packets are handed out by fentry, fexit and rawtracepoint probes"),
      ),
    };
  }
  const buffer = checkValue(skb, body);
  const { type, span } = buffer;
  if (type.kind === "unknown") return { ...call, type: unknownType };
  if (type.kind !== "pointer" || type.target.kind !== "struct" || type.target.name !== "sk_buff") {
    return {
      ...call,
      type: report(body, span, calls.skboutputExpectsStructSkBuff(describeOne(type))),
    };
  }
  if (type.typed !== true) {
    return {
      ...call,
      type: report(body, span, calls.skboutputExpectsPointerKernelKnows()),
    };
  }
  const [bytes, skipped] = [length, offset].map((arg) => checkValue(arg, body));
  for (const number of [bytes, skipped]) {
    if (number.type.kind !== "unknown" && !isIntegral(number.type))
      report(body, number.span, calls.skboutputExpectsNumberHereNot(describeOne(number.type)));
  }
  const whole = body.pass.expression(
    { kind: "member", object: skb, name: "len", nameSpan: span, span, type: unknownType },
    body,
  );
  return { ...call, args: [call.args[0], buffer, bytes, skipped, whole], type: i32 };
};

export const actingCalls: Readonly<Record<string, CallCheck>> = {
  signal,
  signal_thread: signal,
  override,
  write_user: writeUser,
  write_user_text: writeUserText,
  socket_cookie: socketCookie,
  skboutput: packet,
};
