// Calls that make texts and bytes, compare them or search them.
import { calls } from "../../messages/calls.ts";
import { InternalError } from "../../base/internal-error.ts";
import { hostText, isHostText, parameterAt } from "../host-texts.ts";
import { sizeOf } from "../layout.ts";
import { call as called, word } from "../nodes.ts";
import type { Call, Expression } from "../program.ts";
import { textLength } from "../text-bytes.ts";
import { boolType, float64, i64, u64, unknownType } from "../types.ts";
import type { Type } from "../types.ts";
import { textCapacity } from "./config.ts";
import { constantOf } from "./constants.ts";
import { isIntegral, literalType } from "./integers.ts";
import { integerLiteral, needsKernel, report } from "./pass.ts";
import type { Body, CallCheck } from "./pass.ts";
import { siteName, siteNames } from "./site-names.ts";
import { withSigns } from "./printf-arguments.ts";
import { functionName } from "./spelling.ts";
import { describeOne } from "./unify.ts";
import { checkValue } from "./values.ts";
import { shapeOf } from "./shapes.ts";
import { checked, needsHost, wantsAddress, wantsInteger, capacityFor } from "./call-arguments.ts";

/** str() of a pointer to what is text: the text, not the bytes of what keeps it. */
function throughView(call: Call, body: Body): Call {
  const [pointer, ...rest] = call.args;
  const { type } = checkValue(pointer, body);
  if (type.kind !== "pointer" || shapeOf(type)?.form !== "text") return call;
  return {
    ...call,
    args: [{ kind: "unary", operator: "*", operand: pointer, span: pointer.span, type: unknownType }, ...rest],
  };
}

const str: CallCheck = (written, body) => {
  const call = throughView(written, body);
  const [pointer, length] = checked(call, body) as [Expression, Expression | undefined];
  // What a front-end put in place of a positional parameter is text already.
  if (pointer.kind === "string" && length === undefined) return pointer;
  if (length !== undefined && !wantsInteger(length, call, body)) return { ...call, type: unknownType };
  if (!wantsAddress(pointer, call, body)) return { ...call, type: unknownType };
  if (length !== undefined && (constantOf(length) ?? 0n) < 0n)
    report(body, length.span, calls.strExpectsLengthOrMore());
  const args = length === undefined ? [pointer] : [pointer, length];
  // Of text that is written out, the length counts characters; of all else, the end as well.
  const chosen = pointer.type.kind === "string" && length !== undefined ? constantOf(length) : undefined;
  const own =
    chosen !== undefined && pointer.type.kind === "string"
      ? Math.min(Math.max(1, Number(chosen) + (pointer.kind === "string" ? 1 : 0)), pointer.type.capacity)
      : pointer.type.kind === "string"
        ? pointer.type.capacity
        : length === undefined && pointer.type.kind === "array"
          ? sizeOf(pointer.type) + 1
          : undefined;
  return {
    ...call,
    args,
    type: { kind: "string", capacity: own ?? capacityFor(length, call, body, textCapacity(body.pass.config)) },
  };
};

/** Text as it is; a pointer or an array through str(); a probe's name where it is the only one. */
export function asText(value: Expression, body: Body): Expression {
  switch (value.type.kind) {
    case "string":
    case "unknown":
      return value;
    case "pointer":
    case "array": {
      if (value.type.kind === "pointer") needsKernel(body, "reading memory", value.span);
      const size = value.type.kind === "array" ? sizeOf(value.type) + 1 : textCapacity(body.pass.config);
      return { kind: "call", name: "str", args: [value], span: value.span, type: { kind: "string", capacity: size } };
    }
    case "named": {
      const name = siteName(value, body);
      if (name !== undefined) return name;
      if (body.pass.program.rules.texts.named === true) return shownText(value, body);
      break;
    }
    case "stack":
      if (body.pass.program.rules.texts.named === true) return shownText(value, body);
      break;
    default:
      break;
  }
  return {
    ...value,
    type: report(
      body,
      value.span,
      calls.expectedTextNot(describeOne(value.type), body.pass.program.rules.advice.wantsText),
    ),
  };
}

