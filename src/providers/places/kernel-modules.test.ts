// Lines, inlined copies and variables of a kernel module, by its file as the kernel has placed it: on a made-up
// machine, with a module that gcc made.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { bareSystem } from "../../../test/support/bare-system.ts";
import { placedElf } from "../../debuginfo/placed-elf.ts";
import { elfAt } from "../../machine/binaries/file-bytes.ts";
import type { KprobeSite } from "./kernel-functions.ts";
import { LiveBinary } from "../../machine/binaries/live-binary.ts";
import type { Resolution } from "../provider.ts";
import { resolveSpec, splitPattern } from "../registry.ts";
import type { KernelImage, System } from "../../machine/system.ts";
import { Failure } from "../../base/failure.ts";
import { reason } from "../../messages/message.ts";

const folder = mkdtempSync(join(tmpdir(), "strobe-module-"));
after(() => rmSync(folder, { recursive: true }));
const skip =
  process.arch !== "x64" ? "x86-64 only" : spawnSync("gcc", ["--version"]).status !== 0 ? "needs gcc" : false;

const source = `struct request { int length; };
int total;
static inline __attribute__((always_inline)) int add(int by) {
  total += by;
  return total;
}
__attribute__((noinline)) int serve(struct request *asked, int times) {
  int sum = 0;
  while (times--)
    sum += add(asked->length);
  return sum;
}
`;
const text = 0xffffffffc0401000n;
let image: KernelImage;
const system: System = {
  ...bareSystem,
  kernelFunctions: () => ["serve"],
  functionModule: (name) => (name === "serve" ? "demo" : undefined),
  symbolAddress: (name) => (name === "serve" ? text : undefined),
  kernelImage: () => new Failure(reason("none is installed")),
  loadedModules: () => ["other", "demo"],
  moduleAt: (address) => (address >= text ? "demo" : undefined),
  moduleImage: (name) => (name === "demo" ? image : new Failure(reason(`the module ${name} has no debug information`))),
};

before(() => {
  if (skip) return;
  const path = join(folder, "demo.ko");
  writeFileSync(join(folder, "demo.c"), source);
  execFileSync("gcc", [
    "-c",
    "-g",
    "-O1",
    "-mcmodel=kernel",
    "-fno-pic",
    "-fno-asynchronous-unwind-tables",
    "-o",
    path,
    join(folder, "demo.c"),
  ]);
  const addresses = new Map([
    [".text", text],
    [".bss", 0xffffffffc0500000n],
  ]);
  image = { binary: new LiveBinary(path, path, "", { paths: {} }, placedElf(elfAt(path)!, addresses)), slide: 0n };
});

function resolve(text: string, uses: readonly string[] = []): Resolution {
  const [provider = "", ...parts] = splitPattern(text.replace(/^kprobe@/, "kprobe:@"));
  return resolveSpec({ provider, parts, text, span: { start: 0, end: text.length } }, system, {
    missing: "error",
    uses: new Set(uses),
  });
}
const addressesOf = ({ variants }: Resolution): bigint[] =>
  variants.flatMap(({ sites }) => sites.map(({ data }) => (data as KprobeSite).offset));

test("lines of a module are places of the running kernel", { skip }, () => {
  const named = resolve("kprobe:demo@demo.c:8");
  assert.deepEqual(named.diagnostics, []);
  const places = addressesOf(named);
  assert.ok(places.length > 0 && places.every((place) => place >= text && place < text + 0x100n), String(places));
  assert.match(named.variants[0]?.sites[0]?.name ?? "", /^kprobe:demo@demo\.c:/);
  // Without the module's name, the loaded ones are looked in.
  assert.deepEqual(addressesOf(resolve("kprobe@demo.c:8")), places);
});

test("copies of what was inlined in a module", { skip }, () => {
  const {
    diagnostics: [note],
  } = resolve("kprobe:inlined:add");
  assert.match(note?.message ?? "", /`add` is inlined: probing its one copy, in `serve`/);
  const [place] = addressesOf(resolve("kprobe:inlined:add"));
  assert.ok(place !== undefined && place > text);
  assert.deepEqual(addressesOf(resolve("kprobe:demo:add")), [place]);
  assert.match(
    resolve("kprobe:other:add").diagnostics[0]?.message ?? "",
    /there is no kernel function `add` in the module `other`/,
  );
});

test("variables of a module's function, and its globals", { skip }, () => {
  const [variant] = resolve("kprobe:demo@demo.c:8", ["var"]).variants;
  assert.ok(variant !== undefined && variant.context !== "host");
  const { variables } = variant.context;
  assert.ok(variables !== undefined && !(variables instanceof Failure));
  const [asked, total] = [variables.find("asked"), variables.find("total")];
  assert.ok(asked !== undefined && !(asked instanceof Failure));
  assert.ok(total !== undefined && !(total instanceof Failure));
  assert.equal(asked.type.kind, "pointer");
  assert.deepEqual(total.fetch, {
    kind: "pointed",
    base: { kind: "constant", value: 0xffffffffc0500000n },
    offset: 0,
    size: 4,
    signed: true,
    space: "kernel",
  });
});

test("what is not known of a module is said", { skip }, () => {
  assert.match(
    resolve("kprobe:other@demo.c:8").diagnostics[0]?.message ?? "",
    /^lines of the module `other` are not known: the module other has no debug information$/,
  );
  assert.match(
    resolve("kprobe@nothing.c:8").diagnostics[0]?.message ?? "",
    /^lines of the kernel are not known: none is installed$/,
  );
  assert.match(resolve("kprobe:demo@nothing.c:8").diagnostics[0]?.message ?? "", /comes from a file nothing\.c$/);
  const [variant] = resolve("kretprobe:serve", ["var"]).variants;
  assert.ok(variant === undefined || variant.context !== "host");
});
