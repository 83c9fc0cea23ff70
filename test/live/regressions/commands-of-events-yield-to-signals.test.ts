// system() queues up, or takes long: a signal is heard all the same, `end` runs, and what was not run is said. Order
// stays.
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { bpfObjects, nothingLeft, startStrobe, strobe } from "../../support/strobe.ts";

const objects = bpfObjects();
after(() => nothingLeft(objects));

/** Runs a script until it has printed a word, and how it ends by a signal. */
async function signalled(
  signal: NodeJS.Signals,
  word: string,
  script: string,
  ...options: readonly string[]
): Promise<{ readonly stdout: string; readonly stderr: string; readonly seconds: number }> {
  const running = startStrobe(["--unsafe", "-q", "-e", script, ...options]);
  while (!running.stdout().includes(word)) await new Promise((resolve) => setTimeout(resolve, 20));
  const before = performance.now();
  running.child.kill(signal);
  const { code, stdout, stderr } = await running.outcome;
  assert.equal(code, 0, stderr);
  return { stdout, stderr, seconds: (performance.now() - before) / 1000 };
}

describe("a signal ends", () => {
  // It took 25 seconds and a SIGKILL, which the deadline of such a run is before.
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    test(`a queue of thousands: ${signal}`, async () => {
      const program = `python3 -c 'import os, time; [os.getpid() for i in range(5000)]; os.write(1, b"all" + bytes([10])); time.sleep(600)'`;
      const script =
        'tracepoint:syscalls:sys_enter_getpid /pid == cpid/ { @events++; system("echo foo"); } end { system("echo end"); }';
      const { stdout, stderr } = await signalled(signal, "all", script, "-c", program);
      const [, left] = /^WARNING: (\d+) commands of system\(\) not run: strobe was told to end$/m.exec(stderr) ?? [];
      const [, foos = "", events] =
        /^((?:foo\n)*)(?:end\n)?\n\n@events: (\d+)\n$/.exec(stdout.replace("all\n", "")) ??
        assert.fail(stdout.slice(-200));
      assert.ok(Number(left) > 0, stderr);
      // Those that ran then, of an event and of end, may have been ended before they wrote, or after.
      const ended = stderr.split("\n").filter((line) => line.startsWith("ERROR: command was ended by ")).length;
      const told = foos.length / "foo\n".length + Number(left);
      assert.ok(
        ended <= 2 && told <= Number(events) && told >= Number(events) - ended,
        `${told} of ${events}: ${stderr}`,
      );
    });
  }

  const long = "ERROR: command was ended by SIGTERM: strobe was told to end\n";
  test("a long command of an event", async () => {
    const { stdout, stderr, seconds } = await signalled(
      "SIGTERM",
      "begun",
      'interval:ms:10 /@n++ == 0/ { printf("begun\\n"); system("exec sleep 600"); } end { clear(@n); printf("end\\n"); }',
    );
    assert.equal(stdout, "begun\nend\n\n\n");
    assert.ok(stderr.startsWith(long), stderr);
    assert.ok(seconds < 200);
  });
  test("a long command of begin, before anything is attached", async () => {
    const { stdout, stderr } = await signalled(
      "SIGINT",
      "begun",
      'begin { printf("begun\\n"); system("exec sleep 600"); } interval:s:1 { printf("no\\n") } end { printf("end\\n"); }',
    );
    assert.deepEqual([stdout, stderr], ["begun\nend\n\n\n", long]);
  });
  test("a long command of end", async () => {
    const running = startStrobe([
      "--unsafe",
      "-q",
      "-e",
      'begin { printf("begun\\n"); exit() } end { printf("end\\n"); system("exec sleep 600"); printf("last\\n"); }',
    ]);
    while (!running.stdout().includes("end")) await new Promise((resolve) => setTimeout(resolve, 20));
    running.child.kill("SIGTERM");
    const { stdout, stderr } = await running.outcome;
    assert.deepEqual([stdout, stderr], ["begun\nend\nlast\n\n\n", long]);
  });
});

test("commands keep their places among the lines, in begin, in events and in end", async () => {
  const lines = (name: string): string =>
    `system("echo ${name}1"); printf("${name}2\\n"); system("sleep 0.05; echo ${name}3; exit 4"); printf("${name}5\\n"); @["${name}"] = 1;`;
  const script = `begin { ${lines("b")} } tracepoint:syscalls:sys_enter_getpid /pid == cpid/ { @n++; if (@n == 2) { exit() } printf("%d\\n", @n); system("echo %d", @n); printf("-\\n") } interval:ms:20 { printf("") } end { clear(@n); ${lines("e")} clear(@) }`;
  const { code, stdout, stderr } = await strobe([
    "--unsafe",
    "-q",
    "-e",
    script,
    "-c",
    "python3 -c 'import os; os.getpid(); os.getpid()'",
  ]);
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^b1\nb2\nb3\nb5\n1\n1\n-\ne1\ne2\ne3\ne5\n\n\n$/);
  assert.equal(stderr, "ERROR: command exited with code 4\n".repeat(2));
});
