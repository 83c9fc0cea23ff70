// Names of files as all headers pass by, beside those of headers that are decoded.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import * as fc from "fast-check";
import { bytesOf, Elf } from "../elf.ts";
import { DwarfError } from "./cursor.ts";
import { fileNames, lastPart } from "./file-names.ts";
import { lineHeaders } from "./lines.ts";
import { hashOf } from "./name-hash.ts";
import { DwarfSections } from "./sections.ts";

const folder = mkdtempSync(join(tmpdir(), "strobe-files-"));
after(() => rmSync(folder, { recursive: true }));
const has = (tool: string): boolean => spawnSync(tool, ["--version"]).status === 0;
mkdirSync(join(folder, "inner"));
writeFileSync(join(folder, "inner", "part.h"), "static inline int part(int n) { return n * 3; }\n");
writeFileSync(
  join(folder, "one.c"),
  '#include "inner/part.h"\n#include <stdlib.h>\nint other(int);\nint main(int argc, char **argv) { return part(argc) + abs(other(argc)); }\n',
);
writeFileSync(join(folder, "two.c"), '#include "inner/part.h"\nint other(int n) { return part(n); }\n');

function build(compiler: string, options: readonly string[]): Buffer {
  execFileSync(compiler, ["-g", ...options, "-o", "program", "one.c", "two.c"], { cwd: folder });
  return readFileSync(join(folder, "program"));
}

const sectionsOf = (bytes: Buffer): DwarfSections => DwarfSections.of(new Elf(bytesOf(bytes)));

for (const [compiler, ...options] of [
  ["gcc", "-gdwarf-5"],
  ["gcc", "-gdwarf-4"],
  ["gcc", "-gdwarf-5", "-gdwarf64"],
  ["clang", "-gdwarf-5"],
  ["clang", "-gdwarf-4"],
]) {
  test(
    `names of files by ${compiler} ${options.join(" ")}`,
    { skip: has(compiler) ? false : `needs ${compiler}` },
    () => {
      const sections = sectionsOf(build(compiler, options));
      const { hashes, offsets } = fileNames(sections);
      const found = [...hashes].map((hash, i) => `${offsets[i]} ${hash}`);
      const expected = [...lineHeaders(sections)].flatMap(({ offset, files }) =>
        files.filter(({ name }) => name !== "").map(({ name }) => `${offset} ${hashOf(lastPart(name))}`),
      );
      assert.ok(expected.some((each) => each.endsWith(` ${hashOf("part.h")}`)));
      assert.deepEqual([...new Set(found)].sort(), [...new Set(expected)].sort());
    },
  );
}

test("damaged line tables give names or an error", { skip: has("gcc") ? false : "needs gcc" }, () => {
  const whole = build("gcc", ["-gdwarf-5"]);
  const { offset, size } = new Elf(bytesOf(whole)).section(".debug_line")!;
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(size - 1), fc.nat(255)), { minLength: 1, maxLength: 8 }), (changes) => {
      const damaged = Buffer.from(whole);
      for (const [at, value] of changes) damaged[offset + at] = value;
      try {
        assert.ok(fileNames(sectionsOf(damaged)).hashes.length <= size);
      } catch (error) {
        if (!(error instanceof DwarfError)) throw error;
      }
    }),
    { numRuns: 500 },
  );
});
