#include "bpf.h"
MAP(stacks, STACK_TRACE, 4, 127 * 8, 16384);
MAP(counts, PERCPU_HASH, 16, 8, 4096);
ENTER(u64 key[2]; key[0] = get_stackid(context, &stacks, USER_STACK); key[1] = get_current_pid_tgid(); count(&counts, key))
