// What is wrong with a script in D, in DTrace's words where it has some, and with its tags.
import { says, type DiagnosticCode, type Message } from "./message.ts";

const tagged = (tag: string, code: DiagnosticCode, message: string, help?: string): Message => ({
  ...says(code, message, help),
  tag,
});
const syntax = (message: string, help?: string): Message => tagged("D_SYNTAX", "syntax", message, help);

export const d = {
  // ── reading ──
  near: (found: string, expected: string): Message => syntax(`syntax error near ${found}`, `expected ${expected}`),
  unreadable: (problem: string): Message => syntax(problem),
  nestedTooDeeply: (): Message => says("limit", "nesting is too deep", "use variables"),
  controlFlow: (word: string): Message =>
    syntax(`syntax error near "${word}"`, "D has no loops: use probes that fire again, as tick-1s"),
  directive: (name: string, why: string): Message => tagged("D_PRAGMA_INVAL", "feature", `#${name}: ${why}`),
  unclosedCondition: (name: string): Message => syntax(`#${name} without an #endif`),
  strayDirective: (name: string): Message => syntax(`#${name} without an #if in front of it`),
  pragmaOption: (): Message => tagged("D_PRAGMA_MALFORM", "syntax", "malformed #pragma option <option>=<val>"),
  pragma: (text: string): Message => tagged("D_PRAGMA_INVAL", "syntax", `invalid D pragma: ${text}`),
  unknownOption: (name: string, help?: string): Message =>
    tagged("D_PRAGMA_OPTSET", "name", `failed to set option '${name}': Invalid option name`, help),
  optionWithoutEffect: (name: string): Message => says("feature", `option '${name}' has no effect here yet`),
  optionValue: (name: string, value: string): Message =>
    tagged(
      "D_PRAGMA_OPTSET",
      "type",
      `failed to set option '${name}' to '${value}': Invalid value for specified option`,
    ),
  expansion: (): Message => says("limit", "the macros of the script expand to too much"),
  macroUndefined: (name: string): Message =>
    tagged("D_MACRO_UNDEF", "name", `macro ${/\d$/.test(name) ? "argument" : "variable"} ${name} is not defined`),
  macroUnused: (name: string): Message =>
    tagged("D_MACRO_UNUSED", "unused", `extraneous argument '${name}' is not used by the script`),

  // ── probes ──
  provider: (text: string, help?: string): Message =>
    tagged("D_PDESC_ZERO", "name", `probe description ${text} does not match any probes`, help),
  providerMissing: (text: string, why: string): Message =>
    tagged("D_PDESC_ZERO", "feature", `probe description ${text} does not match any probes: ${why}`),
  invalidProbe: (text: string): Message =>
    tagged("D_PDESC_INVAL", "syntax", `invalid probe description "${text}": Overspecified probe description`),

  // ── names ──
  unknownVariable: (name: string, help?: string): Message =>
    tagged("D_IDENT_UNDEF", "name", `failed to resolve ${name}: Unknown variable name`, help),
  unassigned: (name: string): Message => tagged("D_VAR_UNDEF", "name", `${name} has not yet been declared or assigned`),
  unknownFunction: (name: string, help?: string): Message =>
    tagged("D_FUNC_UNDEF", "name", `undefined function name: ${name}`, help),
  unknownAggregation: (name: string): Message =>
    tagged(
      "D_AGG_UNDEF",
      "name",
      `failed to resolve ${name}: Unknown variable name`,
      "give it a value first: @a = count()",
    ),
  notAggregatingFunction: (name: string): Message =>
    tagged("D_AGG_FUNC", "type", `${name}( ) is not an aggregating function`),
  aggregatingFunction: (name: string): Message =>
    tagged(
      "D_AGG_NULL",
      "type",
      `expression must produce a value: ${name}( ) is assigned to an aggregation, @a = ${name}(…)`,
    ),
  aggregationRedefined: (name: string, first: string, now: string): Message =>
    tagged(
      "D_AGG_REDEF",
      "type",
      `aggregation redefined: ${name}\n\t current: ${name} = ${now}( )\n\tprevious: ${name} = ${first}( )`,
    ),
  redefined: (name: string): Message => tagged("D_DECL_IDRED", "name", `identifier redefined: ${name}`),
  unknownType: (name: string): Message => tagged("D_TYPE_ERR", "name", `unknown type ${name}`),
  cannotAssign: (name: string): Message =>
    tagged("D_OP_WRITE", "type", `operator = can only be applied to a writable variable: ${name}`),
  arithmeticOperands: (operator: string): Message =>
    tagged("D_OP_ARITH", "type", `operator ${operator} requires operands of arithmetic type`),
  arithmeticOperand: (operator: string): Message =>
    tagged("D_OP_ARITH", "type", `operator ${operator} requires an operand of arithmetic type`),
  scalarOperand: (operator: string): Message =>
    tagged("D_OP_SCALAR", "type", `operator ${operator} requires an operand of scalar type`),
  notAPointer: (): Message => tagged("D_DEREF_NONPTR", "type", "cannot dereference non-pointer type"),
  divisionByZero: (): Message => tagged("D_DIV_ZERO", "type", "expression contains division by zero"),
  incompatibleBranches: (): Message =>
    tagged("D_OP_INCOMPAT", "type", "operator ?: operands must have compatible types"),
  notYet: (what: string, help?: string): Message => says("feature", `${what} is not there yet`, help),

  noTranslator: (type: string): Message => tagged("D_XLATE_NONE", "name", `cannot translate to ${type}: no translator`),
  noMember: (type: string, name: string, members: readonly string[]): Message =>
    tagged(
      "D_XLATE_NOCONV",
      "name",
      `translator for ${type} does not define conversion for member: ${name}`,
      `it has ${members.join(", ")}`,
    ),
  noArgument: (number: number, probe: string, count: number): Message =>
    tagged(
      "D_ARGS_IDX",
      "arguments",
      `index ${number} is out of range for ${probe} args[ ]`,
      count === 0 ? "it has none" : `it has ${count}`,
    ),
  unknownRegister: (): Message =>
    says(
      "name",
      "regs[ ] is indexed by a register's constant name",
      "as in regs[R_RDI]: R_RAX to R_R15, R_PC, R_SP, R_FP",
    ),

  // ── calls ──
  argumentCount: (name: string, given: number, wanted: string): Message =>
    tagged(
      "D_PROTO_LEN",
      "arguments",
      `${name}( ) prototype mismatch: ${given} arg${given === 1 ? "" : "s"} passed, ${wanted} expected`,
    ),
  argumentType: (name: string, number: number, prototype: string, argument: string): Message =>
    tagged(
      "D_PROTO_ARG",
      "type",
      `${name}( ) argument #${number} is incompatible with prototype:\n\tprototype: ${prototype}\n\t argument: ${argument}`,
    ),
  noValue: (name: string): Message =>
    tagged("D_ACT_SPEC", "placement", `${name}( ) may not be called from a D expression (D program context required)`),
  prototypeConversion: (name: string, number: number, conversion: string): Message =>
    tagged(
      "D_PRINTF_ARG_PROTO",
      "arguments",
      `${name}( ) prototype mismatch: conversion #${number} (${conversion}) is missing a corresponding value argument`,
    ),
  argumentsUnused: (name: string, wanted: number): Message =>
    tagged(
      "D_PRINTF_ARG_EXTRA",
      "arguments",
      `${name}( ) prototype mismatch: only ${wanted - 1} arguments required by this format string`,
    ),
  conversionType: (name: string, number: number, conversion: string, prototype: string, argument: string): Message =>
    tagged(
      "D_PRINTF_ARG_TYPE",
      "type",
      `${name}( ) argument #${number} is incompatible with conversion #${number - 1} prototype:\n\tconversion: ${conversion}\n\t prototype: ${prototype}\n\t  argument: ${argument}`,
    ),
  undefinedConversion: (number: number, conversion: string): Message =>
    syntax(`format conversion #${number} is undefined: ${conversion}`),
  emptyFormat: (name: string): Message =>
    tagged("D_PRINTF_FMT_EMPTY", "arguments", `${name}( ) format string is empty`),
  badFormat: (problem: string): Message => tagged("D_PRINTF_ERR", "type", problem),
  destructive: (name: string): Message =>
    says("unsafe", `${name}( ) is a destructive action`, "allow it by -w (strobe: --unsafe)"),
} as const;
