// D's stable providers: what the programs that are started here do is known. The real dtrace prints the same of them, as
// far as it has the probes without kprobes.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, statSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { compileC, strobe, temporaryFolder } from "../support/strobe.ts";

const skip = process.arch !== "x64" && "x86-64 only";
const folder = temporaryFolder();
after(() => folder.remove());

const source = `
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
static void on(int s) {}
static void *thread(void *p) { return p; }
int main(void) {
  pthread_t t; int got, status; sigset_t set;
  pthread_create(&t, 0, thread, 0); pthread_join(t, 0);
  signal(SIGUSR1, on); raise(SIGUSR1);
  signal(SIGUSR2, SIG_IGN); raise(SIGUSR2);
  sigemptyset(&set); sigaddset(&set, SIGHUP); sigprocmask(SIG_BLOCK, &set, 0); raise(SIGHUP); sigwait(&set, &got);
  if (!fork()) _exit(4);
  wait(&status);
  if (!fork()) raise(SIGKILL);
  wait(&status);
  char *none[] = { "none", 0 };
  execve("/strobe-has-no-such-file", none, none);
  return 0;
}
`;

async function d(command: string, script: string): Promise<readonly string[]> {
  const path = join(folder.path, "script.d");
  writeFileSync(path, `#pragma D option quiet\n${script}`);
  const { stdout, stderr, code } = await strobe(["-c", command, path]);
  assert.equal(code, 0, stderr);
  return stdout.split("\n").filter((line) => line !== "");
}

test("proc: processes, threads and signals, with their arguments", { skip }, async () => {
  const program = compileC(folder.path, "processes", source, ["-O1", "-pthread"]);
  const mine = '/execname == "processes"/';
  const lines = await d(
    program,
    `proc:::create ${mine} { printf("create %s %d %d\\n", args[0]->pr_fname, args[0]->pr_pid == pid, args[0]->pr_uid == uid); }
     proc:::lwp-create ${mine} { printf("lwp-create %d %d\\n", args[0]->pr_lwpid == args[1]->pr_pid, args[0]->pr_state); }
     proc:::lwp-exit ${mine} { printf("lwp-exit %d\\n", pid == tid); }
     proc:::exit ${mine} { printf("exit %d\\n", args[0]); }
     proc:::exec-failure ${mine} { printf("exec-failure %d\\n", args[0]); }
     proc:::signal-send /execname == "processes" && args[2] != 17/ { printf("send %d %d\\n", args[2], args[0]->pr_lwpid == tid); }
     proc:::signal-discard /execname == "processes" && args[2] != 17/ { printf("discard %d\\n", args[2]); }
     proc:::signal-handle ${mine} { printf("handle %d\\n", args[0]); }
     proc:::signal-clear ${mine} { printf("clear %d\\n", args[0]); }`,
  );
  const forked = "create processes 0 1,lwp-create 1 2";
  const expected = [
    "create processes 1 1,lwp-create 0 2,lwp-exit 0",
    "send 10 1,handle 10,send 12 1,discard 12,send 1 1,clear 1",
    `${forked},exit 1,lwp-exit 1`,
    `${forked},send 9 1,handle 9,exit 2,lwp-exit 1`,
    "exec-failure -2,exit 1,lwp-exit 1",
  ].flatMap((group) => group.split(","));
  const inOrder = (all: readonly string[]): string[] => [...all].sort((a, b) => a.localeCompare(b));
  assert.deepEqual(inOrder(lines), inOrder(expected));
});

test("sched: what runs next, and who is woken", { skip }, async () => {
  const pair = `
#include <sys/wait.h>
#include <unistd.h>
int main(void) {
  int a[2], b[2]; char c = 0;
  if (pipe(a) || pipe(b)) return 1;
  if (!fork()) { for (int i = 0; i < 100; i++) if (read(a[0], &c, 1) != 1 || write(b[1], &c, 1) != 1) return 1; _exit(0); }
  for (int i = 0; i < 100; i++) if (write(a[1], &c, 1) != 1 || read(b[0], &c, 1) != 1) return 1;
  wait(0);
  return 0;
}`;
  const program = compileC(folder.path, "pair", pair, ["-O1"]);
  const lines = await d(
    program,
    `int off, all, woken;
     sched:::off-cpu /curpsinfo->pr_fname == "pair"/ { off += (curlwpsinfo->pr_lwpid == tid && curcpu->cpu_id == cpu); all++; }
     sched:::wakeup /args[1]->pr_fname == "pair"/ { woken += (args[0]->pr_name == "pair"); }
     END { printf("%d %d %d\\n", off == all, all > 0, woken > 0); }`,
  );
  assert.deepEqual(lines, ["1 1 1"]);
});

