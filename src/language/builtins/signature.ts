// The shape of a row in the builtin table. One table serves every language, the checker, listings, docs and
// completions.
import type { KernelVersion } from "../../base/kernel-features.ts";
import type { HelperName } from "../../bpf/helpers.ts";
import type { AggregateKind, Type } from "../types.ts";

/** Where a builtin can run. `host` is JavaScript in strobe's process, `kernel` is eBPF. */
export type Placement = "kernel" | "host" | "both";

export interface BuiltinSpec {
  /** Canonical name: what the tree, the checker and the compiler use. bpftrace's spelling where it has one. */
  readonly name: string;
  /**
   * Other spellings by the name of the language, none of them where it has other means. Where a language is absent, its
   * Rules say how it spells the canonical name.
   */
  readonly spelling?: Readonly<Record<string, readonly string[]>>;
  /** A bare value (`pid`), a function (`str(p)`), both (`nsecs`, `kstack`), or an aggregation (`@ = count()`). */
  readonly form: "value" | "function" | "both" | "aggregate";
  readonly aggregate?: AggregateKind;
  /** Least and most arguments of the function form. */
  readonly arity?: readonly [number, number];
  /** For people: `str(pointer [, length])`. */
  readonly signature: string;
  readonly placement: Placement;
  /** Gives no value: only allowed as a statement. */
  readonly statement?: boolean;
  /** Refused without --unsafe. */
  readonly unsafe?: boolean;
  /** Needs this kernel or newer, as "6.12"; the checker says so. */
  readonly kernel?: KernelVersion;
  /** One line of documentation. */
  readonly doc: string;
  /** The result's type where it does not depend on the arguments; otherwise check/calls.ts computes it. */
  readonly type?: Type;
  /** The value is what this helper returns, called without arguments; in strobe itself it is 0. */
  readonly helper?: HelperName;
}
