// What npm publishes, as its user has it: the command and the library in a folder of packages, with types.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { temporaryFolder } from "../support/strobe.ts";

const folder = temporaryFolder();
const installed = join(folder.path, "node_modules", "strobe");
const manifest = JSON.parse(readFileSync("package.json", "utf8")) as { dependencies: Record<string, string> };

interface Packed {
  readonly filename: string;
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string }[];
}
let packed: Packed;

before(() => {
  const pack = spawnSync("npm", ["pack", "--ignore-scripts", "--json", "--pack-destination", folder.path], {
    encoding: "utf8",
    timeout: 300_000,
  });
  assert.equal(pack.status, 0, pack.stderr);
  [packed] = JSON.parse(pack.stdout) as Packed[];
  mkdirSync(installed, { recursive: true });
  const tar = spawnSync("tar", ["-xzf", join(folder.path, packed.filename), "-C", installed, "--strip-components=1"]);
  assert.equal(tar.status, 0);
  for (const name of [...Object.keys(manifest.dependencies), "@types/node"]) {
    mkdirSync(join(folder.path, "node_modules", name, ".."), { recursive: true });
    symlinkSync(resolve("node_modules", name), join(folder.path, "node_modules", name));
  }
});
after(() => folder.remove());

test("the package has what is needed to run and to write programs, and no sources", () => {
  const paths = packed.files.map(({ path }) => path);
  for (const path of [
    "dist/strobe.js",
    "dist/index.mjs",
    "dist/types/index.d.ts",
    "tools/opens.bt",
    "README.md",
    "LICENSE",
  ]) {
    assert.ok(paths.includes(path), path);
  }
  assert.deepEqual(
    paths.filter((path) => /^(src|test|bench)\//.test(path)),
    [],
  );
});

test("the installed command traces", () => {
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    [join(installed, "dist/strobe.js"), "-q", "-e", "begin { print(6 * 7); exit(); }"],
    {
      encoding: "utf8",
      cwd: folder.path,
      timeout: 300_000,
    },
  );
  assert.deepEqual([stdout.trim(), stderr, status], ["42", "", 0]);
});

test("a program that imports the library has its types, as strictly as one likes", () => {
  writeFileSync(
    join(folder.path, "program.mts"),
    `
    import { trace, type Trace } from "strobe";
    import "strobe/register";
    import { strobe } from "strobe/esbuild";
    import { strobe as forRollup } from "strobe/rollup";
    import { strobe as forVite } from "strobe/vite";
    const running: Trace = await trace("begin { print(1); exit(); }");
    const attached: number = running.attached;
    // @ts-expect-error a number is no text
    const wrong: string = running.attached;
    export { attached, forRollup, forVite, strobe, wrong };
  `,
  );
  writeFileSync(
    join(folder.path, "tsconfig.json"),
    JSON.stringify({
      compilerOptions: {
        strict: true,
        module: "nodenext",
        target: "es2024",
        noEmit: true,
        skipLibCheck: false,
        types: ["node"],
        lib: ["es2024", "esnext.disposable"],
      },
      include: ["program.mts"],
    }),
  );
  const { stdout, status } = spawnSync(resolve("node_modules/.bin/tsc"), ["-p", folder.path], {
    encoding: "utf8",
    timeout: 300_000,
  });
  assert.deepEqual([stdout, status], ["", 0]);
});

test("with all it depends on it takes less than 20 MiB", () => {
  const du = spawnSync(
    "du",
    ["-sbL", installed, ...Object.keys(manifest.dependencies).map((name) => join(folder.path, "node_modules", name))],
    { encoding: "utf8" },
  );
  const bytes =
    du.stdout.split("\n").reduce((sum, line) => sum + Number(line.split("\t")[0]), 0) +
    statSync(resolve("node_modules/@koromix/koffi-linux-x64/linux_x64/koffi.node")).size;
  assert.ok(bytes < 20 * 2 ** 20, `${(bytes / 2 ** 20).toFixed(1)} MiB`);
});
