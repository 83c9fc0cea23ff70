// Runs in the guest (and on the machine itself): every case by the command's own main(), in one process, since starting
// Node takes a second there. Each result is written at once, so that a guest that dies has told what it did before.
// Standard error must be a file: a case's part of it is read back, which also has what is written to the descriptor and
// what the traced programs say.
import { appendFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { main } from "../../src/cli/main.ts";
import type { CaseResult, GuestCase } from "./cases.ts";

// Places of the guest, unless it runs on the machine itself.
const results = process.env["STROBE_RESULTS"] ?? "/dev/ttyS1";
const list = process.env["STROBE_CASES"] ?? "/cases.json";
const tools = process.env["STROBE_TOOLS"] ?? "/strobe/tools";
const output = `/tmp/strobe-output-${process.pid}`;
const caseMilliseconds = 600_000;

process.setMaxListeners(0);
const cases = JSON.parse(readFileSync(list, "utf8")) as GuestCase[];
const said = (): Buffer => readFileSync("/proc/self/fd/2");
for (const [index, { script, tool, command, args = [] }] of cases.entries()) {
  const before = said().length;
  writeFileSync(output, "");
  const start = performance.now();
  const late = setTimeout(() => process.kill(process.pid, "SIGINT"), caseMilliseconds);
  const words = [
    "-o",
    output,
    ...(command === undefined ? [] : ["-c", command]),
    ...(tool === undefined ? ["-e", script] : [`${tools}/${tool}.bt`, "--"]),
    ...args,
  ];
  const { exitCode } = await main(words);
  clearTimeout(late);
  process.removeAllListeners("SIGINT").removeAllListeners("SIGTERM").removeAllListeners("SIGHUP");
  const stderr = said()
    .toString("utf8", before)
    .replace(/^Attached \d+ probes?\n/m, "");
  const result: CaseResult = {
    index,
    code: exitCode,
    stdout: readFileSync(output, "utf8"),
    stderr,
    milliseconds: Math.round(performance.now() - start),
  };
  appendFileSync(results, `case ${JSON.stringify(result)}\n`);
}
rmSync(output, { force: true });
process.exit(0);
