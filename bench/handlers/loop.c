#include "bpf.h"
PER_CPU(u64, total);
ENTER(for (u64 i = 0; i < 16; i++) this_cpu(total) += i)
