#include "bpf.h"
MAP(counts, PERCPU_HASH, 16, 8, 4096);
ENTER(char key[16]; get_current_comm(key, 16); count(&counts, key))
