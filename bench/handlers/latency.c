#include "bpf.h"
struct buckets { u64 count[128]; };
PER_CPU(struct buckets, all);
MAP(starts, HASH, 8, 8, 4096);

ENTER(u64 key = tid(), now = ktime_get_boot_ns(); map_update_elem(&starts, &key, &now, ANY))

/* struct pt_regs: orig_ax is the sixteenth register. */
SEC("raw_tp/sys_exit") int leave(u64 *context)
{
	u64 number;
	probe_read_kernel(&number, 8, (void *)(context[0] + 15 * 8));
	if (number != GETPPID)
		return 0;
	u64 key = tid(), *start = map_lookup_elem(&starts, &key);
	if (!start)
		return 0;
	u32 b = bucket(ktime_get_boot_ns() - *start);
	this_cpu(all).count[b]++;
	map_delete_elem(&starts, &key);
	return 0;
}
