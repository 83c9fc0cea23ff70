// The program that the tests of the ready scripts trace: one binary, many deeds, each known to the last call. Whoever
// imports it has it compiled, and leaves nothing behind.
import { after } from "node:test";
import { bpfObjects, compileC, nothingLeft, temporaryFolder } from "./strobe.ts";

/**
 * `work DEED …`: waits for the end of its input, then does the deed. So it can be started first (a pid to trace, no
 * calls of the loader in the way) and set free once the probes are attached.
 */
const workSource = `
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/io_uring.h>
#include <linux/openat2.h>
#include <linux/userfaultfd.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double milliseconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

static void pause_ms(long ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000 };
	clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
}

/* So many pieces of 777 bytes. */
static void allocate(long n)
{
	while (n-- > 0) {
		void *volatile piece = malloc(777);
		free(piece);
	}
}

/* A piece of 512 bytes and more in each way that the C library gives memory; prints how much that was, and how many. */
static void allocate_in_all_ways(void)
{
	void *volatile piece = malloc(513);
	piece = realloc(piece, 514);
	piece = realloc(NULL, 515);
	piece = reallocarray(piece, 4, 129);
	piece = reallocarray(NULL, 11, 47);
	piece = calloc(2, 259);
	piece = aligned_alloc(16, 528);
	piece = aligned_alloc(64, 576);
	piece = memalign(8, 519);
	piece = memalign(128, 520);
	posix_memalign((void **)&piece, 8, 521);
	posix_memalign((void **)&piece, 256, 522);
	piece = valloc(523);
	piece = pvalloc(524);
	char text[32];
	/* Not by dprintf(), which asks for memory itself. */
	write(1, text, snprintf(text, sizeof text, "%d 14\\n", 513 + 514 + 515 + 4 * 129 + 11 * 47 + 2 * 259 + 528 + 576 + 519 + 520 + 521 + 522 + 523 + 524));
}

/* So many getppid calls, then one wait of 40 ms. */
static void calls(long n)
{
	while (n-- > 0)
		syscall(SYS_getppid);
	pause_ms(40);
}

/* So many waits of two milliseconds; prints how often the kernel says that it left the CPU meanwhile. */
static void naps(long n)
{
	struct rusage before, after;
	getrusage(RUSAGE_SELF, &before);
	while (n-- > 0)
		pause_ms(2);
	getrusage(RUSAGE_SELF, &after);
	dprintf(1, "%ld\\n", after.ru_nvcsw + after.ru_nivcsw - before.ru_nvcsw - before.ru_nivcsw);
}

static void lock(long n)
{
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	while (n-- > 0) {
		pthread_mutex_lock(&mutex);
		pthread_mutex_unlock(&mutex);
	}
}

/* Each of the three system calls on each path; what opens stays open. */
static void opens(char **paths)
{
	struct open_how how = { .flags = O_RDONLY };
	for (; *paths; paths++) {
		syscall(SYS_open, *paths, O_RDONLY);
		syscall(SYS_openat, AT_FDCWD, *paths, O_RDONLY);
		syscall(SYS_openat2, AT_FDCWD, *paths, &how, sizeof how);
	}
}

static void by_handle(const char *path)
{
	int mount;
	struct { struct file_handle handle; char bytes[128]; } at = { .handle = { .handle_bytes = 128 } };
	int folder = open("/tmp", O_RDONLY | O_DIRECTORY);
	if (name_to_handle_at(AT_FDCWD, path, &at.handle, &mount, 0) == 0)
		open_by_handle_at(folder, &at.handle, O_RDONLY);
}

static void nothing(int signal) { (void)signal; }

/* What can be done by more than one system call, by those that nothing else here uses: opens, a deletion, signals, a new program. */
static void ways(const char *path, const char *directory)
{
	siginfo_t info = { .si_signo = SIGUSR1, .si_code = SI_QUEUE };
	char *arguments[] = { "true", "by descriptor", NULL };
	close(syscall(SYS_creat, path, 0600));
	by_handle(path);
	mkdir(directory, 0700);
	syscall(SYS_rmdir, directory);
	signal(SIGUSR1, nothing);
	kill(getpid(), SIGUSR1);
	syscall(SYS_tgkill, getpid(), getpid(), SIGUSR1);
	syscall(SYS_tkill, getpid(), SIGUSR1);
	syscall(SYS_rt_sigqueueinfo, getpid(), SIGUSR1, &info);
	syscall(SYS_rt_tgsigqueueinfo, getpid(), getpid(), SIGUSR1, &info);
	syscall(SYS_pidfd_send_signal, syscall(SYS_pidfd_open, getpid(), 0), SIGUSR1, NULL, 0);
	syscall(SYS_execveat, open("/bin/true", O_PATH), "", arguments, environ, AT_EMPTY_PATH);
}

/* Touches so many pages; prints the page faults that the kernel counted meanwhile. */
static void touch(long pages)
{
	struct rusage before, after;
	char *memory = mmap(NULL, pages * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise(memory, pages * 4096, MADV_NOHUGEPAGE);
	getrusage(RUSAGE_SELF, &before);
	for (long i = 0; i < pages; i++)
		memory[i * 4096] = 1;
	getrusage(RUSAGE_SELF, &after);
	dprintf(1, "%ld\\n", after.ru_minflt + after.ru_majflt - before.ru_minflt - before.ru_majflt);
}

/* Joins a control group and takes memory until it is killed for it. */
static void hog(const char *procs)
{
	int fd = open(procs, O_WRONLY);
	if (fd < 0 || write(fd, "0", 1) != 1)
		exit(1);
	for (int i = 0; i < 1024; i++) {
		char *piece = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		memset(piece, 1, 1 << 20);
	}
}

/* For ever, but not so that the compiler knows: it would put nothing behind the call. */
static volatile int spinning = 1;
void spin_in_here(void)
{
	while (spinning)
		;
}

/* A ring of one request at a time; what it answers is what the request gave. */
static struct { int fd; struct io_uring_params has; char *rings; struct io_uring_sqe *requests; } ring;

static int ring_open(void)
{
	ring.fd = syscall(SYS_io_uring_setup, 4, &ring.has);
	if (ring.fd < 0)
		return 0;
	size_t size = ring.has.cq_off.cqes + ring.has.cq_entries * sizeof(struct io_uring_cqe);
	size_t other = ring.has.sq_off.array + ring.has.sq_entries * sizeof(unsigned);
	ring.rings = mmap(NULL, size > other ? size : other, PROT_READ | PROT_WRITE, MAP_SHARED, ring.fd, IORING_OFF_SQ_RING);
	ring.requests = mmap(NULL, 4 * sizeof *ring.requests, PROT_READ | PROT_WRITE, MAP_SHARED, ring.fd, IORING_OFF_SQES);
	return ring.rings != MAP_FAILED && ring.requests != MAP_FAILED;
}

static long ring_do(struct io_uring_sqe request)
{
	unsigned *tail = (unsigned *)(ring.rings + ring.has.sq_off.tail), *head = (unsigned *)(ring.rings + ring.has.cq_off.head);
	unsigned at = *tail & (ring.has.sq_entries - 1);
	ring.requests[at] = request;
	((unsigned *)(ring.rings + ring.has.sq_off.array))[at] = at;
	__atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
	syscall(SYS_io_uring_enter, ring.fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0);
	struct io_uring_cqe *answers = (struct io_uring_cqe *)(ring.rings + ring.has.cq_off.cqes);
	long result = answers[*head & (ring.has.cq_entries - 1)].res;
	__atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
	return result;
}

/* A file by aio and through io_uring, without a system call of its own for each: 5000 bytes written, 600 read and so on. */
static void ring_files(const char *path)
{
	char bytes[8192] = { 0 };
	struct iovec piece = { bytes, 345 };
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	aio_context_t context = 0;
	struct iocb one = { .aio_lio_opcode = IOCB_CMD_PWRITE, .aio_fildes = fd, .aio_buf = (unsigned long)bytes, .aio_nbytes = 5000 }, *all = &one;
	struct io_event event;
	if (syscall(SYS_io_setup, 1, &context) == 0 && syscall(SYS_io_submit, context, 1, &all) == 1)
		syscall(SYS_io_getevents, context, 1, 1, &event, NULL);
	if (!ring_open())
		return;
	unsigned long at = (unsigned long)bytes;
	long done = ring_do((struct io_uring_sqe){ .opcode = IORING_OP_WRITE, .fd = fd, .addr = at, .len = 5000 });
	done += ring_do((struct io_uring_sqe){ .opcode = IORING_OP_READ, .fd = fd, .addr = at, .len = 600 });
	done += ring_do((struct io_uring_sqe){ .opcode = IORING_OP_WRITEV, .fd = fd, .addr = (unsigned long)&piece, .len = 1 });
	done += ring_do((struct io_uring_sqe){ .opcode = IORING_OP_READV, .fd = fd, .addr = (unsigned long)&piece, .len = 1 });
	done += ring_do((struct io_uring_sqe){ .opcode = IORING_OP_FSYNC, .fd = fd });
	/* Not a file's: said by nobody. */
	int through[2];
	if (pipe(through) == 0)
		ring_do((struct io_uring_sqe){ .opcode = IORING_OP_WRITE, .fd = through[1], .addr = at, .len = 1 });
	dprintf(1, "%ld\\n", done);
}

/* Opens a file that is there and one that is not, and deletes both, through io_uring. */
static void ring_names(const char *path, const char *missing)
{
	if (!ring_open())
		return;
	struct open_how how = { .flags = O_RDONLY };
	unsigned long there = (unsigned long)path, other = (unsigned long)missing;
	long fd = ring_do((struct io_uring_sqe){ .opcode = IORING_OP_OPENAT, .fd = AT_FDCWD, .addr = there, .open_flags = O_RDONLY });
	long error = ring_do((struct io_uring_sqe){ .opcode = IORING_OP_OPENAT2, .fd = AT_FDCWD, .addr = other, .len = sizeof how, .off = (unsigned long)&how });
	ring_do((struct io_uring_sqe){ .opcode = IORING_OP_UNLINKAT, .fd = AT_FDCWD, .addr = other });
	ring_do((struct io_uring_sqe){ .opcode = IORING_OP_UNLINKAT, .fd = AT_FDCWD, .addr = there });
	dprintf(1, "%ld %ld\\n", fd, error);
}

/* Known sizes to a file by every call that slow-files knows; prints the milliseconds that the largest took. */
static void files(const char *path)
{
	long large = 32 << 20;
	char *bytes = calloc(1, large);
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	double start = milliseconds();
	long done = write(fd, bytes, large);
	double end = milliseconds();
	ftruncate(fd, 0);
	done += pwrite(fd, bytes, 4321, 0);
	done += pread(fd, bytes, 1234, 0);
	lseek(fd, 0, SEEK_SET);
	done += read(fd, bytes, 567);
	struct iovec pieces[2] = { { bytes, 1000 }, { bytes + 1000, 11 } };
	done += pwritev(fd, pieces, 2, 0);
	done += preadv(fd, pieces, 2, 0);
	done += syscall(SYS_pwritev2, fd, pieces, 1, 0, 0, 0);
	done += syscall(SYS_preadv2, fd, pieces, 1, 0, 0, 0);
	lseek(fd, 0, SEEK_SET);
	done += writev(fd, pieces, 2);
	lseek(fd, 0, SEEK_SET);
	done += readv(fd, pieces, 2);
	int through[2], to;
	if (pipe(through) || (to = open(path, O_RDWR)) < 0)
		exit(1);
	off_t at = 0;
	done += sendfile(through[1], fd, &at, 321);
	loff_t in = 0, out = 2048;
	done += splice(through[0], NULL, to, &out, 321, 0);
	out = 3000;
	done += copy_file_range(fd, &in, to, &out, 77, 0);
	fsync(fd);
	fdatasync(fd);
	sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE);
	syncfs(fd);
	fallocate(fd, 0, 0, 9000);
	ftruncate(fd, 8192);
	truncate(path, 4096);
	char *mapped = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	mapped[0] = 1;
	msync(mapped, 4096, MS_SYNC);
	sync();
	char other[4096];
	snprintf(other, sizeof other, "%s.new", path);
	close(open(other, O_WRONLY | O_CREAT, 0600));
	rename(other, path);
	renameat(AT_FDCWD, path, AT_FDCWD, other);
	syscall(SYS_renameat2, AT_FDCWD, other, AT_FDCWD, path, 0);
	dprintf(1, "%ld %.3f\\n", done, end - start);
}

/* Two processes on one CPU hand a byte to and fro; prints how often the kernel says that they waited and were preempted. */
static void pingpong(long n)
{
	int there[2], back[2];
	char byte = 0;
	cpu_set_t mask, one;
	sched_getaffinity(0, sizeof mask, &mask);
	CPU_ZERO(&one);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &mask)) {
			CPU_SET(cpu, &one);
			break;
		}
	sched_setaffinity(0, sizeof one, &one);
	if (pipe(there) || pipe(back))
		exit(1);
	struct rusage before, self, child;
	getrusage(RUSAGE_SELF, &before);
	if (fork() == 0) {
		for (long i = 0; i < n; i++)
			if (read(there[0], &byte, 1) != 1 || write(back[1], &byte, 1) != 1)
				_exit(1);
		_exit(0);
	}
	for (long i = 0; i < n; i++)
		if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
			exit(1);
	wait(NULL);
	getrusage(RUSAGE_SELF, &self);
	getrusage(RUSAGE_CHILDREN, &child);
	dprintf(1, "%ld %ld\\n", self.ru_nvcsw + child.ru_nvcsw - before.ru_nvcsw, self.ru_nivcsw + child.ru_nivcsw - before.ru_nivcsw);
}

/* Connects to a listener whose queue is full, so that SYNs go unanswered; prints its port and those of who waits in vain. */
static void unanswered(void)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } }, from;
	socklen_t size = sizeof to;
	int connections[4], listener = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(listener, (struct sockaddr *)&to, size) || listen(listener, 0) || getsockname(listener, (struct sockaddr *)&to, &size))
		exit(1);
	for (int i = 0; i < 4; i++) {
		connections[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
		connect(connections[i], (struct sockaddr *)&to, sizeof to);
	}
	pause_ms(1300);
	dprintf(1, "%d", ntohs(to.sin_port));
	for (int i = 0; i < 4; i++) {
		struct pollfd ready = { connections[i], POLLOUT, 0 };
		size = sizeof from;
		if (poll(&ready, 1, 0) == 0 && getsockname(connections[i], (struct sockaddr *)&from, &size) == 0)
			dprintf(1, " %d", ntohs(from.sin_port));
	}
}

static int waited;

static void wait_for(int error)
{
	if (error == ETIMEDOUT)
		waited++;
}

/* Waits in vain in each way that there is, and once not at all; prints how often. */
static void futexes(void)
{
	static unsigned word = 1, other, held;
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
	struct timespec two = { 0, 2000000 }, soon;
	struct { unsigned long value, address; unsigned flags, reserved; } several = { 1, (unsigned long)&word, 2, 0 };
	sem_t semaphore;
	sem_init(&semaphore, 0, 0);
#define SOON (clock_gettime(CLOCK_REALTIME, &soon), soon.tv_nsec += 2000000, soon.tv_sec += soon.tv_nsec / 1000000000, soon.tv_nsec %= 1000000000, &soon)
#define SAYS(call) wait_for((call) < 0 ? errno : 0)
	SAYS(syscall(SYS_futex, &word, 0, 1, &two));
	SAYS(syscall(SYS_futex, &word, 0 | 128, 1, &two));
	SAYS(syscall(SYS_futex, &word, 9 | 128 | 256, 1, SOON, NULL, ~0u));
	SAYS(syscall(SYS_futex, &word, 11 | 256, 1, SOON, &other));
	held = getppid();
	SAYS(syscall(SYS_futex, &held, 6, 0, SOON));
	held = getppid();
	SAYS(syscall(SYS_futex, &held, 13 | 256, 0, SOON));
	clock_gettime(CLOCK_MONOTONIC, &soon);
	SAYS(syscall(449, &several, 1, 0, (soon.tv_sec++, &soon), CLOCK_MONOTONIC));
	clock_gettime(CLOCK_MONOTONIC, &soon);
	SAYS(syscall(455, &word, 1ul, 0xfffffffful, 2, (soon.tv_nsec = 0, soon.tv_sec++, &soon), CLOCK_MONOTONIC));
	/* The value is another. */
	SAYS(syscall(SYS_futex, &word, 0, 7, &two));
	pthread_mutex_lock(&mutex);
	wait_for(pthread_mutex_timedlock(&mutex, SOON));
	wait_for(pthread_cond_timedwait(&condition, &mutex, SOON));
	SAYS(sem_timedwait(&semaphore, SOON));
	dprintf(1, "%d\\n", waited);
}

static int through[2];
static char *absent;

static void *write_absent(void *nothing)
{
	return (void *)write(through[1], absent, 1);
}

static void *write_more(void *nothing)
{
	return (void *)write(through[1], "x", 1);
}

/* One thread holds a pipe's lock while it writes from a page that is not there yet; so many others wait for it. */
static void contend(long n)
{
	pthread_t first, others[n];
	char text[64], state;
	int fd = syscall(SYS_userfaultfd, 0);
	struct uffdio_api api = { .api = UFFD_API };
	absent = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct uffdio_register range = { .range = { (unsigned long)absent, 4096 }, .mode = UFFDIO_REGISTER_MODE_MISSING };
	struct uffdio_zeropage page = { .range = range.range };
	struct uffd_msg message;
	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &range) || pipe(through))
		return;
	pthread_create(&first, NULL, write_absent, NULL);
	if (read(fd, &message, sizeof message) != sizeof message)
		return;
	for (long i = 0; i < n; i++)
		pthread_create(&others[i], NULL, write_more, NULL);
	/* All asleep: the kernel says so of each thread. */
	for (long asleep = 0; asleep < n + 1;) {
		DIR *tasks = opendir("/proc/self/task");
		struct dirent *task;
		asleep = 0;
		while ((task = readdir(tasks))) {
			snprintf(text, sizeof text, "/proc/self/task/%s/stat", task->d_name);
			FILE *stat = fopen(text, "r");
			if (!stat)
				continue;
			if (fscanf(stat, "%*d %*s %c", &state) == 1)
				asleep += state == 'D' || state == 'S';
			fclose(stat);
		}
		closedir(tasks);
		pause_ms(1);
	}
	ioctl(fd, UFFDIO_ZEROPAGE, &page);
	pthread_join(first, NULL);
	for (long i = 0; i < n; i++)
		pthread_join(others[i], NULL);
	dprintf(1, "%ld\\n", n);
}

/* Reads and writes of a file past the page cache: 20 of 4096 bytes, 7 of 8192. Prints how many went well. */
static void direct(const char *path)
{
	char *bytes = aligned_alloc(4096, 20 * 4096);
	int done = 0, fd = open(path, O_RDWR | O_CREAT, 0600);
	memset(bytes, 1, 20 * 4096);
	if (write(fd, bytes, 20 * 4096) != 20 * 4096 || fsync(fd) || close(fd))
		return;
	fd = open(path, O_RDWR | O_DIRECT);
	for (int i = 0; i < 20; i++)
		done += pwrite(fd, bytes, 4096, i * 4096) == 4096;
	for (int i = 0; i < 7; i++)
		done += pread(fd, bytes, 8192, i * 8192) == 8192;
	dprintf(1, "%d\\n", done);
}

int main(int argc, char **argv)
{
	const char *deed = argc > 1 ? argv[1] : "", *first = argc > 2 ? argv[2] : "0";
	char byte;
	while (read(0, &byte, 1) > 0)
		;
	if (strcmp(deed, "allocate") == 0) allocate(atol(first));
	else if (strcmp(deed, "allocations") == 0) allocate_in_all_ways();
	else if (strcmp(deed, "calls") == 0) calls(atol(first));
	else if (strcmp(deed, "naps") == 0) naps(atol(first));
	else if (strcmp(deed, "lock") == 0) lock(atol(first));
	else if (strcmp(deed, "open") == 0) opens(argv + 2);
	else if (strcmp(deed, "ways") == 0) ways(first, argv[3]);
	else if (strcmp(deed, "sleep") == 0) pause_ms(atol(first));
	else if (strcmp(deed, "touch") == 0) touch(atol(first));
	else if (strcmp(deed, "hog") == 0) hog(first);
	else if (strcmp(deed, "spin") == 0) spin_in_here();
	else if (strcmp(deed, "files") == 0) files(first);
	else if (strcmp(deed, "ring-files") == 0) ring_files(first);
	else if (strcmp(deed, "ring-names") == 0) ring_names(first, argv[3]);
	else if (strcmp(deed, "pingpong") == 0) pingpong(atol(first));
	else if (strcmp(deed, "unanswered") == 0) unanswered();
	else if (strcmp(deed, "futexes") == 0) futexes();
	else if (strcmp(deed, "contend") == 0) contend(atol(first));
	else if (strcmp(deed, "direct") == 0) direct(first);
	else return atoi(deed);
	return 0;
}
`;

export const folder = temporaryFolder();
/** Nobody else's program has this name; it is what `comm` says. */
export const comm = `work-${process.pid}`;
/** Not optimized: every function has a frame, so a stack has every caller. */
export const work = compileC(folder.path, comm, workSource, ["-O0", "-g", "-pthread"]);

const objects = bpfObjects();
after(async () => {
  await nothingLeft(objects);
  folder.remove();
});
