#include "bpf.h"
PER_CPU(u64, total);
ENTER(if ((u32)get_current_uid_gid() == 0) this_cpu(total)++)
