#include "bpf.h"
MAP(times, HASH, 8, 8, 4096);
ENTER(
	u64 key = tid(), zero = 0, *found = entry(&times, &key, &zero);
	if (found)
		*found = ktime_get_boot_ns())
