// Builds and runs the tests: `node test/run.mjs [unit] [live] [guest] [file-substring…]`.
// Live tests share one kernel, so they run one file at a time.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { globSync } from "./support/glob.mjs";

const kinds = { unit: ["build/src", "build/test/fuzz"], live: ["build/test/live"], guest: ["build/test/guest"] };
const words = process.argv.slice(2);
const chosen = Object.keys(kinds).filter((kind) => words.includes(kind));
const names = words.filter((word) => !(word in kinds));

const run = (command, ...args) => {
  const { status } = spawnSync(command, args, { stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
};
run(process.execPath, "build.mjs", "--quiet", "--tests");
// A test installs what is published.
if (chosen.includes("live")) run("node_modules/.bin/tsc", "-p", "tsconfig.types.json");

const files = (chosen.length ? chosen : Object.keys(kinds))
  .flatMap((kind) => kinds[kind].flatMap((folder) => (existsSync(folder) ? globSync(folder, ".test.js") : [])))
  .filter((file) => names.length === 0 || names.some((name) => file.includes(name)));
if (files.length === 0) {
  console.error("no test file matches");
  process.exit(1);
}
const serial = chosen.includes("live") || chosen.includes("guest") ? ["--test-concurrency=1"] : [];
// A guest runs hundreds of scripts under emulation. STROBE_TEST_SECONDS: what a file may take when it is told to do more.
const timeout = 1000 * Number(process.env["STROBE_TEST_SECONDS"] ?? (chosen.includes("guest") ? 1800 : 300));
run(process.execPath, "--enable-source-maps", "--test", ...serial, `--test-timeout=${timeout}`, ...files);
