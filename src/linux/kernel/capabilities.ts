// What a kernel can do, as far as checking, compiling and attaching care.

/** What this kernel can do, as far as checking and compiling care. A plain record so that tests can make one. */
export interface Capabilities {
  /** [6, 18] */
  readonly kernel: readonly [number, number];
  readonly btf: boolean;
  readonly mayGoto: boolean;
  readonly ringBuffer: boolean;
  /** Signed division and the other cpu-v4 instructions. */
  readonly cpuV4: boolean;
  /** Possible CPUs: the size of per-CPU regions. */
  readonly cpus: number;
  readonly taskBtf: boolean;
  /** What the machine is called; undefined where events are of several. */
  readonly hostname?: string;
  readonly arm64?: boolean;
  /** Where strobe has another idea of the numbers of processes than the kernel: in a container. */
  readonly pidNamespace?: PidNamespace | undefined;
  /**
   * Whether kernel functions can be probed by kprobes, and by fentry and fexit. For advice: only what works is advised.
   */
  readonly kprobes?: boolean;
  readonly trampolines?: boolean;
}

/** A namespace of process numbers as nsfs has it: the numbers of stat(2) of /proc/self/ns/pid. */
export interface PidNamespace {
  readonly device: bigint;
  readonly inode: bigint;
}
