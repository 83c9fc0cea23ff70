// C programs that the live tests trace: what they do is known to the last call.

/** Calls chain `work` so many times; prints what it computed. Functions have known arguments and results. */
export const callsSource = `
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct point { int x; short y; char name[8]; };
struct box { long id; struct point *corner; struct point center; unsigned small:3; unsigned big:20; };

long counter = 1;

__attribute__((noinline)) int leaf_add(int a, long b) { __asm__ volatile(""); return a + (int)b; }
__attribute__((noinline)) int leaf_sub(int a, long b) { __asm__ volatile(""); return a - (int)b; }
__attribute__((noinline)) int leaf_text(const char *text) { __asm__ volatile(""); return text[0]; }
__attribute__((noinline)) long leaf_box(struct box *b) { __asm__ volatile(""); return b->id; }
__attribute__((noinline)) int middle(int i) { int r = leaf_add(i, 10) + leaf_sub(i, 1); __asm__ volatile(""); return r; }

int main(int argc, char **argv)
{
	int calls = argc > 1 ? atoi(argv[1]) : 10;
	long sum = 0;
	/* A page that was never touched cannot be read from a probe. */
	static const char text[] = "hello from user space";
	char touched = *(volatile const char *)text;
	struct point corner = { 3, 4, "corner" };
	struct box box = { 77, &corner, { 5, -6, "center" }, 5, 123456 };
	for (int i = 0; i < calls; i++) {
		sum += middle(i);
		counter++;
	}
	sum += leaf_text(text) + (touched & 0);
	sum += leaf_box(&box);
	printf("%ld\\n", sum);
	return 0;
}
`;

/** Frame pointers, no inlining, no PIE: stacks and addresses are as written. */
export const callsFlags = ["-O1", "-g", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls", "-no-pie"] as const;

/** Static probes of every argument form that a compiler makes, one with a semaphore. */
export const usdtSource = `
#define _SDT_HAS_SEMAPHORES 1
#include <sys/sdt.h>
#include <stdio.h>
__extension__ unsigned short demo_guarded_semaphore __attribute__((unused)) __attribute__((section(".probes")));
__extension__ unsigned short demo_step_semaphore __attribute__((unused)) __attribute__((section(".probes")));

static volatile long total = 1000;
static const char label[] = "label";
int main(void)
{
	/* A page that was never touched cannot be read from a probe. */
	char touched = *(volatile const char *)label;
	(void)touched;
	for (int i = 0; i < 5; i++) {
		signed char tiny = -i;
		DTRACE_PROBE4(demo, step, i, tiny, total + i, label);
		if (demo_guarded_semaphore)
			DTRACE_PROBE1(demo, guarded, i * 2);
	}
	return 0;
}
`;

/** Opens a path that only this program opens. */
export const openSource = `
#include <fcntl.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		int fd = open(argv[i], O_RDONLY);
		if (fd >= 0) close(fd);
	}
	return 0;
}
`;

/** Spins for ever on a CPU. */
export const spinSource = `
int main(void) { for (volatile long i = 0;; i++) ; }
`;

/** Makes so many getppid calls, as fast as it can. */
export const syscallsSource = `
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	for (long i = atol(argv[1]); i > 0; i--)
		syscall(SYS_getppid);
	return 0;
}
`;
