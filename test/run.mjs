// Builds and runs the tests: `node test/run.mjs [unit] [live] [guest] [quick] [file-substring…]`.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { digests, keep, unchanged } from "./support/comparisons.mjs";
import { globSync } from "./support/glob.mjs";

const kinds = { unit: ["build/src", "build/test/fuzz"], live: ["build/test/live"], guest: ["build/test/guest"] };
/** Live tests of what most changes touch: `quick` runs these, the unit tests, and fewer random programs. */
const core = ["agreement", "command", "language", "probes", "programs", "session", "typescript-language"].map(
  (name) => `live/${name}.test`,
);
/** What takes longest, the longest first: they begin first, so that none has much left when the others end. */
const long = [
  "types",
  "values",
  "values-gdb",
  "rust-values",
  "systemtap-cases",
  "systemtap",
  "recordings",
  "clean-debian",
  "recorded-tools",
  "dtrace",
  "bundlers",
  "names-that-compilers-give",
  "single",
  "docs",
  "recipes",
  "corpus",
  "unwind",
  "installs",
  "programs",
  "recordings-of-nodes",
  "source-lines",
  "differential",
  "damaged-kept-files",
  "language",
].map((name) => `/${name}`);
const longestFirst = (a, b) => rank(a) - rank(b);
const rank = (file) => {
  const place = long.findIndex((name) => file.includes(name));
  return place < 0 ? long.length : place;
};
/**
 * What measures the machine, or fills it, runs beside nothing else; so does what counts plans that are kept, which they are
 * not while anybody's dynamic events are there, and what asks whether a machine's tracepoints are the same still. perf sees
 * nothing of a tracepoint while a handler of BCC's is attached to it.
 */
const alone = ["overhead", "streaming", "kept-plans", "types-again", "budgets", "beside-perf"].map(
  (name) => `live/${name}.test`,
);

const words = process.argv.slice(2);
const quick = words.includes("quick");
const chosen = quick ? ["unit", "live"] : Object.keys(kinds).filter((kind) => words.includes(kind));
const names = words.filter((word) => !(word in kinds) && word !== "quick");
if (quick) process.env["STROBE_ROUNDS"] ??= "200";

const run = (command, ...args) => spawnSync(command, args, { stdio: "inherit" }).status ?? 1;
const must = (...command) => {
  const status = run(...command);
  if (status !== 0) process.exit(status);
};
must(process.execPath, "build.mjs", "--quiet", "--tests");
// Tests install what is published: its declarations, which take eight seconds to write, are written anew after a change.
const madeAt = (path) => (existsSync(path) ? statSync(path).mtimeMs : 0);
const sources = ["tsconfig.json", "tsconfig.types.json", ...globSync("src", ".ts")];
if (chosen.includes("live") && sources.some((path) => madeAt(path) > madeAt("dist/types")))
  must(process.execPath, "types.mjs");

const filesOf = (kind) =>
  kinds[kind]
    .flatMap((folder) => (existsSync(folder) ? globSync(folder, ".test.js") : []))
    .filter((file) => names.length === 0 || names.some((name) => file.includes(name)))
    .filter((file) => !quick || kind !== "live" || core.some((name) => file.includes(name)));
const isAlone = (file) => alone.some((name) => file.includes(name));
const live = chosen.length === 0 || chosen.includes("live") ? filesOf("live") : [];
const groups = [
  ...["unit", "guest"]
    .filter((kind) => chosen.length === 0 || chosen.includes(kind))
    .map((kind) => ({ files: filesOf(kind), beside: 2 })),
  // Most of them wait for something half of the time.
  { files: live.filter((file) => !isAlone(file)).sort(longestFirst), beside: 4 },
  { files: live.filter(isAlone), beside: 1 },
].filter(({ files }) => files.length > 0);
if (groups.length === 0) {
  console.error("no test file matches");
  process.exit(1);
}

const whole = names.length === 0 && !quick;
const rooms = digests(chosen.length === 0 ? Object.keys(kinds) : chosen);
/** Tests of a kernel that is not there are skipped: nothing has been compared on it. */
const complete = !chosen.includes("guest") || existsSync(".cache/kernels/own");
const same = process.env["STROBE_FULL"] === "1" || names.length > 0 ? [] : unchanged(rooms);
if (same.length > 0)
  console.log(
    `a fourth of the long comparisons of ${same.join(", ")}: what they guard has not changed (npm run test:full)`,
  );
process.env["STROBE_UNCHANGED"] = same.join(" ");

let failed = 0;
const scratch = mkdtempSync(join(tmpdir(), "strobe-tests-"));
const failures = join(scratch, "failures");
let failuresOfAll = "";
for (const { files, beside } of groups) {
  // It exists to end what hangs: no file takes a tenth of it but on a machine that has hardly a CPU to spare.
  // STROBE_TEST_SECONDS: what a file may take when it is told to do more.
  const timeout = 1000 * Number(process.env["STROBE_TEST_SECONDS"] ?? 7200);
  const status = run(
    process.execPath,
    "--enable-source-maps",
    "--test",
    `--test-concurrency=${beside}`,
    `--test-timeout=${timeout}`,
    "--test-reporter=spec",
    "--test-reporter-destination=stdout",
    "--test-reporter=./test/support/failures-reporter.mjs",
    `--test-reporter-destination=${failures}`,
    ...files,
  );
  failed ||= status;
  failuresOfAll += readFileSync(failures, "utf8");
}
rmSync(scratch, { recursive: true });
if (failuresOfAll !== "") console.error(`\nfailed:\n\n${failuresOfAll}`);
if (whole && complete && failed === 0) keep(rooms);
process.exit(failed);