test("sched: a thread that sleeps, and one that gives its processor away", { skip }, async () => {
  const program = compileC(
    folder.path,
    "yields",
    `#include <sched.h>
     #include <unistd.h>
     int main(void) { for (int i = 0; i < 7; i++) sched_yield(); for (int i = 0; i < 5; i++) usleep(1000); return 0; }`,
    ["-O1"],
  );
  const lines = await d(
    program,
    `syscall::clock_nanosleep:entry, syscall::nanosleep:entry /pid == $target/ { self->sleeps = 1; }
     syscall::clock_nanosleep:return, syscall::nanosleep:return /pid == $target/ { self->sleeps = 0; }
     sched:::surrender /pid == $target && args[0]->pr_lwpid == tid && args[1]->pr_pid == pid/ { gave++; }
     sched:::sleep /self->sleeps/ { slept++; }
     END { printf("%d %d\\n", gave, slept); }`,
  );
  assert.deepEqual(lines, ["7 5"]);
});

/** One thread holds a pipe's mutex while its page is missing; the other is known to wait when the kernel says so. */
const waiting = `
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
static int pipes[2]; static char *page; static volatile int id;
static void *holds(void *p) { return (void *)write(pipes[1], page, 1); }
static void *waits(void *p) { id = syscall(SYS_gettid); return (void *)write(pipes[1], "x", 1); }
static int blocked(void) {
  char name[64], c = 0; snprintf(name, sizeof name, "/proc/self/task/%d/syscall", id);
  int fd = open(name, O_RDONLY); char text[3] = ""; c = read(fd, text, 2) == 2 && text[0] == '1' && text[1] == ' ';
  close(fd); return c;
}
int main(void) {
  pthread_t a, b; struct uffd_msg message; int fd = syscall(SYS_userfaultfd, O_CLOEXEC);
  struct uffdio_api api = { .api = UFFD_API };
  page = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  struct uffdio_register all = { .range = { (unsigned long)page, 4096 }, .mode = UFFDIO_REGISTER_MODE_MISSING };
  if (fd < 0 || ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &all) || pipe(pipes)) return 1;
  pthread_create(&a, 0, holds, 0);
  if (read(fd, &message, sizeof message) != sizeof message) return 1;
  pthread_create(&b, 0, waits, 0);
  while (!id || !blocked()) usleep(1000);
  struct uffdio_zeropage zero = { .range = { (unsigned long)page, 4096 } };
  if (ioctl(fd, UFFDIO_ZEROPAGE, &zero)) return 1;
  pthread_join(a, 0); pthread_join(b, 0);
  return 0;
}
`;

test("lockstat: a mutex that one thread waits for", { skip }, async (t) => {
  if (!existsSync("/proc/sys/vm/unprivileged_userfaultfd")) return t.skip("this kernel has no userfaultfd");
  const { stdout } = await strobe(["-l", "rawtracepoint:contention_end"]);
  if (!stdout.includes("contention_end")) return t.skip("this kernel has no events for locks");
  const program = compileC(folder.path, "waiting", waiting, ["-O1", "-pthread"]);
  const lines = await d(
    program,
    `syscall::write:entry /pid == $target/ { self->writes = 1; }
     lockstat:::adaptive-block, lockstat:::adaptive-spin /self->writes/ {
       printf("%s %d %d\\n", probename, args[0] != 0, args[1] > 0);
     }
     syscall::write:return /pid == $target/ { self->writes = 0; }`,
  );
  assert.deepEqual(lines, ["adaptive-block 1 1"]);
});

