// What call frame information tells of one place in a function: as rules, and as numbers while rows are being built.
import type { LocationExpression } from "./dwarf/facts.ts";

/** The caller's frame address. An expression that cannot be followed is "unknown". */
export type CfaRule =
  | { readonly kind: "register"; readonly register: number; readonly offset: number }
  | { readonly kind: "expression"; readonly expression: LocationExpression }
  | { readonly kind: "unknown" };

/** The value of a register in the caller. */
export type RegisterRule =
  /** Not recoverable; of the return address: there is no caller. */
  | { readonly kind: "undefined" }
  | { readonly kind: "same" }
  /** Saved at the CFA plus `offset`. */
  | { readonly kind: "saved"; readonly offset: number }
  /** The CFA plus `offset` itself. */
  | { readonly kind: "value"; readonly offset: number }
  | { readonly kind: "register"; readonly register: number }
  /** Saved at an address. */
  | { readonly kind: "saved-at"; readonly address: LocationExpression }
  | { readonly kind: "computed"; readonly value: LocationExpression }
  | { readonly kind: "unknown" };

/** What holds from `low` to before `high`. */
export interface FrameRow {
  readonly low: bigint;
  readonly high: bigint;
  readonly cfa: CfaRule;
  /** Of the callee-saved registers that the function touched; what is missing is the same. */
  readonly registers: ReadonlyMap<number, RegisterRule>;
  readonly returnAddress: RegisterRule;
  /** The frame of a signal handler's return: its caller was interrupted, it did not call. */
  readonly signal: boolean;
}

/** How a register was left, in numbers: see `FrameState`. */
export const Saved = { same: 0, undefined: 1, saved: 2, value: 3, register: 4, savedAt: 5, computed: 6 } as const;

/** Registers that rows are kept of; others are the vector ones, which unwinding does not need. */
export const registersKept = 48;

/** A row being built, without objects: whole binaries have millions. Only valid during the call that is handed it. */
export class FrameState {
  /** -1: by the expression at `cfaOffset`, which has `cfaLength` bytes. */
  cfaRegister = -1;
  cfaOffset = 0;
  cfaLength = 0;
  /** `Saved`, by register. */
  readonly kinds = new Uint8Array(registersKept);
  /** An offset from the CFA, a register, or where an expression begins in the section. */
  readonly values = new Float64Array(registersKept);
  readonly lengths = new Uint32Array(registersKept);
  returnRegister = 16;
  signal = false;

  reset(): void {
    this.cfaRegister = -1;
    this.cfaOffset = 0;
    this.cfaLength = 0;
    this.kinds.fill(0);
  }

  copy(from: FrameState): void {
    this.cfaRegister = from.cfaRegister;
    this.cfaOffset = from.cfaOffset;
    this.cfaLength = from.cfaLength;
    this.kinds.set(from.kinds);
    this.values.set(from.values);
    this.lengths.set(from.lengths);
  }
}
