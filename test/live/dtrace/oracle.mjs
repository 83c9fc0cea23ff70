// Makes the fixtures anew: node test/live/dtrace/oracle.mjs DTRACE [new | FILE…]
// DTRACE is the real command, as a shell takes it; `new` runs only cases that have no result yet.
import { globSync } from "../../support/glob.mjs";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { asModule } from "../../../modules.mjs";

const outfile = fileURLToPath(new URL("../../../build/dtrace-cases.mjs", import.meta.url));
const here = fileURLToPath(new URL(".", import.meta.url));
await build({ ...asModule, entryPoints: [`${here}cases.ts`], outfile });
const { readCases, runCase, writeCases } = await import(outfile);

const [dtrace, ...words] = process.argv.slice(2);
if (dtrace === undefined) throw new Error("expected the path of the real dtrace");
const onlyNew = words.includes("new");
const names = words.filter((word) => word !== "new");
const empty = ({ stdout, stderr, code }) => stdout === "" && stderr === "" && code === 0;

const files = globSync(here, ".cases").filter(
  (file) => names.length === 0 || names.some((name) => file.includes(name)),
);
const read = (file) => readCases(readFileSync(file, "utf8"));
const keyOf = ({ name, command, script }) => `${name}\n${command}\n${script}`;
const jobs = files.flatMap((file) =>
  read(file)
    .cases.filter(({ printed }) => !onlyNew || empty(printed))
    .map((one) => ({ file, one })),
);
// Alike ones are not beside each other: a run that is cut short has some of each.
jobs.sort((a, b) => rank(a) - rank(b));
function rank({ one }) {
  let sum = 0;
  for (const letter of keyOf(one)) sum = (sum * 31 + letter.charCodeAt(0)) % 65_521;
  return sum;
}
const work = async () => {
  for (let job; (job = jobs.shift()) !== undefined;) {
    const printed = await runCase(job.one, dtrace, 300);
    if (printed.code >= 124) {
      process.stderr.write(`${job.one.name}: exit ${printed.code}, not kept\n`);
      continue;
    }
    // The file may have been edited meanwhile.
    const { about, cases } = read(job.file);
    const made = cases.map((one) => (keyOf(one) === keyOf(job.one) ? { ...one, printed } : one));
    writeFileSync(job.file, writeCases({ about, cases: made }));
  }
};
await Promise.all([work(), work(), work()]);
