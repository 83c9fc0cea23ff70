#include "bpf.h"
static volatile u64 total;
ENTER(__sync_fetch_and_add(&total, 1))
