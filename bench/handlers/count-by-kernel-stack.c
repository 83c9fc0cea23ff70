#include "bpf.h"
MAP(stacks, STACK_TRACE, 4, 127 * 8, 16384);
MAP(counts, PERCPU_HASH, 8, 8, 4096);
ENTER(u64 key = get_stackid(context, &stacks, 0); count(&counts, &key))
