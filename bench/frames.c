// `frames N DEPTH`: asks N times for its parent, below so many frames.
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

__attribute__((noinline, noclone)) int descend(int depth, int calls)
{
	int sum = depth;
	if (depth > 0)
		return sum + descend(depth - 1, calls) * 2;
	while (calls-- > 0)
		sum += syscall(SYS_getppid);
	return sum;
}

int main(int argc, char **argv)
{
	return descend(atoi(argv[2]), atoi(argv[1])) == 1;
}
