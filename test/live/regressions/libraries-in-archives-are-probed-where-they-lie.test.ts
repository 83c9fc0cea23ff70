// A library that lies in a ZIP archive as it is, from where a loader maps it, is probed there by its functions' names;
// what cannot be run from there is refused with the reason.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { deflateRawSync } from "node:zlib";
import { compileC, strobe, temporaryFolder } from "../../support/strobe.ts";

const skip = process.geteuid?.() !== 0 ? "needs root" : false;
const folder = temporaryFolder();
after(() => folder.remove());

const PAGE = 4096;
const library = compileC(
  folder.path,
  "libsum.so",
  "struct pair { int a, b; }; __attribute__((noinline)) int sum(struct pair *p) { return p->a + p->b; } int twice(struct pair *p) { return 2 * sum(p); }",
  ["-shared", "-fPIC", "-O1", "-g", "-nostdlib", "-Wl,-Bsymbolic", "-Wl,-z,noseparate-code"],
);

/** An archive with these files; what is stored as it is begins at a page. */
function archiveOf(
  files: readonly { readonly name: string; readonly bytes: Buffer; readonly packed: boolean }[],
): Buffer {
  const parts: Buffer[] = [];
  const list: Buffer[] = [];
  let at = 0;
  for (const { name, bytes, packed } of files) {
    const data = packed ? deflateRawSync(bytes) : bytes;
    const extra = packed ? 0 : (2 * PAGE - ((at + 30 + name.length) % PAGE)) % PAGE;
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(packed ? 8 : 0, 4);
    common.writeUInt32LE(data.length, 14);
    common.writeUInt32LE(bytes.length, 18);
    common.writeUInt16LE(name.length, 22);
    common.writeUInt16LE(extra, 24);
    const central = Buffer.alloc(46);
    central.writeUInt32LE(0x02014b50, 0);
    common.copy(central, 6);
    central.writeUInt16LE(0, 30);
    central.writeUInt32LE(at, 42);
    list.push(central, Buffer.from(name));
    const local = [Buffer.from("PK\x03\x04"), common, Buffer.from(name), Buffer.alloc(extra), data];
    parts.push(...local);
    at += local.reduce((sum, { length }) => sum + length, 0);
  }
  const size = list.reduce((sum, { length }) => sum + length, 0);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(files.length, 8);
  end.writeUInt16LE(files.length, 10);
  end.writeUInt32LE(size, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...parts, ...list, end]);
}

const archive = join(folder.path, "app.apk");
const bytes = readFileSync(library);
writeFileSync(
  archive,
  archiveOf([
    { name: "classes.dex", bytes: Buffer.from("nothing here"), packed: true },
    { name: "lib/libsum.so", bytes, packed: false },
    { name: "lib/libpacked.so", bytes, packed: true },
  ]),
);
const base = readFileSync(archive).indexOf(bytes);

/** Maps the archive's page as a loader does, and calls what it finds at the offset of `twice`. */
const program = compileC(
  folder.path,
  "loader",
  `#include <fcntl.h>
   #include <stdlib.h>
   #include <sys/mman.h>
   int main(int argc, char **argv) {
     int fd = open(argv[1], O_RDONLY);
     char *code = mmap(0, strtoul(argv[3], 0, 0), PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, strtoul(argv[2], 0, 0));
     int pair[2] = { 20, 1 };
     return ((int (*)(int *))(code + strtoul(argv[4], 0, 0)))(pair);
   }`,
  ["-O1"],
);

test(
  "functions by their names, with their arguments and lines, as where it is a file of its own",
  { skip },
  async () => {
    const { stdout: symbols } = await strobe(["-l", `uprobe:${archive}!/lib/libsum.so:*`]);
    assert.deepEqual(
      symbols.trim().split("\n").sort(),
      ["sum", "twice"].map((name) => `uprobe:${archive}!/lib/libsum.so:${name}`),
    );
    const found = offsetOf("twice");
    const { stdout, stderr, code } = await strobe([
      "-c",
      `${program} ${archive} ${base} ${bytes.length} ${found}`,
      "-e",
      `uprobe:${archive}!/lib/libsum.so:sum { printf("%d %d\\n", args.p->a, args.p->b); }
     uretprobe:${archive}!/lib/libsum.so:sum { printf("gives %d\\n", retval); }
     uprobe:${archive}!/lib/libsum.so:twice { printf("%s\\n", func); }`,
    ]);
    assert.equal(stderr, "Attached 3 probes\n");
    assert.equal(stdout.trim(), "twice\n20 1\ngives 21");
    assert.equal(code, 0);
  },
);

/** Where a function is in the library's file, by what the linker says. */
function offsetOf(name: string): number {
  const { stdout } = spawnSync("nm", [library], { encoding: "utf8" });
  return Number(`0x${new RegExp(`^([0-9a-f]+) T ${name}$`, "m").exec(stdout)?.[1]}`);
}

for (const [target, message] of [
  [`${archive}!/lib/libsun.so`, `there is no \`lib/libsun.so\` in the ZIP archive \`${archive}\``],
  [`${archive}!/lib/libpacked.so`, `\`lib/libpacked.so\` is compressed in the ZIP archive \`${archive}\``],
  [`${archive}!/classes.txt`, `there is no \`classes.txt\` in the ZIP archive \`${archive}\``],
  [`${program}!/lib/libsum.so`, `\`${program}\` is no ZIP archive that can be read: it has no list of its files`],
] as const) {
  test(`refused with its reason: ${target.slice(folder.path.length)}`, { skip }, async () => {
    const { stderr, code } = await strobe(["-e", `uprobe:${target}:sum { }`]);
    assert.notEqual(code, 0);
    assert.ok(stderr.includes(message), stderr);
  });
}
