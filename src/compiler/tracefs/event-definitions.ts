// Probes as definitions of the kernel's dynamic events: lines for tracefs, with what each event is to carry resolved to
// registers and memory, so that kernels without type information for events take them, too.
import { Failure } from "../../base/failure.ts";
import type { Context } from "../../language/context.ts";
import { shortName, type SiteRef } from "../../language/resolved-probe.ts";
import type { Type } from "../../language/types.ts";
import { hostMachine } from "../../machine/contexts/registers.ts";
import type { IrFunction, IrModule, Source } from "../ir/ir.ts";
import type { LoweredProgram } from "../lower/lower.ts";
import { bytesWords, numberWords, textWords, type EventPlace, type FetchWords } from "./fetch-words.ts";
import { MadeValues } from "./made-values.ts";

/** An event: several places where its function is at several. */
export interface EventDefinition {
  /** What it is about: `vfs_read`, `vfs_read__return`; what of it no event's name can have is `_`. */
  readonly name: string;
  /** The file of tracefs that takes it. */
  readonly file: "kprobe_events" | "uprobe_events";
  readonly returns: boolean;
  /** `vfs_read`, `/usr/bin/app:0x1140` */
  readonly places: readonly string[];
  /** `bytes=%dx:u64` */
  readonly args: readonly string[];
}

/** Where in a file a probe of a program is (providers/attaching/user-attachment.ts). */
interface FilePlace {
  readonly path: string;
  readonly offset: bigint;
  readonly semaphore: bigint;
}
/** Where in the kernel (providers/places/kernel-functions.ts). */
interface KernelPlace {
  readonly symbol?: string;
  readonly offset: bigint;
}

/**
 * The events of a program whose handlers print what they are to carry, a print a name. @returns what cannot be: of
 * which name, or of the probe itself
 */
export function eventDefinitions(
  { handlers, schemas }: LoweredProgram,
  { functions }: IrModule,
  names: readonly string[],
): readonly EventDefinition[] | { readonly failure: Failure; readonly name?: number } {
  const definitions: EventDefinition[] = [];
  for (const { handler, function: index } of handlers) {
    const { context, provider, sites } = handler;
    if (context === "host" || context.program.type !== "kprobe")
      return { failure: new Failure(`${provider} probes: it is defined at a place in code`) };
    const place = { machine: hostMachine, inProgram: context.inProgram === true };
    const args: string[] = [];
    const emitted = printed(functions[index]);
    if (emitted.length !== names.length)
      return { failure: new Failure("an event carries values, and does nothing else") };
    const made = new MadeValues(functions[index]);
    for (const [i, { source, schema }] of emitted.entries()) {
      const words = wordsOf(source, schemas[schema].fields[0].type, made, place);
      if (words instanceof Failure) return { failure: words, name: i };
      args.push(`${names[i]}=${words.words}:${words.type}`);
    }
    for (const [name, places] of placesByName(sites, context, provider)) {
      const bad = places.find((one) => /\s/.test(one));
      if (bad !== undefined)
        return { failure: new Failure(`a path with spaces (${bad}), which tracefs does not take`) };
      definitions.push({
        name,
        file: place.inProgram ? "uprobe_events" : "kprobe_events",
        returns: isReturn(provider, sites),
        places,
        args,
      });
    }
  }
  return definitions;
}

/** What stands in the file of tracefs, a line a place. */
export function linesOf({ returns, places, args }: EventDefinition, group: string, name: string): readonly string[] {
  return places.map((place) => [`${returns ? "r" : "p"}:${group}/${name}`, place, ...args].join(" "));
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
    case "string":
      return textWords(made.fetch(source.address), source.space, place);
    case "memory":
      return bytesWords(made.fetch(source.address), source.size, source.space, place);
    case "comm":
      return { words: "$comm", type: "string" };
    case "stack":
      return new Failure("a stack: whoever uses the event asks for stacks");
    case "buffer":
      return new Failure("bytes of a length that is told at the moment");
    case "copy":
    case "constant":
    case "path":
      return new Failure("a value that is computed");
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

function placesByName(sites: readonly SiteRef[], { inProgram }: Context, provider: string): Map<string, string[]> {
  const all = new Map<string, string[]>();
  for (const site of sites) {
    const suffix = provider.endsWith("retprobe") ? "__return" : "";
    const name = `${shortName(site)
      .replaceAll(/\W/g, "_")
      .replace(/^(?=\d)/, "_")}${suffix}`;
    const place = inProgram ? filePlace(site.data as FilePlace) : kernelPlace(site.data as KernelPlace);
    const places = all.get(name);
    if (places === undefined) all.set(name, [place]);
    else if (!places.includes(place)) places.push(place);
  }
  return all;
}

function filePlace({ path, offset, semaphore }: FilePlace): string {
  return `${path}:0x${offset.toString(16)}${semaphore === 0n ? "" : `(0x${semaphore.toString(16)})`}`;
}

function kernelPlace({ symbol, offset }: KernelPlace): string {
  if (symbol === undefined) return `0x${offset.toString(16)}`;
  return offset === 0n ? symbol : `${symbol}+${offset}`;
}
