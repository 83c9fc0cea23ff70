#include "bpf.h"
PER_CPU(u64, total);
ENTER(this_cpu(total) += tid())
