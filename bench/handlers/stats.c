#include "bpf.h"
struct stats { u64 total, count; };
PER_CPU(struct stats, all);
ENTER(u32 value = tid(); volatile struct stats *s = &this_cpu(all); s->total += value; s->count++)
