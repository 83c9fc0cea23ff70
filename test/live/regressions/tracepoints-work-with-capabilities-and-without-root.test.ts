// CAP_BPF, CAP_PERFMON and CAP_DAC_READ_SEARCH are enough for tracepoints; what is missing is said first, and what is
// hidden at all.
import assert from "node:assert/strict";
import { test } from "node:test";
import { canBecomeNobody, strobeAsNobody } from "../../support/users.ts";

const skip = canBecomeNobody ? false : "takes root and setpriv";
const enough = ["bpf", "perfmon", "dac_read_search"];
const count = "tracepoint:syscalls:sys_enter_getpid { @n = count() }";

test("tracepoints", { skip }, () => {
  for (const event of ["tracepoint:sched:sched_switch", "tracepoint:raw_syscalls:sys_enter"]) {
    const { status, stdout, stderr } = strobeAsNobody(enough, [
      "-e",
      `${event} /pid == cpid/ { @n = 1 }`,
      "-c",
      "/bin/true",
    ]);
    assert.deepEqual([status, stdout, stderr], [0, "\n\n@n: 1\n", "Attached 1 probe\n"]);
  }
});

test("what is missing comes first, with the command that gives it", { skip }, () => {
  const [first, second] = strobeAsNobody(["dac_read_search"], ["-e", count]).stderr.split("\n");
  assert.equal(
    first,
    "strobe: Missing CAP_BPF and CAP_PERFMON capabilities, please run strobe as the root user, or with what it needs of root's privileges:",
  );
  assert.equal(
    second,
    "  sudo setpriv --reuid=65534 --regid=65534 --init-groups --inh-caps=+bpf,+perfmon,+dac_read_search,+syslog --ambient-caps=+bpf,+perfmon,+dac_read_search,+syslog strobe …",
  );
  assert.match(
    strobeAsNobody(["bpf", "dac_read_search"], ["-e", count]).stderr,
    /^strobe: Missing CAP_PERFMON capability, please run strobe as the root user/,
  );
});

test("hidden kernel addresses are said", { skip }, (t) => {
  const script = "tracepoint:raw_syscalls:sys_enter /pid == cpid/ { @[kstack(2)] = 1; print(kstack(1)); exit() }";
  const { status, stderr } = strobeAsNobody(enough, ["-e", script, "-c", "/bin/true"]);
  assert.equal(status, 0);
  const said =
    "WARNING: kernel functions have no names: the kernel hides its addresses here: CAP_SYSLOG is missing, or kernel.kptr_restrict is 2\n";
  if (!stderr.includes(said) && !stderr.includes("WARNING"))
    return t.skip("this kernel shows its addresses to everybody");
  assert.equal(stderr, `Attached 1 probe\n${said}`);
  assert.match(
    strobeAsNobody(enough, ["-e", 'begin { print(kaddr("vfs_read")) }']).stderr,
    /^help: the kernel hides its addresses here: CAP_SYSLOG is missing/m,
  );
  assert.equal(strobeAsNobody([...enough, "syslog"], ["-e", script, "-c", "/bin/true"]).stderr, "Attached 1 probe\n");
});
