#include "bpf.h"
SEC("uprobe/greet") int greet(u64 *registers) { return 0; }
