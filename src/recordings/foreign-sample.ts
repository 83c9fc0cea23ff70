/** An event of another tool's recording. */
export interface ForeignSample {
  /** Which of its events it is, by the recording's numbers. */
  readonly event: number;
  /** Nanoseconds of the recording's clock. */
  readonly time: bigint;
  readonly cpu: number;
  readonly pid: number;
  readonly tid: number;
  readonly comm: string;
  /** The kernel's record; empty where there is none. */
  readonly raw: Buffer;
  readonly kernelStack: readonly bigint[] | undefined;
  readonly userStack: readonly bigint[] | undefined;
  /** Events that were lost since the one before; `gap`: there were such, perhaps uncounted (0). */
  readonly lost: number;
  readonly gap: boolean;
}
