// Calls that read memory or registers, make addresses and texts, or answer questions about the script.
import { calls } from "../../messages/calls.ts";
import { says } from "../../messages/message.ts";
import { InternalError } from "../../base/internal-error.ts";
import { hostText, isHostText, parameterAt } from "../host-texts.ts";
import { nearest } from "../nearest.ts";
import { sizeOf } from "../layout.ts";
import type { Call, Expression } from "../program.ts";
import { textLength } from "../text-bytes.ts";
import type { IntegerType, NamedType, StackMode, StackUnwinding, Type } from "../types.ts";
import {
  probeParts,
  boolType,
  float64,
  fullStack,
  i32,
  i64,
  isFloat,
  stackUnwindings,
  u16,
  u32,
  u64,
  u8,
  unknownType,
} from "../types.ts";
import { ofTask, stacksAllowed, stackType } from "./builtin-values.ts";
import { checkCast } from "./casts.ts";
import { textCapacity } from "./config.ts";
import { constantOf } from "./constants.ts";
import { isIntegral, literalBits, literalType, narrowest } from "./integers.ts";
import { findMember } from "./members.ts";
import type { Body, CallCheck } from "./pass.ts";
import { defaultSpace, didYouMean, integerLiteral, needsKernel, report, resolveType, warn } from "./pass.ts";
import { signalNames, signalNumber } from "./signals.ts";
import { siteName } from "./site-names.ts";
import { notHere } from "./place-types.ts";
import { functionName } from "./spelling.ts";
import { describe, describeOne } from "./unify.ts";
import { checkExpression, checkValue } from "./values.ts";
import { checkVariableCall } from "./variables.ts";
import { shapeOf } from "./shapes.ts";

const checked = (call: Call, body: Body): Expression[] => call.args.map((arg) => checkValue(arg, body));
const truth = (value: boolean, call: Call): Expression => ({ kind: "boolean", value, span: call.span, type: boolType });

/** A literal string argument, or a diagnostic. */
function literalText(call: Call, index: number, body: Body): string | undefined {
  const arg = call.args[index];
  if (arg.kind === "string") return arg.value;
  const value = checkValue(arg, body);
  if (value.kind === "string") return value.value;
  if (value.type.kind !== "unknown")
    report(body, arg.span, calls.expectsStringLiteralProvided(functionName(body, call.name), describe(value.type)));
  return undefined;
}

/** Wants an address: a pointer, a number, or something in memory. */
function wantsAddress(value: Expression, call: Call, body: Body): boolean {
  if (value.type.kind === "pointer" || value.type.kind === "integer") needsKernel(body, "reading memory", call.span);
  if (["pointer", "integer", "array", "string", "unknown"].includes(value.type.kind)) return true;
  report(body, value.span, calls.expectsPointerNot(functionName(body, call.name), describeOne(value.type)));
  return false;
}

function wantsInteger(value: Expression, call: Call, body: Body): boolean {
  if (isIntegral(value.type) || value.type.kind === "unknown" || value.type.kind === "boolean") return true;
  report(body, value.span, calls.onlySupportsIntArgumentsProvided(functionName(body, call.name), describe(value.type)));
  return false;
}

