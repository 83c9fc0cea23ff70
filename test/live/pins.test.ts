// Pinned iterators: files that the kernel prints into when they are read, after strobe has gone.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { bpfObjects, nothingLeft, strobe, temporaryFolder } from "../support/strobe.ts";

const folder = temporaryFolder();
const pins = join(folder.path, "bpf");
mkdirSync(pins);
const mounted = spawnSync("mount", ["-t", "bpf", "bpf", pins], { encoding: "utf8" });
const skip = mounted.status === 0 ? false : `a BPF file system cannot be mounted here: ${mounted.stderr}`;
after(() => {
  if (skip === false) spawnSync("umount", [pins]);
  folder.remove();
});

test("a pinned iterator prints for whoever reads it, until the file is removed", { skip }, async () => {
  const before = bpfObjects();
  const pin = join(pins, "self");
  const script = `iter:task:${pin} /ctx.task.pid == ${process.pid}/ { $p = ctx.task; printf("%d%%|%6d|%-4d|%x|%s|%-10s|%c|\\u00e9 %s\\n", -5, (uint16)7, 3, 255, "text", "left", 65, $p.comm); @n++; }`;
  const { stdout, stderr, code } = await strobe(["-e", script.replace("\\u00e9", "\u00e9")]);
  assert.equal(code, 0, stderr);
  assert.equal(stdout.trim(), "");
  assert.equal(stderr, `Program pinned to ${pin}\nAttached 1 probe\n`);
  const name = readFileSync("/proc/self/comm", "utf8").trim();
  const line = `-5%|     7|3   |ff|text|left      |A|\u00e9 ${name}\n`;
  assert.deepEqual([readFileSync(pin, "utf8"), readFileSync(pin, "utf8")], [line, line]);
  rmSync(pin);
  await nothingLeft(before);
});

test("a line of more than the kernel takes at once is printed in parts", { skip }, async () => {
  const pin = join(pins, "long");
  const numbers = Array.from({ length: 20 }, (_, i) => i);
  const text = "x".repeat(300);
  const script = `iter:task:${pin} /ctx.task.pid == ${process.pid}/ { $t = "${text}"; printf("${numbers.map(() => "%d").join(" ")} %s %s\\n", ${numbers.join(", ")}, $t, $t); }`;
  const { stderr, code } = await strobe(["-q", "-e", script]);
  assert.equal(code, 0, stderr);
  assert.equal(readFileSync(pin, "utf8"), `${numbers.join(" ")} ${text} ${text}\n`);
  rmSync(pin);
});

test("what a pinned iterator cannot do is refused, and a file that is there is left alone", { skip }, async () => {
  const pin = join(pins, "here");
  const refusal = async (body: string): Promise<string> => {
    const { stderr, code } = await strobe(["-q", "-e", `iter:task:${pin} { ${body} }`]);
    assert.equal(code, 1);
    return stderr.split("\n")[0].replace(/^[^ ]* /, "");
  };
  assert.equal(
    await refusal("print(1);"),
    "error: `print()` runs in strobe, which has exited when a pinned iterator is read",
  );
  assert.equal(
    await refusal('printf("%.2s", "abc");'),
    "error: a pinned iterator cannot print this: the kernel knows no precision",
  );
  assert.equal(await refusal('printf("%o", 1);'), "error: a pinned iterator cannot print this: the kernel knows no %o");
  const pinning = (): ReturnType<typeof strobe> => strobe(["-q", "-e", `iter:task:${pin} { printf("a"); }`]);
  assert.equal((await pinning()).code, 0);
  assert.match(
    await refusal('printf("b");'),
    /cannot attach .*BPF_OBJ_PIN.*exists already \(EEXIST\); remove it first: rm /,
  );
  assert.ok(readFileSync(pin, "utf8").startsWith("aaa"));
  rmSync(pin);
  assert.ok(!readdirSync(pins).includes("here"));
});
