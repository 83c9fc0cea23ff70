// `strobe events`: dynamic events of the kernel by hand, in probes' own words, for perf, trace-cmd and whoever reads
// tracefs. They stay until they are removed.
import { defineEvents } from "../api/event-definitions.ts";
import { linesOf, type EventDefinition } from "../compiler/tracefs/event-definitions.ts";
import { renderDiagnostic } from "../language/render-diagnostic.ts";
import { dynamicEvents, enableEvent, writeDefinition, type ListedEvent } from "../linux/kernel/event-files.ts";
import { listEvents } from "../linux/kernel/tracefs.ts";
import { hasWildcard, matches } from "../machine/wildcard.ts";
import { useColor } from "./errors.ts";
import { print, tell } from "./files.ts";
import { commands } from "../messages/commands.ts";
import { commandLine, attempts } from "../messages/on-demand.ts";
import { UsageError } from "./usage-error.ts";

/** What `add` defines is in this group. */
const group = "strobe";
/** The exit code. */
export function events(argv: readonly string[]): number {
  const [action = "list", ...rest] = argv;
  switch (action) {
    case "list":
      return list(rest);
    case "add":
      return add(rest);
    case "remove":
      return remove(rest);
    case "enable":
    case "disable":
      return turn(action, rest);
    default:
      throw new UsageError(commands.eventsHasNo(action));
  }
}

/** Takes options off the words; `takes`: those with a value behind them. */
function optionsOf(
  argv: readonly string[],
  flags: readonly string[],
  takes: readonly string[],
): {
  readonly words: readonly string[];
  readonly given: ReadonlyMap<string, string>;
} {
  const words: string[] = [];
  const given = new Map<string, string>();
  for (let i = 0; i < argv.length; i++) {
    const [word, value] = argv[i].startsWith("--") ? (argv[i].split(/=(.*)/s) as [string, string?]) : [argv[i]];
    if (flags.includes(word) && value === undefined) given.set(word, "");
    else if (takes.includes(word)) {
      const behind = value ?? argv[++i];
      if (behind === undefined) throw new UsageError(commandLine().needsValue(word));
      given.set(word, behind);
    } else if (word.startsWith("-")) throw new UsageError(commands.eventsHasNoOption(word));
    else words.push(argv[i]);
  }
  return { words, given };
}

// ── list ──

function list(argv: readonly string[]): number {
  const { words } = optionsOf(argv, [], []);
  const all = dynamicEvents().filter((event) => words.length === 0 || words.some((word) => isMeant(event, word)));
  const rows = all.map((event) => [`${event.group}:${event.name}`, event.kind, ownerOf(event), event.text]);
  const widths = [0, 1, 2].map((column) => Math.max(0, ...rows.map((row) => row[column].length)));
  print(
    rows
      .map(
        (row) =>
          `${row
            .map((cell, i) => cell.padEnd(widths[i] ?? 0))
            .join("  ")
            .trimEnd()}\n`,
      )
      .join(""),
  );
  return 0;
}

/** Whose an event is, as far as its group tells. */
function ownerOf({ group: of, kind, name }: ListedEvent): string {
  if (of === group) return /^kr_\d+_\d+$/.test(name) ? "a running strobe" : "strobe events add";
  if (of.startsWith("strobe_")) return "a running strobe";
  if (kind === "user") return "a program";
  if (/^probe(_|$)/.test(of)) return "perf probe";
  return "somebody else";
}

/** `strobe:vfs_read`, `vfs_read`, `strobe:*` */
function isMeant({ group: of, name }: Named, word: string): boolean {
  const [first, second] = word.split(/[:/]/, 2);
  return second === undefined ? matches(first, name) : matches(first, of) && matches(second, name);
}

// ── add ──

