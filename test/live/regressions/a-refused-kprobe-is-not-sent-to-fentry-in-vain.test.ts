// Where kprobes are missing, the advice names fentry only if `--info` has it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { strobe } from "../../support/strobe.ts";

test("the advice for a kprobe comes from what --info knows", async (t) => {
  const { stdout } = await strobe(["--info"]);
  const has = (name: string): boolean => new RegExp(`^${name} +yes`, "m").test(stdout);
  if (has("kprobes")) return t.skip("this kernel has kprobes");
  for (const [probe, other] of [
    ["kprobe", "fentry"],
    ["kretprobe", "fexit"],
  ]) {
    const { code, stderr } = await strobe(["-e", `${probe}:vfs_read { }`]);
    assert.equal(code, 1);
    const advice = has("fentry and fexit") ? `tracepoints or ${other}` : "tracepoints";
    assert.equal(
      /^help: (.*)$/m.exec(stderr)?.[1],
      `it needs CONFIG_KPROBE_EVENTS; ${advice} may do instead (strobe --info shows what this kernel offers)`,
    );
  }
});
