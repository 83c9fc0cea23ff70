import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { bytesOf, Elf } from "./elf.ts";
import { GoProgram } from "./go-functions.ts";

const folder = mkdtempSync(join(tmpdir(), "strobe-test-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const skip = spawnSync("go", ["version"]).status === 0 ? false : "needs go";

const source = `package main
type T struct{ n int }
//go:noinline
func (t *T) method(x int) int { return x + t.n }
//go:noinline
func pick[V any](x V) int { return 1 }
func main() { println((&T{1}).method(2), pick("a"), pick(3)) }
`;

function built(name: string, ...flags: readonly string[]): Elf {
  writeFileSync(join(folder, "main.go"), source);
  const { status, stderr } = spawnSync("go", ["build", ...flags, "-o", name, "main.go"], {
    cwd: folder,
    encoding: "utf8",
    env: { ...process.env, GO111MODULE: "off", GOFLAGS: "" },
  });
  assert.equal(status, 0, stderr);
  return new Elf(bytesOf(readFileSync(join(folder, name))));
}

test("a stripped program's functions are where nm finds them before", { skip }, () => {
  const whole = built("whole");
  const stripped = built("stripped", "-ldflags=-s -w");
  const { stdout } = spawnSync("nm", ["-S", join(folder, "whole")], { encoding: "utf8" });
  // Assembly for the old calling convention has its own symbol names.
  const symbols = [...stdout.matchAll(/^([0-9a-f]+) ([0-9a-f]+) [Tt] (main\..*|runtime\.\w+)$/gm)].map(
    ([, address, , name]) => [name.replace(/\[go\.shape.*\]/, "[...]"), BigInt(`0x${address}`)] as const,
  );
  const go = GoProgram.of(stripped);
  assert.ok(go !== undefined && symbols.length > 500);
  const starts = new Set(go.functions.map(({ name, address }) => `${name} ${address}`));
  assert.deepEqual(
    symbols.filter(([name, address]) => !starts.has(`${name} ${address}`) && name.startsWith("main.")),
    [],
  );
  const method = go.named("main.(*T).method")!;
  assert.equal(go.at(method.address + 3n), method);
  assert.deepEqual(GoProgram.of(whole)?.release, go.release);
  const [, major, minor] = /go(\d+)\.(\d+)/.exec(spawnSync("go", ["version"], { encoding: "utf8" }).stdout)!;
  assert.deepEqual(go.release, [Number(major), Number(minor)]);
});

test("position-independent programs as well", { skip }, () => {
  const go = GoProgram.of(built("pie", "-buildmode=pie"));
  const { stdout } = spawnSync("nm", [join(folder, "pie")], { encoding: "utf8" });
  const [, address] = /^([0-9a-f]+) T main\.main$/m.exec(stdout)!;
  assert.equal(go?.named("main.main")?.address, BigInt(`0x${address}`));
});

test("a damaged table gives fewer functions, and ends", { skip }, () => {
  const elf = built("damaged");
  const bytes = Buffer.from(elf.read(0, elf.bytes.size));
  const { offset, size } = elf.section(".gopclntab")!;
  for (let seed = 1; seed < 200; seed++) {
    const copy = Buffer.from(bytes.subarray(0));
    // The header, and some of what is behind it.
    copy.writeUInt32LE((seed * 2654435761) >>> 0, offset + 8 + (seed % 16) * 4);
    copy.writeUInt32LE((seed * 40503) >>> 0, offset + ((seed * 977) % (size - 4)));
    assert.ok((GoProgram.of(new Elf(bytesOf(copy)))?.functions.length ?? 0) < 100_000);
  }
});

test("other programs are none of Go's", () => {
  assert.equal(GoProgram.of(new Elf(bytesOf(readFileSync(process.execPath)))), undefined);
});
