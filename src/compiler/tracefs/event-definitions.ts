// Probes as definitions of the kernel's dynamic events: lines for tracefs. What an event is to carry of a place in code is
// resolved to registers and memory, so that kernels without type information for events take them, too; events on
// functions' entries that ftrace knows (fprobe) have the arguments' numbers, events on events (eprobe) the fields' names.
// (Documentation/trace/kprobetrace.rst, uprobetracer.rst, fprobetrace.rst, eprobetrace.rst)
import { Failure } from "../../base/failure.ts";
import type { Context } from "../../language/context.ts";
import { shortName, type SiteRef } from "../../language/resolved-probe.ts";
import type { Type } from "../../language/types.ts";
import type { KernelVersion } from "../../base/kernel-features.ts";
import type { System, TracepointField } from "../../machine/system.ts";
import { hostMachine } from "../../machine/contexts/registers.ts";
import type { IrFunction, IrModule, Source } from "../ir/ir.ts";
import type { LoweredProgram } from "../lower/lower.ts";
import { bytesWords, numberWords, textWords, type EventPlace, type FetchWords } from "./fetch-words.ts";
import { MadeValues } from "./made-values.ts";
import { filterWords, isSayable } from "./event-filter.ts";
import { wholeFilter } from "./handler-filter.ts";
import {
  argumentNames,
  eventPlaceWords,
  fieldNames,
  filePlaceWords,
  functionPlaceWords,
  isTracedFunction,
  kernelPlaceWords,
  tracepointOf,
  type FilePlace,
  type KernelPlace,
} from "./event-lines.ts";
import { tracefsReasons } from "../../messages/tracefs.ts";

/** An event: several places where its function is at several. */
export interface EventDefinition {
  /** What it is about: `vfs_read`, `vfs_read__return`; what of it no event's name can have is `_`. */
  readonly name: string;
  /** The file of tracefs that takes it. */
  readonly file: "kprobe_events" | "uprobe_events" | "dynamic_events";
  /** What its lines begin with: `p`, `r`, `f`, `e`. */
  readonly letter: string;
  /** `vfs_read`, `/usr/bin/app:0x1140`, `sched.sched_switch` */
  readonly places: readonly string[];
  /** `bytes=%dx:u64` */
  readonly args: readonly string[];
  /** Of an event on an event: which ones it is for. */
  readonly condition?: string;
}

/** Why a program is no definition: which name it is about, the condition, or (neither) the probe itself. */
export interface NoDefinition {
  readonly failure: Failure;
  readonly name?: number;
  readonly condition?: true;
}

/**
 * The events of a program whose handlers print what they are to carry, a print a name. @returns what cannot be: of
 * which name, or of the probe itself
 */
export function eventDefinitions(
  { handlers, schemas }: LoweredProgram,
  { functions }: IrModule,
  names: readonly string[],
  machine: Pick<System, "tracepoint" | "capabilities">,
): readonly EventDefinition[] | NoDefinition {
  const definitions: EventDefinition[] = [];
  for (const { handler, function: index } of handlers) {
    const { context, provider, sites } = handler;
    const kind = context === "host" ? undefined : kindOf(context, provider);
    if (context === "host" || kind === undefined) return { failure: new Failure(tracefsReasons.otherProbes(provider)) };
    const fields = kind === "event" ? (machine.tracepoint(...tracepointOf(sites[0]))?.fields ?? []) : [];
    const place = placeOf(kind, context, fields, machine.capabilities.kernel);
    const args: string[] = [];
    const fn = functions[index];
    const condition = wholeFilter(fn);
    if (condition === undefined || !isSayable(condition, fields))
      return { failure: new Failure(tracefsReasons.otherCondition()), condition: true };
    const words = filterWords(condition, fields, 0n);
    const emitted = printed(fn);
    if (emitted.length !== names.length) return { failure: new Failure(tracefsReasons.doesElse()) };
    const made = new MadeValues(fn);
    for (const [i, { source, schema }] of emitted.entries()) {
      const fetched = wordsOf(source, schemas[schema].fields[0].type, made, place);
      if (fetched instanceof Failure) return { failure: fetched, name: i };
      args.push(`${names[i]}=${fetched.words}:${fetched.type}`);
    }
    for (const [name, places] of placesByName(sites, place.inProgram ? "file" : kind, provider)) {
      const bad = places.find((one) => /\s/.test(one));
      if (bad !== undefined) return { failure: new Failure(tracefsReasons.pathWithSpaces(bad)) };
      definitions.push({
        name,
        file: kind === "code" ? (place.inProgram ? "uprobe_events" : "kprobe_events") : "dynamic_events",
        letter: kind === "event" ? "e" : kind === "function" ? "f" : isReturn(provider, sites) ? "r" : "p",
        places,
        args,
        ...(words === undefined ? {} : { condition: words }),
      });
    }
  }
  return definitions;
}

