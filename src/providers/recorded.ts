// The probes of a recording: what a script's probes mean there, and the list of them.
import { recordings } from "../messages/recordings.ts";
import type { Context, RecordedWord } from "../language/context.ts";
import type { ProbeSpec } from "../language/probe-spec.ts";
import type { System } from "../machine/system.ts";
import { contextOfText } from "../machine/contexts/recorded-context.ts";
import { declare } from "../machine/kernel/declared-type.ts";
import { matcher } from "../machine/wildcard.ts";
import type { EventRecording } from "../recordings/contents.ts";
import type { Recording } from "../recordings/reader.ts";
import type { Listed, Resolution, ResolveOptions } from "./provider.ts";
import { findProvider, resolveSpec } from "./registry.ts";
import { groupBy, missing, refused } from "./resolution.ts";

/** What is recorded where. */
interface RecordedProbe {
  readonly name: string;
  readonly layout: number;
  /** Index among the recording's sites. */
  readonly site: number;
}

/** The data of a recorded site. */
export interface RecordedSiteData {
  readonly recorded: number;
}

/** A recording, and what handlers see at the probes of each layout. */
export interface ReplayableRecording extends EventRecording {
  readonly contexts: readonly Context[];
}

/** A recording of strobe's. @throws RecordingError */
export function replayable(recording: Recording): ReplayableRecording {
  const contexts = recording.layouts.map((layout): Context => {
    const context = contextOfText(layout.data, layout);
    const { part } = layout;
    if (context.recorded === undefined) return context;
    const host = part === undefined ? recording.origin.host : recording.origin.parts![part].name;
    return {
      ...context,
      recorded: { ...context.recorded, files: true, host: host.slice(0, 64), ...(part === undefined ? {} : { part }) },
    };
  });
  const { origin, layouts, sites, end, cut, size, span } = recording;
  return {
    origin,
    layouts,
    sites,
    end,
    cut,
    size,
    span,
    contexts,
    heads: () => recording.heads(),
    blocks: (wanted, fields, within, room) => recording.blocks(wanted, fields, within, room),
    symbols: () => recording.symbols(),
  };
}

export class RecordedProbes {
  readonly #probes: readonly RecordedProbe[];
  readonly #contexts: readonly Context[];

