// A breakpoint in what is not code is never met, and changes what is read there: in the file's header, in read-only
// data, in a variable.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { after, test } from "node:test";
import { compileC, strobe, temporaryFolder } from "../../support/strobe.ts";

const skip =
  process.geteuid?.() !== 0 ? "needs root" : spawnSync("gcc", ["--version"]).status !== 0 ? "needs gcc" : false;
const folder = temporaryFolder();
after(() => folder.remove());

test("addresses and variables", { skip }, async () => {
  const path = compileC(
    folder.path,
    "places",
    `
    const char constant[4096] = { 1 };
    int variable = 7;
    __attribute__((noinline)) int work(int x) { return x + variable + constant[x]; }
    int main(void) { return work(1) == 0; }`,
    ["-O1"],
  );
  const symbols = new Map(
    spawnSync("nm", [path], { encoding: "utf8" })
      .stdout.split("\n")
      .map((line) => line.split(" "))
      .map(([address, , name]) => [name, BigInt(`0x${address || 0}`)]),
  );
  const refusal = async (place: string, how = "uprobe"): Promise<string> => {
    const { stderr, code } = await strobe(["-e", `${how}:${path}:${place} { exit(); }`]);
    assert.equal(code, 1, place);
    return stderr;
  };
  const at = (name: string): bigint => symbols.get(name) ?? 0n;
  const hex = (value: bigint): string => `0x${value.toString(16)}`;
  for (const [place, said] of [
    ["10", "the address 10"],
    [hex(at("constant") + 8n), `the address ${hex(at("constant") + 8n)}`],
    [hex(at("variable")), `the address ${hex(at("variable"))}`],
    ["variable", "the address of `variable`"],
    ["constant+4", "the address constant+4"],
    ["0x7fffffff", "the address 0x7fffffff"],
  ]) {
    const stderr = await refusal(place);
    assert.ok(stderr.includes(`${said} is in no code of ${path}`), stderr);
    assert.match(stderr, /its code is at 0x[0-9a-f]+ to 0x[0-9a-f]+/);
  }
  assert.ok((await refusal(hex(at("variable")), "uretprobe")).includes("is in no code"));
  assert.ok((await refusal("10")).includes("the nearest function is `_init` at 0x"));
  const { stderr, code } = await strobe(["-c", path, "-e", `uprobe:${path}:${hex(at("work"))} { printf("met\\n"); }`]);
  assert.equal(code, 0, stderr);
});
