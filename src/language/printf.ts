/** A printf format, parsed once by the checker. */
export interface PrintfFormat {
  readonly text: string;
  readonly pieces: readonly (string | PrintfConversion)[];
}
export interface PrintfConversion {
  /** Letter: d i u x X o c s p r b B (and the %rx, %rh forms as "rx", "rh"). */
  readonly letter: string;
  /** "-", "0", "+", " ", "#", "'" in any order. */
  readonly flags: string;
  readonly width: number;
  /** -1 when absent; -2 for `.*`, taken from the arguments. */
  readonly precision: number;
}
