// FIFOs, devices, links, holes and files of others, where strobe looks for names and places: refused, said once, never
// waited for.
import assert from "node:assert/strict";
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  copyFileSync,
  mkdirSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { readOthersFile } from "../../../src/linux/others-files.ts";
import { bpfObjects, compileC, nothingLeft, startStrobe, strobe, temporaryFolder } from "../../support/strobe.ts";
import { nobody } from "../../support/users.ts";

const folder = temporaryFolder();
const objects = bpfObjects();
after(async () => {
  folder.remove();
  await nothingLeft(objects);
});
const makeFifo = (path: string): void => assert.equal(spawnSync("mkfifo", [path]).status, 0);
const quick = { deadline: 300_000 };

describe("a map of compiled code", () => {
  // getpid(2) from code that no file has, at a known address.
  const program = compileC(
    folder.path,
    "jit",
    `
#define _GNU_SOURCE
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
int main(void)
{
	static const unsigned char code[] = { 0x55, 0x48, 0x89, 0xe5, 0xb8, 39, 0, 0, 0, 0x0f, 0x05, 0x5d, 0xc3 };
	void *at = mmap((void *)0x10000000, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	char c;
	memcpy(at, code, sizeof code);
	write(1, "ready", 5);
	if (read(0, &c, 1) == 1) for (int i = 0; i < 3; i++) ((void (*)(void))at)();
	read(0, &c, 1);
	return 0;
}`,
  );
  const named = "10000000 d compiled\n";

  /** What is printed for the code's address with such a map of it. */
  async function frames(
    make: (path: string) => void,
    user?: number,
  ): Promise<{ readonly named: boolean; readonly stderr: string }> {
    chmodSync(folder.path, 0o755);
    const child: ChildProcess = spawn(program, {
      stdio: ["pipe", "pipe", "ignore"],
      ...(user === undefined ? {} : { uid: user, gid: user }),
    });
    await once(child.stdout!, "data");
    const path = `/tmp/perf-${child.pid}.map`;
    make(path);
    try {
      const running = startStrobe(
        [
          "-p",
          String(child.pid),
          "-e",
          "tracepoint:syscalls:sys_enter_getpid { @[ustack(fp, 1)] = count(); if (++@n == 3) { exit() } }",
        ],
        quick,
      );
      await running.attached;
      child.stdin!.write("x");
      const { stdout, stderr, code } = await running.outcome;
      assert.equal(code, 0, stderr);
      return { named: stdout.includes("compiled+"), stderr: stderr.replaceAll(String(child.pid), "PID") };
    } finally {
      child.kill("SIGKILL");
      rmSync(path, { force: true });
    }
  }
  const attached = "Attached 1 probe\n";
  const refused = (why: string): { readonly named: boolean; readonly stderr: string } => ({
    named: false,
    stderr: `${attached}WARNING: /proc/PID/root/tmp/perf-PID.map is not read: ${why} (and 1 more like it)\n`,
  });

  test("is read", async () => {
    assert.deepEqual(await frames((path) => writeFileSync(path, named)), { named: true, stderr: attached });
  });
  test(
    "is read of a user's process, if it is that user's",
    { skip: process.getuid?.() === 0 ? false : "takes root" },
    async () => {
      assert.deepEqual(
        await frames((path) => {
          writeFileSync(path, named);
          chownSync(path, nobody, nobody);
        }, nobody),
        { named: true, stderr: attached },
      );
    },
  );
  test("is not waited for where it is a FIFO", async () =>
    assert.deepEqual(await frames(makeFifo), refused("it is a FIFO, not a regular file")));
  test("is no link to a device", async () =>
    assert.deepEqual(
      await frames((path) => symlinkSync("/dev/zero", path)),
      refused("it is a symbolic link, not a regular file"),
    ));
  test("is no device's worth of zeros", async () => {
    assert.deepEqual(
      await frames((path) => {
        writeFileSync(path, named);
        truncateSync(path, 2 ** 40);
      }),
      refused("it has more than 64 MiB"),
    );
  });
  test("is nobody else's", { skip: process.getuid?.() === 0 ? false : "takes root" }, async () => {
    assert.deepEqual(
      await frames((path) => {
        writeFileSync(path, named);
        chownSync(path, nobody, nobody);
      }),
      refused(`it belongs to user ${nobody}, and is about a process of user 0`),
    );
  });
});

