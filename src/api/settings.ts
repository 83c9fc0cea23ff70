// Settings of a trace, by the names of TypeScript: `maxStrlen` is the `max_strlen` of a script's config block.
import type { Program } from "../language/program.ts";

export interface Settings {
  /** Most bytes that str(), buf() and path() give: 1024 unless given. */
  readonly maxStrlen?: number;
  /** Elements of a list, a map or a set of a program that are copied: 16 unless given. */
  readonly maxElements?: number;
  /** Entries that a map has room for: 4096 unless given. */
  readonly maxMapKeys?: number;
  readonly maxProbes?: number;
  readonly maxBpfProgs?: number;
  /** Most bytes that cat() prints. */
  readonly maxCatBytes?: number;
  /** Pages of the ring buffer that events travel in. */
  readonly perfRbPages?: number;
  /** What to do about probes that do not exist: "error" unless given. */
  readonly missingProbes?: "error" | "warn" | "ignore";
  /** Prints the maps that handlers use at the end, as scripts do. */
  readonly printMapsOnExit?: boolean;
  /** How stacks are printed. */
  readonly stackMode?: "bpftrace" | "perf" | "raw" | "build_id";
  /** How `ustack` is found: by frame pointers, by unwinding tables, or ("auto") by tables where the kernel allows. */
  readonly stackUnwinding?: "auto" | "fp" | "dwarf";
  /** Frames of `ustack` with source lines, and the functions inlined there. */
  readonly showDebugInfo?: boolean;
  /** What is behind text that was cut off: ".." unless given. */
  readonly strTruncTrailer?: string;
  /** What the programs tell the kernel. */
  readonly license?: "GPL" | "GPL v2" | "GPL and additional rights" | "Dual BSD/GPL" | "Dual MIT/GPL" | "Dual MPL/GPL";
}

/** As a config block has them. Maps are printed by whoever takes the trace's events. */
export function configEntries(settings: Settings): Program["config"] {
  return Object.entries(settings)
    .filter(([name, value]) => value !== undefined && name !== "printMapsOnExit")
    .map(([name, value]) => ({
      name: name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      value: String(value),
      span: { start: 0, end: 0 },
    }));
}
