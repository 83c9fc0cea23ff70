// Declarations: functions, maps, limits of a script.
import { says, type Message, type Shown } from "./message.ts";

export const declarations = {
  /** @example let @a = lruhash(5); let @b = lruhash(5); begin { @b[1] = 1 } */
  unusedMap: (value: Shown): Message => says("unused", `unused map: ${value}`),
  /** @example begin { $x = "a"; $x = str_concat($x, $x); } */
  noFixedSizeAssignedText: (name: Shown): Message =>
    says(
      "limit",
      `${name} has no fixed size: it is assigned text that grows from its own value`,
      "cut the text to a size: str(text, 64)",
    ),
  /** @example let @m = tree(10); begin { @m[1] = 1; } */
  unknownMapType: (storage: Shown, help: string): Message => says("name", `unknown map type \`${storage}\``, help),
  /** @example let @m = hash(0); begin { @m[1] = 1; } */
  cannotEntries: (value: Shown, entries: Shown): Message => says("limit", `${value} cannot have ${entries} entries`),
  /** @example let @m = hash(1); let @m = hash(2); begin { @m[1] = 1; } */
  alreadyDeclared: (value: Shown): Message => says("name", `${value} is already declared`),
  /** @example fn f() : void { } fn f() : void { } begin { } */
  alreadyDefined: (name: Shown): Message => says("name", `${name}() is already defined`),
  /** @example begin { &@x; } */
  needsKernelProbesRunStrobe: (what: Shown, provider: Shown): Message =>
    says(
      "placement",
      `${what} needs the kernel, and ${provider} probes run in strobe itself`,
      "use it in a probe that the kernel runs",
    ),
  /** @example config = { max_probes = 2 } begin { } kprobe:f { } kprobe:g { } */
  canTAttachExceedsCurrent: (all: Shown, what: Shown, most: Shown, setting: Shown): Message =>
    says(
      "limit",
      `can't attach to ${all} ${what}: it exceeds the current limit of ${most}`,
      `${setting} says so; raise it to ${all} or more`,
    ),
  /** @example fn f($x : int64) : int64 { return f($x); } begin { print(f(1)); } */
  callsItself: (name: Shown): Message =>
    says("limit", `${name}() calls itself`, "functions are inlined into their callers and cannot recurse"),
  /** @example kprobe:f { while (1) { @++; for ($i : 0..3) { break; } } } */
  loopNeverEnds: (): Message => says("limit", "infinite loop", "leave it with `break`, or let its condition change"),
  /**
   * @on typescript
   * @example (args) => { throw new Error(5); }
   */
  expectedTextOrCaughtError: (type: Shown): Message => says("type", `expected a text or a caught error, got ${type}`),
  /** @example begin { break; } */
  statementNotAllowed: (kind: Shown, what: Shown): Message =>
    says("placement", `'${kind}' statement is not allowed in a ${what}`, "it belongs in a loop"),
  /** @example rawtracepoint:* { if (probe == "rawtracepoint:event7") { } } */
  textTakesProgramEachProbes: (name: Shown, count: Shown, mostSites: Shown): Message =>
    says(
      "limit",
      `${name} as text takes a program for each of the ${count} probes: there can be ${mostSites}`,
      "probe fewer of them, or print it",
    ),
  /** @example config = { none = 1 } begin { } */
  notKnownConfigurationOption: (name: Shown, near: string | undefined): Message =>
    says(
      "name",
      `${name}: not a known configuration option`,
      near === undefined ? undefined : `did you mean \`${near}\`?`,
    ),
  /** @example config = { max_strlen = "long" } begin { } */
  configValue: (name: string, value: string, wanted: string): Message =>
    says(
      "limit",
      wanted.startsWith("an integer")
        ? `${name}: expecting a number, got ${value}`
        : `invalid value for ${name}: ${value}`,
      `it must be ${wanted}`,
    ),
};
