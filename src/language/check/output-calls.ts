// Calls that print or end: printf and its kin, print, time, exit, join.
import { maps } from "../../messages/maps.ts";
import { calls } from "../../messages/calls.ts";
import { InternalError } from "../../base/internal-error.ts";
import { valueOf } from "../aggregations/table.ts";
import { nearest } from "../nearest.ts";
import type { Expression } from "../program.ts";
import { unknownType, voidType } from "../types.ts";
import { argumentNumber } from "../builtins/table.ts";
import { askForAll, checkResult } from "./aggregations.ts";
import { constantOf } from "./constants.ts";
import { aggregateValue, checkMapEntry, isUndefined, nearMaps, wholeMap, wholeMaps } from "./map-access.ts";
import { isIntegral, literalType, settled } from "./integers.ts";
import { checkFormat, intsIn, withLetters, withSigns } from "./printf-arguments.ts";
import type { Body, CallCheck } from "./pass.ts";
import { didYouMean, integerLiteral, mapState, report, warn } from "./pass.ts";
import { mapName } from "./spelling.ts";
import { describe, describeOne } from "./unify.ts";
import { checkValue } from "./values.ts";

const formatted: CallCheck = (call, body) => {
  const [written, ...args] = call.args.map((arg) => checkValue(arg, body)) as [Expression, ...Expression[]];
  const { formats } = body.pass.program.rules;
  const format = withSigns(withLetters(written, args, formats), args, formats);
  checkFormat(format, args, call.span, body);
  const ints = formats.registersAsInt ? intsIn(format) : undefined;
  const shown = args.map((arg, i) => (ints?.has(i) && isRegister(arg) ? checkValue(asInt(arg), body) : arg));
  return { ...call, args: [format, ...shown], type: voidType };
};

function isRegister({ kind, type, ...node }: Expression): boolean {
  return (
    kind === "builtin" &&
    "name" in node &&
    (node.name === "retval" || argumentNumber(node.name) !== undefined) &&
    type.kind === "integer" &&
    type.bits === 64 &&
    !type.signed
  );
}

/**
 * A register that functions leave an `int` in, its upper half zero: `%d` of -1 in it is -1, as in C. One with more in
 * it is all of what it holds.
 */
function asInt(register: Expression): Expression {
  const { span } = register;
  const node = { span, type: unknownType };
  const number = (value: bigint): Expression => ({ kind: "integer", value, ...node });
  const as = (name: string, operand: Expression): Expression => ({
    kind: "cast",
    to: { name, pointers: 0, dimensions: [], span },
    operand,
    ...node,
  });
  const upper: Expression = { kind: "binary", operator: ">>", left: register, right: number(32n), ...node };
  return {
    kind: "conditional",
    condition: { kind: "binary", operator: "==", left: upper, right: number(0n), ...node },
    then: as("int64", as("int32", register)),
    otherwise: as("int64", register),
    ...node,
  };
}

const debugged: CallCheck = (call, body) => {
  warn(body, call.span, calls.debugfBuiltinNotRecommendedProduction());
  return formatted(call, body);
};

/** A typed event, by its name, for the program that this script is part of. */
const emit: CallCheck = (call, body) => {
  const [name, record] = call.args as [Expression, Expression];
  if (name.kind !== "string" || record.kind !== "record") {
    return { ...call, type: report(body, call.span, calls.emitExpectsRecord()) };
  }
  const fields = record.fields.map((field) => ({ name: field.name, value: checkValue(field.value, body) }));
  return {
    ...call,
    args: [
      name,
      {
        ...record,
        fields,
        type: { kind: "record", fields: fields.map((f) => ({ name: f.name, type: f.value.type })) },
      },
    ],
    type: voidType,
  };
};

