// Numbers of the kernel's ABI: map types, program types, attach types, flags (include/uapi/linux/bpf.h).

export const MapType = {
  HASH: 1,
  ARRAY: 2,
  PERCPU_HASH: 5,
  PERCPU_ARRAY: 6,
  STACK_TRACE: 7,
  LRU_HASH: 9,
  LRU_PERCPU_HASH: 10,
  RINGBUF: 27,
} as const;

/** By the names that language/context.ts uses. */
export const programTypes = {
  kprobe: 2,
  tracepoint: 5,
  perf_event: 7,
  raw_tracepoint: 17,
  tracing: 26,
} as const;

export const AttachType = {
  TRACE_RAW_TP: 23,
  TRACE_FENTRY: 24,
  TRACE_FEXIT: 25,
  TRACE_ITER: 28,
  PERF_EVENT: 41,
  TRACE_KPROBE_MULTI: 42,
  TRACE_UPROBE_MULTI: 48,
  TRACE_KPROBE_SESSION: 56,
  TRACE_UPROBE_SESSION: 57,
} as const;

/** Of map creation. */
export const MapFlag = {
  NO_PREALLOC: 1,
  NO_COMMON_LRU: 2,
  RDONLY_PROG: 128,
  WRONLY_PROG: 256,
  ZERO_SEED: 64,
  MMAPABLE: 1024,
  STACK_BUILD_ID: 32,
} as const;

/** Of map_update_elem. */
export const UpdateFlag = { ANY: 0, NOEXIST: 1, EXIST: 2 } as const;

/** Of get_stackid and get_stack. */
export const StackFlag = {
  USER_STACK: 0x100,
  FAST_STACK_CMP: 0x200,
  REUSE_STACKID: 0x400,
  USER_BUILD_ID: 0x800,
} as const;
