// Scripts in D: aggregations, in DTrace's words and with its tags.
import { tagged, type Message } from "./message.ts";

export const dAggregations = {
  /** @example BEGIN { @a = quantize(1, "x"); } */
  incrementType: (name: string, argument: number): Message =>
    tagged("D_PROTO_ARG", "type", `${name}( ) increment value (argument #${argument}) must be of scalar type`),
  /** @example BEGIN { @a[1][2] = count(); } */
  severalDimensions: (name: string): Message =>
    tagged("D_AGG_MDIM", "type", `improper attempt to reference ${name} as a multi-dimensional array`),
  /** @example BEGIN { @a = count(); @a; } */
  noEffect: (name: string): Message => tagged("D_AGG_NULL", "type", `expression has null effect: ${name}`),
  /** @example BEGIN { clear(@nosuch); } */
  unknownAggregation: (name: string): Message =>
    tagged(
      "D_IDENT_UNDEF",
      "name",
      `failed to resolve ${name}: Unknown variable name`,
      "give it a value first: @a = count()",
    ),
  /** @example BEGIN { @a = 1; } */
  notAggregatingFunction: (name: string): Message =>
    tagged(
      "D_AGG_FUNC",
      "type",
      `${name === "@" ? "@_" : name} must be assigned the result of an aggregating function`,
    ),
  /** @example BEGIN { x = count(); } */
  aggregatingValue: (): Message =>
    tagged("D_OP_INCOMPAT", "type", 'operands have incompatible types: "scalar" = "aggregating function"'),
  /** @example BEGIN { @a = sum("x"); } */
  aggregatesNoText: (name: string): Message =>
    tagged("D_AGG_SCALAR", "type", `${name}( ) argument #1 must be of scalar type`),
  /** @example BEGIN { @a = count(); @a = sum(1); } */
  aggregationRedefined: (name: string, first: string, now: string, line: number): Message =>
    tagged(
      "D_AGG_REDEF",
      "type",
      `aggregation redefined: ${name}\n\t current: ${name} = ${now}( )\n\tprevious: ${name} = ${first}( ) : line ${line}`,
    ),
  /** @example BEGIN { clear(1); } */
  aggregationArgument: (name: string, number: number, argument: string): Message =>
    tagged(
      name === "printa" ? "D_PRINTA_AGGARG" : `D_${name.replace(/^de/, "").toUpperCase()}_AGGARG`,
      "type",
      `${name}( ) argument #${number} is incompatible with prototype:\n\tprototype: aggregation\n\t argument: ${argument}`,
    ),
  /** @example BEGIN { @a = lquantize(1, 0, 10, 0); } */
  quantizeConstant: (name: string, tag: string, number: number, wanted: string): Message =>
    tagged(tag, "arguments", `${name}( ) argument #${number} must be ${wanted}`),
  /** @example BEGIN { @a = lquantize(1, 10, 0, 1); } */
  quantizeMismatch: (): Message =>
    tagged("D_LQUANT_MISMATCH", "arguments", "lquantize( ) base (argument #1) must be less than limit (argument #2)"),
  /** @example BEGIN { @a = lquantize(1, 0, 10, 11); } */
  quantizeStep: (tag: string, problem: string): Message =>
    tagged(`D_LQUANT_STEP${tag}`, "arguments", `lquantize( ) step (argument #3) too ${problem}`),
  /** @example BEGIN { @a = llquantize(1, 10, 3, 0, 10); } */
  quantizeHigh: (problem: string): Message =>
    tagged("D_LLQUANT_HMAGVAL", "arguments", `llquantize( ) argument #3 (high magnitude) ${problem}`),
  /** @example BEGIN { @a = llquantize(1, 10, 0, 3, 15); } */
  quantizeSteps: (wanted: string): Message =>
    tagged("D_LLQUANT_STEPVAL", "arguments", `llquantize() argument #4 (steps) must ${wanted}`),
  /** @example BEGIN { @a = lquantize(1, 0, 10, 1); @a = lquantize(1, 0, 20, 1); } */
  quantizeOther: (name: string, tag: string, what: string, number: number, first: bigint, now: bigint): Message =>
    tagged(
      tag,
      "type",
      `${name} ${what} (argument #${number}) doesn't match previous declaration: expected ${first}, found ${now}`,
    ),
  /** @example BEGIN { printa("hello"); } */
  printaArguments: (): Message =>
    tagged("D_PRINTA_PROTO", "arguments", "printa( ) prototype mismatch: 1 args passed, 2 expected"),
  /** @example BEGIN { @a[1] = count(); @b = count(); printa(@a, @b); } */
  printaKeyCounts: (first: string, count: number, other: string, own: number): Message => {
    const keys = (of: number): string => `${of} key${of === 1 ? "" : "s"}`;
    return tagged(
      "D_PRINTA_AGGKEY",
      "arguments",
      `printa( ): ${first} and ${other} do not have matching key signatures: ${first} has ${keys(count)}, ${other} has ${keys(own)}`,
    );
  },
  /** @example BEGIN { @a[1] = count(); @b["x"] = count(); printa(@a, @b); } */
  printaKeys: (first: string, type: string, other: string, own: string, key: number): Message => {
    const row = (name: string, of: string): string => `${name.slice(1).padStart(9)} key #${key}: ${of}`;
    return tagged(
      "D_PRINTA_AGGPROTO",
      "type",
      `printa( ): ${other}[ ] key #${key} is incompatible with ${first}:\n${row(first, type)}\n${row(other, own)}`,
    );
  },
} as const;
