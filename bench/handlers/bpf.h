/* What the handlers share: helpers by their kernel numbers, maps, and where their memory is. No BTF, no libbpf. */
typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long u64;
typedef long s64;

#define SEC(name) __attribute__((section(name), used))
#define inline inline __attribute__((always_inline))
#define unlikely(x) __builtin_expect(!!(x), 0)

static void *(*map_lookup_elem)(void *map, const void *key) = (void *)1;
static long (*map_update_elem)(void *map, const void *key, const void *value, u64 flags) = (void *)2;
static long (*map_delete_elem)(void *map, const void *key) = (void *)3;
static u32 (*get_smp_processor_id)(void) = (void *)8;
static u64 (*get_current_pid_tgid)(void) = (void *)14;
static u64 (*get_current_uid_gid)(void) = (void *)15;
static long (*get_current_comm)(void *to, u32 size) = (void *)16;
static long (*get_stackid)(void *context, void *map, u64 flags) = (void *)27;
static u64 (*get_current_task)(void) = (void *)35;
static long (*probe_read_kernel)(void *to, u32 size, const void *from) = (void *)113;
static long (*probe_read_user_str)(void *to, u32 size, const void *from) = (void *)114;
static long (*probe_read_kernel_str)(void *to, u32 size, const void *from) = (void *)115;
static u64 (*ktime_get_boot_ns)(void) = (void *)125;
static void *(*ringbuf_reserve)(void *ring, u64 size, u64 flags) = (void *)131;
static void (*ringbuf_submit)(void *record, u64 flags) = (void *)132;

enum { HASH = 1, ARRAY = 2, PERCPU_HASH = 5, STACK_TRACE = 7, RINGBUF = 27 };
enum { ANY = 0, NOEXIST = 1, USER_STACK = 256 };

/* The loader makes a map of each in the section "maps". */
struct map { u32 type, key_size, value_size, entries, flags; };
#define MAP(name, ...) SEC("maps") struct map name = { __VA_ARGS__ }

/* Memory of the program itself (.bss): the loader makes an array of it, addressed directly. A line of cache a CPU. */
#define CPUS 64
#define PER_CPU(type, name) static volatile struct { type v; } __attribute__((aligned(64))) name[CPUS]
#define this_cpu(name) (name[get_smp_processor_id() & (CPUS - 1)].v)

#define GETPPID 110
static inline u32 pid(void) { return get_current_pid_tgid() >> 32; }
static inline u32 tid(void) { return get_current_pid_tgid(); }

/* The tracepoint of all system calls; the bodies run for getppid(2). */
#define ENTER(...) SEC("raw_tp/sys_enter") int enter(u64 *context) { if (context[1] != GETPPID) return 0; __VA_ARGS__; return 0; }

/* A number that the verifier sees to be at most `mask`: clang drops a mask that it knows to be without effect. */
#define bounded(value, mask) ({ u64 v_ = (value); __asm__ volatile("" : "+r"(v_)); v_ & (mask); })

/* One lookup when the entry is there, which is all but once. */
static inline u64 *entry(void *map, void *key, void *zero)
{
	u64 *found = map_lookup_elem(map, key);
	if (unlikely(!found)) {
		map_update_elem(map, key, zero, NOEXIST);
		found = map_lookup_elem(map, key);
	}
	return found;
}
static inline void count(void *map, void *key)
{
	u64 zero = 0, *found = entry(map, key, &zero);
	if (found)
		++*found;
}

/* The power of two that a value lies in, as bpftrace's hist() counts it: 0 negative, 1 zero, 2 one, 3 two to three, … */
static inline u32 bucket(s64 value)
{
	u32 power = 0, step;
	u64 v = value;
	if (value <= 0)
		return value == 0;
	step = (v > 0xffffffff) << 5; v >>= step; power |= step;
	step = (v > 0xffff) << 4; v >>= step; power |= step;
	step = (v > 0xff) << 3; v >>= step; power |= step;
	step = (v > 0xf) << 2; v >>= step; power |= step;
	step = (v > 3) << 1; v >>= step; power |= step;
	power |= v >> 1;
	return bounded(power + 2, 127);
}
