#include "bpf.h"
MAP(counts, PERCPU_HASH, 64, 8, 4096);
/* struct pt_regs: di is the fifteenth register. */
SEC("uprobe/greet") int greet(u64 *registers)
{
	u64 key[8] = { 0 };
	probe_read_user_str(key, 64, (void *)registers[14]);
	count(&counts, key);
	return 0;
}