const print: CallCheck = (call, body) => {
  const [first, ...rest] = call.args as [Expression, ...Expression[]];
  const numbers = rest.map((arg, i) => literalArgument(arg, `print()'s top and divisor`, i === 0, body));
  if (first.kind !== "map") {
    if (rest.length > 0) report(body, call.span, calls.onlyWholeMapTakesTop());
    const value = first.kind === "result" ? checkResult(first, body, true) : checkValue(first, body);
    return { ...call, args: [value], type: voidType };
  }
  askForAll(mapState(body, first.name, first.span), body);
  if (first.keys.length > 0) {
    if (rest.length > 0) report(body, call.span, calls.onlyWholeMapTakesTop());
    const { access, map } = checkMapEntry(first, body, "store");
    if (isUndefined(map))
      report(body, first.span, maps.undefinedMap(mapName(body, map.name), nearMaps(map.name, body)));
    // A histogram is printed as it is; what has one value is read, where handlers can.
    const { value } = map;
    const onHost = value.kind === "aggregate" && "double" in (valueOf(value) ?? {});
    const type =
      value.kind === "aggregate"
        ? ((onHost ? undefined : aggregateValue(value, access, body)) ?? value)
        : settled(value);
    return { ...call, args: [{ ...access, type }], type: voidType };
  }
  return { ...call, args: [wholeMap(first, body), ...numbers], type: voidType };
};

/** A layout, and maps with their divisors; or an entry of one. */
const printRows: CallCheck = (call, body) => {
  const [layout, ...rest] = call.args;
  const divisors = rest.filter((_, i) => i % 2 === 1).map((arg) => checkValue(arg, body));
  const accesses = rest.filter((arg) => arg.kind === "map");
  if (accesses.length !== divisors.length) throw new InternalError("print_rows() of what is no map");
  for (const { name, span } of accesses) askForAll(mapState(body, name, span), body);
  const [entry] = accesses;
  const shown =
    entry.keys.length === 0
      ? wholeMaps(accesses, body)
      : [entry].map((one) => {
          const { access, map } = checkMapEntry(one, body, "store");
          return { ...access, type: map.value };
        });
  return { ...call, args: [layout, ...shown.flatMap((one, i) => [one, divisors[i]])], type: voidType };
};

/** `negative`: it means 0, all of them. */
function literalArgument(node: Expression, what: string, negative: boolean, body: Body): Expression {
  const checked = checkValue(node, body);
  const constant = constantOf(checked);
  if (constant === undefined) {
    if (checked.type.kind !== "unknown") report(body, node.span, calls.mustConstants(what));
    return checked;
  }
  if (constant < 0n && negative) return integerLiteral(0n, literalType(0n), node.span);
  if (constant < 0n) report(body, node.span, calls.printDivisorCannotNegative());
  return integerLiteral(constant, literalType(constant), node.span);
}

const time: CallCheck = (call, body) => {
  const format: Expression =
    call.args.length === 0
      ? { kind: "string", value: "%H:%M:%S\n", span: call.span, type: { kind: "string", capacity: 10 } }
      : checkValue(call.args[0], body);
  if (format.kind !== "string" && format.type.kind !== "unknown")
    report(body, format.span, calls.timeExpectsStringLiteralProvided(describe(format.type)));
  return { ...call, args: [format], type: voidType };
};

const unwatch: CallCheck = (call, body) => {
  const [address] = call.args.map((arg) => checkValue(arg, body)) as [Expression];
  const { kind } = address.type;
  if (kind !== "unknown" && kind !== "pointer" && !isIntegral(address.type))
    report(body, address.span, calls.unwatchExpectsAddressNot(describeOne(address.type)));
  return { ...call, args: [address], type: voidType };
};

