// What is wrong with what a program gives to a function of the library.
import { librarySays, type LibraryMessage } from "./message.ts";

const names = "letters, digits and _";

/** What was found, whatever it is. */
function shown(found: unknown): string {
  if (typeof found === "string") return JSON.stringify(found);
  return typeof found === "number" || typeof found === "bigint" || typeof found === "boolean"
    ? String(found)
    : `a value of the type ${typeof found}`;
}

export const library = {
  /** @example struct("int") */
  takesMembers: (what: string, found: string): LibraryMessage =>
    librarySays(`${what}() takes an object of members, got ${found}: ${what}({ kind: u8, length: u16 })`),
  /** @example struct({ x: u32 }, { align: 3 }) */
  takesLayout: (what: string, most: number): LibraryMessage =>
    librarySays(
      `${what}() takes a layout behind its members: { packed: true, align: 8 } (align is a power of two up to ${most})`,
    ),
  /** @example enumeration({ half: 0.5 }) */
  takesIntegers: (constant: string, found: number): LibraryMessage =>
    librarySays(`enumeration() takes integers, got ${found} for ${constant}`),
  /** @example arrayOf(u8, -1) */
  takesLength: (found: number): LibraryMessage =>
    librarySays(`arrayOf() takes a number of elements, 0 or more, got ${found}`),
  /** @example bits(u8, 65) */
  takesWidth: (found: number): LibraryMessage =>
    librarySays(`bits() takes a number of bits from 0 to 64, got ${found}`),
  /** @example aligned(u32, 0) */
  takesAlignment: (most: number, found: number): LibraryMessage =>
    librarySays(`aligned() takes a power of two up to ${most}, got ${found}`),
  /** @example pointerTo(4) */
  takesType: (where: string, found: string): LibraryMessage =>
    librarySays(`${where} takes a type, got ${found}: u32, "struct sock *", struct({ … })`),
  /** @example userEvent("app:request", { size: "u7" }) */
  unknownFieldType: (event: string, field: string, type: string, types: readonly string[]): LibraryMessage =>
    librarySays(`unknown type "${type}" of the field ${field} of ${event}; there are ${types.join(", ")}`),
  /** @example userEvent("app-request", { size: "u32" }) */
  userEventName: (found: string): LibraryMessage =>
    librarySays(`a user event's name has ${names}, in parts separated by colons; got "${found}"`),
  /** @example userEvent("app:request", { "the-size": "u32" }) */
  fieldName: (found: string): LibraryMessage => librarySays(`a field's name has ${names}; got "${found}"`),
  /** Only of an event that another program registered: its fields may have types that the library has none for. */
  fieldNotEmitted: (event: string, field: string, type: string): LibraryMessage =>
    librarySays(`the field ${field} of ${event} has the type ${type}, which cannot be emitted`),
  /** @example userEvent("app:wide", Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`f${i}`, "u64"]))) */
  fieldsTooLarge: (event: string, bytes: number, most: number): LibraryMessage =>
    librarySays(`the fields of ${event} take ${bytes} bytes, more than ${most}`),
  /** @example new Snapshot([["a", { x: 1 }], ["b", { x: 2 }]]).top(1) */
  topOrders: (): LibraryMessage =>
    librarySays("top() orders numbers, histograms and statistics, got other objects: sort the entries yourself"),
  /** @example map().at(1) */
  atInHandlers: (): LibraryMessage => librarySays("at() works in handlers only; in Node, get(key) reads an entry"),
  /** @example map().every("1s").next() */
  mapWithoutTrace: (): LibraryMessage => librarySays("no trace fills this map: start the trace first"),
  /** @example map().every("soon").next() */
  takesPeriod: (found: string | number): LibraryMessage =>
    librarySays(`every() takes a period such as "1s", "250ms" or "5m", got ${shown(found)}`),
  /** @example usdtProvider("app", {}) */
  providerWithoutProbes: (name: string): LibraryMessage =>
    librarySays(`the provider ${name} has no probes: usdtProvider("${name}", { done: ["u32"] })`),
  /** @example usdtProvider("my app", { done: [] }) */
  staticProbeName: (found: string): LibraryMessage =>
    librarySays(`the name of a provider or of a static probe has letters, digits, _ and -; got ${shown(found)}`),
  /** @example usdtProvider("app", { done: Array(13).fill("u8") }) */
  tooManyArguments: (probe: string, found: number, most: number): LibraryMessage =>
    librarySays(`the probe ${probe} has ${found} arguments, more than ${most}`),
  /** @example usdtProvider("app", { done: ["u7"] }) */
  unknownArgumentType: (probe: string, type: string): LibraryMessage =>
    librarySays(
      `unknown type "${type}" of an argument of ${probe}; there are i8 to i64, u8 to u64, f32, f64 and string`,
    ),
  /** @example kprobe("vfs_read") */
  takesHandler: (constructor: string): LibraryMessage =>
    librarySays(`${constructor}() takes a handler: a function, or { filter, handler }`),
  /** @example uprobe("/bin/ls:main", () => {}) */
  takesName: (constructor: string, found: string): LibraryMessage =>
    librarySays(`${constructor}() takes the probe's name as a string, got a value of the type ${found}`),
  /** @example probe([], () => {}) */
  takesNames: (): LibraryMessage => librarySays("probe() takes the name of a probe, or several: got none"),
  /** @example interval("1z", () => {}) */
  takesRate: (constructor: string, found: string | number): LibraryMessage =>
    librarySays(`${constructor}() takes a rate such as "99hz", "10ms" or "1s", got ${shown(found)}`),
  /** @example event().emit({ pid: 1 }) */
  emitInHandlers: (): LibraryMessage => librarySays("emit() works in handlers only, which run in the kernel"),
  /** @example pid + 1 */
  valueInHandlers: (name: string): LibraryMessage =>
    librarySays(`${name} has a value in handlers only, which run in the kernel`),
  /** @example trace({ kind: "kprobe" }) */
  traceTakes: (): LibraryMessage => librarySays("trace() takes the text of a script, or probes, and then options"),
  /** @example trace("begin { }", { pid: "self" }) */
  takesPid: (found: unknown): LibraryMessage =>
    librarySays(`the option pid takes the number of a process, got ${shown(found)}`),
  /** @example trace("begin { }", { pid: 1, command: "true" }) */
  pidAndCommand: (): LibraryMessage =>
    librarySays("the options pid and command exclude each other: trace a process that runs, or one that is started"),
  /** @example trace("begin { }", { queueLimit: -1 }) */
  takesQueueLimit: (found: unknown): LibraryMessage =>
    librarySays(`the option queueLimit takes a number of events, got ${shown(found)}`),
  /** @example trace("begin { }", { duration: 0 }) */
  takesDuration: (most: number, found: unknown): LibraryMessage =>
    librarySays(`the option duration takes a time in milliseconds, up to ${most}, got ${shown(found)}`),
  /** @example trace("begin { }", { maxOverhead: "2%" }) */
  takesOverhead: (found: unknown): LibraryMessage =>
    librarySays(`the option maxOverhead takes a share of all CPUs' time, such as 0.02 for 2 %, got ${shown(found)}`),
  /** @example dateOf(1n, "sundial") */
  unknownClock: (clocks: readonly string[], found: string): LibraryMessage =>
    librarySays(`unknown clock "${found}"; dateOf() takes ${clocks.join(", ")}`),
  /**
   * Only of a trace that runs: `session.map("nope")`.
   * @tested test/live/library.test.ts
   */
  noMap: (name: string, maps: string): LibraryMessage =>
    librarySays(`the script has no map @${name}; it has ${maps || "none"}`),
  /**
   * Only of a trace that ran: `session.map("calls")`, once it has ended.
   * @tested test/live/library.test.ts
   */
  mapsGone: (): LibraryMessage => librarySays("the trace has ended, and its maps with it"),
  /** @example compileScript({ name: "x.ts", text: "" }, { language: findLanguage("typescript") }) */
  noScripts: (language: string): LibraryMessage =>
    librarySays(`${language} has no scripts: it is written in programs, which Node runs`),
  /** Only of set() and delete() of a map while a trace runs. */
  keyParts: (wanted: number, found: number): LibraryMessage => librarySays(`the key has ${wanted} parts, not ${found}`),
  /** Only of set() of a map while a trace runs. */
  aggregateSet: (aggregate: string): LibraryMessage => librarySays(`a ${aggregate} is counted by handlers, not set`),
  /** Only of set() of a map while a trace runs. */
  madeInHandlers: (kind: string): LibraryMessage =>
    librarySays(`only a handler can make a value of this kind (${kind})`),
  /** Only of set() of a map while a trace runs. */
  otherValue: (wanted: string, found: string): LibraryMessage => librarySays(`expected ${wanted}, got ${found}`),
  /** Only of maps and events of a trace that runs. */
  belongsToTrace: (what: string, name: string): LibraryMessage =>
    librarySays(`the ${what} \`${name}\` belongs to a trace that runs; make one for each trace, or stop that one`),
  /** Only of kinds of probes that a program adds. */
  kindThere: (name: string): LibraryMessage => librarySays(`there is a kind of probe named "${name}"`),
};
