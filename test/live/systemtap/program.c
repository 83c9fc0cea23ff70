// What cases in a program are about: each function gets the same, and reads or does nothing. `program WORD` does what WORD
// says, for cases around a program.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sdt.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

struct numbers {
  int8_t i8;
  uint8_t u8;
  int16_t i16;
  uint16_t u16;
  int32_t i32;
  uint32_t u32;
  int64_t i64;
  uint64_t u64;
};

static struct numbers numbers = {-8, 200, -1600, 60000, -320000, 4000000000u, -64000000000, 18000000000000000000u};
static const char *text = "some \"text\"\twith\nall \x01\xff of it";
static const uint16_t wide[] = {'w', 0xef, 0x20ac, 0xd83d, 0xde00, '"', '\n', 'e', 0};
static const uint32_t wider[] = {'w', 0xef, 0x20ac, 0x1f600, '"', 'e', 0};
static const uint16_t halved[] = {'a', 0xd83d, 'b', 0};
static struct sockaddr_in address;

#define CASE(name) \
  long __attribute__((noinline)) name(struct numbers *n, const char *s, const uint16_t *w16, const uint32_t *w32, int negative, long large) { \
    __asm__ volatile("" ::: "memory"); \
    return large; \
  }
#define CALL(name) name(&numbers, text, wide, wider, -17, 0x123456789abcdef0);

/* CASES */

static void cases(void) { /* CALLS */ }

static void files(void) {
  char buffer[64];
  int fd = open("/tmp/strobe-case-file", O_RDWR | O_CREAT | O_TRUNC, 0640);
  write(fd, "hello, file\n", 12);
  pwrite(fd, "HE", 2, 0);
  lseek(fd, 3, SEEK_SET);
  read(fd, buffer, 5);
  pread(fd, buffer, 64, 1);
  ftruncate(fd, 5);
  fsync(fd);
  close(fd);
  chmod("/tmp/strobe-case-file", 0600);
  rename("/tmp/strobe-case-file", "/tmp/strobe-case-other");
  unlink("/tmp/strobe-case-other");
  open("/tmp/strobe-case-none", O_RDONLY);
  mkdir("/tmp/strobe-case-folder", 0755);
  rmdir("/tmp/strobe-case-folder");
}

static void memory(void) {
  char *at = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  at[0] = 1, at[4096] = 2;
  mprotect(at, 4096, PROT_READ);
  madvise(at, 8192, MADV_DONTNEED);
  munmap(at, 8192);
  mlock(0, 0);
}

static void handler(int sig) {}

static void processes(void) {
  struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
  sigset_t set;
  sigaction(SIGUSR1, &action, NULL);
  signal(SIGUSR2, SIG_IGN);
  sigemptyset(&set);
  sigaddset(&set, SIGUSR2);
  sigprocmask(SIG_BLOCK, &set, NULL);
  kill(getpid(), SIGUSR1);
  kill(getpid(), SIGUSR2);
  kill(getpid(), 0);
  pid_t child = fork();
  if (child == 0) _exit(7);
  int status;
  waitpid(child, &status, 0);
  sigprocmask(SIG_UNBLOCK, &set, NULL);
  nanosleep(&(struct timespec){0, 1000000}, NULL);
  sched_yield();
  getpriority(PRIO_PROCESS, 0);
  setsid();
}

static void sockets(void) {
  char buffer[32];
  int pair[2];
  socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
  send(pair[0], "hello", 5, 0);
  recv(pair[1], buffer, 32, 0);
  write(pair[0], "abc", 3);
  read(pair[1], buffer, 32);
  shutdown(pair[0], SHUT_WR);
  close(pair[0]), close(pair[1]);
  int udp = socket(AF_INET, SOCK_DGRAM, 0), other = socket(AF_INET, SOCK_DGRAM, IPPROTO_UDP);
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(40123), .sin_addr = {htonl(INADDR_LOOPBACK)}};
  bind(other, (void *)&to, sizeof to);
  sendto(udp, "datagram", 8, 0, (void *)&to, sizeof to);
  recv(other, buffer, 32, 0);
  close(udp), close(other);
  int listening = socket(AF_INET, SOCK_STREAM, 0), one = 1;
  setsockopt(listening, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  to.sin_port = htons(40124);
  bind(listening, (void *)&to, sizeof to);
  listen(listening, 5);
  int client = socket(AF_INET, SOCK_STREAM, 0);
  connect(client, (void *)&to, sizeof to);
  int server = accept(listening, NULL, NULL);
  send(client, "stream", 6, 0);
  recv(server, buffer, 32, 0);
  setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  close(client), close(server), close(listening);
}

/* A guest's own network is down at first. */
static void upLoopback(void) {
  struct ifreq request = {.ifr_name = "lo"};
  int fd = socket(AF_INET, SOCK_DGRAM, 0);
  if (ioctl(fd, SIOCGIFFLAGS, &request) == 0 && !(request.ifr_flags & IFF_UP)) {
    request.ifr_flags |= IFF_UP;
    ioctl(fd, SIOCSIFFLAGS, &request);
  }
  close(fd);
}

static void nothing(void) {}

enum shade { PALE, BRIGHT = 5, DARK };
struct spot {
  int x, y;
  enum shade shade;
  struct spot *next;
};
static struct spot origin = {1, 2, DARK, 0};
static int sales;

__attribute__((noinline)) static int inner(struct spot *spot, int n) {
  int sum = spot->x + n;
  return sum;
}

__attribute__((noinline)) static int outer(struct spot *spot, int n) {
  int sum = inner(spot, n) + inner(spot->next, n);
  spot->x = sum;
  sales++;
  return sum;
}

__attribute__((noinline)) static int factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1); }

static void points(void) {
  struct spot spot = {10, 20, BRIGHT, &origin};
  for (int i = 0; i < 3; i++) {
    int sum = outer(&spot, i);
    STAP_PROBE2(shop, sold, i, sum);
    STAP_PROBE(shop, closed);
  }
  inner(&origin, factorial(4));
}

static const struct {
  const char *word;
  void (*does)(void);
} all[] = {{"cases", cases}, {"nothing", nothing}, {"files", files}, {"memory", memory}, {"processes", processes}, {"sockets", sockets}, {"points", points}};

int main(int count, char **words) {
  // With words and an environment of its own.
  if (count < 3) {
    char *own[] = {"program", words[1], "two words", "", "last", NULL};
    char *environment[] = {"FIRST=one", "EMPTY=", "FIRSTLY=another", "WITH=a=b", "LAST=z", NULL};
    execve(words[0], own, environment);
    return 1;
  }
  struct rlimit files = {64, 128}, core = {0, RLIM_INFINITY};
  setrlimit(RLIMIT_NOFILE, &files);
  setrlimit(RLIMIT_CORE, &core);
  setpriority(PRIO_PROCESS, 0, 5);
  chdir("/proc/sys/kernel");
  close_range(3, ~0u, 0);
  open("/proc/sys/kernel/pid_max", O_RDONLY);
  open("/proc/sys/../cmdline", O_RDONLY);
  dup2(3, 17);
  upLoopback();
  // What no page has yet cannot be read by a probe.
  const volatile char *all_of_them[] = {text, (void *)wide, (void *)wider, (void *)halved, (void *)&numbers};
  long touched = 0;
  for (int i = 0; i < 5; i++) touched += *all_of_them[i];
  for (int i = 0; i < sizeof all / sizeof *all; i++)
    if (strcmp(words[1], all[i].word) == 0) {
      // What is between two of these is what it does.
      getppid();
      all[i].does();
      getppid();
    }
  return 0;
}
