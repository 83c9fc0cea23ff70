#!/usr/bin/env node
// The command. What a run does not use is not loaded: each branch imports its own.
import { readOptions, UsageError, type Options } from "./options.ts";

async function main(argv: readonly string[]): Promise<number> {
  const options = readOptions(argv);
  if (options.help) return write((await import("./help.ts")).helpText());
  if (options.version) return write(`strobe v${(await import("../../package.json")).version}\n`);
  if (options.info) return (await import("./info.ts")).info();
  if (options.list) return (await import("./list.ts")).list(options);
  return (await import("./run.ts")).run(options);
}

function write(text: string): number {
  process.stdout.write(text);
  return 0;
}

/** Anything thrown, as a message and an exit code. */
async function report(error: unknown, options: Options | undefined): Promise<number> {
  if (error instanceof UsageError) {
    process.stderr.write(`strobe: ${error.message}\n(strobe -h shows the options)\n`);
    return 1;
  }
  const { errorText } = await import("./errors.ts");
  process.stderr.write(errorText(error, options?.verbose ?? false));
  return 1;
}

const argv = process.argv.slice(2);
process.exitCode = await main(argv).catch(async (error: unknown) => {
  let options: Options | undefined;
  try {
    options = readOptions(argv);
  } catch {
    // The command line itself was wrong: it is what is being reported.
  }
  return report(error, options);
});
