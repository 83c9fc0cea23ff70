// Plans and V8's compiled code, damaged at random: strobe prints what it prints without them, and makes them anew.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, readFileSync, readdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { after, test } from "node:test";
import { KeptCode } from "../../../src/store/kept-code.ts";
import { Random } from "../../support/random.ts";
import { temporaryFolder } from "../../support/strobe.ts";

const deadline = { timeout: 300_000, skip: process.geteuid?.() !== 0 && "needs root" };
/** Of each kind of file. */
const times = Number(process.env["STROBE_DAMAGES"] ?? 12);
const folder = temporaryFolder();
after(() => folder.remove());

// An installation of its own: its compiled code is beside it.
const dist = join(folder.path, "dist");
cpSync("dist", dist, { recursive: true, filter: (path) => !/\.(?:map|cache)$/.test(path) });
symlinkSync(resolve("node_modules"), join(folder.path, "node_modules"));

const script =
  'begin { @x[1] = 7; printf("%d %s\\n", 6 * 7, "text"); @h = hist(5); } tracepoint:sched:sched_process_exit /pid == cpid/ { printf("%s\\n", comm); } end { clear(@h); }';
const output = "42 text\ntrue\n\n\n@x[1]: 7\n";

/** `node`: options, with which strobe leaves the compiled code as it is. */
function run(node = ""): void {
  const env = { ...process.env, STROBE_CACHE: join(folder.path, "store"), NODE_OPTIONS: node };
  const { stdout, stderr, status, signal } = spawnSync(
    process.execPath,
    [join(dist, "strobe.js"), "-q", "-c", "/bin/true", "-e", script],
    { env, encoding: "utf8", timeout: 300_000 },
  );
  assert.deepEqual([stdout, stderr, status, signal], [output, "", 0, null]);
}

/** Bits turned, a part of zeros or of something else, an end missing. */
function damaged(whole: Buffer, random: Random): Buffer {
  const bytes = Buffer.from(whole);
  const at = random.below(bytes.length);
  const end = Math.min(bytes.length, at + random.between(1, 5000));
  switch (random.below(4)) {
    case 0:
      return bytes.subarray(0, at);
    case 1:
      return bytes.fill(0, at, end);
    case 2:
      return bytes.fill(random.below(256), at, end);
  }
  bytes[at] ^= 1 << random.below(8);
  return bytes;
}

test("damaged plans", deadline, () => {
  const plans = join(folder.path, "store/plans");
  run();
  const [name, ...others] = readdirSync(plans);
  assert.deepEqual(others, []);
  const file = join(plans, name);
  const whole = readFileSync(file);
  for (let seed = 1; seed <= times; seed++) {
    const bytes = damaged(whole, new Random(seed));
    if (bytes.equals(whole)) continue;
    writeFileSync(file, bytes);
    run();
    assert.deepEqual(readFileSync(file), whole, `seed ${seed}`);
  }
});

test("damaged compiled code", deadline, () => {
  run();
  const parts = readdirSync(dist).filter((name) => name.endsWith(".cache"));
  assert.ok(parts.length >= 2, parts.join());
  const code = new KeptCode(dist);
  for (const name of parts) {
    const file = join(dist, name);
    const whole = readFileSync(file);
    const part = name.slice(0, name.indexOf(".js.") + 3);
    for (let seed = 1; seed <= times; seed++) {
      const bytes = damaged(whole, new Random(seed));
      if (bytes.equals(whole)) continue;
      writeFileSync(file, bytes);
      run("--no-deprecation");
    }
    assert.equal(code.read(part), undefined);
    writeFileSync(file, whole);
  }
  const [command] = parts.filter((name) => name.startsWith("command-"));
  const file = join(dist, command);
  writeFileSync(file, damaged(readFileSync(file), new Random(1)));
  run();
  assert.notEqual(code.read(command.slice(0, command.indexOf(".js.") + 3)), undefined, "made anew");
  assert.equal(statSync(file).mode & 0o777, 0o644);
});
