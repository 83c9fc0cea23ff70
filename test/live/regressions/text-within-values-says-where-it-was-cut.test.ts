// Text of a library within another value has room for 63 bytes: what is longer is marked as cut, in text as in JSON;
// text that just fits into an array of C's, and text outside of other values, is not.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { compileWith, missing } from "../../support/compilers.ts";
import { bpfObjects, nothingLeft, strobe, temporaryFolder } from "../../support/strobe.ts";

const folder = temporaryFolder();
let objects = "";

before(() => {
  objects = bpfObjects();
});
after(async () => {
  await nothingLeft(objects);
  folder.remove();
});

test("text that is longer than its room within a value is marked", { skip: missing("g++") }, async () => {
  writeFileSync(
    join(folder.path, "texts.cpp"),
    String.raw`
    #include <cstring>
    #include <string>
    struct texts { int n; char array[64]; std::string text; };
    extern "C" __attribute__((noinline)) int see(const texts &t, const std::string &own) { asm volatile("" ::: "memory"); return t.n + own.size(); }
    int main() {
      for (int length : { 62, 63, 100 }) {
        texts t{ length, "", std::string(length, 'x') };
        memset(t.array, 'a', 63);
        see(t, t.text);
      }
    }`,
  );
  const path = compileWith("g++", folder.path, "texts.cpp", "g++", "-O1");
  const script = `uprobe:${path}:see { print(args.t.n); print(args.t.text); print(args.t); print(args.own); }`;
  const json = await strobe(["-q", "-f", "json", "-c", path, "-e", script]);
  assert.deepEqual({ stderr: json.stderr, code: json.code }, { stderr: "", code: 0 });
  const values = json.stdout
    .trim()
    .split("\n")
    .map((line) => (JSON.parse(line) as { data: unknown }).data);
  const [array, x] = ["a".repeat(63), (count: number) => "x".repeat(count)];
  assert.deepEqual(
    values,
    // 63 bytes may be all of a text or the beginning of a longer one, which nobody tells from what was read.
    [62, 63, 100].flatMap((n) => [n, x(n), { n, array, text: n < 63 ? x(n) : `${x(63)}..` }, x(n)]),
  );
  const text = await strobe(["-q", "-c", path, "-e", `uprobe:${path}:see { print(args.t); }`]);
  assert.deepEqual({ stderr: text.stderr, code: text.code }, { stderr: "", code: 0 });
  assert.deepEqual(
    text.stdout
      .trim()
      .split("\n")
      .map((line) => line.trim()),
    [
      `{ .n = 62, .array = ${array}, .text = ${x(62)} }`,
      `{ .n = 63, .array = ${array}, .text = ${x(63)}.. }`,
      `{ .n = 100, .array = ${array}, .text = ${x(63)}.. }`,
    ],
  );
});
