// A plan's events as the kernel makes them while it starts: a boot configuration (Documentation/trace/boottime-trace.rst,
// kernel/trace/trace_boot.c), or parameters of its command line (Documentation/admin-guide/kernel-parameters.txt).
import type { SiteRef } from "../../language/resolved-probe.ts";
import {
  argumentWords,
  fieldsOf,
  kernelPlaceWords,
  tracepointOf,
  type EventMachine,
  type KernelPlace,
} from "./event-lines.ts";
import { filterWords } from "./event-filter.ts";
import { histogramWords } from "./histogram-words.ts";
import type { TracefsEvent, TracefsPlan } from "./tracefs-plan.ts";

/** What is made at boot. Its name has no process's number in it: it is not removed as what killed strobes left. */
export const bootInstance = "strobe-boot";
export const bootLives = "strobe-boot-lives";
/** kernel/trace/trace_boot.c defines kprobes in this group alone. */
const bootGroup = "kprobes";
/** MAX_BUF_LEN of kernel/trace/trace_boot.c, with the terminator: of a definition, a filter, an action. */
const longestWords = 255;

/** An event of a plan as it is at boot. */
export interface BootEvent {
  readonly group: string;
  readonly name: string;
  /** What defines it; absent: the kernel has it. */
  readonly definition?: string;
  readonly filter?: string;
  /** The kernel counts for all its handlers, and writes no records. */
  readonly triggers: readonly string[];
}

export interface BootPlan {
  readonly events: readonly BootEvent[];
  /** Probes that wait for user space, and why. */
  readonly waits: readonly { readonly probe: string; readonly why: string }[];
}

/** `number`: of the event among the plan's. */
export function bootEventName(number: number): string {
  return `strobe_boot_${number}`;
}

export function bootPlan(plan: TracefsPlan, machine: EventMachine): BootPlan {
  const events: BootEvent[] = [];
  const waits: { probe: string; why: string }[] = [];
  plan.events.forEach((event, i) => {
    const made = bootEvent(plan, event, i, machine);
    if ("why" in made) waits.push({ probe: event.site.name, why: made.why });
    else events.push(made);
  });
  return { events, waits };
}

/** Where an event of a plan is at boot; why it cannot be. */
export function bootPlace(
  { event, site, args }: TracefsEvent,
  number: number,
): Pick<BootEvent, "group" | "name" | "definition"> | { readonly why: string } {
  switch (event) {
    case "tracepoint": {
      const [group, name] = tracepointOf(site);
      return { group, name };
    }
    case "kprobe":
    case "kretprobe": {
      const why = tooEarly(site);
      if (why !== undefined) return { why };
      const returns = event === "kretprobe";
      const words = [
        `${kernelPlaceWords(site.data as KernelPlace)}${returns ? "%return" : ""}`,
        ...argumentWords(args),
      ].join(" ");
      if (words.length + bootEventName(number).length + 4 > longestWords)
        return { why: `its definition is longer than ${longestWords} characters` };
      return { group: bootGroup, name: bootEventName(number), definition: words };
    }
    case "uprobe":
    case "uretprobe":
      return { why: "programs and their files are not there yet" };
    case "pair":
    case "eprobe":
      return { why: "boot configurations define no events on events" };
    case "fprobe":
    case "fretprobe":
      return {
        why: `boot configurations define no events of ftrace's own probes: ${event === "fprobe" ? "kprobe" : "kretprobe"} can be`,
      };
  }
}

function tooEarly({ data }: SiteRef): string | undefined {
  const { symbol } = data as KernelPlace;
  if (symbol === undefined) return "its address is another at the next boot";
  return symbol.includes(":") ? "its module is not loaded yet" : undefined;
}