/** What stands in the file of tracefs, a line a place. */
export function linesOf(definition: EventDefinition, group: string, name: string): readonly string[] {
  const { letter, places, args, condition } = definition;
  const end = condition === undefined ? [] : ["if", condition];
  return places.map((place) => [`${letter}:${group}/${name}`, place, ...args, ...end].join(" "));
}

/** `code`: any place in it, by a breakpoint; `function`: as ftrace sees it; `event`: another event. */
type DefinedOn = "code" | "function" | "event";

function kindOf({ program: { type } }: Context, provider: string): DefinedOn | undefined {
  if (type === "kprobe") return "code";
  if (type === "tracepoint") return "event";
  return isTracedFunction(provider) ? "function" : undefined;
}

function placeOf(
  kind: DefinedOn,
  context: Context,
  fields: readonly TracepointField[],
  kernel: KernelVersion,
): EventPlace {
  const place = { machine: hostMachine, inProgram: context.inProgram === true };
  switch (kind) {
    case "code":
      return place;
    case "function":
      return { ...place, named: argumentNames(context) };
    case "event":
      return {
        ...place,
        comm: "$COMM",
        named: fieldNames(fields, kernel),
      };
  }
}

function printed({ blocks }: IrFunction): { readonly source: Source; readonly schema: number }[] {
  return blocks.flatMap(({ instructions }) =>
    instructions.flatMap((i) => (i.op === "emit" ? [{ source: i.fields[0], schema: i.schema }] : [])),
  );
}

function wordsOf(source: Source, type: Type, made: MadeValues, place: EventPlace): FetchWords | Failure {
  switch (source.kind) {
    case "value": {
      const words = numberWords(made.fetch(source.value), place);
      if (words instanceof Failure) return words;
      return { ...words, type: shownType(type, words.type) };
    }
    case "string": {
      const own = made.recordText(source.address);
      if (own === undefined) return textWords(made.fetch(source.address), source.space, place);
      const name = place.named?.(own.offset);
      if (name instanceof Failure) return name;
      return name === undefined ? new Failure(tracefsReasons.textInRecord()) : { words: name, type: "string" };
    }
    case "memory":
      return bytesWords(made.fetch(source.address), source.size, source.space, place);
    case "comm":
      return { words: place.comm ?? "$comm", type: "string" };
    case "stack":
      return new Failure(tracefsReasons.stack());
    case "buffer":
      return new Failure(tracefsReasons.lengthToldLater());
    case "copy":
    case "constant":
    case "path":
      return new Failure(tracefsReasons.computed());
  }
}

/** Addresses in hexadecimal; numbers with the sign that their type says. */
function shownType(type: Type, words: string): string {
  if (type.kind === "pointer") return words.replace(/^[us]/, "x");
  return type.kind === "integer" ? words.replace(/^[us]/, type.signed ? "s" : "u") : words;
}

/** Returns that are probed where they are, instruction by instruction, are places like any other. */
function isReturn(provider: string, sites: readonly SiteRef[]): boolean {
  return provider.endsWith("retprobe") && !sites.some(({ data }) => (data as { inPlace?: boolean }).inPlace === true);
}

function placesByName(sites: readonly SiteRef[], kind: DefinedOn | "file", provider: string): Map<string, string[]> {
  const all = new Map<string, string[]>();
  for (const site of sites) {
    const suffix = provider.endsWith("retprobe") || provider === "fexit" ? "__return" : "";
    const name = `${shortName(site)
      .replaceAll(/\W/g, "_")
      .replace(/^(?=\d)/, "_")}${suffix}`;
    const place = placeWords(site, kind, provider);
    const places = all.get(name);
    if (places === undefined) all.set(name, [place]);
    else if (!places.includes(place)) places.push(place);
  }
  return all;
}

function placeWords(site: SiteRef, kind: DefinedOn | "file", provider: string): string {
  switch (kind) {
    case "file":
      return filePlaceWords(site.data as FilePlace);
    case "code":
      return kernelPlaceWords(site.data as KernelPlace);
    case "function":
      return functionPlaceWords(site, provider === "fexit");
    case "event":
      return eventPlaceWords(site);
  }
}