/** Capacity that a constant length asks for, up to `most`. */
function capacityFor(
  length: Expression | undefined,
  call: Call,
  body: Body,
  most = body.pass.config.maxStringLength,
): number {
  const constant = length === undefined ? undefined : constantOf(length);
  if (constant === undefined) return most;
  if (constant < 0n) report(body, length!.span, calls.expectsLengthOrMore(functionName(body, call.name)));
  return Math.max(1, constant < BigInt(most) ? Number(constant) : most);
}

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
function asText(value: Expression, body: Body): Expression {
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
      break;
    }
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
  const [word, ...given] = call.args;
  if (word.kind !== "identifier" || !isHostText(word.name))
    throw new InternalError("a computation on texts has no name");
  const spec = hostText(word.name);
  const args = given.map((written, i) => {
    const arg = checkValue(written, body);
    const isNumber = isIntegral(arg.type) || arg.type.kind === "boolean";
    const wanted = parameterAt(spec, i);
    if (wanted === "number") {
      wantsInteger(arg, call, body);
      return arg;
    }
    return wanted === "any" && isNumber ? arg : asText(arg, body);
  });
  const written = body.pass.program.source.text.slice(call.span.start, call.span.end).replace(/\s+/g, " ");
  const what = written.length > mostShown ? `${written.slice(0, mostShown)}…` : written;
  body.hostNeeds.push({ what: `\`${what}\``, span: call.span });
  const all = { ...call, args: [word, ...args] };
  if (args.some(({ type }) => type.kind === "unknown")) return { ...all, type: unknownType };
  if (spec.result === "number") return { ...all, type: i64 };
  if (spec.result === "double") return { ...all, type: float64 };
  const sizes = args.flatMap(({ type }) => (type.kind === "string" ? [type.capacity] : []));
  return { ...all, type: { kind: "string", capacity: spec.capacity?.(sizes) ?? 1 } };
};
const mostShown = 60;

const buf: CallCheck = (call, body) => {
  const [data, length] = checked(call, body) as [Expression, Expression | undefined];
  const args = length === undefined ? [data] : [data, length];
  if (!wantsAddress(data, call, body) || (length !== undefined && !wantsInteger(length, call, body)))
    return { ...call, args, type: unknownType };
  if (length !== undefined)
    return { ...call, args, type: { kind: "buffer", capacity: capacityFor(length, call, body) } };
  if (data.type.kind === "integer" || data.type.kind === "pointer") {
    report(body, call.span, calls.bufExpectsLengthArgument(describe(data.type)));
  }
  const size =
    data.type.kind === "array"
      ? sizeOf(data.type)
      : data.type.kind === "string"
        ? data.type.capacity - 1
        : body.pass.config.maxStringLength;
  return { ...call, args, type: { kind: "buffer", capacity: Math.min(size, body.pass.config.maxStringLength) } };
};

const path: CallCheck = (call, body) => {
  const args = checked(call, body);
  const pointer = args[0];
  const { context } = body;
  if (context !== undefined && context !== "host" && !context.kernelTypes) {
    return {
      ...call,
      args,
      type: report(
        body,
        call.span,
        says("placement", notHere("path", body), "the kernel allows it in fentry, fexit and iterators"),
      ),
    };
  }
  const struct = pointer.type.kind === "pointer" ? pointer.type.target : pointer.type;
  if (struct.kind !== "unknown" && (struct.kind !== "struct" || struct.name !== "path")) {
    report(body, pointer.span, calls.pathExpectsStructPathNot(describeOne(pointer.type)));
  }
  return { ...call, args, type: { kind: "string", capacity: capacityFor(args[1], call, body) } };
};

