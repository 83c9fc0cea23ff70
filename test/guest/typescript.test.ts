// Handlers in TypeScript at functions of the kernel, which the policies of many machines keep from being probed: exact
// counts on other kernels. The program is run as its users run it, so that its handlers carry what they capture.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { compileC, temporaryFolder } from "../support/strobe.ts";
import { complaint, runGuest } from "./guest.ts";
import { testedKernels } from "./tested-kernels.ts";
import { workSource } from "./workload.ts";

// Half a minute, but for a machine that has no CPU to spare.
const guestSeconds = 3600;
const folder = temporaryFolder();
after(() => folder.remove());

/** Plain JavaScript: what strips types takes minutes under emulation. */
const program = `
import { cast, comm, cpid, event, fentry, fexit, kprobe, kretprobe, map, pid, str, trace } from "strobe";

const calls = map();
const returned = map();
const sizes = map();
const failed = map();
const written = event();
const block = 512;

const nameOf = (file) => str(file.f_path.dentry.d_name.name);
const mine = (size) => pid === cpid && size === block;

const session = await trace(
  kprobe("vfs_read", { filter: ({ count }) => mine(count), handler: ({ file }) => calls.at("kprobe", nameOf(file)).count() }),
  kprobe("vfs_read", (args) => { if (mine(args[2])) calls.at("by number", nameOf(cast(args[0], "struct file"))).count(); }),
  kretprobe("vfs_read", (retval) => { if (pid === cpid && retval === block) returned.at("kretprobe").sum(retval); }),
  fentry("vfs_read", ({ file, count }) => {
    if (!mine(count)) return;
    calls.at("fentry", nameOf(file)).count();
    sizes.hist(count);
  }),
  fentry("vfs_read", ({ count }) => {
    if (!mine(count)) return;
    let rounds = 0;
    try {
      for (let i = 0; i < 9; i += 2) do if (++rounds > 6) throw new Error("enough"); while (rounds % 3);
    } catch (error) {
      failed.at(error.message).count();
    }
    try {
      sizes.hist(8 / (rounds - 7));
    } catch (error) {
      failed.at(error.kind).count();
    }
    try {
      for (const [key] of calls) failed.at(str(cast(rounds, "char *"))).count();
    } catch (error) {
      failed.at(error.kind).count();
    }
  }),
  fexit("vfs_read", ({ count }, retval) => { if (mine(count)) returned.at("fexit").sum(retval); }),
  fexit("vfs_write", {
    filter: ({ count }, retval) => pid === cpid && count === 64 && retval === 64,
    handler: ({ file, count }) => written.emit({ name: comm, size: count, file: nameOf(file) }),
  }),
  { command: "/bin/work 1000" },
);
const events = new Map();
for await (const one of written) {
  const text = JSON.stringify(one);
  events.set(text, (events.get(text) ?? 0) + 1);
}
const { reason } = await session.ended;
console.log(JSON.stringify({ reason, attached: session.attached, calls: [...calls].sort(), returned: [...returned].sort(), failed: [...failed].sort(), sizes: sizes.get(), events: [...events] }));
`;

const expected = {
  reason: "target",
  attached: 7,
  calls: [
    [["by number", "zero"], 1000],
    [["fentry", "zero"], 1000],
    [["kprobe", "zero"], 1000],
  ],
  returned: [
    ["fexit", 512_000],
    ["kretprobe", 512_000],
  ],
  failed: [
    ["division", 1000],
    ["enough", 1000],
    ["read", 1000],
  ],
  sizes: [{ low: 512, high: 1024, count: 1000 }],
  events: [[JSON.stringify({ name: "work", size: 64, file: "null" }), 1000]],
};

for (const { name, files: kernel } of testedKernels({ own: false })) {
  test(
    `Linux ${name}`,
    { skip: typeof kernel === "string" && kernel, timeout: (guestSeconds + 60) * 1000 },
    async () => {
      assert.ok(typeof kernel !== "string");
      const path = join(folder.path, "program.mjs");
      writeFileSync(path, program);
      const {
        jobs: [job],
        console,
      } = await runGuest({
        kernel,
        deadline: guestSeconds,
        jobs: [{ script: "strobe run /root/program.mjs", deadline: guestSeconds }],
        files: { "/root/program.mjs": path, "/bin/work": compileC(folder.path, "work", workSource) },
      });
      assert.ok(job, console.slice(-3000));
      assert.equal(job.stderr, "");
      assert.deepEqual(JSON.parse(job.stdout), expected);
      assert.equal(job.code, 0);
      assert.doesNotMatch(console, complaint);
    },
  );
}
