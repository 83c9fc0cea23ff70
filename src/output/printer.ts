// What writes a session's events in some format.
import type { Consumer } from "../session/events.ts";

/** When lines are written: each, when there are many, or at once. */
export type Buffering = "line" | "full" | "none";

export interface PrinterOptions {
  /** Descriptor for what the script says. */
  readonly output: number;
  /** Descriptor for messages of formats that keep them apart; absent: they are not said. */
  readonly messages?: number;
  /** No messages but errors. */
  readonly quiet?: boolean;
  /** Says nothing that warns: warnf(), lost events, failures. */
  readonly noWarnings?: boolean;
  readonly buffering: Buffering;
  /** On terminals, too. */
  readonly ascii?: boolean;
  /** Nothing but messages: `--dry-run`. */
  readonly silent?: boolean;
}

/** Writes what a session says. */
export interface Printer extends Consumer {
  /** Events written and lost so far. */
  readonly events: number;
  readonly lost: number;
  /** Called before anything is written: a live line on the terminal makes room. */
  beforeWrite: (() => void) | undefined;
  /** The session is to end, whether anybody reads or not. */
  hurry(): void;
  /** Writes what is left, whatever the buffering. */
  end(): void;
}