test("io: requests that a read makes, and their ends", { skip }, async (t) => {
  const path = join(folder.path, "blocks");
  // EXT4_SUPER_MAGIC, XFS_SUPER_MAGIC
  if (![0xef53, 0x58465342].includes(statfsSync(folder.path).type)) return t.skip("no file system on a disk");
  const program = compileC(
    folder.path,
    "reads",
    `#define _GNU_SOURCE
     #include <fcntl.h>
     #include <stdlib.h>
     #include <string.h>
     #include <unistd.h>
     int main(int n, char **v) {
       void *m; int fd = open(v[1], O_RDWR | O_CREAT | O_DIRECT, 0600);
       if (fd < 0 || posix_memalign(&m, 4096, 24576)) return 1;
       memset(m, 7, 24576);
       if (pwrite(fd, m, 24576, 0) != 24576 || fsync(fd)) return 1;
       for (int i = 0; i < 3; i++) if (pread(fd, m, 24576, 0) != 24576) return 1;
       return 0;
     }`,
    ["-O1"],
  );
  const { dev } = statSync(folder.path);
  // As the kernel keeps it: 20 bits of the minor number.
  const edev = ((dev >> 8) & 0xfff) * 2 ** 20 + ((dev & 0xff) | ((dev >> 12) & 0xfff00));
  const lines = await d(
    `${program} ${path}`,
    `int started, reads, done, errors, files, devices;
     syscall::pread64:entry /pid == $target/ { self->reads = 1; }
     io:::start /self->reads && args[0]->b_edev == ${edev}/ {
       mine[args[0]->b_blkno] = args[0]->b_bcount; started += args[0]->b_bcount;
       reads += (args[0]->b_flags & B_READ) != 0 && (args[0]->b_flags & B_WRITE) == 0; requests++;
     }
     io:::done /args[0]->b_edev == ${edev} && mine[args[0]->b_blkno] == args[0]->b_bcount/ {
       mine[args[0]->b_blkno] = 0; done += args[0]->b_bcount; errors += args[0]->b_error != 0 || args[0]->b_flags & B_ERROR;
       files += args[2]->fi_name == "<none>"; devices += args[1]->dev_major == ${Math.floor(edev / 2 ** 20)};
       ends++;
     }
     syscall::pread64:return /pid == $target/ { self->reads = 0; }
     END { printf("%d %d %d %d %d %d\\n", started, done, reads == requests, files == ends, devices == ends, errors); }`,
  );
  assert.deepEqual(lines, ["73728 73728 1 1 1 0"]);
});

test("fds: what a process has opened", { skip }, async () => {
  const path = join(folder.path, "opened");
  writeFileSync(path, "0123456789");
  const program = compileC(
    folder.path,
    "opens",
    `#include <fcntl.h>
     #include <unistd.h>
     int main(int n, char **v) {
       char c; int fd = open(v[1], O_RDWR | O_APPEND);
       if (dup2(fd, 33) != 33 || lseek(33, 4, SEEK_SET) != 4) return 1;
       return pread(33, &c, 1, 0) != 1;
     }`,
    ["-O1"],
  );
  const [line] = await d(
    `${program} ${path}`,
    `syscall::pread64:entry /pid == $target && arg0 == 33/ {
       printf("%s|%s|%s|%d|%d|%s|%s", fds[arg0].fi_name, fds[arg0].fi_dirname, fds[arg0].fi_pathname, fds[arg0].fi_offset,
         (fds[arg0].fi_oflags & (O_ACCMODE | O_APPEND)) == (O_RDWR | O_APPEND), fds[34].fi_name, fds[arg0].fi_fs);
     }`,
  );
  assert.match(line ?? "", /\|\w+$/);
  assert.deepEqual(line.split("|").slice(0, -1), ["opened", folder.path, path, "4", "1", "<none>"]);
});

