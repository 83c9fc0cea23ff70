// C programs with static probes.

/** Says on a line what it passes to each of its probes. */
export const shapesSource = `
#include <sys/sdt.h>
#include <stdio.h>
#include <stdint.h>
struct pair { short left; signed char right; unsigned char flag; };
int counter = 5;
static long hidden = -7;
volatile unsigned short table[4] = { 10, 20, 30, 65535 };
static struct pair pairs[4] = { { -1, -2, 3 }, { 4, 5, 250 }, { -300, 7, 8 }, { 9, -10, 11 } };

static inline __attribute__((always_inline)) void inlined(int from, long value)
{
	DTRACE_PROBE2(shapes, inlined, from, value);
	printf("inlined %d %ld\\n", from, value);
}
static __attribute__((noinline)) void widths(int8_t a, uint8_t b, int16_t c, uint16_t d, int32_t e, uint32_t f, int64_t g, uint64_t h)
{
	DTRACE_PROBE8(shapes, widths, a, b, c, d, e, f, g, h);
	printf("widths %d %d %d %d %d %u %ld %lu\\n", a, b, c, d, e, f, g, h);
}
static __attribute__((noinline)) void many(int n, const char *text)
{
	long local[8];
	for (int i = 0; i < 8; i++) local[i] = n * 100 + i;
	int own = n;
	DTRACE_PROBE12(shapes, many, n, text, local[n & 7], table[n & 3], pairs[n & 3].left, pairs[n & 3].right, pairs[n & 3].flag, counter, hidden, -3, 77ul, own * 2);
	printf("many %d %s %ld %d %d %d %d %d %ld %d %lu %d\\n", n, text, local[n & 7], table[n & 3], pairs[n & 3].left, pairs[n & 3].right, pairs[n & 3].flag, counter, hidden, -3, 77ul, own * 2);
}
static __attribute__((noinline)) void real(double d, float f)
{
	DTRACE_PROBE2(shapes, real, d, f);
	printf("real %g %g\\n", d, (double)f);
}
static __attribute__((noinline)) void none(void)
{
	DTRACE_PROBE(shapes, none);
	printf("none\\n");
}
static __attribute__((noinline)) void high(int v)
{
	int seen;
	__asm__ volatile("movl %1, %%eax\\n\\t" STAP_PROBE_ASM(shapes, high, 1@%%ah -1@%%al 2@%%ax) "movl %%eax, %0" : "=r"(seen) : "r"(v) : "rax");
	printf("high %d %d %d\\n", (uint8_t)(v >> 8), (int8_t)v, (uint16_t)v);
}
int main(int argc, char **argv)
{
	(void)argv;
	widths(-1, 255, -1, 65535, -1, 4294967295u, -1, 18446744073709551615ul);
	widths(-128, 0, -32768, 0, -2147483647 - 1, 0, 9223372036854775807, 0);
	for (int i = 0; i < 4; i++) {
		counter += i;
		hidden -= i;
		many(i, i & 1 ? "odd" : "even");
		inlined(1, i * 7);
	}
	inlined(2, -argc);
	for (int i = 0; i < 2; i++) inlined(3 + i, 1l << 40);
	real(3.25, -0.5f);
	high(0x1234fe);
	none();
	return 0;
}
`;
