// Functions of equal code that compilers and linkers make one of: a probe on one sees the calls of all, and says so.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { compileWith, missing } from "../support/compilers.ts";
import { bpfObjects, nothingLeft, strobe, temporaryFolder } from "../support/strobe.ts";

const folder = temporaryFolder();
let objects = "";
const text = (name: string, factor: number, linkage: string): string =>
  `${linkage} __attribute__((noinline)) int ${name}(int *v, int n) {
     int s = 0; for (int i = 0; i < n; i++) s += v[i] * ${factor}; __asm__ volatile (""); return s; }`;
const source = `
  ${text("first", 3, "")} ${text("second", 3, "")} ${text("other", 5, "")}
  int told(int) __attribute__((noinline)); int told(int n) { __asm__ volatile (""); return n; }
  int kept(unsigned long n) { return told(n > -120ul ? -n : 0); }
  int way(unsigned long n) { return told(n > -120ul ? -n : 0); }
  ${text("hidden", 7, "static")} ${text("gone", 7, "static")}
  int real(int n) __attribute__((noinline)); int real(int n) { __asm__ volatile (""); return n + 1; }
  int also(int n) __attribute__((alias("real")));
  int main(int argc, char **argv) {
    int v[2] = { argc, 2 }, sum = 0;
    for (int i = 0; i < 3; i++) sum += first(v, 2);
    for (int i = 0; i < 5; i++) sum += second(v, 2);
    for (int i = 0; i < 2; i++) sum += hidden(v, 2);
    for (int i = 0; i < 7; i++) sum += gone(v, 2);
    for (int i = 0; i < 4; i++) sum += other(v, 2);
    int (*volatile of[2])(unsigned long) = { kept, way };
    for (int i = 0; i < 11; i++) sum += of[i > 1](i);
    for (int i = 0; i < 6; i++) sum += i % 2 ? real(i) : also(i);
    return sum == 0;
  }`;

before(() => {
  objects = bpfObjects();
  writeFileSync(join(folder.path, "merged.c"), source);
});
after(async () => {
  await nothingLeft(objects);
  folder.remove();
});

/** The count of a probe on a function, and what is said of functions that were merged. */
async function counted(path: string, name: string): Promise<string> {
  const { stdout, stderr, code } = await strobe(["-c", path, "-e", `uprobe:${path}:${name} { @ = count(); }`]);
  assert.equal(code, 0, stderr);
  const notes = [...stderr.matchAll(/warning: (.*(?:together|merged).*)/g)].map(([, note]) => note);
  return [/^@: (\d+)$/m.exec(stdout)?.[1], ...notes].join("; ");
}

const together = (name: string, other: string): string =>
  `\`${name}\` has its code together with \`${other}\`: calls of all of them are seen`;

for (const [compiler, ...flags] of [
  ["gcc", "-O1", "-ffunction-sections", "-fuse-ld=gold", "-Wl,--icf=all"],
  ["clang", "-O1", "-ffunction-sections", "-fuse-ld=lld", "-Wl,--icf=all"],
]) {
  test(`${compiler}, ${flags[2]}`, { skip: missing(compiler) }, async () => {
    const path = compileWith(compiler, folder.path, "merged.c", `by-${compiler}`, ...flags);
    assert.equal(await counted(path, "first"), `8; ${together("first", "second")}`);
    assert.equal(await counted(path, "second"), `8; ${together("second", "first")}`);
    assert.equal(await counted(path, "hidden"), `9; ${together("hidden", "gone")}`);
    assert.equal(await counted(path, "gone"), `9; ${together("gone", "hidden")}`);
    assert.equal(await counted(path, "other"), "4");
    assert.equal(await counted(path, "real"), "6");
    assert.equal(await counted(path, "also"), "6");
    const { stdout } = await strobe(["-lv", `uprobe:${path}:first`]);
    assert.match(stdout, /^ {4}one with second$/m);
  });
}

test("gcc -fipa-icf", { skip: missing("gcc") }, async () => {
  const path = compileWith("gcc", folder.path, "merged.c", "by-icf", "-O2");
  const perhaps = (name: string): string =>
    `\`gone\` may have been merged with \`${name}\`: then its calls are seen too`;
  assert.equal(await counted(path, "hidden"), `9; ${perhaps("hidden")}`);
  assert.equal(await counted(path, "real"), "6");
  assert.equal(
    await counted(path, "way"),
    "9; GCC merged `way` with a function of equal code: calls that it sent there directly are not seen",
  );
  assert.equal(await counted(path, "kept"), "2; `way` may have been merged with `kept`: then its calls are seen too");
});

test("gcc -flto", { skip: missing("gcc") }, async () => {
  const path = compileWith("gcc", folder.path, "merged.c", "by-lto", "-O2", "-flto");
  assert.equal(
    await counted(path, "first"),
    "8; `gone` and `second` may have been merged with `first`: then their calls are seen too",
  );
  assert.equal(await counted(path, "also"), "6");
});