const capacity: CallCheck = (call, body) => {
  const [value] = checked(call, body) as [Expression];
  const { type } = value;
  if (!["string", "array", "pointer", "unknown"].includes(type.kind)) {
    return {
      ...call,
      type: report(body, value.span, calls.strcapExpectsTextStringArray(describe(type))),
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

const swap: CallCheck = (call, body) => {
  const [value] = checked(call, body) as [Expression];
  if (!wantsInteger(value, call, body) || !isIntegral(value.type)) return { ...call, args: [value], type: unknownType };
  const { bits } =
    value.kind === "integer" && literalBits(value.type) !== undefined ? narrowest(value.value) : value.type;
  const type: IntegerType = { kind: "integer", bits, signed: false };
  return { ...call, args: [value], type };
};

/** floor(), ceil(), trunc(), round(): integers have nothing to round. */
const withoutFraction: CallCheck = (call, body) => {
  const [value] = checked(call, body) as [Expression];
  if (isFloat(value.type)) return { ...call, args: [value], type: float64 };
  return wantsInteger(value, call, body) ? value : { ...call, args: [value], type: unknownType };
};

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

// ── symbols, registers ───────────────────────────────────────────────────────────────────────────────────────────────

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
    report(
      body,
      call.span,
      says("placement", notHere("uaddr", body), "it looks into the program that a probe at a function is in"),
    );
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
  if (registers === undefined)
    return { ...call, type: report(body, call.span, says("placement", notHere("reg", body))) };
  if (name !== undefined && !registers.has(name)) {
    return {
      ...call,
      type: report(body, call.args[0].span, calls.thereNoRegister(name, didYouMean(nearest(name, registers.keys())))),
    };
  }
  return { ...call, args: checked(call, body), type: u64 };
};

const stack: CallCheck = (call, body) => {
  if (!stacksAllowed(body))
    return { ...call, type: report(body, call.span, says("placement", notHere(call.name, body))) };
  let mode: StackMode | undefined;
  let limit: number | undefined;
  let unwinding: StackUnwinding | undefined;
  for (const arg of call.args) {
    if (arg.kind === "identifier") {
      const named = call.name === "ustack" ? stackUnwindings.find((way) => way === arg.name) : undefined;
      if (named !== undefined) {
        unwinding = named;
        continue;
      }
      const modes = call.name === "kstack" ? ["bpftrace", "perf", "raw"] : ["bpftrace", "perf", "raw", "build_id"];
      if (!modes.includes(arg.name)) {
        return {
          ...call,
          type: report(
            body,
            arg.span,
            calls.errorParsingStackModeInvalid(
              call.name,
              arg.name,
              [...modes, ...(call.name === "ustack" ? stackUnwindings : [])].join(", "),
            ),
          ),
        };
      }
      mode = arg.name as StackMode;
      continue;
    }
    const value = checkValue(arg, body);
    const constant = constantOf(value);
    if (constant === undefined) {
      if (value.type.kind !== "unknown") report(body, arg.span, calls.invalidLimitValueExpectedConstant(call.name));
    } else if (constant < 1n) {
      report(body, arg.span, calls.takesFrameLeast(functionName(body, call.name)));
    } else if (constant > 1024n) {
      report(body, arg.span, calls.limitShouldnTExceedGiven(functionName(body, call.name), constant));
    } else {
      limit = Math.min(Number(constant), fullStack);
      if (constant > BigInt(fullStack)) {
        warn(body, arg.span, calls.keepsFramesMostAsked(functionName(body, call.name), fullStack, constant));
      }
    }
  }
  return { ...call, args: [], type: stackType(call.name, body, call.span, { mode, limit, unwinding }) };
};

/** pid(init), nsecs(monotonic): one bare word. */
const worded: (words: readonly string[], type: Type) => CallCheck = (words, type) => (call, body) => {
  const [word] = call.args as [Expression];
  if (word.kind !== "identifier" || !words.includes(word.name)) {
    return {
      ...call,
      type: report(
        body,
        word.span,
        calls.takes(functionName(body, call.name), words.map((w) => `\`${w}\``).join(" or ")),
      ),
    };
  }
  return { ...call, args: [{ ...word, type: { kind: "void" } }], type };
};

const task: (path: readonly string[]) => CallCheck = (names) => (call, body) =>
  ofTask(names, call.args[0], call.span, body);

// ── numbers with a name ──────────────────────────────────────────────────────────────────────────────────────────────

const named: (of: NamedType["of"]) => CallCheck = (of) => (call, body) => {
  const args = checked(call, body);
  const value = args[0];
  const ok = isIntegral(value.type) || value.type.kind === "pointer" || value.type.kind === "unknown";
  if (!ok) report(body, value.span, calls.expectsNumberNot(functionName(body, call.name), describeOne(value.type)));
  return { ...call, args, type: { kind: "named", of } };
};

const probePart: CallCheck = (call, body) => {
  const [probe, word] = call.args;
  const part = word?.kind === "identifier" ? probeParts.find((one) => one === word.name) : undefined;
  if (part === undefined) throw new InternalError("a part of a probe's name without its name");
  const args = [checkValue(probe, body), word];
  return { ...call, args, type: { kind: "named", of: "probe", part } };
};

const ntop: CallCheck = (call, body) => {
  const args = checked(call, body);
  const address = args.at(-1)!;
  if (args.length === 2) wantsInteger(args[0], call, body);
  const { type } = address;
  const bytes =
    type.kind === "array" && sizeOf(type.element) === 1
      ? type.length
      : type.kind === "string"
        ? type.capacity - 1
        : undefined;
  const ok = isIntegral(type) || type.kind === "unknown" || type.kind === "pointer" || bytes === 4 || bytes === 16;
  if (!ok) report(body, address.span, calls.ntopExpectsIntegerOrArray(describeOne(type)));
  return { ...call, args, type: { kind: "named", of: "inet" } };
};

const macaddr: CallCheck = (call, body) => {
  const args = checked(call, body);
  const { type, span } = args[0];
  const bytes = type.kind === "array" ? sizeOf(type) : type.kind === "string" ? type.capacity - 1 : 6;
  if (bytes !== 6 || !wantsAddress(args[0], call, body))
    report(body, span, calls.macaddrExpectsBytesNot(describeOne(type)));
  return { ...call, args, type: { kind: "named", of: "macaddr" } };
};

const pton: CallCheck = (call, body) => {
  const text = literalText(call, 0, body);
  if (text === undefined) return { ...call, type: unknownType };
  const four = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text);
  if (four !== null && four.slice(1).every((part) => Number(part) <= 255))
    return { ...call, args: checked(call, body), type: { kind: "array", element: u8, length: 4 } };
  if (URL.canParse(`http://[${text}]/`))
    return { ...call, args: checked(call, body), type: { kind: "array", element: u8, length: 16 } };
  return { ...call, type: report(body, call.args[0].span, calls.notIpvOrIpvAddress(text)) };
};

const cgroupId: CallCheck = (call, body) => {
  const name = literalText(call, 0, body);
  const find = body.pass.options.facts?.cgroupId;
  if (name === undefined || find === undefined) return { ...call, args: checked(call, body), type: u64 };
  const id = find(name);
  if (id === undefined) return { ...call, type: report(body, call.span, calls.thereNoCgroup(name)) };
  return integerLiteral(id, u64, call.span);
};

/** Deepest level: cgroups are nested no deeper unless `cgroup.max.depth` says (INT_MAX by default). */
const cgroupAt: CallCheck = (call, body) => {
  const args = checked(call, body);
  const level = constantOf(args[0]);
  if (level === undefined || level < 0n || level > 0x7fff_ffffn)
    return {
      ...call,
      type: report(body, args[0].span, calls.takes(functionName(body, call.name), "a constant level from 0 on")),
    };
  return { ...call, args: [integerLiteral(level, literalType(level), args[0].span)], type: u64 };
};

const cgroupPath: CallCheck = (call, body) => {
  if (call.args.length > 1) literalText(call, 1, body);
  return named("cgroup_path")(call, body);
};

const strftime: CallCheck = (call, body) => {
  literalText(call, 0, body);
  const [clock] = call.args.slice(2);
  if (clock !== undefined && (clock.kind !== "identifier" || !["boot", "wall", "utc"].includes(clock.name)))
    return {
      ...call,
      type: report(body, clock.span, calls.takes(functionName(body, call.name), "`boot`, `wall` or `utc`")),
    };
  const args = [...checked({ ...call, args: call.args.slice(0, 2) }, body), ...call.args.slice(2)];
  wantsInteger(args[1], call, body);
  const constant = constantOf(args[1]);
  if (constant !== undefined && constant < 0n) report(body, args[1].span, calls.strftimeExpectsTimeOrLater());
  if (ofMonotonicClock(args[1])) {
    report(body, args[1].span, calls.strftimeCanNotTakeMonotonic());
  }
  return { ...call, args, type: { kind: "named", of: "timestamp" } };
};

function ofMonotonicClock(time: Expression): boolean {
  if (time.kind !== "call" || time.name !== "nsecs") return false;
  const [clock] = time.args;
  return clock?.kind === "identifier" && clock.name === "monotonic";
}

// ── acting ───────────────────────────────────────────────────────────────────────────────────────────────────────────

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
    report(body, call.span, says("placement", notHere("override", body), "the kernel allows it in kprobes"));
  } else if (body.pass.options.facts?.kernelFunctionExists("bpf_override_return") === false) {
    report(body, call.span, calls.kernelLetsNoHandlerOverride());
  }
  return { ...call, args, type: { kind: "void" } };
};

