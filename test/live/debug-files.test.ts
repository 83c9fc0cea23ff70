// Debug information wherever distributions and people put it.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, test } from "node:test";
import { openBinary } from "../../src/machine/binaries/live-binary.ts";
import type { SearchPaths } from "../../src/machine/search-paths.ts";
import { Failure } from "../../src/base/failure.ts";

const folder = mkdtempSync(join(tmpdir(), "strobe-debug-files-"));
after(() => rmSync(folder, { recursive: true }));
const source = resolve("src/debuginfo/dwarf/fixture.c");
const missing = !existsSync(source)
  ? "run from the project's folder"
  : ["gcc", "objcopy"].some((tool) => spawnSync(tool, ["--version"]).status !== 0) && "needs gcc and binutils";

interface Stripped {
  readonly path: string;
  readonly debug: string;
  readonly id: string;
}

/** A stripped program, and its debug file elsewhere. */
function stripped(name: string, ...options: string[]): Stripped {
  const home = join(folder, name);
  mkdirSync(home);
  const whole = join(home, "whole");
  const path = join(home, "program");
  const debug = join(home, "program.debug");
  execFileSync("gcc", ["-g", "-O1", "-Wl,--build-id", ...options, "-o", whole, source]);
  execFileSync("objcopy", ["--only-keep-debug", whole, debug]);
  execFileSync("objcopy", ["--strip-all", whole, path]);
  const id = openBinary(whole, { paths: {} })?.buildId ?? "";
  rmSync(whole);
  return { path, debug, id };
}

function names(path: string, root = "", paths: SearchPaths = {}): readonly string[] | string {
  const info = openBinary(path, { paths }, root)?.debugInfo();
  assert.ok(info !== undefined);
  return info instanceof Failure ? info.reason : [...info.functionNames()].sort((a, b) => a.localeCompare(b));
}

const all = ["add", "main", "twice"];

test("by build id, in the root that the program sees", { skip: missing }, () => {
  const { path, debug, id } = stripped("by-id");
  const root = join(folder, "by-id", "root");
  const kept = join(root, "usr/lib/debug/.build-id", id.slice(0, 2));
  mkdirSync(kept, { recursive: true });
  cpSync(debug, join(kept, `${id.slice(2)}.debug`));
  cpSync(path, join(root, "program"));
  assert.deepEqual(names("/program", root), all);
  const here = names(path);
  assert.ok(typeof here === "string");
  assert.match(here, new RegExp(`has no debug information .*${id}.*-dbgsym`));
});

test("in the folders that are given, of the very binary", { skip: missing }, () => {
  const { path, debug, id } = stripped("given");
  const elsewhere = join(folder, "elsewhere");
  mkdirSync(elsewhere);
  const known = (folders: string): boolean => Array.isArray(names(path, "", { debuginfo: folders.split(":") }));
  cpSync(debug, join(elsewhere, "program.debug"));
  rmSync(debug);
  assert.equal(known(folder), false);
  assert.equal(known(`/nowhere::+${elsewhere}`), true);
  assert.equal(known("../elsewhere"), true);
  mkdirSync(join(elsewhere, ".build-id", id.slice(0, 2)), { recursive: true });
  cpSync(join(elsewhere, "program.debug"), join(elsewhere, ".build-id", id.slice(0, 2), `${id.slice(2)}.debug`));
  rmSync(join(elsewhere, "program.debug"));
  assert.equal(known(elsewhere), true);
  // Another program's, by the same name.
  rmSync(join(elsewhere, ".build-id"), { recursive: true });
  cpSync(stripped("another", "-O0").debug, join(elsewhere, "program.debug"));
  assert.equal(known(elsewhere), false);
});

test("by debug link, beside the program or in .debug, when the checksum agrees", { skip: missing }, () => {
  for (const place of ["", ".debug"]) {
    const { path, debug } = stripped(`by-link${place}`, "-Wl,--build-id=none");
    execFileSync("objcopy", [`--add-gnu-debuglink=${debug}`, path]);
    const to = join(folder, `by-link${place}`, place);
    mkdirSync(to, { recursive: true });
    if (place !== "") {
      cpSync(debug, join(to, "program.debug"));
      rmSync(debug);
    }
    assert.deepEqual(names(path), all);
    const linked = join(to, "program.debug");
    const bytes = readFileSync(linked);
    bytes[bytes.length - 1] ^= 1;
    writeFileSync(linked, bytes);
    assert.equal(typeof names(path), "string", "another file of the same name");
  }
});

test("from a debuginfod server, once", { skip: missing }, async () => {
  const { path, debug, id } = stripped("by-server");
  const cache = join(folder, "by-server", "cache");
  // The server has to answer while this process waits: it is one of its own.
  const { spawn } = await import("node:child_process");
  const server = spawn(
    process.execPath,
    [
      "-e",
      `
    const [id, file] = process.argv.slice(1);
    const server = require("node:http").createServer((request, response) => {
      if (request.url !== "/buildid/" + id + "/debuginfo") return response.writeHead(404).end();
      response.end(require("node:fs").readFileSync(file));
    });
    server.listen(0, "127.0.0.1", () => console.log(server.address().port));`,
      id,
      debug,
    ],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  try {
    const port = await new Promise<string>((resolve) =>
      server.stdout.once("data", (data: Buffer) => resolve(data.toString().trim())),
    );
    assert.equal(typeof names(path, "", { downloads: cache }), "string", "nobody is asked unless told");
    const paths = { downloads: cache, servers: ["http://127.0.0.1:1", `http://127.0.0.1:${port}/`] };
    assert.deepEqual(names(path, "", paths), all);
    assert.deepEqual(readdirSync(join(cache, id)), ["debuginfo"]);
    server.kill();
    assert.deepEqual(names(path, "", paths), all, "kept");
  } finally {
    server.kill();
  }
});

test(
  "sections compressed with zstd",
  {
    skip:
      missing ||
      (!execFileSync("objcopy", ["--help"], { encoding: "utf8" }).includes("zstd") && "needs binutils with zstd"),
  },
  () => {
    const { debug } = stripped("zstd");
    execFileSync("objcopy", ["--compress-debug-sections=zstd", debug]);
    assert.deepEqual(names(debug), all);
  },
);
