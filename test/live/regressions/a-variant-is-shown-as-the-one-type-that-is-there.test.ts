// std::variant of both libraries: what the program itself says is in it, with the type's name.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { strobe, temporaryFolder } from "../../support/strobe.ts";

const folder = temporaryFolder();
after(() => folder.remove());
const file = join(folder.path, "variants.cpp");
writeFileSync(
  file,
  `#include <cstdio>
#include <string>
#include <variant>
#include <vector>
using namespace std;
struct point { int x, y; };
struct thrower { long big[9]; thrower(int) { throw 1; } thrower(const thrower &) {} ~thrower() {} };
using value = variant<monostate, int, string, bool, point, vector<int>, const char *, int, thrower>;
struct holder { long before; value is; };
extern "C" __attribute__((noinline)) void see(const value &v, const holder *h) { asm volatile("" ::"r"(&v), "r"(h) : "memory"); }
static void give(value v, const char *text) { holder h{1, v}; see(v, &h); puts(text); }
int main() {
  setvbuf(stdout, nullptr, _IOLBF, 0);
  give(value(), "std::monostate {}");
  give(value(in_place_index<1>, 7), "int(7)");
  give(string("a text that is longer than what fits"), "std::string(\\"a text that is longer than what fits\\")");
  give(true, "bool(true)");
  give(point{1, -2}, "point { .x = 1, .y = -2 }");
  give(vector<int>{1, 2}, "std::vector([1, 2])");
  give(value(in_place_index<7>, -1), "int(-1)");
  value broken = 0 ? value() : value(true);
  try { broken.emplace<8>(1); } catch (int) {}
  holder h{1, true};
  see(broken, &h);
  puts(broken.valueless_by_exception() ? "valueless" : "not valueless");
}
`,
);

for (const [compiler, ...flags] of [["g++"], ["clang++"], ["clang++", "-stdlib=libc++"]] as const) {
  for (const level of ["-O0", "-O2"]) {
    const program = join(folder.path, ["variants", compiler, level, ...flags].join("").replaceAll("=", ""));
    const made = spawnSync(compiler, ["-std=c++17", "-g", level, ...flags, file, "-o", program]);
    const skip =
      process.geteuid?.() !== 0 ? "needs root" : made.status !== 0 ? `needs ${compiler} ${flags.join("")}` : false;
    test([compiler, level, ...flags].join(" "), { skip }, async () => {
      const output = `${program}.out`;
      const { stderr, code } = await strobe([
        "-q",
        "-o",
        output,
        "-c",
        program,
        "-e",
        `uprobe:${program}:see { print(args.v); }`,
      ]);
      assert.deepEqual({ stderr, code }, { stderr: "", code: 0 });
      assert.equal(readFileSync(output, "utf8").trim(), spawnSync(program, { encoding: "utf8" }).stdout.trim());
    });
  }
}
