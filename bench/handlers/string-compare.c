#include "bpf.h"
PER_CPU(u64, total);
ENTER(
	union { char text[16]; u64 word[2]; } comm;
	get_current_comm(&comm, 16);
	/* "workload" and its terminator */
	if (comm.word[0] == 0x64616f6c6b726f77 && comm.text[8] == 0)
		this_cpu(total)++)
