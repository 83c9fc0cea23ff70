// What tracefs is given for events: places in the words of dynamic events (`vfs_read+4`, `/usr/bin/app:0x1140(0x4010)`),
// arguments, and filters, as lines for people.
import { Failure } from "../../base/failure.ts";
import { InternalError } from "../../base/internal-error.ts";
import { kernelFeatures, kernelHas, needsOf, type KernelVersion } from "../../base/kernel-features.ts";
import { tracefsReasons } from "../../messages/tracefs.ts";
import type { EventPlace } from "./fetch-words.ts";
import type { Context } from "../../language/context.ts";
import type { SiteRef } from "../../language/resolved-probe.ts";
import type { TracepointField, TracepointFormat } from "../../machine/system.ts";
import { filterWords } from "./event-filter.ts";
import { histogramWords, keyWords } from "./histogram-words.ts";
import {
  keysOfPairs,
  type EventArgument,
  type EventKind,
  type TracefsEvent,
  type TracefsPlan,
} from "./tracefs-plan.ts";

/** Where in a file a probe of a program is (providers/attaching/user-attachment.ts). */
export interface FilePlace {
  readonly path: string;
  readonly offset: bigint;
  readonly semaphore: bigint;
}

/** Where in the kernel (providers/places/kernel-functions.ts). */
export interface KernelPlace {
  readonly symbol?: string;
  readonly offset: bigint;
}

export function filePlaceWords({ path, offset, semaphore }: FilePlace): string {
  return `${path}:0x${offset.toString(16)}${semaphore === 0n ? "" : `(0x${semaphore.toString(16)})`}`;
}

export function kernelPlaceWords({ symbol, offset }: KernelPlace): string {
  if (symbol === undefined) return `0x${offset.toString(16)}`;
  return offset === 0n ? symbol : `${symbol}+${offset}`;
}

/** Functions that ftrace calls handlers at: fprobe events (Linux 6.5). */
export function isTracedFunction(provider: string): boolean {
  return provider === "fentry" || provider === "fexit";
}

export function functionPlaceWords({ func, name }: SiteRef, returns: boolean): string {
  return `${func ?? name}${returns ? "%return" : ""}`;
}

/** What fprobe events call the slots of a traced function's context: its arguments, then its result. */
export function argumentNames({ numbered = [] }: Context): (offset: number) => string | undefined {
  return (offset) => {
    const slot = offset / 8;
    if (!Number.isInteger(slot) || slot > numbered.length) return undefined;
    return slot === numbered.length ? "$retval" : `$arg${slot + 1}`;
  };
}

/** What an event on an event calls the fields of the other. */
export function fieldNames(fields: readonly TracepointField[], kernel: KernelVersion): EventPlace["named"] {
  const { textPointersOfEvents } = kernelFeatures;
  return (at) => {
    const field = fields.find(({ offset }) => offset === at);
    if (field === undefined) return undefined;
    if (/^(?:const )?char ?\*$/.test(field.declaration) && !kernelHas(kernel, textPointersOfEvents))
      return new Failure(tracefsReasons.textPointer(needsOf(textPointersOfEvents)));
    return `$${field.name}`;
  };
}

export function eventPlaceWords(site: SiteRef): string {
  return tracepointOf(site).join(".");
}

export function argumentWords(args: readonly EventArgument[]): readonly string[] {
  return args.map(({ words, type }, i) => `a${i}=${words}:${type}`);
}

/** The file of tracefs that takes a kind of event, and what its lines begin with. */
const definedIn: Readonly<
  Record<Exclude<EventKind, "tracepoint" | "pair">, { readonly file: string; readonly letter: string }>
> = {
  kprobe: { file: "kprobe_events", letter: "p" },
  kretprobe: { file: "kprobe_events", letter: "r" },
  uprobe: { file: "uprobe_events", letter: "p" },
  uretprobe: { file: "uprobe_events", letter: "r" },
  fprobe: { file: "dynamic_events", letter: "f" },
  fretprobe: { file: "dynamic_events", letter: "f" },
  eprobe: { file: "dynamic_events", letter: "e" },
};

/** What of a machine the events of a plan are told by. */
export interface EventMachine {
  tracepoint(category: string, name: string): TracepointFormat | undefined;
  /** The kernel counts for handlers. */
  readonly histograms: boolean;
}

/** The events of a plan, a site at a time: what defines it, its filter, and what the kernel counts by itself. */
export function eventLines(plan: TracefsPlan, machine: EventMachine): readonly string[] {
  const { processes = [] } = plan;
  const names = processes.map((one) => (one === "child" ? "the command" : `${one}`)).join(", ");
  const lines = processes.length === 0 ? [] : [`processes: ${names}, and what they start`];
  return lines.concat(linesOfEvents(plan, machine));
}

