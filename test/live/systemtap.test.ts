// Scripts in SystemTap's language, run live.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { strobe } from "../support/strobe.ts";
import { missing } from "../support/compilers.ts";

const folder = mkdtempSync(join(tmpdir(), "strobe-systemtap-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const root = { timeout: 300_000, skip: process.geteuid?.() !== 0 && "needs root" };
const compiled = { timeout: 300_000, skip: root.skip || missing("gcc") };

const source = `#include <stdlib.h>
int larger(void) { return 0; }
int smaller(void) { return 0; }
int traceme(int a, int b) {
  return a + b;
}
int traceme2(int x, int y) {
  int number = traceme(x, y);
  return number < 10 ? smaller() : larger();
}
int main(void) {
  int ret = traceme(1, 2);
  ret = traceme2(5, 5);
  ret = traceme2(1, 1);
  return ret;
}
`;

function program(): string {
  const file = join(folder, "trace.c");
  const binary = join(folder, "trace");
  writeFileSync(file, source);
  execFileSync("gcc", ["-g", "-O0", "-o", binary, file]);
  return binary;
}

async function stap(...args: readonly string[]): Promise<string> {
  const { stdout, stderr, code } = await strobe(["stap", ...args]);
  assert.equal(stderr, "");
  assert.equal(code, 0);
  return stdout;
}

test("arrays, sorted loops, statistics and texts", root, async () => {
  const script = `
global names, s, unread, sum
function twice(x) { return 2 * x }
probe begin {
  names["a"] = 3; names["b"] = 1; names["c"] = 2
  foreach (k in names- limit 2) printf("%s=%d ", k, names[k])
  for (i = 1; i <= 10; i++) { s <<< twice(i); sum[i % 2] <<< i }
  printf("%d %d %d %d %d\\n", @count(s), @sum(s), @min(s), @max(s), @avg(s))
  foreach (r+ in sum) printf("%d: %d\\n", r, @sum(sum[r]))
  try { error("wrong") } catch (message) { println(message, " ", "a" . "b") }
  unread[1, "x"] = 17
  exit()
}`;
  assert.equal(await stap("-e", script), 'a=3 c=2 10 110 2 20 11\n0: 30\n1: 25\nwrong ab\nunread[1,"x"]=17\n');
});

test("dates are in UTC, or in the local time zone; the kernel's configuration is asked", root, async () => {
  const { stdout, stderr, code } = await strobe(
    [
      "stap",
      "-e",
      'probe begin { println(ctime(86399), "|", tz_ctime(86399), "|", %( CONFIG_BPF_SYSCALL == "y" %? 1 %: 0 %)); exit() }',
    ],
    { env: { ...process.env, TZ: "America/New_York" } },
  );
  assert.deepEqual({ stderr, code }, { stderr: "", code: 0 });
  assert.match(stdout, /^Thu Jan  1 23:59:59 1970\|Thu Jan  1 18:59:59 1970 E\w+\|1\n$/);
});

test("an error that nothing catches ends the script, and runs its error probes", root, async () => {
  const { stdout, stderr, code } = await strobe([
    "stap",
    "-e",
    'probe begin { error("broken") } probe end { println("end") } probe error { println("error") }',
  ]);
  assert.equal(stdout, "error\n");
  assert.match(stderr, /ERROR: broken/);
  assert.equal(code, 1);
});

const texts = `
  x = sprintf("%5d|%-6s|%#x|%05d|%+d|%o|%X|%c|%%|%.2s|%s", -n, "ab", 255, n, n, 8, -1, 65, "abc", ctime(86399))
  println(x)
  seen[key(s)] += n
  println(substr(s, 1, 3), "|", substr(s, 99, 1), "|", substr(s, -1, 1), "|", str_replace(s, "a", "<>"), "|", isinstr(s, "="))
  println(strtol("-17x", 10), " ", strtol("0x1f", 0), " ", strtol("0x1f", 16), " ", strtol("010", 0), " ", strtol(substr(s, 6, 9), 10))
  if (s =~ "^([[:alpha:]]+)=([0-9]{1,3})") println(matched(0), " ", matched(1), " ", matched(2))
  println(s !~ "a$", s =~ "x|y$", s =~ "[^a-z=0-9 ]", sprintf("%x", n) == "28")
  try { error(sprintf("bad %d", n)) } catch (message) { println(message) }`;

test(
  "texts are computed alike where a handler begins on the host and where the kernel hands them over",
  compiled,
  async () => {
    const binary = join(folder, "texts");
    const file = `${binary}.c`;
    writeFileSync(
      file,
      'int hit(const char *s, long n) { return s[0] + (int)n; }\nint main(void) { char s[] = "alpha=12, y"; return hit(s, 40) == 0; }\n',
    );
    execFileSync("gcc", ["-g", "-O0", "-o", binary, file]);
    const around = (probe: string): string => `global seen
function key(of) { first = tokenize(of, "=,"); second = tokenize("", "=,"); return sprintf("%s/%s", second, first) }
${probe}
probe end { foreach (k in seen) println(k, " ", seen[k], tokenize("", "x")) }`;
    const expected = `  -40|ab    |0xff|00040|+40|10|FFFFFFFFFFFFFFFF|A|%|ab|Thu Jan  1 23:59:59 1970
lph|||<>lph<>=12, y|1
-17 31 31 8 12
alpha=12 alpha 12
1111
bad 40
12/alpha 40
`;
    assert.equal(await stap("-e", around(`probe begin { s = "alpha=12, y"; n = 40; ${texts}\nexit() }`)), expected);
    assert.equal(
      await stap(
        "-e",
        around(`probe process("${binary}").function("hit") { s = user_string($s); n = $n; ${texts} }`),
        "-c",
        binary,
      ),
      expected,
    );
  },
);

test("thread_indent() is stored as text", compiled, async () => {
  const script = `probe process("${program()}").function("traceme") { t = thread_indent(1); println(t =~ "^ *[0-9]+ trace\\\\([0-9]+\\\\):") }`;
  assert.equal(await stap("-e", script, "-c", join(folder, "trace")), "1\n1\n1\n");
});

test("functions, returns, lines and locals of a program", compiled, async () => {
  const binary = program();
  const script = `
probe process("${binary}").function("traceme") { printf("(%d, %d) %d\\n", $a, $b, pid() == target()) }
probe process("${binary}").function("traceme").return { printf("%d = %d + %d\\n", $return, $a, $b) }
probe process("${binary}").statement("main@trace.c:13") { printf("ret %d\\n", $ret) }`;
  assert.equal(
    await stap("-e", script, "-c", binary),
    "(1, 2) 1\n3 = 1 + 2\nret 3\n(5, 5) 1\n10 = 5 + 5\n(1, 1) 1\n2 = 1 + 1\n",
  );
});

test("lines of any function, by the name of the command's own program, which has arguments", compiled, async () => {
  const binary = program();
  const script = `probe process("trace").statement("*@trace.c:13") { printf("ret %d\\n", $ret) }`;
  assert.equal(await stap("-e", script, "-c", `${binary} a "b c"`), "ret 3\n");
});

test("a call graph by the functions of a file", compiled, async () => {
  const binary = program();
  const file = join(folder, "graph.stp");
  writeFileSync(
    file,
    `probe process("${binary}").function("*@trace.c").call { printf("%s -> %s\\n", thread_indent(1), probefunc()) }
probe process("${binary}").function("*@trace.c").return { printf("%s <- %s return %x\\n", thread_indent(-1), probefunc(), $return) }`,
  );
  const lines = (await stap(file, "-c", binary)).trimEnd().split("\n");
  assert.deepEqual(
    lines.map((line) => line.replace(/^ *\d+ trace\(\d+\):/, "")),
    [
      " -> main",
      "  -> traceme",
      "  <- traceme return 3",
      "  -> traceme2",
      "   -> traceme",
      "   <- traceme return a",
      "   -> larger",
      "   <- larger return 0",
      "  <- traceme2 return 0",
      "  -> traceme2",
      "   -> traceme",
      "   <- traceme return 2",
      "   -> smaller",
      "   <- smaller return 0",
      "  <- traceme2 return 0",
      " <- main return 0",
    ],
  );
});

test("a function of the script asks for the probe that calls it; variables are text", compiled, async () => {
  const binary = program();
  const script = `
function trace(change, more) { printf("%s%s%s %s|%d\\n", thread_indent(change), change > 0 ? "->" : "<-", ppfunc(), more, is_return()) }
function again(change, more) { trace(change, more) }
probe process("${binary}").function("*@trace.c").call { trace(1, $$parms) }
probe process("${binary}").function("*@trace.c").return { again(-1, $$return) }`;
  const lines = (await stap("-e", script, "-c", binary)).trimEnd().split("\n");
  assert.deepEqual(
    lines.map((line) => line.replace(/^ *\d+ trace\(\d+\):/, "")),
    [
      "->main |0",
      " ->traceme a=0x1 b=0x2|0",
      " <-traceme return=0x3|1",
      " ->traceme2 x=0x5 y=0x5|0",
      "  ->traceme a=0x5 b=0x5|0",
      "  <-traceme return=0xa|1",
      "  ->larger |0",
      "  <-larger return=0x0|1",
      " <-traceme2 return=0x0|1",
      " ->traceme2 x=0x1 y=0x1|0",
      "  ->traceme a=0x1 b=0x1|0",
      "  <-traceme return=0x2|1",
      "  ->smaller |0",
      "  <-smaller return=0x0|1",
      " <-traceme2 return=0x0|1",
      "<-main return=0x0|1",
    ],
  );
});

test("structs as text, and what is defined where", compiled, async () => {
  const file = join(folder, "shown.c");
  const binary = join(folder, "shown");
  writeFileSync(
    file,
    `struct in { int a; char c; };
struct pt { int x, y; const char *name; struct in in; int arr[3]; unsigned char flag; };
enum color { RED, GREEN };
__attribute__((noinline)) int f(int a, char c, const char *s, struct pt *p, struct pt v, unsigned long u, short neg, enum color col, unsigned char b) {
  __asm__("");
  return a + c;
}
__attribute__((noinline)) void nothing(void) { __asm__(""); }
int main(void) {
  // Memory that was touched can be read.
  static char name[] = "-name", text[] = "-e\\"xt";
  name[0] = 'p';
  text[0] = 't';
  struct pt p = {1, -2, name, {3, 'q'}, {4, 5, 6}, 200};
  nothing();
  return f(-5, 'x', text, &p, p, 99, -3, GREEN, 250) == 0;
}
`,
  );
  execFileSync("gcc", ["-g", "-O0", "-o", binary, file]);
  const script = `
probe process("${binary}").function("f") {
  println($$parms)
}
probe process("${binary}").function("f") { println($$parms$$) }
probe process("${binary}").function("f") {
  println($p$); println($s$, $c$, $neg$, $b$)
  println(@defined($p->z) ? $p->z : $p->y, " ", @defined($absent), @defined($a), @defined($return))
}
probe process("${binary}").function("*@shown.c").return {
  if (@defined($return)) println(ppfunc(), " ", $return) else println(ppfunc(), "[", $$return, "]")
}`;
  const struct = `.x=1, .y=-2, .name="pname", .in={.a=3, .c='q'}, .arr=[4, ...], .flag='\\310'`;
  const shown = (await stap("-e", script, "-c", binary)).replaceAll(/=0x[0-9a-f]{9,12}(?= )/g, "=ADDRESS");
  assert.equal(
    shown,
    `nothing[]
a=0xfffffffffffffffb c=0x78 s=ADDRESS p=ADDRESS v={...} u=0x63 neg=0xfffffffffffffffd col=0x1 b=0xfa
a=-5 c='x' s="te\\"xt" p={${struct}} v={${struct}} u=99 neg=-3 col=1 b='\\372'
{.x=1, .y=-2, .name="pname", .in={...}, .arr=[...], .flag='\\310'}
"te\\"xt"'x'-3'\\372'
-2 010
f 115
main 0
`,
  );
});

test("system calls of the program that -c starts", root, async () => {
  const script = `global entered, returned
    probe process.syscall { if ($syscall == number) { entered++; printf("%d %d\\n", $arg1, $arg3) } }
    probe process.syscall.return { if ($syscall == number) { returned++; printf("%d %d\\n", $arg3, $return) } }
    probe end { printf("%d %d\\n", entered, returned) }`;
  // write(), in asm/unistd_64.h of x86 and in asm-generic/unistd.h.
  const text = script.replaceAll("number", process.arch === "x64" ? "1" : "64");
  assert.equal(
    await stap("-c", "dd if=/dev/zero of=/dev/null bs=4 count=1 status=none", "-e", text),
    "1 4\n4 4\n1 1\n",
  );
});

test("system calls by name, with what they are given", root, async () => {
  const script = `global n
probe syscall.openat { if (pid() == target() && isinstr(filename, "strobe-systemtap")) printf("%s %s\\n", name, filename) }
probe syscall.read.return { if (pid() == target() && retval == 6) n++ }`;
  const file = join(folder, "read");
  writeFileSync(file, "hello\n");
  // A name of another file may be in memory that was not touched yet, which is told.
  const { stdout } = await strobe(["stap", "-e", script, "-c", `/bin/cat ${file}`]);
  assert.equal(stdout, `hello\nopenat "${file}"\nn=1\n`);
});

test("parameters, first values of globals, passes and a time to end", root, async () => {
  assert.equal(
    await stap("-G", "x=7", "-e", "global x = 5 probe begin { println(x, $1, @2); exit() }", "3", "y"),
    "73y\n",
  );
  assert.equal(await stap("-p4", "-e", "probe begin { println(1) }"), "");
  assert.equal(await stap("-T", "1", "-e", 'probe begin { println("here") }'), "here\n");
  // The first pass asks only how it is written.
  assert.equal(await stap("-p1", "-e", "probe begin { missing() } probe nothing.there { }"), "");
  assert.match(
    (await strobe(["stap", "-p1", "-e", "probe begin { missing( }"])).stderr,
    /^parse error: expected an expression, found `}`: /,
  );
  const { stderr, code } = await strobe(["stap", "-p2", "-e", "probe begin { missing() }"]);
  assert.match(stderr, /semantic error: unresolved function: missing\(\)/);
  assert.equal(code, 1);
});

test("the library that is written in the language: functions, their globals, aliases", root, async () => {
  const script = `
probe begin {
  println(isdigit("5x"), isdigit("x"), " ", string_quoted("a\\tb"), " ", ntohs(htons(80)), " ", htonl(1), " ", bytes_to_string(150000))
  start_stopwatch("one"); stop_stopwatch("one")
  println(read_stopwatch_ns("one") == read_stopwatch_ns("one"), " ", sock_fam_num2str(2), " ", signal_str(9))
  try { assert(0, "not so") } catch (m) { println(m) }
  exit()
}`;
  assert.equal(await stap("-e", script), '10 "a\\tb" 80 16777216  146K\n1 INET KILL\nnot so\n');
  const switches = `global n probe scheduler.ctxswitch { if (prev_pid == target() && prev_task_name == "sleep") n++ } probe end { println(n > 0) }`;
  assert.equal(await stap("-e", switches, "-c", "sleep 0.1"), "1\n");
});

test("libraries of the user's own: what a script uses of them, and their macros", root, async () => {
  const own = join(folder, "library");
  mkdirSync(join(own, "more"), { recursive: true });
  writeFileSync(
    join(own, "calls.stp"),
    `global calls, first = 3
function doubled(x) { calls++; return more(x) * 2 }
probe mine.start = begin { name = "mine"; n = first }
probe end { println("calls: ", calls) }
`,
  );
  writeFileSync(join(own, "more", "more.stp"), "function more(x) { return x + 1 }\n");
  writeFileSync(join(own, "sums.stpm"), "@define sum(a, b) %( (@a + @b) %)\n");
  writeFileSync(join(own, "other.stp"), 'probe begin { println("never") }\nfunction other() { return 1 }\n');
  const script = `probe mine.start { println(name, " ", n, " ", doubled(@sum(1, 2))); exit() }`;
  assert.equal(await stap("-I", own, "-e", script), "mine 3 8\ncalls: 1\n");
});

test("errors up to MAXERRORS, kept apart from scripts that have another", root, async () => {
  const script = 'global n probe timer.ms(10) { n++; error("e") } probe error { println("error ", n) }';
  for (const [most, said] of [
    ["2", "error 3\n"],
    ["1", "error 2\n"],
  ] as const) {
    const { stdout, stderr, code } = await strobe(["stap", "-D", `MAXERRORS=${most}`, "-e", script]);
    const count = Number(most) + 1;
    const line = "ERROR: e near identifier 'error' at -e:1:36 in probe timer.ms(10)\n";
    assert.equal(stdout, said);
    assert.equal(stderr, `${line.repeat(count)}WARNING: Number of errors: ${count}, skipped probes: 0\n`);
    assert.equal(code, 1);
  }
});

test("what system calls return, as text", root, async () => {
  const script = `probe syscall.openat.return { if (pid() == target() && retval < 0) { println(name, " ", retstr); exit() } }`;
  assert.equal(await stap("-w", "-e", script, "-c", "grep -s x /nowhere/at/all"), "openat -2 (ENOENT)\n");
});

test("what system calls are given, as text, and at their returns", compiled, async () => {
  const file = join(folder, "calls.c");
  const binary = join(folder, "calls");
  writeFileSync(
    file,
    `#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static char name[] = "-nowhere/x", text[] = "-ne\\ttwo\\n", program[] = "-none", word[] = "- b";
int main(void) {
  name[0] = program[0] = '/';
  text[0] = 'o';
  word[0] = 'a';
  access(name, F_OK);
  open(name, O_RDONLY);
  openat(AT_FDCWD, name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);
  write(-1, text, sizeof text - 1);
  lseek(-1, 5, SEEK_CUR);
  mkdir(name, 0755);
  rename(name, name);
  chmod(name, 0644);
  unlink(name);
  void *m = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  madvise(m, 4096, MADV_DONTNEED);
  fcntl(-1, F_SETFD, FD_CLOEXEC);
  struct timespec ts = {0, 1000};
  clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, 0);
  int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(80), .sin_addr.s_addr = htonl(0x7f000001)};
  struct sockaddr_un un = {.sun_family = AF_UNIX, .sun_path = "/nowhere"};
  connect(-1, (void *)&in, sizeof in);
  connect(-1, (void *)&un, sizeof un);
  shutdown(s, SHUT_RDWR);
  kill(getpid(), 0);
  waitpid(-1, 0, WNOHANG | WUNTRACED);
  char *args[] = {program, word, 0};
  execve(program, args, 0);
  _exit(7);
}
`,
  );
  execFileSync("gcc", ["-O1", "-o", binary, file]);
  const script = `global on
probe syscall.* {
  if (pid() != target()) next
  if (name == "access" && isinstr(argstr, "nowhere")) on = 1
  if (on) printf("%s(%s)\\n", name, argstr)
}
probe syscall.openat.return {
  if (pid() == target() && retval == -2) printf("openat(%s, %d) = %s %d %d\\n", user_string($filename), @entry($dfd), retstr, $return, returnval())
}`;
  const output = (await stap("-w", "-e", script, "-c", binary)).replaceAll(/0x[0-9a-f]{9,}/g, "ADDRESS").split("\n");
  assert.deepEqual(
    output.map((line) => line.replaceAll(/kill\(\d+/g, "kill(PID")),
    [
      'access("/nowhere/x", F_OK)',
      'openat(AT_FDCWD, "/nowhere/x", O_RDONLY)',
      "openat(/nowhere/x, -100) = -2 (ENOENT) -2 -2",
      'openat(AT_FDCWD, "/nowhere/x", O_RDWR|O_CREAT|O_TRUNC|O_CLOEXEC, 0640)',
      "openat(/nowhere/x, -100) = -2 (ENOENT) -2 -2",
      'write(-1, "one\\ttwo\\n", 8)',
      "lseek(-1, 5, SEEK_CUR)",
      'mkdir("/nowhere/x", 0755)',
      'rename("/nowhere/x", "/nowhere/x")',
      'chmod("/nowhere/x", 0644)',
      'unlink("/nowhere/x")',
      "mmap(0x0, 8192, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0x0)",
      "madvise(ADDRESS, 4096, MADV_DONTNEED)",
      "fcntl(-1, F_SETFD, 0x1)",
      "clock_nanosleep(CLOCK_MONOTONIC, 0x0, [0.000001000], 0x0)",
      "socket(AF_INET, SOCK_STREAM|SOCK_CLOEXEC, IPPROTO_IP)",
      "connect(-1, {AF_INET, 127.0.0.1, 80}, 16)",
      "connect(-1, {AF_UNIX, /nowhere}, 110)",
      "shutdown(3, SHUT_RDWR)",
      "getpid()",
      "kill(PID, 0)",
      "wait4(-1, 0x0, WNOHANG|WUNTRACED, 0x0)",
      'execve("/none", "/none" "a b", 0x0)',
      "exit_group(7)",
      "",
    ],
  );
});

test("what calls are given is stored as text, of execve too, whose words are read at addresses that are read", async () => {
  const stored = async (point: string, key: string): Promise<string[]> => {
    const script = `global a probe ${point} { if (pid() == target()) a[${key}] = argstr }
      probe end { foreach (k in a+) println(a[k]) }`;
    const output = await stap("-w", "-e", script, "-c", "/bin/echo one two");
    return output.replaceAll(/0x[0-9a-f]{9,}/g, "ADDRESS").split("\n");
  };
  const execve = '"/bin/echo", "/bin/echo" "one" "two", ADDRESS';
  assert.deepEqual(await stored("syscall.execve", "pid()"), ["one two", execve, ""]);
  const all = await stored("syscall.*", "name");
  for (const line of [execve, "one two", '1, "one two\\n", 8'])
    assert.equal(all.filter((one) => one === line).length, 1, all.join("\n"));
});

test("limits and ids of processes, arrays as addresses, names of states", compiled, async () => {
  const file = join(folder, "limits.c");
  const binary = join(folder, "limits");
  writeFileSync(
    file,
    `#include <sys/resource.h>
struct named { int first; char name[8]; };
__attribute__((noinline)) void look(struct named *n) { __asm__(""); }
int main(void) {
  struct rlimit files = {77, 77};
  setrlimit(RLIMIT_NOFILE, &files);
  struct named n = {1, "array"};
  look(&n);
  return 0;
}
`,
  );
  execFileSync("gcc", ["-g", "-O0", "-o", binary, file]);
  const script = `probe process("${binary}").function("look") {
  println(user_string($n->name), " ", $n->name == $n + 4, " ", user_string_n($n->name, 3))
  task = task_current()
  println(task_rlimit_nofile(task), " ", task_rlimit(task, "RLIMIT_NOFILE"), " ", task_rlimit(task, "RLIMIT_NONE"))
  println(ns_pid() == pid(), ns_tid() == tid(), ns_pgrp() == pgrp(), ns_sid() == sid(), task_ns_pid(task) == task_ns_tid(task))
  println(WIFEXITED(0x300), WEXITSTATUS(0x300), " ", WIFEXITED(9), WTERMSIG(9), " ", AF_INET(), " ", AF_INET6())
  println(tcp_sockstate_str(10), " ", sock_type_num2str(2), " ", sock_type_str2num("RAW"))
}`;
  assert.equal(await stap("-e", script, "-c", binary), "array 1 arr\n77 77 -1\n11111\n13 09 2 10\nLISTEN DGRAM 3\n");
  const devices = "probe netdev.transmit, netdev.receive, netdev.hard_transmit { println(dev_name, length, protocol) }";
  assert.equal(await stap("-w", "-p4", "-e", devices), "");
});

test("functions with priorities, slices, texts that grow, widths that are computed", root, async () => {
  const script = `
global a, texts
function ranked:string(x:long):3 { return "small" }
function ranked:string(x:long):1 { if (x > 10) return "large"; next }
function ranked:string(x:long):2 { if (x > 5) return "medium"; next }
function ordered(x) { if (x == 1) return "first"; next }
function ordered(x) { return "second" }
probe begin {
  println(ranked(20), " ", ranked(7), " ", ranked(1), " ", ordered(1), " ", ordered(2))
  for (i = 0; i < 4; i++) a[i % 2, i] = i
  print([1, *] in a, [2, *] in a, [*, 3] in a, " "); delete a[1, *]; println([1, 1] in a, [0, 2] in a, [*, 3] in a)
  texts["k"] = "a"; texts["k"] .= "b"; texts["k"] = texts["k"] . "c"; println(texts["k"])
  w = 6; printf("[%*d][%*s][%-*s][%5s]\\n", w, 42, w, "ab", -w, "ab", sprintf("%d", 7))
  if ("k=v" =~ "(.)=(.)") println(ngroups(), matched_str())
  exit()
}`;
  // A width below 0 is none, as in SystemTap (systemtap/programs-3.stp).
  const output = "large medium small first second\n101 010\nabc\n[    42][    ab][ab][    7]\n3k=v\n";
  assert.equal(await stap("-e", script), output);
});

test("a mistake in the use of the library is told where it is used", root, async () => {
  const { stderr, code } = await strobe(["stap", "-e", "probe begin { println(isdigit(5)) }"]);
  assert.match(
    stderr,
    /^semantic error: type mismatch: expected string, found long: \w+ '.*' at -e:1:\d+\n {8}source: /m,
  );
  assert.equal(code, 1);
});

test("what the library says of connections, of groups of processes and of blocked signals", compiled, async () => {
  const file = join(folder, "connects.c");
  const binary = join(folder, "connects");
  writeFileSync(
    file,
    `#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
__attribute__((noinline)) void ready(int a, unsigned b) { __asm__(""); }
int main(void) {
  struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(0x7f000001) };
  socklen_t size = sizeof at;
  sigset_t blocked;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGUSR1);
  sigprocmask(SIG_BLOCK, &blocked, 0);
  setpgid(0, 0);
  int listening = socket(AF_INET, SOCK_STREAM, 0), one = socket(AF_INET, SOCK_STREAM, 0);
  bind(listening, (void *)&at, size);
  getsockname(listening, (void *)&at, &size);
  listen(listening, 1);
  connect(one, (void *)&at, size);
  ready(-2, ntohs(at.sin_port));
  printf("%d %d\\n", getpgid(0), getsid(0));
  fflush(stdout);
  return 0;
}
`,
  );
  execFileSync("gcc", ["-g", "-O1", "-o", binary, file]);
  const script = `
global address, own
probe kernel.trace("inet_sock_set_state") {
  // SYN_SENT becomes ESTABLISHED.
  if ($oldstate == 2 && $newstate == 1) {
    address[tcpmib_remote_port($sk)] = tcpmib_remote_addr($sk); own[tcpmib_remote_port($sk)] = tcpmib_local_port($sk)
  }
}
probe process("${binary}").function("ready") {
  println(pgrp(), " ", sid())
  println(format_ipaddr(htonl(address[u32_arg(2)]), 2), " ", own[u32_arg(2)] > 0, " ", s32_arg(1), " ",
    is_sig_blocked(task_current(), 10), is_sig_blocked(task_current(), 12))
}`;
  const lines = (await stap("-e", script, "-c", binary)).trim().split("\n");
  const [told, ...own] = lines.filter((line) => /^\d+ \d+$/.test(line));
  assert.deepEqual(own, [told]);
  assert.deepEqual(
    lines.filter((line) => line !== told),
    ["127.0.0.1 1 -2 10"],
  );
});

test("doubles that no whole number is, and places that no text has", root, async () => {
  const script = `probe begin {
  nothing = fp_div(long_to_fp(0), long_to_fp(0))
  println(fp_to_long(nothing, 1, 0), " ", fp_to_long(string_to_fp("1e30"), 1, 0), " ", fp_to_long(string_to_fp("-2.5"), 1, 0))
  println(fp_to_string(long_to_fp(3), -2), " ", strlen(fp_to_string(long_to_fp(3), 500)))
  exit()
}`;
  assert.equal(await stap("-e", script), "-9223372036854775808 -9223372036854775808 -2\n3 102\n");
});

test("the words of a process's command line, and what a bad address gives", compiled, async () => {
  const file = join(folder, "words.c");
  const binary = join(folder, "words");
  writeFileSync(
    file,
    `__attribute__((noinline)) void look(void) { __asm__(""); }
int main(void) { look(); return 0; }
`,
  );
  execFileSync("gcc", ["-g", "-O0", "-o", binary, file]);
  const script = `probe process("${binary}").function("look") {
  println(cmdline_arg(1), "|", cmdline_arg(9), "|", cmdline_args(1, 2, "-"), "|", cmdline_str())
}
probe process("${binary}").function("look") {
  println(proc_mem_rss() > 0, proc_mem_shr() > 0, proc_mem_shr() <= proc_mem_rss(), " ", user_string_n_nofault(0, 5), tcp_sockopt_str(1), bio_rw_str(1))
}
probe process("${binary}").function("look") { println(user_int_warn(16)) }`;
  const { stdout, stderr, code } = await strobe(["stap", "-e", script, "-c", `${binary} one "two three"`]);
  assert.deepEqual(stdout.split("\n").sort(), [
    "",
    "0",
    "111 TCP_NODELAYW",
    `one||one-two three|${binary} one two three`,
  ]);
  assert.deepEqual([stderr, code], ["WARNING: user int copy fault -14 at 0x10 [man error::fault]\n", 0]);
});

test("points of programs that -c gives, and lists of points as SystemTap writes them", compiled, async () => {
  const file = join(folder, "given.c");
  const binary = join(folder, "given");
  writeFileSync(
    file,
    `__attribute__((noinline)) int look(int a) { __asm__(""); return a; }
int main(void) { return look(0); }
`,
  );
  execFileSync("gcc", ["-g", "-O0", "-o", binary, file]);
  for (const point of ["process.begin", "process.end", 'process.function("look")'])
    assert.equal(
      await stap("-e", `probe ${point} { println(execname(), pid() == target()) }`, "-c", binary),
      "given1\n",
      point,
    );
  const { stderr, code } = await strobe(["stap", "-p4", "-e", 'probe process.function("look") { println(1) }']);
  assert.match(stderr, /no program is given[^]*-c COMMAND, -x PID/);
  assert.equal(code, 1);
  for (const [point, listed] of [
    ["timer.s(1)", "timer.s(1)"],
    ["begin", "begin"],
    [`process("${binary}").end`, `process("${binary}").end`],
    [`process("${binary}").function("look")`, `process("${binary}").function("look@${file}:1") $a:int`],
    [
      `process("${binary}").function("look").return`,
      `process("${binary}").function("look@${file}:1").return $return:int $a:int`,
    ],
    ["scheduler.wakeup*", "scheduler.wakeup\nscheduler.wakeup_new"],
  ])
    assert.equal(await stap("-L", point), `${listed}\n`);
  assert.equal(await stap("-l", "syscall.openat"), "syscall.openat\n");
});

test("functions and lines of programs are listed and named with their files, as SystemTap does", compiled, async () => {
  const binary = program();
  const file = join(folder, "trace.c");
  const listed = (lines: readonly string[]): string => lines.map((line) => `process("${binary}").${line}\n`).join("");
  // What SystemTap 5.6 lists of the same program.
  assert.equal(
    await stap("-L", `process("${binary}").function("*@trace.c")`),
    listed([
      `function("larger@${file}:2")`,
      `function("main@${file}:11") $ret:int`,
      `function("smaller@${file}:3")`,
      `function("traceme2@${file}:7") $x:int $y:int $number:int`,
      `function("traceme@${file}:4") $a:int $b:int`,
    ]),
  );
  assert.equal(
    await stap("-L", `process("${binary}").statement("traceme2@trace.c+1")`),
    listed([`statement("traceme2@${file}:8") $x:int $y:int $number:int`]),
  );
  const script = `
probe process("${binary}").function("*@trace.c").call { if (pp() =~ "traceme2") println(pp()) }
probe process("${binary}").function("traceme").return { println(pp()); exit() }
probe process("${binary}").statement("main@trace.c:12") { println(pp()) }`;
  assert.equal(
    await stap("-e", script, "-c", binary),
    listed([`statement("main@${file}:12")`, `function("traceme@${file}:4").return`]),
  );
});

test("functions call themselves in probes of a program; what is too deep is an error", compiled, async () => {
  const binary = program();
  const script = `
function sum(n) { return n > 0 ? n + sum(n - 1) : 0 }
function dots:string(n:long) { return n > 0 ? "." . dots(n - 1) : "" }
function count(n) { if (n > 0) { print(n, " "); count(n - 1) } }
probe process("${binary}").function("traceme") { printf("%d %s ", sum($a), dots($b)); count($a); println(pid() == target()) }`;
  assert.equal(await stap("-e", script, "-c", binary), "1 .. 1 1\n15 ..... 5 4 3 2 1 1\n1 . 1 1\n");
  const { stdout, stderr, code } = await strobe([
    "stap",
    "-D",
    "MAXNESTING=3",
    "-e",
    "function sum(n) { return n > 0 ? n + sum(n - 1) : 0 } probe begin { println(sum(2)); println(sum(3)) }",
  ]);
  assert.equal(stdout, "3\n");
  assert.match(stderr, /^ERROR: MAXNESTING exceeded near identifier 'sum' at -e:1:/);
  assert.equal(code, 1);
});

test("system calls of all processes of a program, and writes to its variables", compiled, async () => {
  const file = join(folder, "calling.c");
  const binary = join(folder, "calling");
  writeFileSync(
    file,
    `#include <unistd.h>
#include <sys/syscall.h>
int written;
int main(void) {
  for (int i = 0; i < 5; i++) { syscall(SYS_getppid); written += 1; }
  return written != 5;
}
`,
  );
  execFileSync("gcc", ["-g", "-O0", "-o", binary, file]);
  const calls = `global entered, left
probe process("${binary}").syscall { if ($syscall == ${process.arch === "x64" ? 110 : 173}) entered++ }
probe process("${binary}").syscall.return { if ($syscall == ${process.arch === "x64" ? 110 : 173}) left++ }
probe end { println(entered, " ", left) }`;
  assert.equal(await stap("-e", calls, "-c", `sh -c "${binary}; ${binary}; true"`), "10 10\n");
  const writes = `global n probe process("${binary}").data("written").write { n++ } probe end { println(n) }`;
  assert.equal(await stap("-e", writes, "-c", binary), "5\n");
});

test("mistakes are told in SystemTap's shape", root, async () => {
  const { stdout, stderr, code } = await strobe(["stap", "-e", "probe begin { println(missing(1)) }"]);
  assert.equal(
    stderr,
    `semantic error: unresolved function: missing(): identifier 'missing' at -e:1:23
        source: probe begin { println(missing(1)) }
                                      ^
`,
  );
  assert.deepEqual([stdout, code], ["", 1]);
});

test("memory as it is and in hexadecimal, and addresses of globals of a program", compiled, async () => {
  const binary = join(folder, "globals");
  const file = `${binary}.c`;
  writeFileSync(
    file,
    `struct node { int key; };
int counter = 7;
char message[] = "global text";
struct node table[2] = {{1}, {2}};
int hit(const char *s) { return s[0]; }
int main(void) { char s[] = "hello"; return hit(s) == 0; }
`,
  );
  execFileSync("gcc", ["-g", "-O0", "-o", binary, file]);
  const script = `probe process("${binary}").function("hit") {
  n = 3
  printf("%#M|%#.4M|%#10.4M|%#-10.2M|%#.5m|%#.*M|%#.*m|\\n", $s, $s, $s, $s, $s, n, $s, n, $s)
  println(user_int(&@var("counter")), " ", user_string(&@var("message")), " ", &@var("counter") == &@var("counter@globals.c"))
  println(@cast(&@var("table")[1], "struct node")->key, @defined(&@var("nowhere")), @defined(@var("counter")))
}`;
  assert.equal(
    await stap("-e", script, "-c", binary),
    "68|68656c6c|  68656c6c|6865      |hello|68656c|hel|\n7 global text 1\n201\n",
  );
});

test("tracepoints of one group, and what each is called", root, async () => {
  const script = `probe kernel.trace("sched:sched_process_e*") { if (pid() == target()) println(pp(), " ", $$name) }
probe kernel.trace("sched:sched_process_exit") { if (pid() == target()) println($$name, " ", $$system) }
probe kernel.trace("workqueue:sched_process_exit")? { println("never") }`;
  assert.equal(
    await stap("-e", script, "-c", "/bin/true"),
    `kernel.trace("sched:sched_process_exec") sched_process_exec
kernel.trace("sched:sched_process_exit") sched_process_exit
sched_process_exit sched
`,
  );
  const { stdout } = await strobe(["stap", "-l", 'kernel.trace("task:task_[nr]*")']);
  assert.equal(stdout, 'kernel.trace("task:task_newtask")\nkernel.trace("task:task_rename")\n');
});

test("system calls are compared by their names; globals that nothing is stored in are 0 or empty", root, async () => {
  const script = `global n, NONE = 0, nothing
probe kernel.trace("sys_enter") {
  if (pid() == target() && syscall_name($id) == "write") n++
  if (syscall_name($id) == "no_such_call") n = -1
}
function half(x) { if (x > 2) { return sprintf("%d", x / 2) } else { return "none" } }
probe end { println(n, " ", NONE, " ", nothing + 1, " ", half(6), half(0)) }`;
  assert.equal(
    await stap("-e", script, "-c", "dd if=/dev/zero of=/dev/null bs=1 count=5 status=none"),
    "5 0 1 3none\n",
  );
});

test("commands run without guru mode; macros of the library", root, async () => {
  assert.equal(await stap("-e", 'probe begin { system("echo $((1 + 2))"); exit() }'), "3\n");
  const script = `probe begin {
  p = task_current()
  println(@choose_defined($x, 5), " ", @container_of(&@cast(p, "task_struct")->pid, "task_struct", pid) == p)
  @try_assign(x, 1 / 0, 7)
  println(x, " ", 0b101, " ", @cast_sizeof("struct list_head"), " ", @type_defined("struct task_struct"), @type_member_defined("struct list_head", nowhere))
  exit()
}`;
  assert.equal(await stap("-e", script), "5 1\n7 5 16 10\n");
});

test("one side of || is the kernel's and the other the host's", root, async () => {
  const script = join(folder, "signal.sh");
  writeFileSync(script, "#!/bin/sh\nkill -URG $$\n", { mode: 0o755 });
  const of = (condition: string): Promise<string> =>
    stap("-e", `probe signal.send { if (sig_pid == target() && (${condition})) println(sig_name) }`, "-c", script);
  assert.equal(await of('pid_name == "signal.sh" || sig_name == "SIGNONE"'), "SIGURG\n");
  assert.equal(await of('pid_name == "other" || sig_name == "SIGURG"'), "SIGURG\n");
  assert.equal(await of('pid_name == "other" || sig_name == "SIGNONE"'), "");
});

test("stacks as SystemTap draws them; a global has the name of a variable of the library", compiled, async () => {
  const binary = program();
  const stack = `probe process("${binary}").function("larger") { print_ubacktrace(); print_ubacktrace_brief() }`;
  const shown = (await stap("-e", stack, "-c", binary))
    .split("\n")
    .filter((line) => /\b(?:traceme2|larger|main)\+/.test(line));
  assert.deepEqual(
    shown.map((line) => line.replace(/(?<=^ 0x)[0-9a-f]+/, "ADDRESS").replace(/\+0x[1-9a-f][0-9a-f]*/, "+0xN")),
    [
      ` 0xADDRESS : larger+0x0 [${binary}]`,
      ` 0xADDRESS : traceme2+0xN [${binary}]`,
      ` 0xADDRESS : main+0xN [${binary}]`,
      "larger+0x0",
      "traceme2+0xN",
      "main+0xN",
    ],
  );
  const global = `global count
probe syscall.write { if (pid() == target()) count[tid()] = fd }
probe end { foreach (k in count) println(count[k]) }`;
  assert.equal(await stap("-e", global, "-c", "dd if=/dev/zero of=/dev/null bs=4 count=1 status=none"), "1\n");
});

test("names and stacks are texts: compared, joined, keys beside others", compiled, async () => {
  const binary = program();
  const script = `
global names, stacks, kept, places, raw
probe process("${binary}").function("*@trace.c") {
  if (usymname(uaddr()) == "larger") println("at ", usymname(uaddr()) . "!")
  names[usymname(uaddr())]++
  names["all"]++
  kept[probefunc()] = strlen(probefunc())
  kept["all"] = 0
  stacks[substr(sprint_ubacktrace(), 0, 3)]++
  if (sprint_ubacktrace() =~ "traceme2.*main") stacks["within"]++
  raw[ubacktrace()]++
}
probe process("${binary}").statement("*@trace.c:*") { places[usymname(uaddr())]++ }
probe end {
  foreach (k+ in names) printf("%s=%d ", k, names[k])
  foreach (k+ in kept) printf("%s:%d ", k, kept[k])
  foreach (k+ in stacks) printf("%s~%d ", k, stacks[k])
  foreach (k+ in places) printf("%s#%d ", k, places[k])
  foreach (k in raw) lines += raw[k]
  println(lines)
}`;
  assert.equal(
    await stap("-e", script, "-c", binary),
    "at larger!\n" +
      "all=8 larger=1 main=1 smaller=1 traceme=3 traceme2=2 " +
      "all:0 larger:6 main:4 smaller:7 traceme:7 traceme2:8 " +
      "lar~1 mai~1 sma~1 tra~5 within~6 " +
      "larger#1 main#6 smaller#1 traceme#9 traceme2#8 8\n",
  );
});

test("backtrace() is addresses, whatever is done with it, and names where they are asked for", compiled, async () => {
  const binary = join(folder, "stacks");
  writeFileSync(
    `${binary}.c`,
    `__attribute__((noinline)) static int leaf(int x) { __asm__ volatile(""); return x + 1; }
static inline __attribute__((always_inline)) int copied(int x) {
	return leaf(x) + 2;
}
__attribute__((noinline)) static int middle(int x) {
	int y = copied(x);
	__asm__ volatile("");
	return y + 1;
}
int main(void) { return middle(1) == 0; }
`,
  );
  execFileSync("gcc", ["-g", "-O1", "-fno-omit-frame-pointer", "-no-pie", "-o", binary, `${binary}.c`]);
  const addresses = (text: string): string => text.replaceAll(/0x[0-9a-f]{6,}/g, "ADDRESS");
  const frames = (text: string): string[] =>
    addresses(text)
      .split("\n")
      .filter((line) => /leaf|middle|\bmain\+|copied|^\[|^</.test(line))
      .map((line) => line.replaceAll(/\+0x[1-9a-f][0-9a-f]*/g, "+0xN").replaceAll(binary, "FILE"));
  const run = async (body: string, end = ""): Promise<string> =>
    await stap("-e", `global kept probe process("${binary}").function("leaf") { ${body} } ${end}`, "-c", binary);
  const named = [" ADDRESS : leaf+0x0 [FILE]", " ADDRESS : middle+0xN [FILE]", " ADDRESS : main+0xN [FILE]"];
  // A stack that is kept: its addresses, and by names; also as a key among others.
  const stacks = await run(
    `s = ubacktrace(); println("[", s, "]"); print_usyms(s); println("[", ucallers(1), "]"); kept[pid(), s]++`,
    `probe end { foreach ([p, s] in kept) { print_ustack(s); println("[", s, "] ", kept[p, s]) } }`,
  );
  const whole = /^\[(?:0x[0-9a-f]+ )+\]$/m.exec(stacks)?.[0] ?? "";
  assert.deepEqual(frames(stacks), [
    addresses(whole),
    ...named,
    "[ADDRESS ADDRESS]",
    ...named,
    `${addresses(whole)} 1`,
  ]);
  assert.ok(stacks.includes(`${whole} 1\n`), stacks);
  // One that is a text.
  const words = await run(
    `println("<", tokenize(ubacktrace(), " "), ">"); print_ustack(ubacktrace()); println("[", sprint_ubacktrace() . "]")`,
  );
  assert.deepEqual(frames(words), [
    "<ADDRESS>",
    ...named,
    "[leaf+0x0 [stacks]",
    "middle+0xN [stacks]",
    "main+0xN [stacks]",
  ]);
  // As names where the names of a text are wanted.
  assert.deepEqual(frames(await run(`s = ubacktrace(); println("<" . s); print_ustack(s)`)), [
    "< ADDRESS : leaf+0x0 [FILE]",
    ...named.slice(1),
    ...named,
  ]);
  // A call that is inlined is at its line of the function that it is in.
  assert.deepEqual(frames(await run("print_ubacktrace_fileline()")), [
    " ADDRESS : leaf+0x0 at FILE.c:1 [FILE]",
    " ADDRESS : middle+0xN at FILE.c:3 [FILE]",
    " ADDRESS : main+0xN at FILE.c:10 [FILE]",
  ]);
});

test("argc and argv are what the command line gives", root, async () => {
  const script = join(folder, "arguments.stp");
  writeFileSync(
    script,
    `probe begin {
  printf("%d", argc); for (i = 1; i <= argc; i++) printf(" <%s>", argv[i]); println(argv[9], ".")
  foreach (i- in argv) print(i); println("")
  exit()
}
`,
  );
  assert.equal(await stap(script, "one", "two words", "3"), "3 <one> <two words> <3>.\n321\n");
  assert.equal(await stap(script), "0.\n\n");
  // Those of the script's own are no others.
  assert.equal(await stap("-e", "global argc = 7; probe begin { println(argc); exit() }"), "7\n");
});

test("functions that a function calls, and labels in it", compiled, async () => {
  const file = join(folder, "calls.c");
  const binary = join(folder, "calls");
  writeFileSync(
    file,
    `int counter;
volatile int most = 2;
__attribute__((noinline)) int leaf(int a) { counter += a; return a + 1; }
__attribute__((noinline)) int middle(int a) { int r = leaf(a) + leaf(a + 1); counter++; return r; }
__attribute__((noinline)) int other(int a) { counter--; return a; }
int (*volatile pointer)(int) = other;
int main(int argc, char **argv) {
  int i = 0;
again:
  i++;
  counter += middle(i) + pointer(1);
  if (i < most) goto again;
  counter += leaf(9);
  return 0;
}
`,
  );
  execFileSync("gcc", ["-g", "-O1", "-o", binary, file]);
  const seen = (point: string, shown: string): Promise<string> =>
    stap("-e", `probe process("${binary}").function(${point} { ${shown} }`, "-c", binary);
  assert.equal(await seen('"main").callee("leaf")', "println($a)"), "9\n");
  assert.equal(await seen('"middle").callee("l*").call', "print($a)"), "1223");
  assert.equal(await seen('"main").callees', 'print(ppfunc(), " ")'), "middle middle leaf ");
  // Of five returns of leaf() the one that main() waits for.
  assert.equal(await seen('"main").callee("leaf").return', 'println($return - @entry($a), " ", @entry($a))'), "1 9\n");
  assert.equal(await seen('"main").callees.return', 'print(ppfunc(), " ")'), "middle middle leaf ");
  assert.equal(await seen('"main").label("again")', 'print(pnlabel(), $i, " ")'), "again0 again1 ");
  assert.equal(
    await seen('"*").label("a*")', "println(pp()); exit()"),
    `process("${binary}").function("main").label("again")\n`,
  );
  const refused = async (point: string): Promise<string | undefined> => {
    const { stderr, code } = await strobe(["stap", "-p2", "-e", `probe ${point} { println(1) }`]);
    assert.equal(code, 1);
    return /^semantic error: (.*?): identifier/m.exec(stderr)?.[1]?.replaceAll(binary, "BINARY");
  };
  assert.deepEqual(
    await Promise.all([
      refused(`process("${binary}").function("main").callee("other")`),
      refused(`process("${binary}").function("main").callees(2)`),
      refused(`process("${binary}").function("main").callee("leaf").inline`),
      refused(`process("${binary}").function("leaf").label("*")`),
      refused('kernel.function("vfs_read").callees'),
    ]),
    [
      'probe point mismatch: process("BINARY").function("main").callee("other")',
      'process("BINARY").function("main").callees(2) is not supported: who called the caller is not known where a function is entered',
      'process("BINARY").function("main").callee("leaf").inline is not supported: nothing but `.call` and `.return` may stand behind `.callee`',
      'probe point mismatch: process("BINARY").function("leaf").label("*")',
      'kernel.function("vfs_read").callees is not supported: `.callees` is of functions of programs',
    ],
  );
  // Marks as SystemTap lists them.
  const marked = join(folder, "marked");
  writeFileSync(`${marked}.c`, "#include <sys/sdt.h>\nint main(int n, char **v) { STAP_PROBE2(shop, sold, n, v); }\n");
  execFileSync("gcc", ["-g", "-o", marked, `${marked}.c`]);
  assert.equal(
    await stap("-L", `process("${marked}").mark("*")`),
    `process("${marked}").mark("sold") $arg1:long $arg2:long\n`,
  );
  assert.equal(
    await stap("-l", `process("${marked}").provider("s*").mark("*")`),
    `process("${marked}").provider("shop").mark("sold")\n`,
  );
  assert.equal(
    await stap("-e", `probe process("${marked}").mark("s*") { println(pp(), " ", probemod()) }`, "-c", marked),
    `process("${marked}").mark("sold") <unknown>\n`,
  );
  // Imported functions, and when they return: printf() gives how many characters it wrote.
  const printer = join(folder, "printer");
  writeFileSync(`${printer}.c`, '#include <stdio.h>\nint main(void) { return printf("%d words\\n", 7) != 8; }\n');
  execFileSync("gcc", ["-g", "-O1", "-o", printer, `${printer}.c`]);
  assert.equal(
    await stap(
      "-e",
      `probe process("${printer}").plt("printf").return { println(pp(), " ", $$name, " ", returnval()) }`,
      "-c",
      printer,
    ),
    `7 words\nprocess("${printer}").plt("printf").return printf 8\n`,
  );
  // The variables of another program are not those of this one.
  assert.equal(await seen('"other")', `print(@var("counter", "${binary}") > 0)`), "11");
  const { stderr } = await strobe([
    "stap",
    "-e",
    `probe process("${binary}").function("leaf") { println(@var("counter", "/bin/true")) }`,
  ]);
  assert.match(stderr, /^semantic error: @var\("counter", "\/bin\/true"\) is not of what is probed here: /);
});

test("what a variable was given has its type: members behind it", compiled, async () => {
  const file = join(folder, "typed.c");
  const binary = join(folder, "typed");
  writeFileSync(
    file,
    `struct inner { int a; };
struct node { long id; struct inner in; struct node *next; };
__attribute__((noinline)) long walk(struct node *n) { return n->id; }
int main(void) {
  struct node last = {3, {30}, 0}, middle = {2, {20}, &last}, first = {1, {10}, &middle};
  return (int)(walk(&first) + walk(&middle)) - 3;
}
`,
  );
  execFileSync("gcc", ["-g", "-O0", "-o", binary, file]);
  const script = `
global kept
function id_of(n) { return @cast(n, "node", "${binary}")->id }
function inner_of(n) { return &@cast(n, "node", "${binary}")->in }
probe process("${binary}").function("walk") {
  n = $n; i = &n->in; kept["it"] = @cast(n, "node")
  printf("%d %d %d %d %d:", n->in->a, i->a, id_of(n), inner_of(n)->a, kept["it"]->id)
  for (; n && steps < 9; steps++) { printf(" %d", n->id); n = n->next }
  println("")
}
probe process("${binary}").function("walk").return { n = @cast(@entry($n), "node"); println($return, " ", n->id) }
`;
  assert.equal(await stap("-e", script, "-c", binary), "10 10 1 10 1: 1 2 3\n1 1\n20 20 2 20 2: 2 3\n2 2\n");
  const { stderr, code } = await strobe(["stap", "-e", "probe begin { n = 5; println(n->id) }"]);
  assert.match(stderr, /^semantic error: nothing says what this points to: /);
  assert.equal(code, 1);
});

test("options without a meaning here are told, with their values, and the script runs", root, async () => {
  const { stdout, stderr, code } = await strobe([
    "stap",
    "--monitor=2",
    "--compatible",
    "4.0",
    "--rlimit-as=300",
    "-e",
    'probe begin { println("here"); exit() }',
  ]);
  assert.deepEqual([stdout, code], ["here\n", 0]);
  assert.equal(
    stderr,
    "stap: --monitor=2 has no effect: print what is wanted in a probe timer.s(1), with ansi_clear_screen() before it\n" +
      "stap: --compatible has no effect: it has no meaning here\n" +
      "stap: --rlimit-as=300 has no effect: it has no meaning here\n",
  );
});
