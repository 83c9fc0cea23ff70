// A loop that strobe itself runs goes on until it ends, and hears Ctrl-C; one that the kernel cuts short is said, with
// its place.
import assert from "node:assert/strict";
import { test } from "node:test";
import { startStrobe, strobe } from "../../support/strobe.ts";

test("a loop in begin has as many rounds as it asks for", async () => {
  const { stdout, stderr, code } = await strobe([
    "-q",
    "-e",
    "begin { for ($i : 0..1500000) { @n++; } $j = 0; while ($j < 1200000) { $j++; } @j = $j; exit(); }",
  ]);
  assert.deepEqual([code, stderr], [0, ""]);
  assert.match(stdout, /^@n: 1500000$/m);
  assert.match(stdout, /^@j: 1200000$/m);
});

for (const where of ["begin", "interval:ms:1"]) {
  test(`Ctrl-C ends a loop of ${where} that does not end; end runs`, async () => {
    const script = `${where} { @began = 1; printf("began\\n"); $i = 0; while ($i >= 0) { $i++; } @over = 1; } end { printf("ended\\n"); }`;
    const running = startStrobe(["-e", script]);
    const began = new Promise<void>((done) =>
      running.child.stdout?.on("data", () => {
        if (running.stdout().includes("began")) done();
      }),
    );
    await Promise.race([began, running.outcome]);
    running.child.kill("SIGINT");
    const { stdout, code } = await running.outcome;
    assert.equal(code, 0);
    assert.match(stdout, /^ended$/m);
    assert.match(stdout, /^@began: 1$/m);
    assert.doesNotMatch(stdout, /@over/);
  });
}

test("a loop that the kernel cuts short is said, with its place and how often", async () => {
  const script = `tracepoint:syscalls:sys_enter_read /pid == cpid && args.fd == 0/ {
  $i = 0;
  while ($i >= 0) { $i++; }
  for ($k : 0..10) { @rounds++; }
  @calls++;
}`;
  const { stdout, stderr, code } = await strobe([
    "-q",
    "-e",
    script,
    "-c",
    "dd if=/dev/zero of=/dev/null bs=1 count=2 status=none",
  ]);
  assert.equal(code, 0);
  assert.match(stdout, /^@calls: 2$/m);
  assert.match(stdout, /^@rounds: 20$/m);
  const loops = stderr.split("\n").filter((line) => line.includes("cut this loop short"));
  assert.equal(loops.length, 1, stderr);
  assert.match(loops[0], /^-e:3:3-\d+: WARNING: the kernel cut this loop short 2 times: /);
});
