// The one interface of a probe kind. Adding a kind is a file that exports one of these, and a line in registry.ts.
import type { Diagnostic } from "../language/diagnostic.ts";
import type { DebugType } from "../debuginfo/dwarf/facts.ts";
import type { ResolvedProbe, SiteRef } from "../language/resolved-probe.ts";
import type { ProbeSpec, SourcePlace } from "../language/probe-spec.ts";
import type { Argument, Binding, Context } from "../language/context.ts";
import type { System } from "../machine/system.ts";

/** How programs get to a kind's sites. Handlers that run in strobe itself need none. */
export interface Attacher {
  /** With `-c`, too: attach() is given the command, and only that is traced. */
  readonly followsCommand?: boolean;
  /**
   * The kernel runs what was attached last first: clauses are attached from the last one on, so that they run as they
   * are written.
   */
  lastRunsFirst?(binding: Binding): boolean;
  /**
   * What it takes to get from the traced code into a handler and back, where that is not what the program's type tells:
   * for `--stats` and `--max-overhead`.
   */
  entryCost?(binding: Binding): EntryCost | undefined;
  /** Attaches a loaded program to its sites, in as few system calls as the kernel allows. */
  attach(request: AttachRequest): Attachment;
}

/** `traps`: so many traps of the traced process into the kernel, which are measured. */
export type EntryCost = { readonly traps: number } | { readonly nanoseconds: number };

export interface Provider extends Partial<Attacher> {
  /** Canonical name, first part of a probe: `tracepoint`. */
  readonly name: string;
  /**
   * Other spellings, short ones first: `t`. Front-ends pass names through as written; registry.findProvider knows them.
   */
  readonly aliases: readonly string[];
  /** One line for `strobe --help` and docs, with the parts: `tracepoint:CATEGORY:EVENT`. */
  readonly usage: string;
  readonly doc: string;
  /** With `-p`, attach() sees to it that only that process is traced; otherwise the handler looks at the pid itself. */
  readonly followsProcess?: boolean;
  /** What it is about happens in no process that could be traced: with `--follow` it is not asked whose it is. */
  readonly inNoProcess?: boolean;
  /**
   * What of a site's events (by its name's parts) handlers that look at the current process miss, for a warning with
   * `-p` and `--follow`: "only where …"; undefined where they miss none.
   */
  seenOfOneProcess?(parts: readonly string[], system: System): string | undefined;
  /** The first part names a binary: with `-p` and `-c`, files that are opened later count as well (follow.ts). */
  readonly inFiles?: {
    /** Whether a spec of these parts is about a file; all are, unless said. */
    means?(parts: readonly string[]): boolean;
    /** What handlers can see in a file that is not there yet. */
    context(system: System): Context;
  };
  /**
   * Whether a search over all kinds (`-l` without one) lists this one: `in-files` only where it names a file or a
   * process, since its list costs reading every binary; `never` where its list says nothing that another's does not.
   */
  readonly inSearches?: "always" | "in-files" | "never";
  /** Whether exactly these parts are one of its probes: for scripts that left the kind out. */
  hasExactly?(parts: readonly string[], system: System): boolean;
  /**
   * What exists here that matches the parts (wildcards `*` and `?`, `[…]`), for `-l`; with `verbose` also the arguments
   * (`-lv`). A lone part is looked for in names of what is probed, so that a search can go through all kinds. Streams,
   * since some lists are long.
   */
  list(parts: readonly string[], system: System, options: ListOptions): Iterable<Listed>;
  /** Its probes with their arguments, for TypeScript's declarations; names as the kind's constructor or probe() has them. */
  readonly declares?: Declares;
  /** The sites a spec means, grouped by equal context; or diagnostics that name near misses. */
  resolve(spec: ProbeSpec, system: System, options: ResolveOptions): Resolution;
}

export interface Declares {
  /** What its probes are called together, in lower case: "raw tracepoints". Names the file. */
  readonly what: string;
  /** The library's interface that the declarations fill (api/declarations.ts): `Probes` where there is none for the kind. */
  readonly fills: string;
  all(system: System): Iterable<{ readonly name: string; readonly args: readonly Pick<Argument, "name" | "type">[] }>;
}

