// What a probe point means to its handler: where its variables are, and what fires it.
import type { Message } from "../../messages/message.ts";
import type { Given } from "../language.ts";
import type { ProbeSpec, SpecOptions } from "../probe-spec.ts";
import type { Expression } from "../program.ts";

export interface Place {
  /** Where `$x` is: among the variables in scope, the arguments of the event, or nowhere. */
  readonly variables: "vars" | "args" | "none";
  /** A `.return` probe: `$x` is as it was when the function was entered. */
  readonly returns: boolean;
  /** What `$x` and addresses point into. */
  readonly space: "kernel" | "user";
  /** Any system call: `$syscall`, and `$arg1` to `$arg6`. */
  readonly calls?: true;
  /** `$$name` and `$$system` of a tracepoint: that has no system where it is a `kernel.tracepoint`. */
  readonly tracepoint?: "trace" | "tracepoint";
  /** `$$name` of a mark or an imported function. */
  readonly marks?: true;
  /** Of marks: the script names no provider, and pp() does not either. */
  readonly anyProvider?: true;
  /** The file of the program whose functions these are, as the point names it. */
  readonly program?: string;
  /** Of the kernel's, where the point names one: with its wildcards. */
  readonly module?: string;
  /** What pnlabel() is. */
  readonly label?: string;
  /** `$return` is this argument of the event. */
  readonly result?: string;
  /** `begin`, `end`, `error`: they run in that order, and the last only where something failed. */
  readonly phase?: "begin" | "end" | "error";
  /** pp(), where the point has no wildcard. */
  readonly text?: string;
}

export interface Placed {
  readonly spec: ProbeSpec;
  readonly place: Place;
  /** Of one process only. */
  readonly guard?: Expression;
  /** Where a `.return` probe's function is entered. */
  readonly entry?: ProbeSpec;
  /** What holds there, of the calls whose returns are wanted. */
  readonly entered?: Expression;
}

/** What points ask of the command line and the machine. */
export type PointGiven = Pick<Given, "machine" | "target" | "command">;

export type Reading = Placed | "nothing" | { readonly problem: Message };

/** How a kind of points says what it found: `entry` is where a `.return` probe's function is entered. */
export type Make = (
  provider: string,
  parts: readonly string[],
  of?: Partial<Place>,
  entry?: readonly [string, readonly string[]],
  options?: SpecOptions,
) => Reading;
