#include "bpf.h"
MAP(counts, PERCPU_HASH, 8, 8, 4096);
ENTER(u64 key = pid(); count(&counts, &key))
