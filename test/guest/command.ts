// `npm run guest -- --kernel 6.12 -- strobe -e '…'`: runs one command as root under another kernel.
import { kernelFiles } from "./fetch-kernel.ts";
import { runGuest } from "./guest.ts";
import { missingForGuests } from "./initramfs.ts";
import { kernels } from "./kernels.ts";

const usage = `usage: npm run guest -- [--kernel ${kernels.map(({ name }) => name).join("|")}] [--deadline SECONDS] [--module NAME] [--file PLACE=PATH] [--memory 1G] [--verbose] -- COMMAND…\n`;

const consoleTail = 40;

async function main(argv: readonly string[]): Promise<number> {
  const end = argv.indexOf("--");
  const words = end < 0 ? [] : argv.slice(end + 1);
  const options = argv.slice(0, Math.max(end, 0));
  const valuesOf = (name: string): string[] => options.flatMap((word, i) => (options[i - 1] === name ? [word] : []));
  const kernel = kernels.find(({ name }) => name === (valuesOf("--kernel")[0] ?? "6.12"));
  if (words.length === 0 || !kernel) {
    process.stderr.write(usage);
    return 2;
  }
  const missing = missingForGuests();
  if (missing) throw new Error(missing);
  const deadline = Number(valuesOf("--deadline")[0] ?? 60);
  const script =
    words.length === 1 ? (words[0] ?? "") : words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(" ");
  const result = await runGuest({
    kernel: kernelFiles(kernel),
    jobs: [{ script, deadline }],
    deadline: deadline + 30,
    modules: valuesOf("--module"),
    memory: valuesOf("--memory")[0] ?? "1G",
    files: Object.fromEntries(valuesOf("--file").map((pair) => pair.split("=", 2) as [string, string])),
  });
  const [job] = result.jobs;
  if (!job || options.includes("--verbose"))
    process.stderr.write(`${result.console.trimEnd().split("\n").slice(-consoleTail).join("\n")}\n`);
  if (options.includes("--verbose")) {
    process.stderr.write(
      `booted in ${result.bootSeconds.toFixed(1)} s, ran ${job?.seconds.toFixed(1) ?? "?"} s, ${result.seconds.toFixed(1)} s in all\n`,
    );
  }
  if (!job) throw new Error("the guest ended without an answer; the end of its console is above");
  process.stdout.write(job.stdout);
  process.stderr.write(job.stderr);
  return job.code;
}

process.exitCode = await main(process.argv.slice(2)).catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  return 1;
});
