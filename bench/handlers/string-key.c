#include "bpf.h"
MAP(counts, PERCPU_HASH, 64, 8, 4096);
ENTER(
	u64 key[8] = { 0 };
	probe_read_kernel_str(key, 64, (void *)(get_current_task() + TASK_COMM));
	count(&counts, key))