/** Frames have names of functions and files. */
const stackCapacity = 4096;

/** What a name or a stack is printed as: the host finds it. */
function shownText(of: Expression, body: Body): Expression {
  const made = called("host_text", [word("shownText", of.span), of], of.span);
  if (made.kind !== "call") throw new InternalError("a call is none");
  needsHost(made, body);
  const capacity = of.type.kind === "stack" ? stackCapacity : (hostText("shownText").capacity?.([]) ?? 1);
  return { ...made, type: { kind: "string", capacity } };
}

/** Handlers that one is made into, at most, so that each knows the name of its place. */
const mostApart = 64;

/** The same of any value that is one. Of many places the kernel tells them apart by their addresses, which are printed as names. */
function shown(of: Expression, body: Body): Expression {
  const names = siteNames(of, body);
  if (names !== undefined && names.length <= mostApart) return siteName(of, body) ?? of;
  const kernels = of.type.kind === "named" && of.type.of === "ksym";
  if (names !== undefined && kernels) return of;
  return of.type.kind === "named" || of.type.kind === "stack" ? shownText(of, body) : of;
}

const texts: (count: number) => CallCheck = (count) => (call, body) => {
  const args = checked(call, body).map((arg, i) => (i < count ? asText(arg, body) : arg));
  if (args.slice(0, count).some((arg) => arg.type.kind === "unknown"))
    return { ...call, args, type: call.name === "strcontains" ? boolType : unknownType };
  const [text] = args;
  if (call.name === "strlen" && text.kind === "string") {
    // Up to the first zero, as the text is anywhere else.
    const length = BigInt(textLength(text.value.split("\0", 1)[0]));
    return integerLiteral(length, u64, call.span);
  }
  return { ...call, args, type: textResult[call.name] };
};
const textResult: Readonly<Record<string, Type>> = {
  strlen: u64,
  strcontains: boolType,
  strstr: { kind: "integer", bits: 64, signed: true },
};

/** Bytes. */
const mostCompared = 1 << 14;

const compared: CallCheck = (call, body) => {
  const all = checked(call, body);
  const length = all[2];
  const constant = constantOf(length);
  if (constant === undefined && length.type.kind !== "unknown")
    report(body, length.span, calls.expectsConstantLength(functionName(body, call.name)));
  if (constant !== undefined && constant < 0n)
    report(body, length.span, calls.expectsLengthOrMore(functionName(body, call.name)));
  // Both sides lie in working memory, of which a handler has 32 KiB.
  if (call.name === "memcmp" && constant !== undefined && constant > mostCompared) {
    report(body, length.span, calls.memcmpComparesBytesMost(mostCompared));
    return { ...call, args: all, type: unknownType };
  }
  const sides = call.name === "strncmp" ? all.slice(0, 2).map((arg) => asText(arg, body)) : all.slice(0, 2);
  for (const side of sides) wantsAddress(side, call, body);
  const literal = constant === undefined ? length : integerLiteral(constant, literalType(constant), length.span);
  return {
    ...call,
    args: [...sides, literal],
    type: call.name === "strncmp" ? u64 : { kind: "integer", bits: 64, signed: true },
  };
};

const concat: CallCheck = (call, body) => {
  const args = checked(call, body).map((arg) => asText(arg, body));
  const sizes = args.map((arg) => (arg.type.kind === "string" ? arg.type.capacity : undefined));
  if (sizes.some((size) => size === undefined)) return { ...call, args, type: unknownType };
  return { ...call, args, type: { kind: "string", capacity: sizes[0]! + sizes[1]! - 1 } };
};

