// Scripts in D: declarations and translators, in DTrace's words and with its tags.
import { tagged, type Message } from "./message.ts";

export const dDeclarations = {
  /**
   * @example
   * auto int x;
   * BEGIN { exit(0); }
   */
  storageClass: (where: string): Message =>
    tagged("D_DECL_BADCLASS", "syntax", `specified storage class not appropriate ${where}`),
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
   * int f(void x);
   * BEGIN { exit(0); }
   */
  voidParameterName: (name: string): Message =>
    tagged("D_DECL_PROTO_NAME", "syntax", `void parameter may not have a name: ${name}`),
  /**
   * @example
   * int f(int x[int]);
   * BEGIN { exit(0); }
   */
  parameterType: (of: string, type: string, name: string, number: number): Message =>
    tagged(
      "D_DECL_PROTO_TYPE",
      "type",
      `${of} prototype may not use parameter of type ${type}: ${name}, parameter #${number}`,
    ),
  /**
   * @example
   * int f(int x, int x);
   * BEGIN { exit(0); }
   */
  parameterTwice: (name: string, number: number): Message =>
    tagged(
      "D_DECL_PROTO_FORM",
      "name",
      `parameter is already declared in function prototype: ${name}, parameter #${number}`,
    ),
  /**
   * @example
   * int a[int, ...];
   * BEGIN { exit(0); }
   */
  arrayOfAny: (): Message =>
    tagged("D_DECL_PROTO_VARARGS", "type", "array prototype may not use a variable-length argument list"),
  /**
   * @example
   * int a[int][int];
   * BEGIN { exit(0); }
   */
  arrayOfArrays: (): Message => tagged("D_DECL_DYNOBJ", "type", "cannot declare array of associative arrays"),
  /**
   * @example
   * provider x1 { probe y(); };
   * BEGIN { exit(0); }
   */
  providerDigit: (name: string): Message =>
    tagged("D_PROV_BADNAME", "name", `provider name may not end with a digit: ${name}`),
  /**
   * @example
   * provider x { probe a23456789b23456789c23456789d23456789e23456789f23456789g234567890(); };
   * BEGIN { exit(0); }
   */
  probeLength: (name: string, most: number): Message =>
    tagged("D_PROV_BADNAME", "name", `probe name may not exceed ${most} characters: ::${name}`),
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
   * enum a { X = 0x80000000 };
   * BEGIN { exit(0); }
   */
  enumeratorOverflow: (name: string): Message =>
    tagged("D_DECL_ENOFLOW", "type", `enumerator '${name}' value overflows INT_MAX (2147483647)`),
  /**
   * @example
   * enum a { X, X };
   * BEGIN { exit(0); }
   */
  enumeratorTwice: (name: string): Message => tagged("D_DECL_IDRED", "name", `identifier redeclared: ${name}`),
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
   * int a; typedef int a;
   * BEGIN { exit(0); }
   */
  typedefOfVariable: (name: string): Message =>
    tagged("D_DECL_IDRED", "name", `global variable identifier redeclared: ${name}`),
  /**
   * @example
   * typedef int a; int a;
   * BEGIN { exit(0); }
   */
  namesType: (name: string): Message => tagged("D_DECL_IDRED", "name", `typedef identifier redeclared: ${name}`),
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
   * int pid;
   * BEGIN { exit(0); }
   */
  builtinRedeclared: (name: string): Message =>
    tagged("D_DECL_IDRED", "name", `built-in identifier redeclared: ${name}`),
  /**
   * @example
   * int x; inline int x = 5;
   * BEGIN { exit(0); }
   */
  inlineRedefines: (name: string, before = ""): Message =>
    tagged(
      "D_DECL_IDRED",
      "name",
      `identifier redefined: ${name}\n\t current: inline definition\n\tprevious: scalar ${before}`,
    ),
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
   * int x[99999999999];
   * BEGIN { exit(0); }
   */
  arrayTooLarge: (): Message => tagged("D_DECL_ARRBIG", "type", "array dimension too big"),
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
   * struct a { int x[int]; };
   * BEGIN { exit(0); }
   */
  dynamicMember: (name: string): Message => tagged("D_DECL_DYNOBJ", "type", `cannot have dynamic member: ${name}`),
  /**
   * @example
   * inline void x = 5;
   * BEGIN { exit(0); }
   */
  voidInline: (name: string): Message => tagged("D_DECL_VOIDOBJ", "type", `cannot declare void inline: ${name}`),
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
   * struct a { int x : 0; };
   * BEGIN { exit(0); }
   */
  bitFieldConstant: (): Message =>
    tagged("D_DECL_BFCONST", "type", "positive integral constant expression expected as bit-field size"),
  /** @example translator int < int i > { a = i; }; */
  translatorOutput: (): Message => tagged("D_XLATE_SOU", "type", "translator output type must be a struct or union"),
  /**
   * @on small-kernel
   * @example translator struct nothing < int i > { a = i; };
   */
  incompleteOutput: (type: string): Message => tagged("D_XLATE_SOU", "type", `incomplete struct/union/enum ${type}`),
  /**
   * @example
   * struct a { int x; }; translator struct a < int i > { x = i; }; translator struct a < int i > { x = i; };
   * BEGIN { exit(0); }
   */
  translatorTwice: (from: string, to: string): Message =>
    tagged("D_XLATE_REDECL", "name", `translator from ${from} to ${to} has already been declared`),
  /** @example BEGIN { x = xlate <nosuch_t> (5); } */
  noTranslator: (from: string | undefined, type: string): Message =>
    tagged("D_XLATE_NONE", "name", `cannot translate ${from === undefined ? "" : `from "${from}" `}to "${type}"`),
  /** @example struct s { int a; }; translator struct s < int I > { a = "x"; }; */
  translatorMemberType: (name: string, type: string, value: string): Message =>
    tagged(
      "D_XLATE_INCOMPAT",
      "type",
      `translator member ${name} definition uses incompatible types: "${type}" = "${value}"`,
    ),
  /** @example struct s { int a; }; translator struct s < int I > { b = I; }; */
  translatorMember: (name: string, type: string): Message =>
    tagged("D_XLATE_MEMB", "name", `translator member ${name} is not a member of ${type}`),
  /** @example BEGIN { trace(curpsinfo->pr_nothing); } */
  noMember: (type: string, name: string, members: readonly string[]): Message =>
    tagged(
      "D_XLATE_NOCONV",
      "name",
      `translator does not define conversion for member: ${name}`,
      `that of ${type} has ${members.join(", ")}`,
    ),
} as const;
