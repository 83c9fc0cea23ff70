// What the providers hand to the checker: a probe, and the places it means.
import type { Context } from "./context.ts";
import type { SourcePlace } from "./probe-spec.ts";
import type { Probe } from "./program.ts";
import type { ProbePart } from "./types.ts";

/** One attach target of a handler, resolved. `site` is the provider's own data. */
export interface SiteRef {
  /** Full probe name, for `probe` and for messages: `tracepoint:sched:sched_switch`. */
  readonly name: string;
  /** The kind's own name for it, where the script's language has another (Spelling.probe). */
  readonly found?: string;
  /** Name for `func`. */
  readonly func?: string;
  /** Where that is in the source, for languages that name probes by it. */
  readonly source?: SourcePlace;
  /** With the context's dispatch: the number to match. */
  readonly match?: bigint;
  /**
   * One of several places of its name: the number of the attach point that means them all. Together they are one probe.
   */
  readonly among?: number;
  readonly data: unknown;
}

/** What `func` says there. */
export function shortName({ name, func }: SiteRef): string {
  return func ?? name.split(":").at(-1)!;
}

/** Numbers of the probes that are everywhere; others have the next ones. */
const firstProbes = ["dtrace:::BEGIN", "dtrace:::END", "dtrace:::ERROR"];

/** A part of a name that has four; `index`: among the names of all. */
export function partOfName(name: string, part: Exclude<ProbePart, "flow">, index: number): string {
  const parts = name.split(":");
  switch (part) {
    case "place":
      return `${parts[2] ?? ""}:${parts[3] ?? ""}`;
    case "id": {
      const first = firstProbes.indexOf(name);
      return String(first >= 0 ? first + 1 : index + firstProbes.length + 1);
    }
    case "event":
      return /([^:"()]*)"?\)*(?:\.return)?$/.exec(name)?.[1] ?? "";
    case "group":
      return /([^:"()]*)(?::|"\)\.\w+\(")[^:"()]*"?\)*$/.exec(name)?.[1] ?? "";
    case "mark":
      return name.replace(/\.provider\("(?:[^"\\]|\\.)*"\)/, "");
    default:
      return parts[["provider", "module", "function", "name"].indexOf(part)] ?? "";
  }
}

/** A probe whose specs were resolved: each variant is a context and the sites that share it. */
export interface ResolvedProbe {
  readonly probe: Probe;
  readonly variants: readonly ResolvedVariant[];
}

export interface ResolvedVariant {
  readonly context: Context | "host";
  readonly provider: string;
  readonly sites: readonly SiteRef[];
  /**
   * Where what the handler is given of the call is kept (Context.kept): a program of its own, which the script knows
   * nothing of.
   */
  readonly entry?: Omit<ResolvedVariant, "entry">;
}
