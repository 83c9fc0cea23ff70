// What editors offer and look up in questions: events behind FROM and JOIN, their fields, and the words of the language.
import type { Editing, EditingWord, OfferedProbes, OwnName } from "../language.ts";
import { everywhere, ownName, tokens } from "../own-names.ts";
import { eventWords, isCalled, type EventName } from "./parse.ts";
import { behindBlank, clauses, isClause, scan, tokenAt } from "./tokens.ts";

export const editing: Editing = {
  keywords: [],
  declarations: clauses,
  sigils: "",
  callables: [],
  closed: true,
  lineComment: "--",
  scan,
  names,
  words: () => words,
  probeStart: (before) => {
    const [, front] = /^([^]*\b(?:FROM|JOIN)\s+)[^\s(),;]*$/i.exec(before) ?? [];
    return front?.length;
  },
  probes,
  reading,
};

interface Event extends EventName {
  /** Where its alias stands. */
  readonly aliased?: { readonly start: number; readonly end: number };
}

/** The events of a text, whether it is a whole question or not. */
function eventsIn(text: string): readonly Event[] {
  const events: Event[] = [];
  for (const { kind, text: word, end } of tokens(text, { scan })) {
    if (kind !== "identifier" || !/^(?:FROM|JOIN)$/i.test(word)) continue;
    eventWords.lastIndex = behindBlank(text, end);
    const [name] = eventWords.exec(text) ?? [];
    if (name === undefined || isClause(name)) continue;
    const next = tokenAt(text, eventWords.lastIndex);
    const alias = next.kind === "word" && /^AS$/i.test(next.text) ? tokenAt(text, next.end) : next;
    const event = { name, span: { start: eventWords.lastIndex - name.length, end: eventWords.lastIndex } };
    events.push(
      alias.kind === "word" && !isClause(alias.text) ? { ...event, alias: alias.text, aliased: alias } : event,
    );
  }
  return events;
}

/** What events are called: where that is said, and in front of their fields. */
function names(text: string): readonly OwnName[] {
  const events = eventsIn(text);
  let before = "";
  return [...tokens(text, { scan })].flatMap((token): OwnName[] => {
    const last = before;
    before = token.text;
    const event = events.find(({ alias }) => token.kind === "identifier" && alias === token.text);
    const declares = event?.aliased?.start === token.start;
    if (event === undefined || last === "." || (!declares && tokenAt(text, token.end).text !== ".")) return [];
    return [{ ...ownName(token, token.text, "variable", everywhere, declares), means: event.name }];
  });
}

/** With one event, names alone are its fields; with two, the event is in front of them. */
function reading(text: string, object: string, member: string): string | undefined {
  const events = eventsIn(text);
  const [first] = object.split(".");
  const event = events.find((one) => isCalled(one, first)) ?? (events.length === 1 ? events[0] : undefined);
  if (event === undefined) return undefined;
  const { name, alias } = event;
  return `SELECT ${object === "" ? "" : `${object}.`}${member} FROM ${name}${alias === undefined ? "" : ` AS ${alias}`}`;
}

function probes(written: string): OfferedProbes {
  if (written.includes(":")) return { words: [], pattern: `${written}*` };
  const [system, event] = written.split(".");
  if (event !== undefined)
    return {
      words: [],
      pattern: `tracepoint:${system}:${event}*`,
      spelled: (found) => `${system}.${found.slice(found.lastIndexOf(":") + 1)}`,
    };
  return {
    words: kinds,
    pattern: `tracepoint:*:${written}*`,
    spelled: (found) => found.slice(found.lastIndexOf(":") + 1),
  };
}

const kinds: OfferedProbes["words"] = [
  { name: "tracepoint:", doc: "An event of the kernel, with its system." },
  { name: "kprobe:", doc: "A function of the kernel is called." },
  { name: "kretprobe:", doc: "It returns." },
  { name: "fentry:", doc: "A function of the kernel is called; its arguments have types." },
  { name: "fexit:", doc: "It returns." },
  { name: "uprobe:", doc: "A function of a program is called: `uprobe:PATH:FUNCTION`." },
  { name: "uretprobe:", doc: "It returns." },
  { name: "usdt:", doc: "A static probe of a program: `usdt:PATH:PROVIDER:NAME`." },
];

function callable(name: string, takes: string, doc: string): EditingWord {
  return { name, kind: "function", signature: `${name}(${takes})`, doc };
}

function valued(name: string, doc: string): EditingWord {
  return { name, kind: "value", signature: name, doc };
}

const words: readonly EditingWord[] = [
  callable("COUNT", "*", "How many events there were, or pairs of events."),
  callable("SUM", "value", "Their sum, of each row."),
  callable("AVG", "value", "Their average, of each row."),
  callable("MIN", "value", "The least of them, of each row."),
  callable("MAX", "value", "The greatest of them, of each row."),
  callable("STATS", "value", "Their count, average and sum, of each row."),
  callable("HIST", "value", "How they are distributed over powers of two, of each row."),
  callable("CAST", "value AS type", "How a key is shown: HEX, SYM, SYM-OFFSET, SYSCALL, EXECNAME, LOG2, BUCKETS=10."),
  valued("HEX", "CAST(value AS HEX): in hexadecimal."),
  valued("SYM", "CAST(address AS SYM): the kernel's symbol; SYM-OFFSET: the address and the function."),
  valued("SYSCALL", "CAST(id AS SYSCALL): the name of a system call."),
  valued("EXECNAME", "CAST(common_pid AS EXECNAME): the name of the thread that is running."),
  valued("LOG2", "CAST(value AS LOG2): as HIST(value)."),
  valued("BUCKETS", "CAST(value AS BUCKETS=10): the multiple of 10 below it."),
  valued("_COUNTER_", "CAST(value AS _COUNTER_): as SUM(value)."),
  valued("TIMESTAMP", "When the event was, in nanoseconds."),
  valued("TIMESTAMP_USECS", "When the event was, in microseconds."),
  valued("TIMESTAMP_DELTA", "The time between the events of a JOIN, in nanoseconds."),
  valued("TIMESTAMP_DELTA_USECS", "The time between the events of a JOIN, in microseconds."),
  valued("COMM", "The name of the thread that is running."),
  valued("CPU", "The processor that the event was on."),
  valued("PID", "The process that is running."),
  valued("STACKTRACE", "The kernel's stack."),
  valued("common_pid", "The thread that is running."),
];
