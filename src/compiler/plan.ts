// The plan: everything a session needs, as plain data; what is an engine's alone is apart (bpf/bpf-plan.ts). Nothing in it refers to this machine's descriptors.
import type { Config } from "../language/check/config.ts";
import type { MapLayout } from "../language/program.ts";
import type { RecordedRow } from "../language/context.ts";
import type { SiteRef } from "../language/resolved-probe.ts";
import type { BpfPlan } from "./bpf/bpf-plan.ts";
import type { PrintfFormat } from "../language/printf.ts";
import type { Type } from "../language/types.ts";
import type { IrMap } from "./ir/ir.ts";
import type { ScriptPlace, WatchedPlace } from "./layouts/counted-places.ts";
import type { HeaderField } from "./layouts/record-header.ts";
import type { TracefsPlan } from "./tracefs/tracefs-plan.ts";

export interface Plan {
  readonly config: Config;
  /** The script's maps, then stack maps. Events and host programs refer to them by index. */
  readonly maps: readonly IrMap[];
  readonly hosts: readonly HostProgram[];
  /** Handlers of recorded events; there is no BPF then. */
  readonly events?: readonly EventProgram[];
  /** What the tracefs engine is given; there is no BPF then. */
  readonly tracefs?: TracefsPlan;
  readonly schemas: readonly EventSchema[];
  /** Where handlers run and maps live, and why: a line each, for people. */
  readonly placements: readonly string[];
  readonly probeNames: readonly string[];
  /** Types of values that programs in this process take as the text that they are printed as. */
  readonly shown: readonly Type[];
  /** strftime formats, by index. */
  readonly timeFormats: readonly string[];
  /** Capture files, by index (packets.ts). */
  readonly packetFiles: readonly string[];
  /** With `-k`: the places whose failures are counted. */
  readonly watches: readonly WatchedPlace[];
  /** What the running kernel is given. */
  readonly bpf: BpfPlan;
}

/** A handler that runs in strobe's process: source of `(runtime) => void`, see javascript/. */
export interface HostProgram {
  readonly name: string;
  readonly provider: string;
  /** Runs once, before everything else or after it; others whenever their sites say. */
  readonly once?: "begin" | "end";
  /** Of those that run once, in this process or not, the least is first; 0 unless it says. */
  readonly order?: number;
  readonly sites: readonly SiteRef[];
  readonly source: string;
}

/** A handler of recorded events: source as a host program's. The sites' data says which of the recording's they are. */
export interface EventProgram {
  readonly name: string;
  readonly sites: readonly SiteRef[];
  readonly source: string;
  readonly row: RecordedRow;
  /** The parts of a row that it looks at: first byte and size; undefined where that may be any. */
  readonly reads?: readonly (readonly [offset: number, size: number])[];
}

/**
 * An event's record: u32 schema index, u32 zero, the header that was asked for, then the fields at their offsets (8-byte
 * aligned from the record's start).
 */
export interface EventSchema<Action extends EventAction = EventAction> {
  readonly action: Action;
  readonly fields: readonly EventField[];
  /** A u64 each, in this order. */
  readonly header?: readonly HeaderField[];
  /** Bytes of the whole record. */
  readonly size: number;
  /** Where the call stands in the script: what errorf and warnf point at. */
  readonly place?: ScriptPlace;
  /** Probe it was written in: for lost counts. */
  readonly probe: string;
}

export interface EventField {
  readonly name: string;
  readonly type: Type;
  readonly offset: number;
}

/** What the host does when the event arrives. Arguments are the fields, in order, unless said. */
export type EventAction = ConsumerAction | SessionAction;

/** What is for whoever reads the events. */
export type ConsumerAction =
  | {
      readonly kind: "printf";
      readonly format: PrintfFormat;
      readonly to: "output" | "error" | "said" | "warning" | "runtime";
    }
  /** print(value) of one field; `label` for maps' single entries: `@x[1]`. */
  | { readonly kind: "print-value" }
  /** print(@m[k]): the key fields, then the value. */
  | { readonly kind: "print-entry"; readonly map: number }
  | { readonly kind: "time"; readonly format: string }
  | { readonly kind: "join"; readonly separator: string }
  /** A typed event for the library: emit({ … }). */
  | { readonly kind: "data"; readonly name: string }
  /** An error from a helper or an assertion, with the place in the script. */
  | { readonly kind: "error"; readonly message: string };

/** What the session does itself. */
export type SessionAction =
  /** print(@m[k]) of an aggregation that has no single value: the key, a divisor. `of`: one result of a statistic. */
  | { readonly kind: "print-aggregate"; readonly map: number; readonly of?: number; readonly layout?: MapLayout }
  /** print(@m, top, divisor): fields top and divisor. */
  | { readonly kind: "print-map"; readonly map: number }
  /** Several beside each other: a divisor each. */
  | { readonly kind: "print-rows"; readonly maps: readonly number[]; readonly layout: MapLayout }
  | { readonly kind: "clear-map"; readonly map: number }
  /** `extremes`: the least value becomes the greatest that there can be, the greatest the least. */
  | { readonly kind: "zero-map"; readonly map: number; readonly extremes?: true }
  /** watch("name", address): the address, the process and the time. */
  | { readonly kind: "watch"; readonly name: string }
  /** unwatch(address): the address and the process. */
  | { readonly kind: "unwatch" }
  | { readonly kind: "exit" }
  /** What the host runs of a captured handler: source of `(runtime, record, at) => void`, see javascript/. */
  | { readonly kind: "captured"; readonly source: string }
  | { readonly kind: "cat"; readonly format: PrintfFormat }
  /** `trusted`: the script's language lets every script run commands. */
  | { readonly kind: "system"; readonly format: PrintfFormat; readonly trusted?: true }
  /** What follows is printed into the file of a name, at its end; of none, where it was printed first. */
  | { readonly kind: "reopen"; readonly format: PrintfFormat }
  /** What was printed into a file so far goes. */
  | { readonly kind: "truncate" };
