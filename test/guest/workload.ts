// A program whose every call is known: `work N` reads N times 512 bytes of zeros, writes N times 64 bytes to nowhere,
// asks N times for its parent and calls three functions of its own; `work N PATH` then opens PATH N times.
export const workSource = `
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

__attribute__((noinline)) int leaf_add(int a, long b) { __asm__ volatile(""); return a + (int)b; }
__attribute__((noinline)) int leaf_sub(int a, long b) { __asm__ volatile(""); return a - (int)b; }
__attribute__((noinline)) int leaf_text(const char *text) { __asm__ volatile(""); return text[0]; }

int main(int argc, char **argv)
{
	static char block[512];
	int n = atoi(argv[1]), sum = 0;
	int zero = open("/dev/zero", O_RDONLY), null = open("/dev/null", O_WRONLY);
	for (int i = 0; i < n; i++) {
		sum += read(zero, block, sizeof(block));
		sum += write(null, block, 64);
		syscall(SYS_getppid);
		sum += leaf_add(i, 10) + leaf_sub(i, 1) + leaf_text("text");
	}
	for (int i = 0; argc > 2 && i < n; i++)
		close(open(argv[2], O_RDWR));
	return sum == 1;
}
`;

// `sleepers N [SECONDS]`: after so many seconds, N processes are in one kernel function at the same time, for three
// seconds.
export const sleepersSource = `
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int ready[2];
	char byte;
	if (pipe(ready))
		return 1;
	for (int i = atoi(argv[1]); i > 0; i--) {
		if (fork())
			continue;
		close(ready[1]);
		if (read(ready[0], &byte, 1)) /* all begin when the last was made */
			return 1;
		nanosleep(&(struct timespec){ 3, 0 }, NULL);
		return 0;
	}
	close(ready[0]);
	for (time_t until = time(NULL) + (argc > 2 ? atoi(argv[2]) : 0); time(NULL) < until;)
		usleep(10000);
	close(ready[1]);
	while (wait(NULL) > 0)
		;
	return 0;
}
`;

// `frameless N`: N times through functions that keep no frame pointers.
export const framelessSource = `
#include <stdlib.h>
#define FRAME __attribute__((noinline, noclone))

FRAME void inner(char *memory) { __asm__ volatile("" :: "r"(memory) : "memory"); }
FRAME int middle(int n) { char memory[300]; inner(memory); return n + 1; }
FRAME int outer(int n) { return middle(n) + 1; }

int main(int argc, char **argv)
{
	int sum = 0;
	for (int i = atoi(argv[1]); i > 0; i--)
		sum += outer(i);
	return sum == 1;
}
`;
