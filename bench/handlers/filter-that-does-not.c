#include "bpf.h"
PER_CPU(u64, total);
ENTER(if (pid() == 1) this_cpu(total)++)