test("vtimestamp leaves out what a thread sleeps; ucaller is who called", { skip }, async () => {
  const program = compileC(
    folder.path,
    "sleeps",
    `#include <unistd.h>
     __attribute__((noipa)) void inner(void) { __asm__ volatile(""); }
     __attribute__((noipa)) void outer(void) { inner(); __asm__ volatile(""); }
     int main(void) { alarm(60); outer(); usleep(300000); alarm(0); return 0; }`,
    ["-O1", "-fno-omit-frame-pointer"],
  );
  const lines = await d(
    program,
    `pid$target:a.out:inner:entry { ufunc(ucaller); printf("\\n"); }
     syscall::alarm:entry /pid == $target && arg0 == 60/ { self->at = timestamp; self->used = vtimestamp; }
     syscall::alarm:entry /pid == $target && arg0 == 0/ {
       this->used = vtimestamp - self->used;
       this->past = timestamp - self->at;
       printf("%d %d\\n", this->used > 0, this->past - this->used >= 290000000);
     }`,
  );
  assert.deepEqual(
    lines.map((line) => line.trim().replace(/^.*`/, "")),
    ["outer", "1 1"],
  );
});

test("symbols of a program with their files and offsets, by its own name and with arguments", { skip }, async () => {
  const program = compileC(
    folder.path,
    "named",
    `__attribute__((noipa)) void inner(void) { __asm__ volatile(""); }
     __attribute__((noipa)) void outer(void) { inner(); __asm__ volatile("nop"); inner(); __asm__ volatile(""); }
     int main(int count, char **words) { if (count == 3 && *words[2] == 'b') outer(); return 0; }`,
    ["-O1", "-fno-omit-frame-pointer"],
  );
  const text = execFileSync("objdump", ["-d", "--no-show-raw-insn", program], { encoding: "utf8" });
  const [, start, body] = /^([0-9a-f]+) <outer>:\n(.*?)\n\n/ms.exec(text) ?? [];
  // Where each call of inner() returns to.
  const returns = [...body.matchAll(/call .*<inner>\n\s*([0-9a-f]+):/g)].map(([, at]) => parseInt(at, 16));
  const offsets = returns.map((at) => `named\`outer+0x${(at - parseInt(start, 16)).toString(16)}`);
  assert.equal(offsets.length, 2);
  const lines = await d(
    `${program} a "b c"`,
    `pid$target:named:inner:entry {
       printf("%A\\n", ucaller);
       @f[usym(ucaller), ufunc(uregs[R_RIP])] = count();
       @p[uaddr(ucaller)] = count();
       @m[umod(ucaller)] = count();
       @s[ustack(1)] = count();
     }`,
  );
  assert.deepEqual(
    lines.map((line) => line.trim().replaceAll(/ +/g, " ")).filter((line) => line !== ""),
    [...offsets, "named`outer named`inner 2", ...offsets.map((place) => `${place} 1`), "named 2", "named`inner", "2"],
  );
});

test("arg0 and arg1 of profile probes are where the processor was, in the kernel or in a program", async () => {
  const { stdout, stderr, code } = await strobe([
    "dtrace",
    "-qn",
    `profile-499 /pid == $target && arg0/ { @n["in the kernel", arg0 < 0, arg1 == 0, arg2] = count(); }
     profile-499 /pid == $target && arg1/ { @n["in the program", arg0 == 0, arg1 > 0, arg2] = count(); }
     profile-499 /pid == $target/ { @all = count(); }
     END { printa("%s %d %d %d: %@d\\n", @n); printa("all: %@d\\n", @all); }`,
    "-c",
    `${process.execPath} -e 'for (let i = 0; i < 1e8; i++);'`,
  ]);
  assert.deepEqual([stderr, code], ["", 0]);
  const counts = new Map(
    stdout
      .trim()
      .split("\n")
      .map((line) => line.split(": ") as [string, string]),
  );
  const [user, kernel] = [counts.get("in the program 1 1 0"), counts.get("in the kernel 1 1 0") ?? 0];
  assert.ok(Number(user) > 0, stdout);
  assert.equal(Number(user) + Number(kernel), Number(counts.get("all")), stdout);
  assert.equal(counts.size, kernel === 0 ? 2 : 3, stdout);
});

test("a function of any module of the traced process, where none is named", async () => {
  const program = compileC(
    folder.path,
    "allocates",
    `#include <stdlib.h>
    #include <unistd.h>
    __attribute__((noinline)) void *own(int n) { return malloc(n); }
    // Meanwhile strobe learns what it has opened, which is probed already.
    int main(void) { usleep(500000); for (int i = 0; i < 7; i++) { void *volatile p = own(5000 + i); free(p); } return 0; }`,
  );
  const run = await strobe([
    "dtrace",
    "-qn",
    `pid$target::own:entry { @calls[probemod, probefunc] = count(); }
     pid$target::malloc:entry /arg0 >= 5000 && arg0 < 5007/ { @calls[probemod, probefunc] = count(); }
     END { printa("%s %s %@d\\n", @calls); }`,
    "-c",
    program,
  ]);
  assert.deepEqual([run.stderr, run.code], ["", 0]);
  assert.deepEqual(run.stdout.trim().split("\n").sort(), ["allocates own 7", "libc.so.6 malloc 7"]);
});

test("a library that the command has not is refused", async () => {
  const run = await strobe(["dtrace", "-qn", "pid$target:libnone.so:f:entry { }", "-c", "/bin/true"]);
  assert.deepEqual(
    [run.stderr, run.code],
    [
      "dtrace: invalid probe specifier pid$target:libnone.so:f:entry { }: probe description pid$target:libnone.so:f:entry does not match any probes\n",
      1,
    ],
  );
});

/** A connection between two ends of an address, closed by the client first, and one that is refused. */
const connecting = `
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
static union { struct sockaddr any; struct sockaddr_in four; struct sockaddr_in6 six; } own;
static socklen_t size;
static int bound(void) {
  int fd = socket(own.any.sa_family, SOCK_STREAM, 0);
  return bind(fd, &own.any, size) ? -1 : fd;
}
static void until(int fd, int state) {
  struct tcp_info info; socklen_t n;
  do { usleep(1000); n = sizeof info; getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &n); } while (info.tcpi_state != state);
}
int main(int n, char **v) {
  struct sockaddr_in6 name; socklen_t m = sizeof name; char c;
  if (inet_pton(AF_INET, v[1], &own.four.sin_addr) == 1) { own.any.sa_family = AF_INET; size = sizeof own.four; }
  else { inet_pton(AF_INET6, v[1], &own.six.sin6_addr); own.any.sa_family = AF_INET6; size = sizeof own.six; }
  int listening = bound(), client = bound();
  if (listening < 0 || client < 0 || listen(listening, 1) || getsockname(listening, (void *)&name, &m)) return 1;
  if (connect(client, (void *)&name, m)) return 2;
  int server = accept(listening, 0, 0);
  shutdown(client, SHUT_WR);
  if (read(server, &c, 1) != 0) return 3;
  until(client, TCP_FIN_WAIT2);
  close(server);
  until(client, TCP_CLOSE);
  close(listening);
  /* A port that this process holds, and nobody listens on. */
  int held = bound(), other = bound();
  m = sizeof name;
  if (getsockname(held, (void *)&name, &m)) return 4;
  return connect(other, (void *)&name, m) == -1 && errno == ECONNREFUSED ? 0 : 5;
}
`;

test("tcp: connections of an address that nobody else has", { skip }, async () => {
  const program = compileC(folder.path, "connecting", connecting, ["-O1"]);
  // One of 127.0.0.0/8 for each process.
  const own = `127.${64 + ((process.pid >> 16) & 63)}.${(process.pid >> 8) & 255}.${process.pid & 255}`;
  const lines = await d(
    `${program} ${own}`,
    `tcp:::state-change /args[3]->tcps_laddr == "${own}" && args[5]->tcps_state != TCP_STATE_LAST_ACK/ {
       printf("%d %d %d\\n", args[5]->tcps_state, args[3]->tcps_state, args[1]->cs_addr == args[3]->tcps_addr);
     }
     tcp:::connect-request, tcp:::connect-established, tcp:::connect-refused, tcp:::accept-established
     /args[3]->tcps_laddr == "${own}"/ {
       printf("%s %s %s %d %d\\n", probename, args[2]->ip_saddr, args[3]->tcps_raddr, args[2]->ip_ver, args[3]->tcps_state);
     }`,
  );
  const states = "7 10,7 2,2 1,10 3,3 1,1 4,1 8,4 5,8 9,5 7,10 7,7 2,2 7".split(",").map((change) => `${change} 1`);
  const named = ["connect-request|2", "connect-established|1", "accept-established|1", "connect-request|2"];
  const connections = [...named, "connect-refused|7"].map((of) => of.replace("|", ` ${own} ${own} 4 `));
  const inOrder = (all: readonly string[]): string[] => [...all].sort((a, b) => a.localeCompare(b));
  assert.deepEqual(inOrder(lines), inOrder([...states, ...connections]));
});

test("addresses as inet_ntop() writes them", { skip }, async () => {
  const program = compileC(
    folder.path,
    "addresses",
    `#include <arpa/inet.h>
     #include <unistd.h>
     int main(int n, char **v) {
       for (int i = 1; i < n; i++) { char b[16]; inet_pton(AF_INET6, v[i], b); if (write(-1, b, 16) != -1) return 1; }
       return 0;
     }`,
    ["-O1"],
  );
  const all =
    "::,::1,1::,fe80::1:0:0:2,1:2:3:4:5:6:7:8,1:0:2:3:4:5:6:7,::ffff:10.1.2.3,::10.1.2.3,2001:db8::a:0:b".split(",");
  const lines = await d(
    `${program} ${all.join(" ")}`,
    `syscall::write:entry /pid == $target && (int)arg0 == -1/ { printf("%s\\n", inet_ntoa6((struct in6_addr *)copyin(arg1, 16))); }`,
  );
  assert.deepEqual(lines, all);
});

const packetsSource = `
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>
static int bound(int type, struct sockaddr_in *at) {
  int s = socket(AF_INET, type, 0); socklen_t size = sizeof *at;
  at->sin_family = AF_INET; at->sin_port = 0; at->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  bind(s, (struct sockaddr *)at, sizeof *at); getsockname(s, (struct sockaddr *)at, &size);
  return s;
}
int main(void) {
  struct sockaddr_in to = {0}, from = {0}, stream = {0}; char text[32] = "datagram";
  int in = bound(SOCK_DGRAM, &to), out = bound(SOCK_DGRAM, &from);
  for (int i = 0; i < 3; i++) { sendto(out, text, 10 + i, 0, (struct sockaddr *)&to, sizeof to); recv(in, text, 32, 0); }
  // Nobody listens there.
  int none = bound(SOCK_STREAM, &stream), asks = socket(AF_INET, SOCK_STREAM, 0);
  connect(asks, (struct sockaddr *)&stream, sizeof stream);
  close(none); close(asks);
  return 0;
}
`;

test("ip, udp, tcp: packets on their way out and in, with what their headers say", { skip }, async () => {
  const program = compileC(folder.path, "packets", packetsSource, ["-O1"]);
  const mine = 'execname == "packets"';
  const lines = await d(
    program,
    `udp:::send /${mine}/ { self->to = args[4]->udp_dport; self->from = args[3]->udps_lport;
       printf("send %d %s %s %d\\n", args[4]->udp_length, args[2]->ip_saddr, args[2]->ip_daddr, args[4]->udp_sport == args[3]->udps_lport); }
     udp:::receive /${mine}/ { printf("receive %d %d %d\\n", args[4]->udp_length, args[4]->udp_dport == self->to, args[4]->udp_sport == self->from); }
     ip:::send /${mine} && args[4]->ipv4_protostr == "UDP"/ {
       printf("ip %d %d %s %d %d\\n", args[2]->ip_ver, args[4]->ipv4_length, args[3]->if_name, args[3]->if_local, args[5]->ipv6_ver); }
     tcp:::accept-refused /${mine}/ { printf("refused %x %d\\n", args[4]->tcp_flags, args[4]->tcp_offset); }
     tcp:::send /${mine}/ { printf("tcp %x %d\\n", args[4]->tcp_flags, args[3]->tcps_state); }`,
  );
  assert.deepEqual(lines, [
    ...[0, 1, 2].flatMap((i) => [
      `send ${18 + i} 127.0.0.1 127.0.0.1 1`,
      `ip 4 ${38 + i} lo 1 0`,
      `receive ${18 + i} 1 1`,
    ]),
    "tcp 2 2",
    "refused 14 20",
    "tcp 14 7",
  ]);
});
