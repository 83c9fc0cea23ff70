// `strobe cut FILE`: a part of a recording, by time, as a file of its own.
import { closeSync, constants, openSync, writeSync } from "node:fs";
import { cutRecording } from "../recordings/cut.ts";
import { RecordingWriter } from "../recordings/writer.ts";
import { during, tell } from "./files.ts";
import { Progress } from "./progress.ts";
import { readDuration } from "./quantities.ts";
import { createRecording, readRecording } from "./recording-file.ts";
import { recordingFiles } from "../messages/recording-files.ts";
import { commandLine, attempts } from "../messages/on-demand.ts";
import { UsageError } from "./usage-error.ts";

export async function cut(argv: readonly string[]): Promise<number> {
  const { file, from, to, output } = readOptions(argv);
  const progress = Progress.start(`cutting ${file}`);
  const descriptor = during(
    () => attempts().readFile(file),
    () => openSync(file, constants.O_RDONLY | constants.O_NONBLOCK),
  );
  try {
    const recording = readRecording(descriptor, file, progress);
    const start = BigInt(recording.origin.clock.boot);
    const into = createRecording(output);
    try {
      const writer = new RecordingWriter((bytes) => {
        for (let at = 0; at < bytes.length;) at += writeSync(into, bytes, at);
      });
      const events = await cutRecording(recording, writer, {
        from: start + (from ?? 0n),
        to: to === undefined ? 1n << 64n : start + to,
        words: ["strobe", "cut", ...argv],
      });
      progress?.hide();
      tell(`${output}: ${events} of ${recording.span?.events ?? 0} events, ${writer.size} bytes\n`);
      return 0;
    } finally {
      closeSync(into);
    }
  } finally {
    progress?.hide();
    closeSync(descriptor);
  }
}

interface CutOptions {
  readonly file: string;
  readonly output: string;
  /** Nanoseconds since the recording's beginning. */
  readonly from: bigint | undefined;
  readonly to: bigint | undefined;
}

function readOptions(argv: readonly string[]): CutOptions {
  const given = new Map<string, string>();
  const files: string[] = [];
  for (let at = 0; at < argv.length; at++) {
    const word = argv[at];
    if (!word.startsWith("-")) {
      files.push(word);
      continue;
    }
    const [option, text] = word.startsWith("--") ? word.split(/=(.*)/s, 2) : [word, undefined];
    if (!["-o", "--output", "--from", "--to"].includes(option))
      throw new UsageError(recordingFiles.cutHasNoOption(option));
    const value = text ?? argv[++at];
    if (value === undefined || value === "") throw new UsageError(commandLine().needsValue(option));
    given.set(option === "-o" ? "--output" : option, value);
  }
  const output = given.get("--output");
  if (files.length !== 1 || output === undefined) throw new UsageError(recordingFiles.cutTakes());
  const time = (flag: string): bigint | undefined => {
    const text = given.get(flag);
    return text === undefined ? undefined : BigInt(readDuration(flag, text));
  };
  const [from, to] = [time("--from"), time("--to")];
  if (from === undefined && to === undefined) throw new UsageError(recordingFiles.cutWants());
  if (from !== undefined && to !== undefined && from >= to) throw new UsageError(recordingFiles.cutBackwards());
  return { file: files[0], output, from, to };
}
