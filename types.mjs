// Writes dist/types: the declarations that the package's entries reach. The compiler writes those of every file that the
// entries are made of, most of which no declaration names.
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";

const config = "tsconfig.types.json";
const all = mkdtempSync(join(tmpdir(), "strobe-types-"));
try {
  const { status, error } = spawnSync("node_modules/.bin/tsc", ["-p", config, "--outDir", all], { stdio: "inherit" });
  if (status !== 0) throw error ?? new Error(`tsc -p ${config} failed`);
  const declaration = (path) => path.replace(/\.ts$/, ".d.ts");
  const { include } = JSON.parse(readFileSync(config, "utf8"));
  const reached = new Set(include.map((path) => declaration(join(all, relative("src", path)))));
  const folder = resolve("dist/types");
  rmSync(folder, { recursive: true, force: true });
  for (const file of reached) {
    for (const [, path] of readFileSync(file, "utf8").matchAll(/(?:from|import\()\s*"(\.[^"]+)"/g)) {
      reached.add(declaration(join(dirname(file), path)));
    }
    cpSync(file, join(folder, relative(all, file)));
  }
} finally {
  rmSync(all, { recursive: true, force: true });
}
