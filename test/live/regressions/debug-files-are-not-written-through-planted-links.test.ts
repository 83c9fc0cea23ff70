// Debug files from a debuginfod server: written by root into root's own store, or into a cache that is named and is
// root's alone.
import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { after, afterEach, before, test } from "node:test";
import { openBinary } from "../../../src/machine/binaries/live-binary.ts";
import { stranger } from "../../support/hostile-user.ts";
import { compileC, temporaryFolder } from "../../support/strobe.ts";
import { searchPaths } from "../../../src/api/search-paths.ts";
import { Failure } from "../../../src/base/failure.ts";

const missing =
  ["gcc", "objcopy"].some((tool) => spawnSync(tool, ["--version"]).status !== 0) && "needs gcc and binutils";
const deadline = { timeout: 300_000, skip: process.geteuid?.() !== 0 ? "needs root" : missing };
const own = temporaryFolder();
const others = stranger();
const store = join(own.path, "store");
const environment = { ...process.env };
const server = { url: "", stop: (): void => {} };
let [whole, program, debug, id] = ["", "", "", ""];

before(async () => {
  if (deadline.skip) return;
  whole = compileC(own.path, "whole", "int twice(int x) { return 2 * x; } int main(void) { return twice(0); }", [
    "-g",
    "-Wl,--build-id",
  ]);
  [program, debug] = ["program", "debug"].map((name) => join(own.path, name));
  execFileSync("objcopy", ["--only-keep-debug", whole, debug]);
  execFileSync("objcopy", ["--strip-all", whole, program]);
  id = openBinary(whole, { paths: {} })?.buildId ?? "";
  // It has to answer while this process waits; to those who know the password.
  const child = spawn(
    process.execPath,
    [
      "-e",
      `
    const [id, file] = process.argv.slice(1), fs = require("node:fs");
    const known = "Basic " + Buffer.from("user:pass word").toString("base64");
    require("node:http").createServer(({ url, headers }, response) => {
      const shown = fs.readdirSync("/proc").filter((name) => /^\\d+$/.test(name)).some((pid) => {
        try { return fs.readFileSync("/proc/" + pid + "/cmdline", "latin1").includes("pass%20" + "word"); } catch { return false; }
      });
      if (shown || headers.authorization !== known || url !== "/buildid/" + id + "/debuginfo") return response.writeHead(shown ? 500 : 404).end("none");
      response.end(fs.readFileSync(file));
    }).listen(0, "127.0.0.1", function () { console.log(this.address().port); });`,
      id,
      debug,
    ],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  server.stop = () => void child.kill();
  const port = await new Promise<string>((done) =>
    child.stdout.once("data", (data: Buffer) => done(data.toString().trim())),
  );
  server.url = `http://user:pass%20word@127.0.0.1:${port}`;
});
after(() => {
  server.stop();
  own.remove();
  others.remove();
});
afterEach(() => {
  for (const name of ["STROBE_CACHE", "XDG_CACHE_HOME", "HOME", "DEBUGINFOD_CACHE_PATH", "DEBUGINFOD_URLS"])
    delete process.env[name];
  Object.assign(process.env, environment);
  rmSync(store, { recursive: true, force: true });
});

/** Whether there is debug information for the program, as root finds it with these in the environment. */
function found(more: NodeJS.ProcessEnv): boolean {
  Object.assign(process.env, { STROBE_CACHE: store, DEBUGINFOD_URLS: server.url, ...more });
  const info = openBinary(program, { paths: searchPaths({}) })?.debugInfo();
  return info !== undefined && !(info instanceof Failure);
}

test("another user's caches are left alone, whatever was put there", deadline, () => {
  const planted = [
    // The download's names: of all processes that may come, by its own, and a folder elsewhere.
    `mkdir -p c/${id} && for pid in $(seq ${process.pid - 50} ${process.pid + 50}); do ln -s ${others.victim}/0000000000000000 c/${id}/debuginfo.$pid; done`,
    `mkdir -p c/${id} && ln -s ${others.victim}/0000000000000001 c/${id}/debuginfo`,
    `mkdir -p c && ln -s ${others.victim} c/${id}`,
    `mkdir -p c/${id} && mkfifo c/${id}/debuginfo`,
    `ln -s ${others.victim} c`,
  ];
  for (const line of planted) {
    others.run(`rm -rf c .cache && ${line} && mkdir -p .cache && cp -a c .cache/debuginfod_client`);
    const ways = [
      { DEBUGINFOD_CACHE_PATH: join(others.home, "c") },
      { XDG_CACHE_HOME: join(others.home, ".cache") },
      { HOME: others.home },
    ];
    for (const more of line === planted[0] ? ways : ways.slice(0, 1)) {
      assert.equal(found(more), true, line);
      assert.deepEqual(readdirSync(join(store, "debuginfod")), [id]);
      rmSync(store, { recursive: true });
      delete process.env["DEBUGINFOD_CACHE_PATH"];
      others.checkVictim();
    }
  }
});

test("links at the place of a download are replaced, not written through", deadline, () => {
  mkdirSync(join(store, "debuginfod"), { recursive: true, mode: 0o700 });
  execFileSync("ln", ["-s", join(others.victim, "0000000000000000"), join(store, "debuginfod", id)]);
  assert.equal(found({}), true);
  others.checkVictim();
  assert.equal(statSync(join(store, "debuginfod", id)).mode & 0o777, 0o600);
  assert.deepEqual(readFileSync(join(store, "debuginfod", id)), readFileSync(debug));
});

test("a cache that is named and root's alone is shared with debuginfod's client", deadline, () => {
  const cache = join(own.path, "client");
  assert.equal(found({ DEBUGINFOD_CACHE_PATH: cache }), true);
  assert.deepEqual([readdirSync(cache), readdirSync(join(cache, id))], [[id], ["debuginfo"]]);
  assert.equal(existsSync(join(store, "debuginfod")), false);
  // What is there already is taken.
  cpSync(debug, join(cache, id, "debuginfo"));
  assert.equal(found({ DEBUGINFOD_CACHE_PATH: cache, DEBUGINFOD_URLS: "http://127.0.0.1:1/" }), true);
});

test("what is no debug file of the program is not kept for one", deadline, () => {
  cpSync(debug, `${debug}.right`);
  execFileSync("sh", ["-c", `head -c 100 ${debug}.right >${debug}`]);
  assert.equal(found({}), false);
  cpSync(`${debug}.right`, debug);
  assert.equal(found({}), true);
});
