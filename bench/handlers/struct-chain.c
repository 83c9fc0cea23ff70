#include "bpf.h"
PER_CPU(u64, total);
/* Where members are in the running kernel: the bench reads its type information. */
ENTER(
	u64 at = get_current_task(); u32 value = 0;
	probe_read_kernel(&at, 8, (void *)(at + TASK_REAL_PARENT));
	probe_read_kernel(&at, 8, (void *)(at + TASK_REAL_PARENT));
	probe_read_kernel(&at, 8, (void *)(at + TASK_REAL_PARENT));
	probe_read_kernel(&value, 4, (void *)(at + TASK_PID));
	this_cpu(total) += value)
