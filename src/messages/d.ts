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
  unreadable: (problem: string, tag = "D_SYNTAX"): Message => tagged(tag, "syntax", problem),
  noClauses: (): Message => tagged("D_EMPTY", "syntax", "empty D program translation unit"),
  noActions: (): Message => syntax("expected predicate and/or actions following probe description"),
  noActionsBehindPredicate: (): Message => syntax("expected actions { } following probe description and predicate"),
  predicateType: (): Message => tagged("D_PRED_SCALAR", "type", "predicate result must be of scalar type"),
  stopped: (text: string): Message => tagged("D_PRAGERR", "syntax", `#error: ${text} `),
  unknownDirective: (name: string): Message =>
    tagged("D_PRAGCTL_INVAL", "syntax", `invalid control directive: #${name}`),
  pragmaUnused: (name: string): Message => tagged("D_PRAGMA_UNUSED", "syntax", `unused #pragma ${name}`),
  pragmaLibrary: (): Message =>
    tagged("D_PRAGMA_DEPEND", "syntax", "main program may not explicitly depend on a library"),

  // ── declarations ──
  storageClass: (): Message => tagged("D_DECL_BADCLASS", "syntax", "specified storage class not appropriate in D"),
  typeCombination: (): Message => tagged("D_DECL_COMBO", "syntax", "invalid type combination"),
  signedType: (): Message =>
    tagged(
      "D_DECL_SIGNINT",
      "syntax",
      "invalid type declaration: signed and unsigned may only be used with integer type",
    ),
  longChar: (): Message =>
    tagged("D_DECL_CHARATTR", "syntax", "invalid type declaration: short and long may not be used with char type"),
  typeRedeclared: (name: string): Message => tagged("D_DECL_TYPERED", "name", `type redeclared: ${name}`),
  typedefRedeclared: (name: string): Message => tagged("D_DECL_IDRED", "name", `typedef redeclared: ${name}`),
  memberTwice: (name: string): Message =>
    tagged("D_UNKNOWN", "name", `failed to define member '${name}': Duplicate member, enumerator, or variable name.`),
  redeclared: (name: string, now: string, before: string): Message =>
    tagged("D_DECL_IDRED", "name", `identifier redeclared: ${name}\n\t current: ${now}\n\tprevious: ${before}`),
  inlineRedefines: (name: string): Message =>
    tagged("D_DECL_IDRED", "name", `identifier redefined: ${name}\n\t current: inline definition\n\tprevious: scalar `),
  inlineType: (name: string, type: string, value: string): Message =>
    tagged("D_OP_INCOMPAT", "type", `inline ${name} definition uses incompatible types: "${type}" = "${value}"`),
  arraySize: (): Message =>
    tagged(
      "D_DECL_ARRSUB",
      "type",
      "positive integral constant expression or tuple signature expected as array declaration subscript",
    ),
  arrayWithoutSize: (name: string): Message =>
    tagged("D_DECL_ARRNULL", "type", `array declaration requires array dimension or tuple signature: ${name}`),
  voidObject: (name: string): Message => tagged("D_DECL_VOIDOBJ", "type", `cannot have void object: ${name}`),
  bitFieldType: (name: string): Message => tagged("D_DECL_BFTYPE", "type", `invalid type for bit-field: ${name}`),
  bitFieldSize: (name: string): Message => tagged("D_DECL_BFSIZE", "type", `bit-field too big for type: ${name}`),
  translatorTwice: (from: string, to: string): Message =>
    tagged("D_XLATE_REDECL", "name", `translator from ${from} to ${to} has already been declared`),

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
  macroUnused: (text: string, number: number): Message =>
    tagged("D_MACRO_UNUSED", "unused", `extraneous argument '${text}' ($${number} is not referenced)`),

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
      "D_IDENT_UNDEF",
      "name",
      `failed to resolve ${name}: Unknown variable name`,
      "give it a value first: @a = count()",
    ),
  notAggregatingFunction: (name: string): Message =>
    tagged("D_AGG_FUNC", "type", `${name} must be assigned the result of an aggregating function`),
  aggregatingFunction: (name: string): Message =>
    tagged(
      "D_CG_EXPR",
      "placement",
      `aggregating function ${name}( ) may not be called from a D expression (D program context required)`,
    ),
  keyCount: (name: string, given: number, wanted: number): Message =>
    tagged(
      "D_PROTO_LEN",
      "arguments",
      `${name}[ ] prototype mismatch: ${given} key${given === 1 ? "" : "s"} passed, ${wanted} expected`,
    ),
  keyType: (name: string, number: number, prototype: string, key: string): Message =>
    tagged(
      "D_PROTO_ARG",
      "type",
      `${name}[ ] key #${number} is incompatible with prototype:\n\tprototype: ${prototype}\n\t      key: ${key}`,
    ),
  voidKey: (number: number): Message =>
    tagged("D_KEY_TYPE", "type", `void expression may not be used as associative array index: key #${number}`),
  localArray: (name: string): Message =>
    tagged("D_ARR_LOCAL", "type", `local variables may not be used as associative arrays: ${name}`),
  notAScalar: (what: string, name: string): Message =>
    tagged("D_IDENT_BADREF", "type", `${what} '${name}' may not be referenced as scalar`),
  notBehind: (tag: string, message: string): Message => tagged(tag, "placement", message),
  aggregatesNoText: (name: string): Message =>
    tagged("D_AGG_SCALAR", "type", `${name}( ) argument #1 must be of scalar type`),
  quantizeConstant: (name: string, tag: string, number: number, wanted: string): Message =>
    tagged(tag, "arguments", `${name}( ) argument #${number} must be ${wanted}`),
  quantizeMismatch: (): Message =>
    tagged("D_LQUANT_MISMATCH", "arguments", "lquantize( ) base (argument #1) must be less than limit (argument #2)"),
  quantizeStep: (tag: string, problem: string): Message =>
    tagged(`D_LQUANT_STEP${tag}`, "arguments", `lquantize( ) step (argument #3) too ${problem}`),
  quantizeHigh: (problem: string): Message =>
    tagged("D_LLQUANT_HMAGVAL", "arguments", `llquantize( ) argument #3 (high magnitude) ${problem}`),
  quantizeSteps: (wanted: string): Message =>
    tagged("D_LLQUANT_STEPVAL", "arguments", `llquantize() argument #4 (steps) must ${wanted}`),
  quantizeOther: (name: string, tag: string, what: string, number: number, first: bigint, now: bigint): Message =>
    tagged(
      tag,
      "type",
      `${name} ${what} (argument #${number}) doesn't match previous declaration: expected ${first}, found ${now}`,
    ),
  printaKeyCounts: (first: string, count: number, other: string, own: number): Message => {
    const keys = (of: number): string => `${of} key${of === 1 ? "" : "s"}`;
    return tagged(
      "D_PRINTA_AGGKEY",
      "arguments",
      `printa( ): ${first} and ${other} do not have matching key signatures: ${first} has ${keys(count)}, ${other} has ${keys(own)}`,
    );
  },
  printaKeys: (first: string, type: string, other: string, own: string, key: number): Message => {
    const row = (name: string, of: string): string => `${name.slice(1).padStart(9)} key #${key}: ${of}`;
    return tagged(
      "D_PRINTA_AGGPROTO",
      "type",
      `printa( ): ${other}[ ] key #${key} is incompatible with ${first}:\n${row(first, type)}\n${row(other, own)}`,
    );
  },
  aggregationRedefined: (name: string, first: string, now: string, line: number): Message =>
    tagged(
      "D_AGG_REDEF",
      "type",
      `aggregation redefined: ${name}\n\t current: ${name} = ${now}( )\n\tprevious: ${name} = ${first}( ) : line ${line}`,
    ),
  redefined: (name: string): Message => tagged("D_DECL_IDRED", "name", `identifier redefined: ${name}`),
  unknownType: (name: string): Message => tagged("D_TYPE_ERR", "name", `unknown type ${name}`),
  cannotAssign: (operator: string): Message =>
    tagged("D_OP_WRITE", "type", `operator ${operator} can only be applied to a writable variable`),
  aggregatingValue: (): Message =>
    tagged("D_OP_INCOMPAT", "type", 'operands have incompatible types: "scalar" = "aggregating function"'),
  noLvalue: (operator: string): Message =>
    tagged("D_OP_LVAL", "type", `operator ${operator} requires modifiable lvalue as an operand`),
  incompatible: (left: string, operator: string, right: string): Message =>
    tagged("D_OP_INCOMPAT", "type", `operands have incompatible types: "${left}" ${operator} "${right}"`),
  integralOperands: (operator: string): Message =>
    tagged("D_OP_INT", "type", `operator ${operator} requires operands of integral type`),
  integralOperand: (operator: string): Message =>
    tagged("D_OP_INT", "type", `operator ${operator} requires an operand of integral type`),
  scalarCounted: (operator: string): Message =>
    tagged("D_OP_SCALAR", "type", `operator ${operator} requires operand of scalar type`),
  voidPointer: (): Message => tagged("D_DEREF_VOID", "type", "cannot dereference pointer to void"),
  noAddress: (): Message => tagged("D_ADDROF_LVAL", "type", "unacceptable operand for unary & operator"),
  noStruct: (type: string): Message =>
    tagged("D_OP_SOU", "type", `operator . cannot be applied to type "${type}"; must be applied to a struct or union`),
  noPointer: (): Message => tagged("D_OP_PTR", "type", "operator -> must be applied to a pointer"),
  invalidCast: (from: string, to: string): Message =>
    tagged("D_CAST_INVAL", "type", `invalid cast expression: "${from}" to "${to}"`),
  sizeOfVoid: (): Message => tagged("D_SIZEOF_TYPE", "type", "cannot apply sizeof to an operand of unknown size"),
  offsetOfNoStruct: (): Message => tagged("D_OFFSETOF_TYPE", "type", "offsetof operand must be a struct or union type"),
  offsetOfBits: (name: string): Message =>
    tagged("D_OFFSETOF_BITFIELD", "type", `cannot take offset of a bit-field: ${name}`),
  offsetOfNoMember: (name: string): Message =>
    tagged("D_UNKNOWN", "name", `failed to determine offset of ${name}: Member name not found.`),
  stringOfStruct: (type: string): Message =>
    tagged("D_STRINGOF_TYPE", "type", `cannot apply stringof to a value of type ${type}`),
  noMemberOf: (type: string, name: string): Message =>
    tagged("D_TYPE_MEMBER", "name", `${name} is not a member of ${type}`),
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

  notImplemented: (what: string): Message => tagged("D_UNKNOWN", "feature", `${what} is not implemented (yet)`),
  builtinRedeclared: (name: string): Message =>
    tagged("D_DECL_IDRED", "name", `built-in identifier redeclared: ${name}`),
  enumeratorTwice: (name: string): Message => tagged("D_DECL_IDRED", "name", `identifier redeclared: ${name}`),
  bitFieldConstant: (): Message =>
    tagged("D_DECL_BFCONST", "type", "positive integral constant expression expected as bit-field size"),
  sizeOfBits: (): Message => tagged("D_SIZEOF_BITFIELD", "type", "cannot apply sizeof to a bit-field"),
  noTranslator: (from: string | undefined, type: string): Message =>
    tagged("D_XLATE_NONE", "name", `cannot translate ${from === undefined ? "" : `from "${from}" `}to "${type}"`),
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
  endlessConversion: (number: number): Message =>
    syntax(`format conversion #${number} name expected before end of format string`),
  aggregationConversion: (): Message =>
    tagged("D_PRINTF_AGG_CONV", "type", "%@ conversion requires an aggregation and is not for use with printf( )"),
  aggregationArgument: (name: string, number: number, argument: string): Message =>
    tagged(
      name === "printa" ? "D_PRINTA_AGGARG" : `D_${name.replace(/^de/, "").toUpperCase()}_AGGARG`,
      "type",
      `${name}( ) argument #${number} is incompatible with prototype:\n\tprototype: aggregation\n\t argument: ${argument}`,
    ),
  printaArguments: (): Message =>
    tagged("D_PRINTA_PROTO", "arguments", "printa( ) prototype mismatch: 1 args passed, 2 expected"),
  voidTraced: (name: string): Message =>
    tagged("D_TRACE_VOID", "type", `${name}( ) may not be applied to a void expression`),
  stackSize: (name: string): Message =>
    tagged(
      `D_${name.toUpperCase()}_SIZE`,
      "arguments",
      `${name}( ) argument #1 must be a non-zero positive integer constant`,
    ),
  noArgumentsHere: (number: number, probe: string): Message =>
    tagged("D_ARGS_IDX", "arguments", `index ${number} is out of range for ${probe} args[ ]`),
  undefinedConversion: (number: number, conversion: string): Message =>
    syntax(`format conversion #${number} is undefined: ${conversion}`),
  emptyFormat: (name: string): Message =>
    tagged("D_PRINTF_FMT_EMPTY", "arguments", `${name}( ) format string is empty`),
  badFormat: (problem: string): Message => tagged("D_PRINTF_ERR", "type", problem),
  destructive: (name: string): Message =>
    says("unsafe", `${name}( ) is a destructive action`, "allow it by -w (strobe: --unsafe)"),
} as const;
