#include "bpf.h"
struct buckets { u64 count[128]; };
PER_CPU(struct buckets, all);
ENTER(u32 b = bucket(tid()); this_cpu(all).count[b]++)