test("a program that became a FIFO while it runs does not hold up what looks through all programs", async () => {
  const program = join(folder.path, "sleeps");
  copyFileSync("/bin/sleep", program);
  const child = spawn(program, ["600"], { stdio: "ignore" });
  await once(child, "spawn");
  rmSync(program);
  makeFifo(program);
  try {
    // The kernel says that the file was removed; a mapping still leads to it.
    for (const probes of ["uprobe:*:no_such_function_anywhere", "usdt:*:*:no_such_probe"]) {
      const { signal, stderr } = await strobe(["-p", String(child.pid), "-l", probes], quick);
      assert.equal(signal, null);
      assert.doesNotMatch(stderr, /FIFO/);
    }
    const { code, stderr } = await strobe(["-e", `uprobe:${folder.path}/*:no_such_function { }`], quick);
    assert.equal(code, 1);
    assert.match(stderr, new RegExp(`^WARNING: ${program} is not read: it is a FIFO, not a regular file$`, "m"));
  } finally {
    child.kill("SIGKILL");
  }
});

test("a named file that is none is told apart, and opened neither", async () => {
  makeFifo(join(folder.path, "fifo"));
  for (const place of ["fifo", "zero"]) {
    if (place === "zero") symlinkSync("/dev/zero", join(folder.path, "zero"));
    const { code, stderr } = await strobe(["-e", `uprobe:${join(folder.path, place)}:main { }`], quick);
    assert.equal(code, 1);
    assert.match(stderr, /^-e:1:1: error: `.*` is not a regular file$/m);
  }
});

test("a terabyte of holes that says it has symbols is no program with symbols", async () => {
  const program = compileC(folder.path, "holes", "int main(void) { return 0; }");
  const script = `
import struct, sys
path = sys.argv[1]
f = open(path, "r+b")
head = f.read(64)
shoff, = struct.unpack_from("<Q", head, 40)
size, count, names = struct.unpack_from("<HHH", head, 58)
for i in range(count):
    at = shoff + i * size
    f.seek(at)
    section = bytearray(f.read(size))
    if struct.unpack_from("<I", section, 4)[0] == 2:
        struct.pack_into("<QQ", section, 24, 1 << 32, 1 << 29)
        f.seek(at)
        f.write(section)
f.truncate(1 << 40)
`;
  const made = spawnSync("python3", ["-c", script, program], { encoding: "utf8" });
  assert.equal(made.status, 0, made.stderr);
  const { code, stderr } = await strobe(["-e", `uprobe:${program}:main { }`], quick);
  assert.equal(code, 1);
  assert.match(stderr, /what it says that it has are holes/);
});

test("cat() of a FIFO takes what is there", async () => {
  makeFifo(join(folder.path, "cat"));
  const { code, stdout } = await strobe(
    ["-q", "-e", `begin { cat("${join(folder.path, "cat")}"); printf("on\\n"); exit() }`],
    quick,
  );
  assert.deepEqual([code, stdout.trim()], [0, "on"]);
});

test("links in a process's root stay in it", { skip: process.getuid?.() === 0 ? false : "takes root" }, async () => {
  const root = join(folder.path, "root");
  mkdirSync(join(root, "etc"), { recursive: true });
  writeFileSync(join(root, "etc/secret"), "inside");
  writeFileSync(join(folder.path, "secret"), "outside");
  symlinkSync("/etc/secret", join(root, "absolute"));
  symlinkSync("../../../../../../etc/secret", join(root, "above"));
  symlinkSync("/etc", join(root, "folder"));
  const program = compileC(
    folder.path,
    "confined",
    `
#define _GNU_SOURCE
#include <unistd.h>
int main(int argc, char **argv) { char c; if (chroot(argv[1]) != 0) return 1; write(1, "ready", 5); return read(0, &c, 1) != 0; }`,
  );
  const child = spawn(program, [root], { stdio: ["pipe", "pipe", "ignore"] });
  await once(child.stdout, "data");
  try {
    for (const name of ["etc/secret", "absolute", "above", "folder/secret", "../etc/secret"]) {
      assert.equal(readOthersFile(`/proc/${child.pid}/root/${name}`, { limit: 100 }).toString(), "inside", name);
    }
    assert.throws(
      () => readOthersFile(`/proc/${child.pid}/root/absolute`, { limit: 100, direct: true }),
      /it is a symbolic link/,
    );
    assert.throws(() => readOthersFile(`/proc/${child.pid}/root/etc/secret`, { limit: 3 }), /it has more than/);
  } finally {
    child.kill("SIGKILL");
  }
});
