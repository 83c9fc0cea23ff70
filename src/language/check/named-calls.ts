// Calls that give a name to a number, or a number to a name.
import { calls } from "../../messages/calls.ts";
import { InternalError } from "../../base/internal-error.ts";
import { sizeOf } from "../layout.ts";
import type { Call, Expression } from "../program.ts";
import { probeParts, symbolParts, u64, u8, unknownType } from "../types.ts";
import type { NamedType } from "../types.ts";
import { constantOf } from "./constants.ts";
import { isIntegral, literalType } from "./integers.ts";
import { integerLiteral, report } from "./pass.ts";
import type { CallCheck } from "./pass.ts";
import { notHere } from "./place-types.ts";
import { functionName } from "./spelling.ts";
import { describeOne } from "./unify.ts";
import { checkValue } from "./values.ts";
import { checked, literalText, wantsAddress, wantsInteger, capacityFor } from "./call-arguments.ts";

const named: (of: NamedType["of"]) => CallCheck = (of) => (call, body) => namedValue(of, call, body);

function namedValue(of: NamedType["of"], call: Call, body: Parameters<CallCheck>[1]): Call {
  const args = checked(call, body);
  const value = args[0];
  const ok = isIntegral(value.type) || value.type.kind === "pointer" || value.type.kind === "unknown";
  if (!ok) report(body, value.span, calls.expectsNumberNot(functionName(body, call.name), describeOne(value.type)));
  return { ...call, args, type: { kind: "named", of } };
}

const probePart: CallCheck = (call, body) => {
  const [probe, word] = call.args;
  const part = word?.kind === "identifier" ? probeParts.find((one) => one === word.name) : undefined;
  if (part === undefined) throw new InternalError("a part of a probe's name without its name");
  const args = [checkValue(probe, body), word];
  return { ...call, args, type: { kind: "named", of: "probe", part } };
};

/** A symbol as D writes it. */
const symbolPart: (of: "ksym" | "usym") => CallCheck = (of) => (call, body) => {
  const [address, word] = call.args;
  const symbol = word?.kind === "identifier" ? symbolParts.find((one) => one === word.name) : undefined;
  if (symbol === undefined) throw new InternalError("a part of a symbol without its name");
  const { args, type } = namedValue(of, { ...call, args: [address] }, body);
  return { ...call, args: [...args, word], type: type.kind === "named" ? { ...type, symbol } : type };
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
  if (constant !== undefined && constant < 0n && clock === undefined)
    report(body, args[1].span, calls.strftimeExpectsTimeOrLater());
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

const path: CallCheck = (call, body) => {
  const args = checked(call, body);
  const pointer = args[0];
  const { context } = body;
  if (context !== undefined && context !== "host" && !context.kernelTypes) {
    return {
      ...call,
      args,
      type: report(body, call.span, notHere("path", body, "the kernel allows it in fentry, fexit and iterators")),
    };
  }
  const struct = pointer.type.kind === "pointer" ? pointer.type.target : pointer.type;
  if (struct.kind !== "unknown" && (struct.kind !== "struct" || struct.name !== "path")) {
    report(body, pointer.span, calls.pathExpectsStructPathNot(describeOne(pointer.type)));
  }
  return { ...call, args, type: { kind: "string", capacity: capacityFor(args[1], call, body) } };
};

export const namedCalls: Readonly<Record<string, CallCheck>> = {
  path,
  probe_part: probePart,
  ksym: named("ksym"),
  usym: named("usym"),
  ksym_part: symbolPart("ksym"),
  usym_part: symbolPart("usym"),
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
};