function linesOfEvents({ events, programs }: TracefsPlan, machine: EventMachine): readonly string[] {
  return events.flatMap((event, i) => {
    const { site, args, filter, handlers } = event;
    const lines = event.pair === undefined ? [site.name] : pairLines(event, `strobe_pair_${i}`, machine);
    if (event.event !== "tracepoint" && event.event !== "pair") {
      const { file, letter } = definedIn[event.event];
      const line = [`${letter}:strobe/${event.event}_${i}`, placeWords(event), ...argumentWords(args)];
      lines.push(`  ${file}: ${line.join(" ")}`);
    }
    const fields = fieldsOf(event, machine);
    const triggers = handlers.flatMap(({ program }) => {
      const { histogram } = programs[program];
      if (histogram === undefined || !machine.histograms) return [];
      return histogramWords(histogram, fields, 0n)?.trigger ?? [];
    });
    lines.push(...triggers.map((trigger) => `  counted by the kernel: ${trigger}`));
    if (triggers.length === handlers.length) return lines;
    const words = filterWords(filter, fields, 0n);
    return [
      ...lines,
      words === undefined ? `  every ${event.pair === undefined ? "event" : "pair"}` : `  filter: ${words}`,
    ];
  });
}

function pairLines(event: TracefsEvent, name: string, machine: EventMachine): string[] {
  const { pair = [] } = event;
  const fields = pair.map(({ site }) => machine.tracepoint(...tracepointOf(site))?.fields ?? []);
  const { definition, triggers } = pairWords(event, name, fields, 0n);
  const lines = pair.flatMap(({ site }, i) => [site.name, `  paired by the kernel: ${triggers[i]}`]);
  return [...lines, `  synthetic_events: ${definition}`];
}

/** What defines the event of a pair, and the triggers of its events. `name`: its own, of which there is one. */
export function pairWords(
  { pair, args }: TracefsEvent,
  name: string,
  fields: readonly (readonly TracepointField[])[],
  childPid: bigint,
): { readonly definition: string; readonly triggers: readonly [string, string] } {
  if (pair === undefined) throw new InternalError("the event is of no pair");
  const types = args.map(({ type }, i) => `${type === "string" ? "char[]" : type} a${i}`);
  const begun = `${name}_begun`;
  const own: Readonly<Record<string, string>> = {
    $time: "common_timestamp",
    $passed: `common_timestamp-$${begun}`,
    "$passed+1": `common_timestamp-$${begun}+1`,
  };
  const [first, second] = pair.map(({ keys, filter }, i) => {
    const words = filterWords(filter, fields[i], childPid);
    return {
      keys: keys.map((key) => keyWords(key, fields[i])).join(","),
      end: words === undefined ? "" : ` if ${words}`,
    };
  });
  const common = `clock=boot:size=${keysOfPairs}`;
  // Of a field itself the kernel compares the type's name; of a variable its size.
  const isText = ({ type }: EventArgument): boolean => type === "string";
  const variables = args.flatMap((arg, i) => (isText(arg) ? [] : [`${name}_a${i}=${own[arg.words] ?? arg.words}:`]));
  const handed = args.map((arg, i) => (isText(arg) ? arg.words : `$${name}_a${i}`));
  return {
    definition: `${name} ${types.join("; ")}`,
    triggers: [
      `hist:keys=${first.keys}:${begun}=common_timestamp:${common}${first.end}`,
      `hist:keys=${second.keys}:${variables.join("")}${common}:onmatch(${eventPlaceWords(pair[0].site)}).trace(${[name, ...handed].join(",")})${second.end}`,
    ],
  };
}

function placeWords({ event, site }: TracefsEvent): string {
  const { data } = site;
  if (event === "eprobe") return eventPlaceWords(site);
  if (event === "fprobe" || event === "fretprobe") return functionPlaceWords(site, event === "fretprobe");
  return event.startsWith("u") ? filePlaceWords(data as FilePlace) : kernelPlaceWords(data as KernelPlace);
}

export function fieldsOf({ event, site, args }: TracefsEvent, machine: EventMachine): readonly TracepointField[] {
  if (event === "tracepoint") {
    const [category, name] = tracepointOf(site);
    return machine.tracepoint(category, name)?.fields ?? [];
  }
  return args.map(({ type, offset }, i): TracepointField => {
    const [, sign, bits] = /^([us])(\d+)$/.exec(type) ?? [];
    if (bits === undefined) return { name: `a${i}`, declaration: "__data_loc char[]", offset, size: 4, signed: false };
    return { name: `a${i}`, declaration: type, offset, size: Number(bits) / 8, signed: sign === "s" };
  });
}

/** Category and name. */
export function tracepointOf({ name: shown, found = shown }: SiteRef): readonly [string, string] {
  const [, category, name, ...more] = found.split(":");
  if (name === undefined || more.length > 0) throw new InternalError(`${found} is no tracepoint's name`);
  return [category, name];
}
