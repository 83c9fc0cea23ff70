/* Makes events for the benchmarks: `workload CALLS [PER_SECOND]` does that many getppid(2) calls and prints the
 * nanoseconds each took; with a rate it paces itself in slices of a millisecond, or of one call. `workload CALLS greet` calls a function
 * with a string instead. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static long now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

__attribute__((noinline)) void greet(const char *name)
{
	__asm__ volatile("" : : "r"(name));
}

int main(int argc, char **argv)
{
	long calls = argc > 1 ? atol(argv[1]) : 1000000;
	int greeting = argc > 2 && strcmp(argv[2], "greet") == 0;
	long rate = argc > 2 ? atol(argv[2]) : 0;
	long start = now();

	for (long done = 0; done < calls;) {
		long slice = rate ? rate / 1000 : calls;
		if (slice < 1)
			slice = 1;
		if (slice > calls - done)
			slice = calls - done;
		if (greeting)
			for (long i = 0; i < slice; i++)
				greet("an argument of thirty-two letters");
		else
			for (long i = 0; i < slice; i++)
				syscall(SYS_getppid);
		done += slice;
		if (rate) {
			long due = start + done * 1000000000L / rate;
			long wait = due - now();
			if (wait > 0) {
				struct timespec t = { 0, wait };
				nanosleep(&t, NULL);
			}
		}
	}
	printf("%.2f\n", (double)(now() - start) / calls);
	return 0;
}