export interface ListOptions {
  readonly verbose: boolean;
  readonly pid?: number | undefined;
  /** Places in programs come with where they are in the source, with `verbose` also with the variables there. */
  readonly sources?: boolean;
  /** The kind's own options that are asked for (ProbeSpec). */
  readonly own?: ProbeSpec["options"];
}
export interface Listed {
  /** `tracepoint:sched:sched_switch` */
  readonly probe: string;
  /** C-like lines: `    char prev_comm[16]`. Only with verbose. */
  readonly details?: readonly string[];
  /** With `sources`. */
  readonly source?: SourcePlace;
  /** With `sources` and verbose: from the innermost block outwards, a function's parameters before its locals. */
  readonly variables?: readonly { readonly name: string; readonly type: DebugType }[];
}

export interface Suite {
  readonly kind: "test" | "bench";
  readonly name: string;
}

export interface ResolveOptions {
  /** `-p`: restrict to this process. */
  readonly pid?: number;
  /** `-c`: the traced command, for providers that need its binary. */
  readonly command?: string;
  readonly missing: "error" | "warn" | "ignore";
  /** `--unsafe`: any file may be probed. */
  readonly unsafe?: boolean;
  /** `--test` and `--bench`: the only test: or bench: probe that there is. */
  readonly suite?: Suite;
  /** Handlers run over events of tracefs: each place is an event of its own, and what it offers is in its record. */
  readonly asEvents?: boolean;
  /** The script's language names probes by where they are in the source (SiteRef.source). */
  readonly sources?: boolean;
  /** Names are looked for in symbol tables only: debug information takes longer than a process waits. */
  readonly symbolsOnly?: boolean;
  /**
   * Builtins that the body mentions (`args`, `probe`, `reg` …): a probe whose arguments nobody reads can be cheaper.
   * With `args` also what of it: `args.NAME`, or `args.*` for the whole.
   */
  readonly uses: ReadonlySet<string>;
}

export interface Resolution {
  readonly variants: ResolvedProbe["variants"];
  readonly diagnostics: readonly Diagnostic[];
}

export interface AttachRequest {
  /**
   * The loaded program's descriptor. Several when the provider wants one program a site (`tracing` programs bind at
   * load).
   */
  readonly program: number;
  readonly binding: Binding;
  readonly sites: readonly SiteRef[];
  /** Cookie of each site, in the sites' order (its index in the plan's probe names). */
  readonly cookies: readonly bigint[];
  readonly pid?: number;
  /** What a person should know that happens while the session runs: a line. */
  readonly report?: (text: string) => void;
}

/** Runs of a program, and what one takes. */
export interface Measured {
  readonly runs: number;
  readonly nanoseconds: number;
}

/** A live attachment. Disposing detaches; several are disposed together (see session/live/detach.ts). */
export interface Attachment extends Disposable {
  readonly attached: readonly SiteRef[];
  /** Sites that could not be attached, and why; `ofPlace`: another place might do. */
  readonly failed: readonly { readonly site: SiteRef; readonly reason: string; readonly ofPlace?: boolean }[];
  /** Of what a wildcard took in, what the kernel does not allow: a warning, and the rest goes on. */
  readonly skipped?: readonly { readonly probe: string; readonly reason: string }[];
  /** What a person should know of it, a line each. */
  readonly notes?: readonly string[];
  /** Descriptors whose closing detaches, and may wait: so that the session can close them in bulk, in parallel. */
  readonly descriptors: readonly number[];
  /**
   * Present where nothing fires by itself (iterators): runs the program once, to its end. A session with no other
   * probes is over when all of them have run. What it cost, where that is what it is for.
   */
  run?(): Measured | void;
  /**
   * Wants to be called when the command of `-c` has become its program, before that runs an instruction: what it asks
   * can only be attached to then.
   */
  executed?(pid: number): void;
  /**
   * A handler asked for an address to be watched by the probe of a name: in its process, at a time of CLOCK_BOOTTIME in
   * nanoseconds.
   */
  watch?(asked: { readonly name: string; readonly address: bigint; readonly pid: number; readonly time: bigint }): void;
  /** Watchpoints of an address fire no more; `pid`: of those of watch() the process that asks, strobe's own for all. */
  unwatch?(address: bigint, pid: number): void;
  /** Events that the kernel knows its probes missed, by site; asked before the descriptors are closed. */
  missed?(): readonly { readonly site: SiteRef; readonly count: number; readonly help?: string }[];
  /** What is left to do once the descriptors are closed. */
  closed?(): void;
}
