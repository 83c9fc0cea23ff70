// What is wrong with a script in SystemTap's language, in its words first: `parse error`, `semantic error`.
import type { Reason } from "../base/failure.ts";
import { reason, says, type DiagnosticCode, type Message } from "./message.ts";

const parse = (message: string, help?: string): Message => says("syntax", `parse error: ${message}`, help);
const semantic = (code: DiagnosticCode, message: string, help?: string): Message =>
  says(code, `semantic error: ${message}`, help);

export const systemtap = {
  // ── parsing ──
  /** @example probe begin */
  expected: (what: string, found: string): Message => parse(`expected ${what}, found ${found}`),
  /** @example probe begin { println("abc) } */
  unreadable: (problem: string): Message => parse(problem),
  /** @example probe begin { x = ⟨( × 300⟩1⟨) × 300⟩ } */
  nestedTooDeeply: (): Message => says("limit", "parse error: nesting is too deep", "use variables"),
  /** @example probe begin { println(1) */
  unclosedBlock: (): Message => parse("expected `}` at the end of the block", "this `{` has no matching `}`"),
  /** @example probe begin { global x; x = 1 } */
  declarationInBlock: (word: string): Message =>
    parse(`expected \`}\` before this \`${word}\``, "probes, functions and globals stand outside of blocks"),
  /** @example probe begin { 5 = x } */
  assignmentTarget: (operator: string): Message => parse(`expected a variable on the left of \`${operator}\``),
  /**
   * @example
   * @define m %( 1 %)
   * @define m %( 2 %)
   * probe begin { println(@m) }
   */
  duplicateMacro: (name: string): Message => parse(`macro \`@${name}\` is defined twice`, "give one another name"),
  /** @example probe begin if (pid() == 1) { println(1) } */
  conditionAsks: (what: string): Message =>
    semantic(
      "placement",
      `a probe's condition cannot ask for ${what}`,
      "a condition is of globals; an `if` in the handler may ask for anything",
    ),
  /** @example probe begin if (x++) { println(1) } */
  conditionStores: (): Message =>
    semantic("placement", "a probe's condition cannot store anything", "store it in the handler of a probe"),
  /** @example probe begin { printf("%lld\n", 1) } */
  conversion: (problem: string): Message =>
    parse(`invalid or missing conversion specifier: ${problem}`, "a percent sign is written `%%`"),
  /** @example probe begin { d = ","; printd(d, 1, 2) } */
  delimiter: (name: string): Message => parse(`expected a string literal as the delimiter of ${name}()`),
  /** @example probe begin { delete 5 } */
  deleteTarget: (): Message => parse("expected a variable, an array or an element behind `delete`"),
  /** @example probe begin { println(8 >>> 1) } */
  noUnsignedShift: (): Message => parse("there is no `>>>`", "numbers are signed: mask the result of `>>`"),
  /**
   * @example
   * global a
   * probe begin { a[1] = 1; foreach (k+ in a-) println(k) }
   */
  secondOrder: (): Message => parse("a loop has one order", "leave all but one `+` or `-` away"),
  /** @example probe begin { println(@nothing(1)) } */
  unknownOperator: (name: string): Message =>
    parse(`unknown operator or macro \`${name}\``, `macros are defined by \`@define ${name.slice(1)} %( … %)\``),
  /**
   * @example
   * global s
   * probe begin { s <<< 1; print(@hist_linear(s, 0, 10, 0)) }
   */
  histogramBuckets: (low: bigint, high: bigint, step: bigint): Message =>
    semantic(
      "arguments",
      step <= 0n
        ? `the step of @hist_linear must be positive, not ${step}`
        : `@hist_linear ends at ${high}, below ${low}`,
      "usage: @hist_linear(s, low, high, step)",
    ),
  /**
   * @example
   * global s
   * probe begin { s <<< 1; print(@hist_linear(s)) }
   */
  histogramParameters: (name: string): Message =>
    parse(
      `wrong number of parameters of @${name}`,
      name === "hist_log" ? "usage: @hist_log(s)" : "usage: @hist_linear(s, low, high, step)",
    ),
  /**
   * @example
   * function f:long() %{ STAP_RETVALUE = 1; %}
   * probe begin { println(f()) }
   */
  embedded: (): Message =>
    semantic(
      "feature",
      "embedded C code is not supported: strobe compiles no C",
      'a member of a kernel struct is `@cast(p, "struct_name", "kernel")->member`',
    ),

  // ── preprocessing ──
  /** @example probe begin { println(%( 1 == 1 %? 1 %: 2) } */
  unclosedCondition: (): Message => parse("`%(` has no `%)`"),
  /** @example probe begin { println(%( 1 == 1 %? 1 %: 2) } */
  expectedInCondition: (what: string): Message => parse(`expected ${what} in the condition of \`%(\``),
  /** @example probe begin { println(%( nothing == 1 %? 1 %: 2 %)) } */
  unknownInCondition: (name: string): Message =>
    parse(
      `\`${name}\` is unknown in a condition of \`%(\``,
      "known are kernel_v, kernel_vr, arch, systemtap_v, runtime, guru_mode, CONFIG_…, numbers and strings",
    ),
  /**
   * @on without-configuration
   * @example probe begin { println(%( CONFIG_SMP == "y" %? 1 %: 2 %)) }
   */
  configurationUnknown: (name: string, why: string): Message =>
    says("feature", `parse error: whether \`${name}\` is set is not known: ${why}`),
  /**
   * @example
   * @define a0 %( 1 %)
   * ⟨@define a{i+1} %( @a{i} + @a{i} %)
   *  × 30⟩probe begin { x = @a30 }
   */
  expansionTooLarge: (): Message => says("limit", "parse error: the macros of the script expand to too much"),
  /**
   * @example
   * @define m(a) %( @a %)
   * probe begin { println(@m(1, 2)) }
   */
  macroArguments: (name: string, wanted: number, given: number): Message =>
    parse(`macro @${name} takes ${wanted} argument${wanted === 1 ? "" : "s"}, not ${given}`),
  /** @example probe begin { println($1) } */
  missingParameter: (name: string, count: number): Message =>
    says(
      "arguments",
      `parse error: command line argument ${name} is missing: there ${count === 1 ? "is 1" : `are ${count}`}`,
    ),

  // ── meaning ──
  /** @example probe begin { println(missing_function(1)) } */
  unresolvedFunction: (name: string, help?: string): Message =>
    semantic("name", `unresolved function: ${name}()`, help),
  /** @example probe begin { panic("x") } */
  refusedFunction: (name: string, why: string, instead: string): Message =>
    semantic("feature", `${name}() is not supported: ${why}`, instead),
  /** @example probe begin { missing_array[1] = 2 } */
  unresolvedArray: (name: string, help?: string): Message => semantic("name", `unresolved array: ${name}`, help),
  /** @example probe kernal.function("x") { } */
  unresolvedPoint: (text: string, help?: string): Message => semantic("name", `probe point mismatch: ${text}`, help),
  /** @example probe procfs("x").read { } */
  pointNotSupported: (text: string, why: string, help?: string): Message =>
    semantic("feature", `${text} is not supported: ${why}`, help),
  /**
   * @on without-configuration
   * @example probe timer.jiffies(5) { println(1) }
   */
  ticksUnknown: (text: string, why: string, instead: string): Message =>
    semantic(
      "feature",
      `${text} is not supported: how long a jiffy is is not known: ${why}`,
      `use a time, as in ${instead}`,
    ),
  /** @example probe begin { println($x) } */
  noTargetVariables: (name: string): Message =>
    semantic(
      "placement",
      `$${name} has no meaning here`,
      "probes of functions, statements, marks and tracepoints have target variables",
    ),
  /** @example probe begin { println($return) } */
  noReturn: (): Message => semantic("placement", "$return has a meaning in `.return` probes only"),
  /** @example probe begin { x = 1; x = "a" } */
  typeMismatch: (wanted: string, found: string): Message =>
    semantic("type", `type mismatch: expected ${wanted}, found ${found}`),
  /** @example probe begin { println(strlen("a", "b")) } */
  argumentCount: (name: string, wanted: string, given: number): Message =>
    semantic("arguments", `${name}() takes ${wanted}, not ${given}`),
  /** @example function f(a, a) { return a } */
  duplicateParameter: (name: string): Message => parse(`duplicate parameter names: ${name}`),
  /** @example global a, a */
  duplicate: (what: string, name: string): Message => semantic("name", `duplicate ${what} ${name}`),
  /**
   * @example
   * global a
   * probe begin { a[1] = 1; a[1, 2] = 2 }
   */
  keyCount: (name: string, wanted: number, given: number): Message =>
    semantic("arguments", `inconsistent number of keys of ${name}: ${given}, elsewhere ${wanted}`),
  /** @example probe begin { return 5 } */
  notHere: (what: string, where: string): Message => semantic("placement", `${what} is not allowed ${where}`),
  /** @example probe begin { printf(x, 1) } */
  formatLiteral: (name: string): Message => semantic("arguments", `${name}() expects a string literal as its format`),
  /** Of a conversion that C's printf does not have. */
  badFormat: (problem: string): Message => semantic("arguments", problem),
  /** @example probe begin { printf("%*d", 1) } */
  formatCount: (wanted: number, given: number): Message =>
    semantic("arguments", `the format wants ${wanted} argument${wanted === 1 ? "" : "s"}, not ${given}`),
  /** @example probe begin { println("a" =~ "(") } */
  regex: (text: string, why: string): Message =>
    semantic("syntax", `regular expression ${JSON.stringify(text)}: ${why}`),
  /** @example probe kernel.function("f") { $x = 1 } */
  guru: (): Message =>
    semantic("unsafe", "a target variable cannot be written to: strobe changes no program it traces"),
  /** @example probe begin { println(@var("counter", "/bin/true")) }  */
  otherProgram: (name: string, program: string): Message =>
    semantic(
      "placement",
      `@var("${name}", "${program}") is not of what is probed here`,
      "a handler has the variables of the program that its probe is in: store it in a global there",
    ),
  /** @example probe begin { task = 5; println(task->pid) } */
  untyped: (): Message =>
    semantic(
      "type",
      "nothing says what this points to",
      'say it with @cast(VALUE, "TYPE"), or store a variable of the program or the kernel there: n = $n',
    ),
  /** @example probe timer.profile { println(probe_type()) } */
  notYet: (what: string): Message => semantic("feature", `${what} is not supported yet`),
  /** @example probe begin { println(nothing_stored + 1) } */
  neverAssigned: (name: string): Message =>
    says(
      "unused",
      `never-assigned local variable ${name}`,
      'it is 0 or ""; declare it if it is a global: global ' + name,
    ),
  /**
   * @example
   * global a
   * probe begin { println(a) }
   */
  unresolvedGlobal: (name: string): Message =>
    semantic("name", `unresolved type: ${name}`, `nothing is stored in it; give it a value: global ${name} = 0`),
  /** @example probe begin { println(nothing_says) } */
  unresolvedType: (name: string): Message =>
    semantic(
      "name",
      `unresolved type: ${name}`,
      `nothing is stored in it; declare it if it is a global: global ${name}`,
    ),
  /**
   * @example
   * global a
   * probe begin { a[1] = 2; foreach (k in a) delete a[k] }
   */
  loopWrites: (array: string): Message =>
    semantic(
      "placement",
      `variable '${array}' modified during 'foreach' iteration`,
      "gather the keys in another array, and change this one behind the loop",
    ),
  /**
   * @example
   * global a
   * function forget(k) { delete a[k] }
   * probe begin { a[1] = 2; foreach (k in a) forget(k) }
   */
  callWritesLoop: (array: string): Message =>
    semantic(
      "placement",
      `function call modifies var '${array}' during 'foreach' iteration`,
      "gather the keys in another array, and change this one behind the loop",
    ),
  /**
   * @example
   * global s
   * probe begin { s <<< 1; print(@hist_log(s)); print(@hist_linear(s, 0, 10, 1)) }
   */
  secondHistogram: (name: string): Message =>
    semantic("type", `multiple histogram types declared on '${name}'`, "add the value to another variable as well"),
  /** @example probe begin { print() } */
  tooFewPrinted: (name: string, least: number): Message =>
    parse(`expected literal string or number: ${name}() takes ${least} argument${least === 1 ? "" : "s"} or more`),
  /** @example probe begin { } */
  emptyProbes: (): Message =>
    semantic("unused", "no probes found: the handlers of all are empty", "write what they do: { println(pp()) }"),
  /** @example function f() { return 1 } */
  neverProbes: (): Message => semantic("syntax", "no probes found"),
} as const;

/** Of a pattern, as in `x =~ "(?a)"`, behind what the message says of it. */
export const patternReasons = {
  unclosedList: (): Reason => reason("`[` has no `]`"),
  noClass: (name: string): Reason => reason(`there is no class [:${name}:]`),
  repeatsNothing: (times: string): Reason => reason(`\`${times}\` repeats nothing`),
  noTimes: (): Reason => reason("`{` begins no number of times: `{2}`, `{2,}`, `{2,5}`"),
  unfinishedEscape: (): Reason => reason("`\\` stands at the end"),
  malformed: (): Reason => reason("it is not well-formed"),
};

/** Of a format, as in `printf("%y", 1)`, behind what the message says of it. */
export const formatReasons = {
  noConversion: (text: string): Reason => reason(`\`${text}\` begins no conversion`),
};