const writeUser: CallCheck = (call, body) => {
  const args = checked(call, body);
  const length = args[2];
  if (constantOf(length) === undefined && length.type.kind !== "unknown")
    report(body, length.span, calls.writeUserExpectsConstantLength());
  return { ...call, args, type: boolType };
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
        says(
          "placement",
          notHere("skboutput", body),
          "packets are handed out by fentry, fexit and rawtracepoint probes",
        ),
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

// ── questions ────────────────────────────────────────────────────────────────────────────────────────────────────────

const question: (answer: (value: Expression) => boolean) => CallCheck = (answer) => (call, body) => {
  const value = checkExpression(call.args[0], body);
  return value.type.kind === "unknown" ? { ...call, type: boolType } : truth(answer(value), call);
};

const beforehand: CallCheck = (call, body) => {
  const value = checkExpression(call.args[0], body);
  if (value.type.kind === "unknown" || value.kind === "string" || constantOf(value) !== undefined) return value;
  return {
    ...call,
    args: [value],
    type: report(body, call.span, calls.notKnownBeforeScriptRuns()),
  };
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
  if (!("type" in resolved))
    return { ...call, type: report(body, type.span, says("name", resolved.problem, resolved.help)) };
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

export const memoryCalls: Readonly<Record<string, CallCheck>> = {
  str,
  buf,
  path,
  strcap: capacity,
  strlen: texts(1),
  strcontains: texts(2),
  strstr: texts(2),
  strncmp: compared,
  memcmp: compared,
  str_concat: concat,
  host_text: computedText,
  floor: withoutFraction,
  ceil: withoutFraction,
  trunc: withoutFraction,
  round: withoutFraction,
  bswap: swap,
  kstr: kernelText,
  kptr: space,
  uptr: space,
  kaddr: kernelAddress,
  uaddr: userAddress,
  var: checkVariableCall,
  percpu_kaddr: perCpuAddress,
  reg: register,
  kstack: stack,
  ustack: stack,
  dw_ustack: stack,
  pid: worded(["curr_ns", "init"], { kind: "integer", bits: 32, signed: false }),
  tid: worded(["curr_ns", "init"], { kind: "integer", bits: 32, signed: false }),
  nsecs: worded(["boot", "monotonic", "tai", "sw_tai", "wall"], u64),
  pcomm: task(["real_parent", "comm"]),
  ppid: task(["real_parent", "pid"]),
  leader_comm: task(["group_leader", "comm"]),
  leader_tid: task(["group_leader", "pid"]),
  probe_part: probePart,
  ksym: named("ksym"),
  usym: named("usym"),
  cgroup_path: cgroupPath,
  strerror: named("strerror"),
  signal_name: named("signal_name"),
  comm: named("process_name"),
  syscall_name: named("syscall_name"),
  ntop,
  macaddr,
  pton,
  cgroup: cgroupAt,
  cgroupid: cgroupId,
  strftime,
  signal,
  signal_thread: signal,
  override,
  write_user: writeUser,
  socket_cookie: socketCookie,
  skboutput: packet,
  comptime: beforehand,
  is_array: question((v) => v.type.kind === "array"),
  is_integer: question((v) => v.type.kind === "integer"),
  is_literal: question((v) => v.kind === "integer" || v.kind === "string" || v.kind === "boolean"),
  is_ptr: question((v) => v.type.kind === "pointer"),
  is_str: question((v) => v.type.kind === "string"),
  is_unsigned_integer: question((v) => v.type.kind === "integer" && !v.type.signed),
  is_err: isError,
  container_of: containerOf,
  default_str_length: (call, body) => integerLiteral(BigInt(body.pass.config.maxStringLength), u64, call.span),
  kfunc_exist: (call, body) => {
    const name = literalText(call, 0, body);
    return truth(name !== undefined && (body.pass.options.facts?.kernelFunctionExists(name) ?? false), call);
  },
  // Handlers call no kernel functions, so none is allowed.
  kfunc_allowed: (call, body) => {
    literalText(call, 0, body);
    return truth(false, call);
  },
};