  constructor(recording: Pick<ReplayableRecording, "contexts" | "sites">) {
    this.#contexts = recording.contexts.map((context, i): Context => {
      const { recorded } = context;
      // Rows that do not say which probe they are at are all at one.
      if (recorded === undefined || recorded.site !== undefined) return context;
      const onlySite = recording.sites.findIndex((site) => site.layout === i);
      return { ...context, recorded: { ...recorded, onlySite } };
    });
    this.#probes = recording.sites.map(({ name, layout }, site) => ({ name, layout, site }));
  }

  /** As the registry's resolveSpec, of the recording's events; what fires in strobe itself is there as ever. */
  resolve(spec: ProbeSpec, system: System, options: ResolveOptions): Resolution {
    const provider = findProvider(spec.provider);
    if (provider === undefined) return resolveSpec(spec, system, options);
    if (["begin", "end", "interval", "self"].includes(provider.name)) return resolveSpec(spec, system, options);
    const found = this.#matching(provider.name, spec.parts);
    const command = `strobe record '${spec.text}'`;
    if (found.length === 0) {
      const kinds = [...new Set(this.#probes.map(({ name }) => name))];
      return missing(spec, options, recordings.probeNotRecorded(spec.text, command, kinds.slice(0, 3).join(", ")));
    }
    const task = ["curtask", "ctx"].find((name) => options.uses.has(name));
    if (task !== undefined) return refused(spec, recordings.onlyAtTheMoment(task));
    const groups = groupBy(found, ({ layout }) => String(layout));
    const absent = [...groups.values()].flatMap(([{ layout }]) => notThere(this.#contexts[layout], options.uses));
    if (absent.length > 0)
      return refused(spec, recordings.valueNotRecorded(absent[0], howToRecord(absent[0], spec.text)));
    return {
      diagnostics: [],
      variants: [...groups.values()].flatMap((group) => {
        const known = this.#contexts[group[0].layout];
        // A recording has functions by their names alone.
        const context = inFunctions.has(provider.name) ? ({ ...known, func: "site" } satisfies Context) : known;
        const sites = group.map(({ name, site }) => ({
          name,
          data: { recorded: site } satisfies RecordedSiteData,
          ...(inFunctions.has(provider.name) ? { func: functionIn(name) } : {}),
        }));
        // Their names are told by the sites.
        const apart = options.uses.has("func") || options.uses.has("probe");
        return (apart ? sites.map((site) => [site]) : [sites]).map((some) => ({
          context,
          provider: provider.name,
          sites: some,
        }));
      }),
    };
  }

  /** The site of all rows of a layout; undefined where rows say theirs. */
  onlySite(layout: number): number | undefined {
    const { recorded } = this.#contexts[layout];
    return recorded?.site === undefined ? (recorded?.onlySite ?? 0) : undefined;
  }

  /** The site of a row. */
  siteOf(layout: number, view: DataView, offset: number): number {
    return this.onlySite(layout) ?? view.getUint32(offset + this.#contexts[layout].recorded!.site!, true);
  }

  #matching(provider: string, parts: readonly string[]): RecordedProbe[] {
    const whole = matcher([provider, ...parts].join(":"));
    const exact = this.#probes.filter(({ name }) => whole(name));
    if (exact.length > 0 || parts.length === 0 || parts[0].includes("/")) return exact;
    const [first, ...rest] = parts;
    // Recorded are whole names: a kernel module's in front of the function, a program's or a library's by its path.
    const firsts = rest.length === 0 ? [`*:${first}`] : [`*/${first}`, `*/${first}.so*`];
    const anywhere = firsts.map((one) => matcher([provider, one, ...rest].join(":")));
    return this.#probes.filter(({ name }) => anywhere.some((is) => is(name)));
  }

  /** Those that match a pattern, in which any part of a name may stand alone. */
  *list(pattern: string | undefined, verbose: boolean): Iterable<Listed> {
    const [kind, ...parts] = (pattern ?? "*").split(":");
    const provider = findProvider(kind);
    const looked = matcher([provider?.name ?? kind, ...parts].join(":"));
    // Each run that the recording went on in has a probe of its own, and so has each host.
    const told = new Set<string>();
    for (const { name, layout } of this.#probes) {
      if (!looked(name) && !name.split(":").some((part) => looked(part))) continue;
      const { args = [], numbered, retval } = this.#contexts[layout];
      const details = [
        ...args.map((arg) => `    ${declare(arg.type, arg.name)}`),
        ...(numbered === undefined ? [] : [`    arg0 to arg${numbered.length - 1}`]),
        ...(retval === undefined ? [] : [`    ${declare(retval.type, "retval")}`]),
      ];
      const listed = verbose ? { probe: name, details } : { probe: name };
      const text = JSON.stringify(listed);
      if (told.has(text)) continue;
      told.add(text);
      yield listed;
    }
  }
}

/** Kinds of probes that are at a function. */
const inFunctions: ReadonlySet<string> = new Set(["kprobe", "kretprobe", "fentry", "fexit", "uprobe", "uretprobe"]);

/** The function of `uprobe:/bin/cat:main+8`. */
function functionIn(probe: string): string {
  return probe.slice(probe.lastIndexOf(":") + 1).replace(/\+(?:0x)?[0-9a-f]+$/, "");
}

/** The word of a row that tells a builtin. */
const wordsOf = {
  pid: "pid",
  tid: "tid",
  cpu: "cpu",
  uid: "uid",
  username: "uid",
  gid: "gid",
  cgroup: "cgroup",
  usermode: "user-mode",
} as const;

/** What is asked for that a script's text tells, and rows do not have. */
function notThere({ recorded }: Context, uses: ReadonlySet<string>): string[] {
  if (recorded === undefined) return [];
  const stacks = [
    ["kstack", recorded.kernelStack],
    ["ustack", recorded.userStack],
    // Of processes whose stacks were recorded.
    ["usym", recorded.userStack],
    ["usym_part", recorded.userStack],
  ] as const;
  const words = (Object.entries(wordsOf) as [string, RecordedWord][]).filter(
    ([builtin, word]) => uses.has(builtin) && recorded.words[word] === undefined,
  );
  return [
    ...words.map(([builtin]) => builtin),
    ...stacks.flatMap(([builtin, at]) => (uses.has(builtin) && at === undefined ? [builtin] : [])),
    ...recorded.absent.map((name) => `args.${name}`).filter((name) => uses.has(name)),
  ];
}

/** What records a value that a script asks for. */
function howToRecord(value: string, probe: string): string {
  if (value === "kstack") return `strobe record --stack kernel '${probe}' records it`;
  if (value === "ustack" || value.startsWith("usym")) return `strobe record --stack user '${probe}' records it`;
  if (Object.hasOwn(wordsOf, value)) return `strobe record '${probe}' records it`;
  return "its bytes are not kept: a live trace can read it";
}
