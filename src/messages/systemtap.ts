// What is wrong with a script in SystemTap's language, in its words first: `parse error`, `semantic error`.
import { says, type DiagnosticCode, type Message } from "./message.ts";

const parse = (message: string, help?: string): Message => says("syntax", `parse error: ${message}`, help);
const semantic = (code: DiagnosticCode, message: string, help?: string): Message =>
  says(code, `semantic error: ${message}`, help);

export const systemtap = {
  // ── parsing ──
  expected: (what: string, found: string): Message => parse(`expected ${what}, found ${found}`),
  unreadable: (problem: string): Message => parse(problem),
  nestedTooDeeply: (): Message => says("limit", "parse error: nesting is too deep", "use variables"),
  unclosedBlock: (): Message => parse("expected `}` at the end of the block", "this `{` has no matching `}`"),
  declarationInBlock: (word: string): Message =>
    parse(`expected \`}\` before this \`${word}\``, "probes, functions and globals stand outside of blocks"),
  assignmentTarget: (operator: string): Message => parse(`expected a variable on the left of \`${operator}\``),
  deleteTarget: (): Message => parse("expected a variable, an array or an element behind `delete`"),
  noUnsignedShift: (): Message => parse("there is no `>>>`", "numbers are signed: mask the result of `>>`"),
  secondOrder: (): Message => parse("a loop has one order", "leave all but one `+` or `-` away"),
  unknownOperator: (name: string): Message =>
    parse(`unknown operator or macro \`${name}\``, `macros are defined by \`@define ${name.slice(1)} %( … %)\``),
  histogramParameters: (name: string): Message =>
    parse(
      `wrong number of parameters of @${name}`,
      name === "hist_log" ? "usage: @hist_log(s)" : "usage: @hist_linear(s, low, high, step)",
    ),
  embedded: (): Message =>
    semantic(
      "feature",
      "embedded C code is not supported: strobe compiles no C",
      'a member of a kernel struct is `@cast(p, "struct_name", "kernel")->member`',
    ),

  // ── preprocessing ──
  unclosedCondition: (): Message => parse("`%(` has no `%)`"),
  expectedInCondition: (what: string): Message => parse(`expected ${what} in the condition of \`%(\``),
  unknownInCondition: (name: string): Message =>
    parse(
      `\`${name}\` is unknown in a condition of \`%(\``,
      "known are kernel_v, kernel_vr, arch, systemtap_v, runtime, guru_mode, CONFIG_…, numbers and strings",
    ),
  configurationUnknown: (name: string, why: string): Message =>
    says("feature", `parse error: whether \`${name}\` is set is not known: ${why}`),
  expansionTooLarge: (): Message => says("limit", "parse error: the macros of the script expand to too much"),
  macroArguments: (name: string, wanted: number, given: number): Message =>
    parse(`macro @${name} takes ${wanted} argument${wanted === 1 ? "" : "s"}, not ${given}`),
  missingParameter: (name: string, count: number): Message =>
    says(
      "arguments",
      `parse error: command line argument ${name} is missing: there ${count === 1 ? "is 1" : `are ${count}`}`,
    ),

  // ── meaning ──
  unresolvedFunction: (name: string, help?: string): Message =>
    semantic("name", `unresolved function: ${name}()`, help),
  unresolvedArray: (name: string, help?: string): Message => semantic("name", `unresolved array: ${name}`, help),
  unresolvedPoint: (text: string, help?: string): Message => semantic("name", `probe point mismatch: ${text}`, help),
  pointNotSupported: (text: string, why: string, help?: string): Message =>
    semantic("feature", `${text} is not supported: ${why}`, help),
  ticksUnknown: (text: string, why: string, instead: string): Message =>
    semantic(
      "feature",
      `${text} is not supported: how long a jiffy is is not known: ${why}`,
      `use a time, as in ${instead}`,
    ),
  noTargetVariables: (name: string): Message =>
    semantic(
      "placement",
      `$${name} has no meaning here`,
      "probes of functions, statements, marks and tracepoints have target variables",
    ),
  noReturn: (): Message => semantic("placement", "$return has a meaning in `.return` probes only"),
  typeMismatch: (wanted: string, found: string): Message =>
    semantic("type", `type mismatch: expected ${wanted}, found ${found}`),
  unresolvedType: (name: string): Message =>
    semantic("type", `unresolved type of ${name}`, "nothing says whether it is a number or a string"),
  argumentCount: (name: string, wanted: string, given: number): Message =>
    semantic("arguments", `${name}() takes ${wanted}, not ${given}`),
  duplicate: (what: string, name: string): Message => semantic("name", `duplicate ${what} ${name}`),
  keyCount: (name: string, wanted: number, given: number): Message =>
    semantic("arguments", `inconsistent number of keys of ${name}: ${given}, elsewhere ${wanted}`),
  notHere: (what: string, where: string): Message => semantic("placement", `${what} is not allowed ${where}`),
  formatLiteral: (name: string): Message => semantic("arguments", `${name}() expects a string literal as its format`),
  badFormat: (problem: string): Message => semantic("arguments", problem),
  formatCount: (wanted: number, given: number): Message =>
    semantic("arguments", `the format wants ${wanted} argument${wanted === 1 ? "" : "s"}, not ${given}`),
  regex: (text: string, why: string): Message =>
    semantic("syntax", `regular expression ${JSON.stringify(text)}: ${why}`),
  guru: (): Message =>
    semantic("unsafe", "a target variable cannot be written to: strobe changes no program it traces"),
  notYet: (what: string): Message => semantic("feature", `${what} is not supported yet`),
  neverAssigned: (name: string): Message =>
    says(
      "unused",
      `never-assigned local variable ${name}`,
      'it is 0 or ""; declare it if it is a global: global ' + name,
    ),
  neverProbes: (): Message => semantic("syntax", "no probes found"),
} as const;
