// What the parts of the generator share: where statements go, and what they may refer to.
import type { Instruction, IrModule, Place, Value } from "../ir/ir.ts";
import type { EventSchema } from "../plan.ts";
import type { SupportName } from "./support.ts";

export interface HostModule extends Pick<IrModule, "functions" | "maps"> {
  readonly schemas: readonly EventSchema[];
  /** The function is called for each event: its slots are made once. */
  readonly eachEvent?: boolean;
}

/** A byte array (an expression) and an offset into it. */
export interface Target {
  readonly bytes: string;
  readonly offset: number;
}

export type LoadFromContext = Extract<Instruction, { op: "load-context" }>;

/** What the parts of the generator write with. */
export interface Writer {
  readonly module: HostModule;
  line(text: string): void;
  /** A name that no other temporary has. */
  temporary(): string;
  /** The expression of a constant byte array, made once for the program. */
  constant(bytes: Uint8Array): string;
  /** Where a value comes from that is loaded from the context and put into memory, and used nowhere else. */
  movedFromContext(value: Value): LoadFromContext | undefined;
  /** The value of one that is constant. */
  constantValue(value: Value): bigint | undefined;
  /** The name of a support function, which the source then carries. */
  support(name: SupportName): string;
  /** The function made of a map callback. */
  callback(index: number): string;
  place(place: Place): Target;
  /** Bytes of a slot. */
  sizeOf(slot: number): number;
  /** Where in `record.bytes` and `record.view` something of a captured handler's record is. */
  record(offset: number): string;
  /** An operation that the checker never places on the host. */
  missing(what: string): void;
}
