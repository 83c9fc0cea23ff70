// `stacks N PROCESSES`: N system calls in each of so many processes, each below a stack of its own.
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int left(unsigned long way, int depth);
static int right(unsigned long way, int depth);

/* Down by the bits of a number. */
#define DESCEND                                                                \
	{                                                                      \
		if (depth == 0)                                                \
			return syscall(SYS_getppid);                           \
		return 1 + (way & 1 ? right : left)(way >> 1, depth - 1);      \
	}
__attribute__((noinline, noclone)) static int left(unsigned long way, int depth) DESCEND
__attribute__((noinline, noclone)) static int right(unsigned long way, int depth) DESCEND

int main(int argc, char **argv)
{
	long stacks = atol(argv[1]), processes = argc > 2 ? atol(argv[2]) : 1;
	int sum = 0, depth = 1;

	while (1L << depth < stacks)
		depth++;
	for (long n = 0; n < processes; n++) {
		if (processes > 1) {
			if (fork() != 0)
				continue;
		}
		for (long way = 0; way < stacks; way++)
			sum += left(way, depth);
		if (processes > 1)
			_exit(0);
	}
	while (wait(NULL) > 0)
		;
	return sum == 0;
}
