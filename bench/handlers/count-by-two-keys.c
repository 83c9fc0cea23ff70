#include "bpf.h"
MAP(counts, PERCPU_HASH, 16, 8, 4096);
ENTER(u64 key[2]; key[0] = pid(); key[1] = get_smp_processor_id(); count(&counts, key))
