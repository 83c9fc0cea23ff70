// What is wrong with a script in D, in DTrace's words where it has some, and with its tags.
import { says, type DiagnosticCode, type Message } from "./message.ts";

const tagged = (tag: string, code: DiagnosticCode, message: string, help?: string): Message => ({
  ...says(code, message, help),
  tag,
});
const syntax = (message: string, help?: string): Message => tagged("D_SYNTAX", "syntax", message, help);

export const d = {
  // ── reading ──
  /** @example { exit(0); } */
  near: (found: string, expected: string): Message => syntax(`syntax error near ${found}`, `expected ${expected}`),
  /** @example BEGIN { /* x } */
  unreadable: (problem: string, tag = "D_SYNTAX"): Message => tagged(tag, "syntax", problem),
  /** Of an empty script. */
  noClauses: (): Message => tagged("D_EMPTY", "syntax", "empty D program translation unit"),
  /** @example BEGIN // { exit(0); } */
  noActions: (): Message => syntax("expected predicate and/or actions following probe description"),
  /** @example BEGIN /1/ /1/ { exit(0); } */
  noActionsBehindPredicate: (): Message => syntax("expected actions { } following probe description and predicate"),
  /**
   * @example
   * BEGIN /"x"/ { exit(1); }
   * BEGIN { exit(0); }
   */
  predicateType: (): Message => tagged("D_PRED_SCALAR", "type", "predicate result must be of scalar type"),
  /**
   * @example
   * #error nothing works
   * BEGIN { exit(0); }
   */
  stopped: (text: string): Message => tagged("D_PRAGERR", "syntax", `#error: ${text} `),
  /**
   * @example
   * #nosuch
   * BEGIN { exit(0); }
   */
  unknownDirective: (name: string): Message =>
    tagged("D_PRAGCTL_INVAL", "syntax", `invalid control directive: #${name}`),
  /**
   * @example
   * #pragma D binding "1.0" x
   * BEGIN { exit(0); }
   */
  pragmaUnused: (name: string): Message => tagged("D_PRAGMA_UNUSED", "syntax", `unused #pragma ${name}`),
  /**
   * @example
   * #pragma D depends_on library nosuch.d
   * BEGIN { exit(0); }
   */
  pragmaLibrary: (): Message =>
    tagged("D_PRAGMA_DEPEND", "syntax", "main program may not explicitly depend on a library"),

  /**
   * @example
   * #pragma D binding "x" y
   * BEGIN { exit(0); }
   */
  pragmaValue: (name: string, what: string): Message =>
    tagged("D_PRAGMA_INVAL", "syntax", `invalid ${what} specified by #pragma ${name}`),

  // ── declarations ──
  /**
   * @example
   * auto int x;
   * BEGIN { exit(0); }
   */
  storageClass: (): Message => tagged("D_DECL_BADCLASS", "syntax", "specified storage class not appropriate in D"),
  /**
   * @example
   * static extern int x;
   * BEGIN { exit(0); }
   */
  storageClasses: (): Message => tagged("D_DECL_CLASS", "syntax", "only one storage class allowed in a declaration"),
  /**
   * @example
   * int;
   * BEGIN { exit(0); }
   */
  uselessDeclaration: (): Message => tagged("D_DECL_USELESS", "syntax", "useless declaration"),
  /**
   * @example
   * int f(static int);
   * BEGIN { exit(0); }
   */
  parameterClass: (): Message =>
    tagged("D_DECL_PARMCLASS", "syntax", "inappropriate storage class for function or associative array parameter"),
  /**
   * @example
   * int f(void, int);
   * BEGIN { exit(0); }
   */
  voidParameter: (): Message => tagged("D_DECL_PROTO_VOID", "syntax", "void must be sole parameter"),
  /**
   * @example
   * this int a[string];
   * BEGIN { exit(0); }
   */
  localAssociativeArray: (name: string): Message =>
    tagged("D_DECL_LOCASSC", "type", `associative arrays may not be declared as local variables: ${name}`),
  /**
   * @example
   * provider x { probe y(); probe y(); };
   * BEGIN { exit(0); }
   */
  probeTwice: (provider: string, name: string): Message =>
    tagged("D_PROV_PRDUP", "name", `probe redeclared: ${provider}:::${name}`),
  /**
   * @example
   * unsigned void *x;
   * BEGIN { exit(0); }
   */
  voidAttributes: (): Message =>
    tagged("D_DECL_VOIDATTR", "syntax", "invalid type declaration: attributes may not be used with void type"),
  /**
   * @example
   * enum e { A = pid };
   * BEGIN { exit(0); }
   */
  enumeratorConstant: (name: string): Message =>
    tagged("D_DECL_ENCONST", "type", `enumerator '${name}' must be assigned to an integral constant expression`),
  /**
   * @example
   * int char x;
   * BEGIN { exit(0); }
   */
  typeCombination: (): Message => tagged("D_DECL_COMBO", "syntax", "invalid type combination"),
  /**
   * @example
   * unsigned string x;
   * BEGIN { exit(0); }
   */
  signedType: (): Message =>
    tagged(
      "D_DECL_SIGNINT",
      "syntax",
      "invalid type declaration: signed and unsigned may only be used with integer type",
    ),
  /**
   * @example
   * long char x;
   * BEGIN { exit(0); }
   */
  longChar: (): Message =>
    tagged("D_DECL_CHARATTR", "syntax", "invalid type declaration: short and long may not be used with char type"),
  /**
   * @example
   * struct a { int x; }; struct a { int y; };
   * BEGIN { exit(0); }
   */
  typeRedeclared: (name: string): Message => tagged("D_DECL_TYPERED", "name", `type redeclared: ${name}`),
  /**
   * @example
   * typedef int a; typedef char a;
   * BEGIN { exit(0); }
   */
  typedefRedeclared: (name: string): Message => tagged("D_DECL_IDRED", "name", `typedef redeclared: ${name}`),
  /**
   * @example
   * struct a { int x; int x; };
   * BEGIN { exit(0); }
   */
  memberTwice: (name: string): Message =>
    tagged("D_UNKNOWN", "name", `failed to define member '${name}': Duplicate member, enumerator, or variable name.`),
  /**
   * @example
   * int x; string x;
   * BEGIN { exit(0); }
   */
  redeclared: (name: string, now: string, before: string): Message =>
    tagged("D_DECL_IDRED", "name", `identifier redeclared: ${name}\n\t current: ${now}\n\tprevious: ${before}`),
  /**
   * @example
   * int x; inline int x = 5;
   * BEGIN { exit(0); }
   */
  inlineRedefines: (name: string): Message =>
    tagged("D_DECL_IDRED", "name", `identifier redefined: ${name}\n\t current: inline definition\n\tprevious: scalar `),
  /**
   * @example
   * inline int x = "x";
   * BEGIN { exit(0); }
   */
  inlineType: (name: string, type: string, value: string): Message =>
    tagged("D_OP_INCOMPAT", "type", `inline ${name} definition uses incompatible types: "${type}" = "${value}"`),
  /**
   * @example
   * int x[-1];
   * BEGIN { exit(0); }
   */
  arraySize: (): Message =>
    tagged(
      "D_DECL_ARRSUB",
      "type",
      "positive integral constant expression or tuple signature expected as array declaration subscript",
    ),
  /**
   * @example
   * int x[];
   * BEGIN { exit(0); }
   */
  arrayWithoutSize: (name: string): Message =>
    tagged("D_DECL_ARRNULL", "type", `array declaration requires array dimension or tuple signature: ${name}`),
  /**
   * @example
   * void x;
   * BEGIN { exit(0); }
   */
  voidObject: (name: string): Message => tagged("D_DECL_VOIDOBJ", "type", `cannot have void object: ${name}`),
  /**
   * @example
   * void x[5];
   * BEGIN { exit(0); }
   */
  voidArray: (): Message => tagged("D_DECL_VOIDOBJ", "type", "cannot declare array of void"),
  /**
   * @example
   * struct a { void x; };
   * BEGIN { exit(0); }
   */
  voidMember: (name: string): Message => tagged("D_DECL_VOIDOBJ", "type", `cannot have void member: ${name}`),
  /**
   * @example
   * struct a { struct a x; };
   * BEGIN { exit(0); }
   */
  incompleteMember: (type: string, name: string): Message =>
    tagged("D_DECL_INCOMPLETE", "type", `incomplete struct/union/enum ${type}: ${name}`),
  /**
   * @example
   * long long long x;
   * BEGIN { exit(0); }
   */
  typeUnknown: (name: string): Message =>
    tagged("D_UNKNOWN", "type", `failed to resolve type ${name}: Unknown type name`),
  /**
   * @example
   * enum a { X = 0x80000000 };
   * BEGIN { exit(0); }
   */
  enumeratorOverflow: (name: string): Message =>
    tagged("D_DECL_ENOFLOW", "type", `enumerator '${name}' value overflows INT_MAX (2147483647)`),
  /** @example translator int < int i > { a = i; }; */
  translatorOutput: (): Message => tagged("D_XLATE_SOU", "type", "translator output type must be a struct or union"),
  /**
   * @example
   * struct a { string x : 3; };
   * BEGIN { exit(0); }
   */
  bitFieldType: (name: string): Message => tagged("D_DECL_BFTYPE", "type", `invalid type for bit-field: ${name}`),
  /**
   * @example
   * struct a { int x : 40; };
   * BEGIN { exit(0); }
   */
  bitFieldSize: (name: string): Message => tagged("D_DECL_BFSIZE", "type", `bit-field too big for type: ${name}`),
  /**
   * @example
   * struct a { int x; }; translator struct a < int i > { x = i; }; translator struct a < int i > { x = i; };
   * BEGIN { exit(0); }
   */
  translatorTwice: (from: string, to: string): Message =>
    tagged("D_XLATE_REDECL", "name", `translator from ${from} to ${to} has already been declared`),

  /** @example BEGIN { x = ⟨( × 300⟩1⟨) × 300⟩; } */
  nestedTooDeeply: (): Message => says("limit", "nesting is too deep", "use variables"),
  /** @example BEGIN { break; } */
  controlFlow: (word: string): Message =>
    syntax(`syntax error near "${word}"`, "D has no loops: use probes that fire again, as tick-1s"),
  /**
   * @example
   * #include <stdio.h>
   * BEGIN { exit(0); }
   */
  directive: (name: string, why: string): Message => tagged("D_PRAGMA_INVAL", "feature", `#${name}: ${why}`),
  /**
   * @example
   * #if 1
   * BEGIN { exit(0); }
   */
  unclosedCondition: (name: string): Message => syntax(`#${name} without an #endif`),
  /**
   * @example
   * #endif
   * BEGIN { exit(0); }
   */
  strayDirective: (name: string): Message => syntax(`#${name} without an #if in front of it`),
  /**
   * @example
   * #pragma D option
   * BEGIN { exit(0); }
   */
  pragmaOption: (): Message => tagged("D_PRAGMA_MALFORM", "syntax", "malformed #pragma option <option>=<val>"),
  /**
   * @example
   * #pragma D nosuch
   * BEGIN { exit(0); }
   */
  pragma: (text: string): Message => tagged("D_PRAGMA_INVAL", "syntax", `invalid D pragma: ${text}`),
  /**
   * @example
   * #pragma D option nosuch
   * BEGIN { exit(0); }
   */
  unknownOption: (name: string, help?: string): Message =>
    tagged("D_PRAGMA_OPTSET", "name", `failed to set option '${name}': Invalid option name`, help),
  /**
   * @example
   * #pragma D option stackindent=4
   * BEGIN { exit(0); }
   */
  optionWithoutEffect: (name: string): Message => says("feature", `option '${name}' has no effect here yet`),
  /**
   * @example
   * #pragma D option strsize=x
   * BEGIN { exit(0); }
   */
  optionValue: (name: string, value: string): Message =>
    tagged(
      "D_PRAGMA_OPTSET",
      "type",
      `failed to set option '${name}' to '${value}': Invalid value for specified option`,
    ),
  /**
   * @example
   * #define a0 1+1
   * ⟨#define a{i+1} a{i} a{i}
   *  × 30⟩BEGIN { x = a30; }
   */
  expansion: (): Message => says("limit", "the macros of the script expand to too much"),
  /** @example BEGIN { x = $1; } */
  macroUndefined: (name: string): Message =>
    tagged("D_MACRO_UNDEF", "name", `macro ${/\d$/.test(name) ? "argument" : "variable"} ${name} is not defined`),
  /**
   * @on large-argument
   * @example BEGIN { x = $1; }
   */
  macroOverflow: (name: string, text: string): Message =>
    tagged("D_MACRO_OFLOW", "syntax", `macro argument ${name} constant ${text} results in integer overflow`),
  /**
   * @on argument
   * @example BEGIN { exit(0); }
   */
  macroUnused: (text: string, number: number): Message =>
    tagged("D_MACRO_UNUSED", "unused", `extraneous argument '${text}' ($${number} is not referenced)`),

  // ── probes ──
  /**
   * Shown with all four parts: those that are written are the last ones.
   *
   * @example nosuch:a:b:c { exit(0); }
   */
  provider: (text: string, help?: string): Message => {
    const whole = text.padStart(text.length + 4 - text.split(":").length, ":");
    return tagged("D_PDESC_ZERO", "name", `probe description ${whole} does not match any probes`, help);
  },
  /** Of DTrace's command, for a process that is not there. */
  processGrabbed: (pid: string): Message => tagged("D_PROC_GRAB", "name", `failed to grab process ${pid}`),
  /** Of DTrace's command, for a function that a module does not have. */
  functionOf: (module: string, name: string): Message =>
    tagged("D_PROC_FUNC", "name", `failed to lookup '${name}' in module '${module}'`),
  /** @example pid1:a.out:main:xyz { exit(0); } */
  instructionName: (name: string): Message => tagged("D_PROC_NAME", "name", `'${name}' is an invalid probe name`),
  /** @example cpc:::cycles-user-1000 { exit(0); } */
  providerMissing: (text: string, why: string): Message =>
    tagged("D_PDESC_ZERO", "feature", `probe description ${text} does not match any probes: ${why}`),
  /** @example a:b:c:d:e { exit(0); } */
  invalidProbe: (text: string): Message =>
    tagged("D_PDESC_INVAL", "syntax", `invalid probe description "${text}": Overspecified probe description`),

  // ── names ──
  /** @example BEGIN { x = nosuch; } */
  unknownVariable: (name: string, help?: string): Message =>
    tagged("D_IDENT_UNDEF", "name", `failed to resolve ${name}: Unknown variable name`, help),
  /** Of DTrace's command, for a symbol that the kernel does not have. */
  unknownSymbol: (name: string): Message =>
    tagged("D_IDENT_UNDEF", "name", `failed to resolve \`${name}: Unknown symbol name`),
  /** @example BEGIN { @a += count(); } */
  unassigned: (name: string): Message => tagged("D_VAR_UNDEF", "name", `${name} has not yet been declared or assigned`),
  /** @example BEGIN { x = nosuch(1); } */
  unknownFunction: (name: string, help?: string): Message =>
    tagged("D_FUNC_UNDEF", "name", `undefined function name: ${name}`, help),
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
  /** @example int a[5]; BEGIN { a[5] = 1; } */
  indexOutside: (index: bigint, size: number): Message =>
    tagged("D_ARR_BOUNDS", "name", `index outside array bounds: ${BigInt.asUintN(64, index)}, max is ${size}`),
  /** @example BEGIN { count(); } */
  aggregatingFunction: (name: string): Message =>
    tagged(
      "D_CG_EXPR",
      "placement",
      `aggregating function ${name}( ) may not be called from a D expression (D program context required)`,
    ),
  /** @example BEGIN { @a[1] = count(); @a = count(); } */
  keyCount: (name: string, given: number, wanted: number): Message =>
    tagged(
      "D_PROTO_LEN",
      "arguments",
      `${name}[ ] prototype mismatch: ${given} key${given === 1 ? "" : "s"} passed, ${wanted} expected`,
    ),
  /**
   * @example
   * int a[int];
   * BEGIN { a["x"] = 1; }
   */
  keyType: (name: string, number: number, prototype: string, key: string): Message =>
    tagged(
      "D_PROTO_ARG",
      "type",
      `${name}[ ] key #${number} is incompatible with prototype:\n\tprototype: ${prototype}\n\t      key: ${key}`,
    ),
  /** @example BEGIN { a[(void)0] = 1; } */
  voidKey: (number: number): Message =>
    tagged("D_KEY_TYPE", "type", `void expression may not be used as associative array index: key #${number}`),
  /** @example BEGIN { this->a["x"] = 1; } */
  localArray: (name: string): Message =>
    tagged("D_ARR_LOCAL", "type", `local variables may not be used as associative arrays: ${name}`),
  /** @example BEGIN { x = sizeof (strlen); } */
  notAScalar: (what: string, name: string): Message =>
    tagged("D_IDENT_BADREF", "type", `${what} '${name}' may not be referenced as scalar`),
  /** @example BEGIN { trace(1); commit(1); } */
  notBehind: (tag: string, message: string): Message => tagged(tag, "placement", message),
  /** @example BEGIN { @a = sum("x"); } */
  aggregatesNoText: (name: string): Message =>
    tagged("D_AGG_SCALAR", "type", `${name}( ) argument #1 must be of scalar type`),
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
  /** @example BEGIN { @a = count(); @a = sum(1); } */
  aggregationRedefined: (name: string, first: string, now: string, line: number): Message =>
    tagged(
      "D_AGG_REDEF",
      "type",
      `aggregation redefined: ${name}\n\t current: ${name} = ${now}( )\n\tprevious: ${name} = ${first}( ) : line ${line}`,
    ),
  /** @example BEGIN { timestamp = 5; } */
  cannotAssign: (operator: string): Message =>
    tagged("D_OP_WRITE", "type", `operator ${operator} can only be applied to a writable variable`),
  /** @example BEGIN { x = count(); } */
  aggregatingValue: (): Message =>
    tagged("D_OP_INCOMPAT", "type", 'operands have incompatible types: "scalar" = "aggregating function"'),
  /** @example BEGIN { 5++; } */
  noLvalue: (operator: string): Message =>
    tagged("D_OP_LVAL", "type", `operator ${operator} requires modifiable lvalue as an operand`),
  /** @example BEGIN { x = "x" == 1; } */
  incompatible: (left: string, operator: string, right: string): Message =>
    tagged("D_OP_INCOMPAT", "type", `operands have incompatible types: "${left}" ${operator} "${right}"`),
  /** @example BEGIN { x = "x" << 1; } */
  integralOperands: (operator: string): Message =>
    tagged("D_OP_INT", "type", `operator ${operator} requires operands of integral type`),
  /** @example BEGIN { x = ~"x"; } */
  integralOperand: (operator: string): Message =>
    tagged("D_OP_INT", "type", `operator ${operator} requires an operand of integral type`),
  /** @example BEGIN { x = "x"; x++; } */
  scalarCounted: (operator: string): Message =>
    tagged("D_OP_SCALAR", "type", `operator ${operator} requires operand of scalar type`),
  /** @example BEGIN { x = *(void *)0; } */
  voidPointer: (): Message => tagged("D_DEREF_VOID", "type", "cannot dereference pointer to void"),
  /** @example BEGIN { x = &pid; } */
  addressOfVariable: (): Message => tagged("D_ADDROF_VAR", "type", "cannot take address of dynamic variable"),
  /**
   * @example
   * struct a { int x : 3; }; struct a a;
   * BEGIN { x = &a.x; }
   */
  addressOfBits: (): Message => tagged("D_ADDROF_BITFIELD", "type", "cannot take address of bit-field"),
  /** @example BEGIN { 5(1); } */
  noFunction: (): Message => tagged("D_FUNC_IDENT", "type", "function designator is not of function type"),
  /** @example BEGIN { x = uregs["x"]; } */
  indexType: (name: string, argument: string): Message =>
    tagged(
      "D_PROTO_ARG",
      "type",
      `${name}[ ] argument #1 is incompatible with prototype:\n\tprototype: integer constant\n\t argument: ${argument}`,
    ),
  /** @example BEGIN { x = &5; } */
  noAddress: (): Message => tagged("D_ADDROF_LVAL", "type", "unacceptable operand for unary & operator"),
  /** @example BEGIN { y = 5; x = y.a; } */
  noStruct: (type: string): Message =>
    tagged("D_OP_SOU", "type", `operator . cannot be applied to type "${type}"; must be applied to a struct or union`),
  /** @example BEGIN { y = 5; x = y->a; } */
  noPointer: (): Message => tagged("D_OP_PTR", "type", "operator -> must be applied to a pointer"),
  /** @example BEGIN { x = (int)"x"; } */
  invalidCast: (from: string, to: string): Message =>
    tagged("D_CAST_INVAL", "type", `invalid cast expression: "${from}" to "${to}"`),
  /** @example BEGIN { x = sizeof (void); } */
  sizeOfVoid: (): Message => tagged("D_SIZEOF_TYPE", "type", "cannot apply sizeof to an operand of unknown size"),
  /** @example BEGIN { x = offsetof(int, x); } */
  offsetOfNoStruct: (): Message => tagged("D_OFFSETOF_TYPE", "type", "offsetof operand must be a struct or union type"),
  /**
   * @example
   * struct a { int x : 3; };
   * BEGIN { x = offsetof(struct a, x); }
   */
  offsetOfBits: (name: string): Message =>
    tagged("D_OFFSETOF_BITFIELD", "type", `cannot take offset of a bit-field: ${name}`),
  /**
   * @example
   * struct a { int x; };
   * BEGIN { x = offsetof(struct a, z); }
   */
  offsetOfNoMember: (name: string): Message =>
    tagged("D_UNKNOWN", "name", `failed to determine offset of ${name}: Member name not found.`),
  /**
   * @example
   * struct a { int x; }; struct a a;
   * BEGIN { x = stringof(a); }
   */
  stringOfStruct: (type: string): Message =>
    tagged("D_STRINGOF_TYPE", "type", `cannot apply stringof to a value of type ${type}`),
  /** @example BEGIN { x = curthread->nosuch; } */
  noMemberOf: (type: string, name: string): Message =>
    tagged("D_TYPE_MEMBER", "name", `${name} is not a member of ${type}`),
  /** @example BEGIN { x = "a" + 1; } */
  arithmeticOperands: (operator: string): Message =>
    tagged("D_OP_ARITH", "type", `operator ${operator} requires operands of arithmetic type`),
  /** @example BEGIN { x = -"x"; } */
  arithmeticOperand: (operator: string): Message =>
    tagged("D_OP_ARITH", "type", `operator ${operator} requires an operand of arithmetic type`),
  /** @example BEGIN { x = !"x"; } */
  scalarOperand: (operator: string): Message =>
    tagged("D_OP_SCALAR", "type", `operator ${operator} requires an operand of scalar type`),
  /** @example BEGIN { x = *5; } */
  notAPointer: (): Message => tagged("D_DEREF_NONPTR", "type", "cannot dereference non-pointer type"),
  /** @example BEGIN { x = 5 / 0; } */
  divisionByZero: (): Message => tagged("D_DIV_ZERO", "type", "expression contains division by zero"),
  /** @example BEGIN { x = 1 ? "a" : 2; } */
  incompatibleBranches: (): Message =>
    tagged("D_OP_INCOMPAT", "type", "operator ?: operands must have compatible types"),
  /** @example BEGIN { tracemem(curthread, 0); } */
  memorySize: (): Message =>
    tagged(
      "D_TRACEMEM_SIZE",
      "arguments",
      "tracemem( ) argument #2 must be a non-zero positive integral constant expression",
    ),

  /** @example BEGIN { setopt("strsize", "10"); } */
  optionSwitched: (name: string): Message =>
    says(
      "feature",
      `option '${name}' cannot be set while the script runs`,
      `set it before: \`#pragma D option ${name}\``,
    ),

  /** @example BEGIN { pcap((void *)1, 2); } */
  notYet: (what: string, help?: string): Message => says("feature", `${what} is not there yet`, help),

  /** @example BEGIN { stop(); } */
  notImplemented: (what: string): Message => tagged("D_UNKNOWN", "feature", `${what} is not implemented (yet)`),
  /**
   * @example
   * int pid;
   * BEGIN { exit(0); }
   */
  builtinRedeclared: (name: string): Message =>
    tagged("D_DECL_IDRED", "name", `built-in identifier redeclared: ${name}`),
  /**
   * @example
   * enum a { X, X };
   * BEGIN { exit(0); }
   */
  enumeratorTwice: (name: string): Message => tagged("D_DECL_IDRED", "name", `identifier redeclared: ${name}`),
  /**
   * @example
   * struct a { int x : 0; };
   * BEGIN { exit(0); }
   */
  bitFieldConstant: (): Message =>
    tagged("D_DECL_BFCONST", "type", "positive integral constant expression expected as bit-field size"),
  /**
   * @example
   * struct a { int x : 3; }; struct a a;
   * BEGIN { x = sizeof (a.x); }
   */
  sizeOfBits: (): Message => tagged("D_SIZEOF_BITFIELD", "type", "cannot apply sizeof to a bit-field"),
  /** @example BEGIN { x = xlate <nosuch_t> (5); } */
  noTranslator: (from: string | undefined, type: string): Message =>
    tagged("D_XLATE_NONE", "name", `cannot translate ${from === undefined ? "" : `from "${from}" `}to "${type}"`),
  /** @example struct s { int a; }; translator struct s < int I > { b = I; }; */
  translatorMember: (name: string, type: string): Message =>
    tagged("D_XLATE_MEMB", "name", `translator member ${name} is not a member of ${type}`),
  /** @example BEGIN { trace(curpsinfo->pr_nothing); } */
  noMember: (type: string, name: string, members: readonly string[]): Message =>
    tagged(
      "D_XLATE_NOCONV",
      "name",
      `translator for ${type} does not define conversion for member: ${name}`,
      `it has ${members.join(", ")}`,
    ),
  /** @example proc:::create { x = args[1]->pr_pid; } */
  noArgument: (number: number, probe: string, count: number): Message =>
    tagged(
      "D_ARGS_IDX",
      "arguments",
      `index ${number} is out of range for ${probe} args[ ]`,
      count === 0 ? "it has none" : `it has ${count}`,
    ),
  /** @example sched:::off-cpu, sched:::wakeup { x = args[0]->pr_pri; } */
  argumentsDiffer: (number: number, one: string, other: string): Message =>
    says("arguments", `args[${number}] is not the same of ${one} and ${other}`, "write a clause for each"),
  /** @example tcp:::state-change { x = args[0]->pkt_addr; } */
  argumentAbsent: (number: number, probe: string): Message =>
    says(
      "arguments",
      `args[${number}] of ${probe} is nothing: no ${/:(?:receive|accept-refused)$/.test(probe) ? "socket" : "packet"} is known there`,
    ),
  /** @example kinst::f:4 { x = regs[pid]; } */
  unknownRegister: (): Message =>
    says(
      "name",
      "regs[ ] is indexed by a register's constant name",
      "as in regs[R_RDI]: R_RAX to R_R15, R_PC, R_SP, R_FP",
    ),

  // ── calls ──
  /** @example BEGIN { p = alloca(100000); } */
  scratch: (bytes: bigint, most: number): Message =>
    tagged(
      "D_ALLOCA_SIZE",
      "limit",
      `alloca(${bytes}) size larger than scratchsize ${most}`,
      `more is there with \`#pragma D option scratchsize=${bytes}\``,
    ),
  /** @example BEGIN { trace(link_ntop(99, 0)); } */
  hardwareType: (): Message => says("arguments", "link_ntop( ) argument #1 must be ARPHRD_ETHER or ARPHRD_INFINIBAND"),
  /** @example BEGIN { exit(); } */
  argumentCount: (name: string, given: number, wanted: string): Message =>
    tagged(
      "D_PROTO_LEN",
      "arguments",
      `${name}( ) prototype mismatch: ${given} arg${given === 1 ? "" : "s"} passed, ${wanted} expected`,
    ),
  /** @example BEGIN { exit("x"); } */
  argumentType: (name: string, number: number, prototype: string, argument: string): Message =>
    tagged(
      "D_PROTO_ARG",
      "type",
      `${name}( ) argument #${number} is incompatible with prototype:\n\tprototype: ${prototype}\n\t argument: ${argument}`,
    ),
  /** @example BEGIN { x = 1 ? trace(1) : 2; } */
  noValue: (name: string): Message =>
    tagged("D_ACT_SPEC", "placement", `${name}( ) may not be called from a D expression (D program context required)`),
  /** @example BEGIN { x = "%d"; printf(x, 1); } */
  formatConstant: (name: string, argument: string): Message =>
    tagged(
      "D_PRINTF_ARG_FMT",
      "type",
      `${name}( ) argument #1 is incompatible with prototype:\n\tprototype: string constant\n\t argument: ${argument}`,
    ),
  /**
   * @example
   * struct s { int a; }; struct s v;
   * BEGIN { tracemem(v, 4); }
   */
  memoryAddress: (argument: string): Message =>
    tagged(
      "D_TRACEMEM_ADDR",
      "type",
      `tracemem( ) argument #1 is incompatible with prototype:\n\tprototype: pointer or integer\n\t argument: ${argument}`,
    ),
  /** @example BEGIN { printf("%d %d", 1); } */
  prototypeConversion: (name: string, number: number, conversion: string): Message =>
    tagged(
      "D_PRINTF_ARG_PROTO",
      "arguments",
      `${name}( ) prototype mismatch: conversion #${number} (${conversion}) is missing a corresponding value argument`,
    ),
  /** @example BEGIN { printf("%d", 1, 2); } */
  argumentsUnused: (name: string, wanted: number): Message =>
    tagged(
      "D_PRINTF_ARG_EXTRA",
      "arguments",
      `${name}( ) prototype mismatch: only ${wanted - 1} arguments required by this format string`,
    ),
  /** @example BEGIN { printf("%s", 1); } */
  conversionType: (
    name: string,
    number: number,
    position: number,
    conversion: string,
    prototype: string,
    argument: string,
  ): Message =>
    tagged(
      "D_PRINTF_ARG_TYPE",
      "type",
      `${name}( ) argument #${number} is incompatible with conversion #${position} prototype:\n\tconversion: ${conversion}\n\t prototype: ${prototype}\n\t  argument: ${argument}`,
    ),
  /** @example BEGIN { printf("%*d", "x", 1); } */
  roomType: (name: string, argument: number, number: number, conversion: string, type: string): Message =>
    tagged(
      "D_PRINTF_DYN_TYPE",
      "type",
      `${name}( ) argument #${argument} is incompatible with conversion #${number} prototype:\n\tconversion: ${conversion}\n\t prototype: int\n\t  argument: ${type}`,
    ),
  /** @example BEGIN { printf("%"); } */
  endlessConversion: (number: number): Message =>
    syntax(`format conversion #${number} name expected before end of format string`),
  /** @example BEGIN { printf("%@d", 1); } */
  aggregationConversion: (): Message =>
    tagged("D_PRINTF_AGG_CONV", "type", "%@ conversion requires an aggregation and is not for use with printf( )"),
  /** @example BEGIN { clear(1); } */
  aggregationArgument: (name: string, number: number, argument: string): Message =>
    tagged(
      name === "printa" ? "D_PRINTA_AGGARG" : `D_${name.replace(/^de/, "").toUpperCase()}_AGGARG`,
      "type",
      `${name}( ) argument #${number} is incompatible with prototype:\n\tprototype: aggregation\n\t argument: ${argument}`,
    ),
  /** @example BEGIN { printa("hello"); } */
  printaArguments: (): Message =>
    tagged("D_PRINTA_PROTO", "arguments", "printa( ) prototype mismatch: 1 args passed, 2 expected"),
  /** @example BEGIN { trace((void)0); } */
  voidTraced: (name: string): Message =>
    tagged("D_TRACE_VOID", "type", `${name}( ) may not be applied to a void expression`),
  /** @example BEGIN { print((void *)5); } */
  printedVoid: (): Message =>
    tagged("D_PRINT_SIZE", "type", "print( ) argument #1 reference has type 'void' with size 0; cannot print( ) it."),
  /** @example BEGIN { stack(0); } */
  stackSize: (name: string): Message =>
    tagged(
      name === "stack" ? "D_STACK_SIZE" : "D_USTACK_FRAMES",
      "arguments",
      `${name}( ) argument #1 must be a non-zero positive integer constant`,
    ),
  /** @example BEGIN { x = 3; ustack(3, x); } */
  stackTextSize: (name: string): Message =>
    tagged("D_USTACK_STRSIZE", "arguments", `${name}( ) argument #2 must be a positive integer constant`),
  /** @example BEGIN { x = args[0]; } */
  noArgumentsHere: (number: number, probe: string): Message =>
    tagged("D_ARGS_IDX", "arguments", `index ${number} is out of range for ${probe} args[ ]`),
  /** @example BEGIN { printf("%Z", 1); } */
  undefinedConversion: (number: number, conversion: string): Message =>
    syntax(`format conversion #${number} is undefined: ${conversion}`),
  /** @example BEGIN { printf(""); } */
  emptyFormat: (name: string): Message =>
    tagged("D_PRINTF_FMT_EMPTY", "arguments", `${name}( ) format string is empty`),
  /** @example BEGIN { @a["x"] = count(); printa("%s %s %@d", @a); } */
  badFormat: (problem: string): Message => tagged("D_PRINTF_ERR", "type", problem),
} as const;
