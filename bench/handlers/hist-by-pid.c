#include "bpf.h"
struct buckets { u64 count[128]; };
static struct buckets none;
MAP(hists, PERCPU_HASH, 8, sizeof(struct buckets), 4096);
ENTER(u64 key = pid(); u32 b = bucket(tid()); u64 *found = entry(&hists, &key, &none); if (found) found[b]++)
