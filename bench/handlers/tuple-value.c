#include "bpf.h"
struct tuple { u64 pid, cpu, time; };
MAP(tuples, HASH, 8, sizeof(struct tuple), 4096);
ENTER(
	struct tuple value = { pid(), get_smp_processor_id(), ktime_get_boot_ns() };
	u64 key = tid();
	map_update_elem(&tuples, &key, &value, ANY))
