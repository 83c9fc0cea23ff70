// Runs in the guest: every case by the command's own main(), in one process, since starting Node takes a second there.
// Each result is written at once, so that a guest that dies has told what it did before.
import { readFileSync, writeFileSync, appendFileSync } from "node:fs";
import { main } from "../../src/cli/main.ts";
import type { CaseResult, GuestCase } from "./cases.ts";

const results = "/dev/ttyS1";
const output = "/tmp/output";
const caseMilliseconds = 20_000;

process.setMaxListeners(0);
const cases = JSON.parse(readFileSync("/cases.json", "utf8")) as GuestCase[];
let stderr = "";
process.stderr.write = (text: string | Uint8Array): boolean => {
  stderr += typeof text === "string" ? text : Buffer.from(text).toString();
  return true;
};
for (const [index, { script, tool, command, args = [] }] of cases.entries()) {
  stderr = "";
  writeFileSync(output, "");
  const start = performance.now();
  const late = setTimeout(() => process.kill(process.pid, "SIGINT"), caseMilliseconds);
  const words = ["-o", output, ...(command === undefined ? [] : ["-c", command]), ...(tool === undefined ? ["-e", script] : [`/strobe/tools/${tool}.bt`, "--"]), ...args];
  const { exitCode } = await main(words);
  clearTimeout(late);
  process.removeAllListeners("SIGINT").removeAllListeners("SIGTERM").removeAllListeners("SIGHUP");
  const result: CaseResult = {
    index, code: exitCode, stdout: readFileSync(output, "utf8"), stderr: stderr.replace(/^Attached \d+ probes?\n/, ""), milliseconds: Math.round(performance.now() - start),
  };
  appendFileSync(results, `case ${JSON.stringify(result)}\n`);
}
process.exit(0);
