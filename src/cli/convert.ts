// `strobe convert FILE -o FILE`: a recording as what other tools read.
import { closeSync } from "node:fs";
import { lazy } from "../base/lazy.ts";
import { recordingFiles } from "../messages/recording-files.ts";
import type { ReplayableRecording } from "../providers/recorded.ts";
import { tell } from "./files.ts";
import { readOptions as readRunOptions } from "./options.ts";
import { Progress } from "./progress.ts";
import { createRecording, openRecording } from "./recording-file.ts";
import { runOver } from "./replay.ts";
import { UsageError } from "./usage-error.ts";

// Loaded for these formats.
const traceDat = lazy<typeof import("./to-trace-dat.ts")>(() => require("./to-trace-dat.ts"));
const perfScript = lazy<typeof import("./to-perf-script.ts")>(() => require("./to-perf-script.ts"));

interface Conversion {
  readonly name: string;
  readonly endings: readonly string[];
  /** Of an output format: what is made of a map of stacks. */
  readonly picture?: true;
}

/** The first that a path ends as is meant. */
const conversions: readonly Conversion[] = [
  { name: "perf-script", endings: [".perf", ".script", ".txt"] },
  { name: "speedscope", endings: [".speedscope.json", ".json"], picture: true },
  { name: "pprof", endings: [".pb.gz", ".pprof"], picture: true },
  { name: "folded", endings: [".folded", ".collapsed"], picture: true },
  { name: "svg", endings: [".svg"], picture: true },
  { name: "trace.dat", endings: [".dat"] },
];

export async function convert(argv: readonly string[]): Promise<number> {
  const { file, output, to } = readOptions(argv);
  const progress = Progress.start(`converting ${file}`);
  const opened = openRecording(file, progress);
  try {
    const { recording } = opened;
    if (to.picture === true) return await picture(recording, to.name, output);
    if (recording.origin.strobe === "") throw new UsageError(recordingFiles.notOurs(file));
    const into = createRecording(output);
    try {
      const { events, probes } =
        to.name === "trace.dat"
          ? traceDat().convertToTraceDat(recording, into)
          : perfScript().convertToPerfScript(recording, into);
      progress?.hide();
      tell(`${output}: ${events} events of ${probes} probes\n`);
    } finally {
      closeSync(into);
    }
    sayWhatIsLeftOut(recording, to.name);
    return 0;
  } finally {
    progress?.hide();
    opened[Symbol.dispose]();
  }
}

function sayWhatIsLeftOut(recording: ReplayableRecording, format: string): void {
  const lost = [...recording.heads()].flatMap((head) => head.lost.filter(({ cause }) => cause !== "stack"));
  const count = lost.reduce((sum, one) => sum + one.count, 0);
  const what = format === "trace.dat" ? format : "its text";
  if (lost.length > 0) tell(`strobe: ${count} events were lost when it was recorded: ${what} does not say so\n`);
  if (format === "trace.dat" && recording.contexts.some(({ stacks }) => stacks))
    tell(`strobe: its stacks are left out\n`);
}

/** Stacks counted: of samples where there are such, else of all events that have stacks. */
function picture(recording: ReplayableRecording, format: string, output: string): Promise<number> {
  const withStacks = recording.sites.filter(({ layout }) => recording.contexts[layout].stacks);
  const sampled = withStacks.filter(({ name }) => name.startsWith("profile:"));
  const sites = sampled.length > 0 ? sampled : withStacks;
  if (sites.length === 0) throw new UsageError(recordingFiles.noStacks(format));
  const has = (stack: "kernelStack" | "userStack"): boolean =>
    sites.every(({ layout }) => recording.contexts[layout].recorded?.[stack] !== undefined);
  const keys = ["comm", ...(has("userStack") ? ["ustack"] : []), ...(has("kernelStack") ? ["kstack"] : [])];
  const probes = [...new Set(sites.map(({ name }) => name))].join(", ");
  const script = `${probes} { @[${keys.join(", ")}] = count(); }`;
  // For its owner's eyes alone, as the recording is.
  closeSync(createRecording(output));
  return runOver(recording, readRunOptions(["-q", "-f", `${format}=${output}`, "-e", script]));
}

function readOptions(argv: readonly string[]): {
  readonly file: string;
  readonly output: string;
  readonly to: Conversion;
} {
  let output: string | undefined;
  let format: string | undefined;
  const files: string[] = [];
  for (let at = 0; at < argv.length; at++) {
    const word = argv[at];
    if (word === "-o" || word === "--output") output = argv[++at];
    else if (word === "-f" || word === "--format") format = argv[++at];
    else if (word.startsWith("-")) throw new UsageError(recordingFiles.convertHasNoOption(word));
    else files.push(word);
  }
  if (files.length !== 1 || output === undefined || output === "") throw new UsageError(recordingFiles.convertTakes());
  const path = output;
  const to = conversions.find(({ name, endings }) =>
    format === undefined ? endings.some((ending) => path.endsWith(ending)) : name === format,
  );
  const names = conversions.map(({ name }) => name);
  if (to !== undefined) return { file: files[0], output, to };
  throw new UsageError(
    format === undefined ? recordingFiles.convertToWhat(output, names) : recordingFiles.noSuchConversion(format, names),
  );
}
