#include "bpf.h"
ENTER()
