#include "bpf.h"
MAP(events, RINGBUF, 0, 0, 1 << 25);
struct record { u32 schema, zero; u64 pid, tid; char comm[16]; u64 cpu, time; };
ENTER(
	struct record *r = ringbuf_reserve(&events, sizeof(*r), 0);
	if (!r) return 0;
	r->schema = 0; r->zero = 0;
	u64 both = get_current_pid_tgid();
	r->pid = both >> 32; r->tid = (u32)both;
	get_current_comm(r->comm, 16);
	r->cpu = get_smp_processor_id(); r->time = ktime_get_boot_ns();
	ringbuf_submit(r, 0))