function add(argv: readonly string[]): number {
  const { words, given } = optionsOf(argv, ["--dry-run"], ["--name"]);
  if (words.length === 0) throw new UsageError(commands.eventsAddNeeds());
  const chosen = given.get("--name");
  if (chosen !== undefined && !/^[A-Za-z_]\w*$/.test(chosen)) throw new UsageError(commands.eventName(chosen));
  const all = words.flatMap((text) => {
    const { definitions, warnings } = defineEvents(text);
    for (const warning of warnings)
      process.stderr.write(renderDiagnostic({ name: "event", text }, warning, { color: useColor() }));
    return definitions;
  });
  if (chosen !== undefined && all.length > 1)
    throw new UsageError(commands.eventNameForOne(all.map(({ name }) => name)));
  const dry = given.has("--dry-run");
  const taken = new Set(dry ? [] : dynamicEvents().flatMap((event) => (event.group === group ? event.name : [])));
  if (chosen !== undefined && taken.has(chosen)) throw new UsageError(commands.eventThere(`${group}:${chosen}`));
  for (const definition of all) {
    const name = chosen ?? freeName(definition.name, taken);
    taken.add(name);
    const lines = linesOf(definition, group, name);
    if (dry) print(lines.map((line) => `${line}\n`).join(""));
    else {
      define(definition, name, lines);
      print(`${group}:${name}\n`);
    }
  }
  return 0;
}

/** MAX_EVENT_NAME_LEN of kernel/trace/trace.h, with the terminator. */
const longestName = 63;

/** As perf probe does: with a number behind it where there is one of the name. */
function freeName(name: string, taken: ReadonlySet<string>): string {
  const cut = (end: string): string => `${name.slice(0, longestName - end.length)}${end}`;
  let free = cut("");
  for (let i = 1; taken.has(free); i++) free = cut(`_${i}`);
  return free;
}

/** All of its places, or none. */
function define({ file }: EventDefinition, name: string, lines: readonly string[]): void {
  try {
    for (const line of lines) writeDefinition(file, line, () => attempts().addEvent(`${group}:${name}`));
  } catch (error) {
    if (dynamicEvents().some((event) => event.group === group && event.name === name))
      writeDefinition(file, `-:${group}/${name}`, () => attempts().removeEvent(`${group}:${name}`));
    throw error;
  }
}

// ── remove ──

function remove(argv: readonly string[]): number {
  const { words, given } = optionsOf(argv, ["--force"], []);
  if (words.length === 0) throw new UsageError(commands.eventsRemoveNeeds(group));
  const all = dynamicEvents();
  let failed = false;
  for (const word of words) {
    const meant = unique(all.filter((event) => isMeant(event, word)));
    if (meant.length === 0 && !hasWildcard(word)) {
      tell(`strobe: there is no dynamic event ${word}\n`);
      failed = true;
    }
    for (const event of meant) {
      const name = `${event.group}:${event.name}`;
      if (ownerOf(event) !== "strobe events add" && !given.has("--force")) {
        tell(`strobe: ${name} was not added by strobe events (${ownerOf(event)}): --force removes it\n`);
        failed = true;
        continue;
      }
      writeDefinition("dynamic_events", `-:${event.group}/${event.name}`, () => attempts().removeEvent(name));
      print(`${name}\n`);
    }
  }
  return failed ? 1 : 0;
}

// ── enable, disable ──

/** Of the top-level buffer, which `cat trace` and `trace-cmd show` read: all events, the kernel's own as well. */
function turn(action: "enable" | "disable", argv: readonly string[]): number {
  const { words } = optionsOf(argv, [], []);
  if (words.length === 0) throw new UsageError(commands.eventsNeedsEvent(action));
  const all = [...dynamicEvents(), ...listEvents().map(({ category, name }): Named => ({ group: category, name }))];
  let failed = false;
  for (const word of words) {
    const meant = unique(all.filter((event) => isMeant(event, word)));
    if (meant.length === 0) {
      tell(`strobe: there is no event ${word}\n`);
      failed = true;
    }
    for (const { group: of, name } of meant) {
      enableEvent(of, name, action === "enable");
      print(`${of}:${name}\n`);
    }
  }
  return failed ? 1 : 0;
}

type Named = Pick<ListedEvent, "group" | "name">;

/** An event at several places has several lines. */
function unique<T extends Named>(events: readonly T[]): readonly T[] {
  return [...new Map(events.map((event) => [`${event.group}/${event.name}`, event])).values()];
}