function bootEvent(
  { programs }: TracefsPlan,
  event: TracefsEvent,
  number: number,
  machine: EventMachine,
): BootEvent | { readonly why: string } {
  const place = bootPlace(event, number);
  if ("why" in place) return place;
  const fields = fieldsOf(event, machine);
  const triggers = event.handlers.flatMap(({ program }) => {
    const { histogram } = programs[program];
    const words = histogram === undefined || !machine.histograms ? undefined : histogramWords(histogram, fields, 0n);
    return words === undefined || quoted(words.trigger) === undefined ? [] : [words.trigger];
  });
  const filter = filterWords(event.filter, fields, 0n);
  // A program of a number can be another at the next boot.
  return {
    ...place,
    ...(filter === undefined || quoted(filter) === undefined ? {} : { filter }),
    triggers: triggers.length === event.handlers.length && new Set(triggers).size === triggers.length ? triggers : [],
  };
}

/** As a value of a boot configuration; undefined where it cannot be one. */
function quoted(words: string): string | undefined {
  if (words.length > longestWords) return undefined;
  if (!words.includes('"')) return `"${words}"`;
  return words.includes("'") ? undefined : `'${words}'`;
}

export interface BootSettings {
  /** Of a CPU. */
  readonly bufferBytes: number;
  readonly livesBytes: number;
  readonly lives: readonly (readonly [group: string, name: string])[];
  readonly stacks: TracefsPlan["stacks"];
  readonly title: string;
}

/** The text of a boot configuration. */
export function bootConfigText(
  { events }: BootPlan,
  { bufferBytes, livesBytes, lives, stacks, title }: BootSettings,
): string {
  const options = ["nooverwrite", ...stacks.map((space) => (space === "kernel" ? "stacktrace" : "userstacktrace"))];
  const instance = (
    name: string,
    bytes: number,
    more: readonly string[],
    lines: readonly string[],
  ): readonly string[] => [
    `ftrace.instance.${name} {`,
    ...[
      `trace_clock = boot`,
      `buffer_size = ${Math.ceil(bytes / 1024)}KB`,
      `options = ${more.join(", ")}`,
      ...lines,
    ].map((line) => `  ${line}`),
    "}",
  ];
  return [
    `# ${title.replaceAll(/[^\x20-\x7e]/g, "?")}`,
    ...instance(
      bootLives,
      livesBytes,
      ["nooverwrite"],
      lives.map(([group, name]) => `event.${group}.${name}.enable`),
    ),
    ...instance(bootInstance, bufferBytes, options, events.flatMap(eventLines)),
    "",
  ].join("\n");
}

function eventLines({ group, name, definition, filter, triggers }: BootEvent): readonly string[] {
  const lines = [
    ...(definition === undefined ? [] : [`probes = ${quoted(definition)}`]),
    ...(triggers.length > 0
      ? [`actions = ${triggers.map((trigger) => quoted(trigger)).join(", ")}`]
      : [...(filter === undefined ? [] : [`filter = ${quoted(filter)}`]), "enable"]),
  ];
  return [`event.${group}.${name} {`, ...lines.map((line) => `  ${line}`), "}"];
}

/** Parameters of the kernel's command line: all goes to the top-level buffer, without filters. */
export function bootCommandLine({ events }: BootPlan, { bufferBytes, lives, stacks }: BootSettings): readonly string[] {
  const own = events.flatMap(({ group, name, definition }) => (definition === undefined ? [`${group}:${name}`] : []));
  const defined = events.flatMap(({ name, definition }) =>
    definition === undefined ? [] : [`p:${name} ${definition}`.replaceAll(" ", ",")],
  );
  const stack = stacks.includes("kernel") ? ["trace_options=stacktrace,nooverwrite"] : ["trace_options=nooverwrite"];
  return [
    "trace_clock=boot",
    `trace_buf_size=${Math.ceil(bufferBytes / 1024)}K`,
    ...stack,
    `trace_event=${[...lives.map(([group, name]) => `${group}:${name}`), ...own].join(",")}`,
    ...(defined.length === 0 ? [] : [`kprobe_event=${defined.join(";")}`]),
  ];
}