const watch: CallCheck = (call, body) => {
  const [name, address] = call.args.map((arg) => checkValue(arg, body)) as [Expression, Expression];
  if (name.kind !== "string") {
    if (name.type.kind !== "unknown") report(body, name.span, calls.watchWantsNameProbeString());
  } else if (!body.pass.watchNames.includes(name.value)) {
    const { watchNames } = body.pass;
    report(
      body,
      name.span,
      calls.noWatchpointName(
        name.value,
        watchNames.length === 0
          ? `write a probe watchpoint:${name.value}:8:w { … }`
          : (didYouMean(nearest(name.value, watchNames)) ?? `there are ${watchNames.join(", ")}`),
      ),
    );
  }
  const { kind } = address.type;
  if (kind !== "unknown" && kind !== "pointer" && !isIntegral(address.type))
    report(body, address.span, calls.watchWantsAddressNot(describeOne(address.type)));
  return { ...call, args: [name, address], type: voidType };
};

const exit: CallCheck = (call, body) => {
  const args = call.args.map((arg) => checkValue(arg, body));
  for (const arg of args) {
    if (arg.type.kind !== "unknown" && !isIntegral(arg.type))
      report(body, arg.span, calls.exitCodeIntegerNot(describeOne(arg.type)));
  }
  return { ...call, args, type: voidType };
};

const join: CallCheck = (call, body) => {
  const args = call.args.map((arg) => checkValue(arg, body));
  const [strings, separator] = args as [Expression, Expression | undefined];
  const { type } = strings;
  const isList = type.kind === "array" ? type.element.kind === "pointer" : ["pointer", "integer"].includes(type.kind);
  if (type.kind !== "unknown" && !isList) {
    report(body, strings.span, calls.joinExpectsArrayStringsNot(describeOne(strings.type)));
  }
  if (separator !== undefined && separator.kind !== "string")
    report(body, separator.span, calls.joinExpectsSeparatorStringLiteral());
  return { ...call, args, type: voidType };
};

const staticAssert: CallCheck = (call, body) => {
  const [condition, message] = call.args.map((arg) => checkValue(arg, body)) as [Expression, Expression];
  const holds = constantOf(condition);
  if (holds === undefined && condition.type.kind !== "unknown")
    report(body, condition.span, calls.staticAssertNeedsConstantCondition());
  if (holds === 0n)
    report(
      body,
      call.span,
      message.kind === "string" ? calls.ofTheScript(message.value) : calls.staticAssertionFailed(),
    );
  return { ...call, type: voidType };
};

const fail: CallCheck = (call, body) => {
  const [format, ...args] = call.args.map((arg) => checkValue(arg, body)) as [Expression, ...Expression[]];
  checkFormat(format, args, call.span, body);
  let next = 0;
  const shown = (arg: Expression | undefined): string =>
    arg?.kind === "string" ? arg.value : String(arg === undefined ? "?" : (constantOf(arg) ?? "?"));
  const message =
    format.kind === "string"
      ? format.value.replace(/%[-+ #0-9.]*l*([a-zA-Z])|%%/g, (m) => (m === "%%" ? "%" : shown(args[next++])))
      : "fail()";
  report(body, call.span, calls.ofTheScript(message));
  return { ...call, type: voidType };
};

const assertText: CallCheck = (call, body) => {
  const value = checkValue(call.args[0], body);
  const ok = ["unknown", "string", "array", "pointer"].includes(value.type.kind);
  if (!ok)
    report(body, value.span, calls.expectedTextNot(describeOne(value.type), body.pass.program.rules.advice.wantsText));
  return { ...call, args: [value], type: ok ? voidType : unknownType };
};

export const outputCalls: Readonly<Record<string, CallCheck>> = {
  printf: formatted,
  debugf: debugged,
  errorf: formatted,
  sayf: formatted,
  warnf: formatted,
  cat: formatted,
  reopen: formatted,
  truncate_output: (call) => ({ ...call, type: voidType }),
  system: formatted,
  print,
  print_rows: printRows,
  emit,
  time,
  exit,
  watch,
  unwatch,
  join,
  // As a statement it is more than a call (statements.ts).
  assert: (call) => ({ ...call, type: voidType }),
  static_assert: staticAssert,
  fail,
  assert_str: assertText,
};
