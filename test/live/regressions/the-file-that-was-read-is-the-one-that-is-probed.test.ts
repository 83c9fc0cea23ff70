// A program that another user replaces between reading it and attaching gets no breakpoint in the middle of some
// instruction: the kernel is given the file that was read, not its path.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, renameSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { ElfSymbols } from "../../../src/debuginfo/elf-symbols.ts";
import { loadProgram } from "../../../src/linux/bpf/bpf.ts";
import { closeFd } from "../../../src/linux/ffi.ts";
import { elfAt } from "../../../src/machine/binaries/file-bytes.ts";
import { attachToUserSites } from "../../../src/providers/attaching/user-attachment.ts";
import { flatFile } from "../../../src/providers/places/flat-file.ts";
import { compileC, strobe, temporaryFolder } from "../../support/strobe.ts";

const skip = process.geteuid?.() !== 0 && "needs root";
const folder = temporaryFolder();
after(() => folder.remove());
const program = skip
  ? ""
  : compileC(folder.path, "program", "int f(void) { return 1; } int main(void) { f(); return f(); }", ["-O0"]);

const KPROBE = 2;
const UPROBE_MULTI = 48;
/** r0 = 0; exit */
const nothing = Uint8Array.from([0xb7, 0, 0, 0, 0, 0, 0, 0, 0x95, 0, 0, 0, 0, 0, 0, 0]);

/** What is refused of one place in the file, attached as a perf event or by a link for many. */
function refusedAt(path: string, offset: bigint, multi: boolean): readonly string[] {
  const descriptor = loadProgram({
    name: "nothing",
    type: KPROBE,
    license: "Dual MIT/GPL",
    code: nothing,
    ...(multi ? { expectedAttachType: UPROBE_MULTI } : {}),
  });
  try {
    using attachment = attachToUserSites(
      {
        program: descriptor,
        binding: {
          defaultSpace: "user",
          cookie: true,
          ...(multi ? { load: { attachType: UPROBE_MULTI, btfId: 0 } } : {}),
        },
        sites: [{ name: "uprobe", data: { path, offset, semaphore: 0n } }],
        cookies: [0n],
      },
      false,
    );
    return attachment.failed.map(({ reason }) => reason);
  } finally {
    closeFd(descriptor);
  }
}

for (const multi of [false, true]) {
  const name = multi ? "many at once" : "one by one";
  test(`${name}: a file that took the place of the one that was read is not probed`, { skip }, () => {
    const path = join(folder.path, `swapped-${multi}`);
    copyFileSync(program, path);
    const elf = elfAt(path);
    assert.ok(elf);
    const address = new ElfSymbols(elf).find("main")?.address;
    const offset = address === undefined ? undefined : elf.fileOffset(address);
    assert.ok(offset !== undefined);
    assert.deepEqual(refusedAt(path, offset, multi), []);
    copyFileSync("/bin/true", join(folder.path, "other"));
    renameSync(join(folder.path, "other"), path);
    const stale = `cannot attach to ${path}: open: ESTALE; another file has taken its place since it was read`;
    assert.deepEqual(refusedAt(path, offset, multi), [stale]);
    // A link to what every program uses is no better.
    unlinkSync(path);
    symlinkSync("/bin/sh", path);
    assert.deepEqual(refusedAt(path, offset, multi), [stale]);
    // Read again, it is known.
    assert.ok(elfAt(path));
    unlinkSync(path);
    assert.match(refusedAt(path, offset, multi)[0] ?? "", /^cannot attach to \S+: open: no such thing \(ENOENT\)/);
  });

  test(`${name}: a file of bare code that took the place of the one that was named is not probed`, { skip }, () => {
    const path = join(folder.path, `code-${multi}`);
    writeFileSync(path, Buffer.alloc(4096, 0x90));
    const place = flatFile(path, ["16"]);
    assert.deepEqual(place, { path, offset: 16n });
    assert.deepEqual(refusedAt(path, 16n, multi), []);
    writeFileSync(join(folder.path, "other"), Buffer.alloc(8192, 0x90));
    renameSync(join(folder.path, "other"), path);
    assert.deepEqual(refusedAt(path, 16n, multi), [
      `cannot attach to ${path}: open: ESTALE; another file has taken its place since it was read`,
    ]);
    assert.equal(flatFile("/dev/zero", ["16"]), undefined);
  });

  test(`${name}: a device is no file to probe`, { skip }, () => {
    assert.deepEqual(refusedAt("/dev/zero", 0n, multi), [
      "cannot attach to /dev/zero: open: EBADF; it is a device, not a regular file",
    ]);
  });
}

test("messages, counts and listings keep the path that people know", { skip }, async () => {
  const attached = await strobe(["-v", "-c", program, "-e", `uprobe:${program}:f { @calls = count(); }`]);
  assert.equal(attached.code, 0, attached.stderr);
  assert.match(attached.stdout, /^@calls: 2$/m);
  assert.doesNotMatch(attached.stdout + attached.stderr, /\/proc\/self\/fd/);
  assert.equal(spawnSync(program).status, 1);
});