/** What only the host does with texts. */
const computedText: CallCheck = (call, body) => {
  const [which, ...given] = call.args;
  if (which.kind !== "identifier" || !isHostText(which.name))
    throw new InternalError("a computation on texts has no name");
  const spec = hostText(which.name);
  const args = given.map((written, i) => {
    const arg = checkValue(written, body);
    const isNumber = isIntegral(arg.type) || arg.type.kind === "boolean";
    const wanted = parameterAt(spec, i);
    if (wanted === "number") {
      wantsInteger(arg, call, body);
      return arg;
    }
    if (wanted === "bytes") return arg;
    return wanted === "any" && isNumber ? arg : asText(arg, body);
  });
  if (spec.shows === true) return shown(args[0], body);
  needsHost(call, body);
  const [format, ...rest] = args;
  const signed =
    which.name === "formattedText" ? [withSigns(format, rest, body.pass.program.rules.formats), ...rest] : args;
  const all = { ...call, args: [which, ...signed] };
  if (args.some(({ type }) => type.kind === "unknown")) return { ...all, type: unknownType };
  if (spec.result === "number") return { ...all, type: i64 };
  if (spec.result === "double") return { ...all, type: float64 };
  const sizes = args.flatMap(({ type }) => (type.kind === "string" || type.kind === "buffer" ? [type.capacity] : []));
  return { ...all, type: { kind: "string", capacity: spec.capacity?.(sizes) ?? 1 } };
};

const hexText: CallCheck = (call, body) => {
  const args = checked(call, body);
  wantsInteger(args[0], call, body);
  return { ...call, args, type: { kind: "string", capacity: 19 } };
};

/** The room is that of any text, or of one that is within another value. */
const countedText: CallCheck = (call, body) => {
  const args = checked(call, body);
  const [data, length, room] = args;
  const known = wantsAddress(data, call, body) && wantsInteger(length, call, body);
  const capacity = Number(constantOf(room) ?? 0n);
  return { ...call, args, type: known ? { kind: "string", capacity, cut: true, zeros: true } : unknownType };
};

const buf: CallCheck = (call, body) => {
  const [data, length] = checked(call, body) as [Expression, Expression | undefined];
  const args = length === undefined ? [data] : [data, length];
  if (!wantsAddress(data, call, body) || (length !== undefined && !wantsInteger(length, call, body)))
    return { ...call, args, type: unknownType };
  if (length !== undefined)
    return { ...call, args, type: { kind: "buffer", capacity: capacityFor(length, call, body) } };
  if (data.type.kind === "integer" || data.type.kind === "pointer") {
    report(body, call.span, calls.bufExpectsLengthArgument(describeOne(data.type)));
  }
  const size =
    data.type.kind === "array"
      ? sizeOf(data.type)
      : data.type.kind === "string"
        ? data.type.capacity - 1
        : body.pass.config.maxStringLength;
  return { ...call, args, type: { kind: "buffer", capacity: Math.min(size, body.pass.config.maxStringLength) } };
};

const capacity: CallCheck = (call, body) => {
  const [value] = checked(call, body) as [Expression];
  const { type } = value;
  if (!["string", "array", "pointer", "unknown"].includes(type.kind)) {
    return {
      ...call,
      type: report(body, value.span, calls.strcapExpectsTextStringArray(describeOne(type))),
    };
  }
  const size =
    type.kind === "string"
      ? type.capacity
      : type.kind === "array"
        ? type.length
        : type.kind === "unknown"
          ? undefined
          : body.pass.config.maxStringLength;
  return size === undefined
    ? { ...call, type: unknownType }
    : integerLiteral(BigInt(size), { kind: "integer", bits: 64, signed: true }, call.span);
};

/** str() of an address in the kernel, whatever the pointer says. */
const kernelText: CallCheck = (call, body) => {
  const [pointer, ...rest] = call.args;
  const { kind } = checkValue(pointer, body).type;
  if (kind === "string" || kind === "array") return str({ ...call, name: "str" }, body);
  return str(
    {
      ...call,
      name: "str",
      args: [{ kind: "call", name: "kptr", args: [pointer], span: pointer.span, type: unknownType }, ...rest],
    },
    body,
  );
};

export const textCalls: Readonly<Record<string, CallCheck>> = {
  str,
  buf,
  strcap: capacity,
  strlen: texts(1),
  strcontains: texts(2),
  strstr: texts(2),
  strncmp: compared,
  memcmp: compared,
  str_concat: concat,
  host_text: computedText,
  hex_text: hexText,
  counted_text: countedText,
  kstr: kernelText,
};
