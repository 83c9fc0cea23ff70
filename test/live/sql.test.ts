// Questions in SQL: the same answers as scripts give, on both engines.
import assert from "node:assert/strict";
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { strobe, temporaryFolder } from "../support/strobe.ts";

const folder = temporaryFolder();
const comm = `sqldd${process.pid}`;
const dd = join(folder.path, comm);
const workload = ["-c", `${dd} if=/dev/zero of=/dev/null bs=100 count=7 status=none`];

before(() => copyFileSync("/bin/dd", dd));
after(() => folder.remove());

const questions: Readonly<Record<string, string>> = {
  [`SELECT COMM, CAST(count AS _COUNTER_) AS bytes FROM sys_enter_write WHERE COMM = "${comm}"`]: `bytes[${comm}]: 700
hitcount[${comm}]: 7`,
  [`SELECT CAST(id AS SYSCALL), COUNT(*) AS n FROM raw_syscalls.sys_enter WHERE COMM ~ "sqldd*" AND id = 1 AND COMM = "${comm}"`]: `n[write]: 7`,
  // The second event takes away what the first has kept: each call once.
  [`SELECT end.ret, start.COMM, AVG(start.count) AS bytes, COUNT(*) AS n
    FROM syscalls.sys_enter_write AS start JOIN sys_exit_write AS end ON start.common_pid = end.common_pid
    WHERE start.COMM = "${comm}"`]: `bytes[100, ${comm}]: 100
n[100, ${comm}]: 7`,
  [`SELECT end.ret, start.fd, (end.TIMESTAMP - start.TIMESTAMP) / 100000000000 AS took
    FROM sys_enter_write AS start JOIN sys_exit_write AS end ON start.common_pid = end.common_pid
    WHERE start.COMM = "${comm}" AND start.count = end.ret`]: "{ .ret = 100, .fd = 1, .took = 0 }\n".repeat(7).trim(),
};

test("answers are exact on both engines", async (t) => {
  for (const [question, answer] of Object.entries(questions)) {
    for (const engine of ["bpf", "tracefs"]) {
      await t.test(`${engine}: ${question.replace(/\s+/g, " ").slice(0, 60)}`, async () => {
        const { stdout, stderr, code } = await strobe(["-q", "--engine", engine, "--sql", question, ...workload]);
        assert.equal(code, 0, stderr);
        assert.equal(stdout.split("\n").filter(Boolean).sort().join("\n"), answer, stderr);
      });
    }
  }
});

test("mistakes are shown in the question", async () => {
  const said = async (...words: readonly string[]): Promise<string> => (await strobe(words)).stderr;
  assert.equal(
    await said("--sql", "SELECT pidd FROM sched_waking"),
    `-e:1:8: error: tracepoint:sched:sched_waking has no argument \`pidd\`
 1 │ SELECT pidd FROM sched_waking
   │        ^^^^
help: did you mean \`pid\`?
`,
  );
  assert.match(await said("--sql", "SELECT pid FROM sched_wakin"), /help: did you mean `sched_waking`/);
  assert.match(await said("--sql", "SELECT 1 FROM x", "-e", "begin { }"), /cannot use --sql with -e: a question is a/);
});
