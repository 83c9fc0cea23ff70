// D's stable providers: what the programs that are started here do is known. The real dtrace prints the same of them, as
// far as it has the probes without kprobes.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
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
