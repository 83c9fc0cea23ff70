// `strobe merge FILE FILE… -o FILE`: recordings of several hosts as one.
import { closeSync, constants, openSync, writeSync } from "node:fs";
import { contextOfText } from "../machine/contexts/recorded-context.ts";
import { recordingFiles } from "../messages/recording-files.ts";
import { mergeRecordings } from "../recordings/merge.ts";
import { RecordingWriter } from "../recordings/writer.ts";
import { during, tell } from "./files.ts";
import { Progress } from "./progress.ts";
import { createRecording, readRecording } from "./recording-file.ts";
import { UsageError } from "./usage-error.ts";
import { attempts } from "../messages/on-demand.ts";

export async function merge(argv: readonly string[]): Promise<number> {
  const { files, output } = readOptions(argv);
  const progress = Progress.start(`merging ${files.length} recordings`);
  const opened: number[] = [];
  try {
    const inputs = files.map((file) => {
      const descriptor = during(
        () => attempts().readFile(file),
        () => openSync(file, constants.O_RDONLY | constants.O_NONBLOCK),
      );
      opened.push(descriptor);
      const recording = readRecording(descriptor, file, progress);
      return {
        recording,
        sites: recording.layouts.map((layout) => contextOfText(layout.data, layout).recorded?.site),
      };
    });
    const into = createRecording(output);
    try {
      const writer = new RecordingWriter((bytes) => {
        for (let at = 0; at < bytes.length;) at += writeSync(into, bytes, at);
      });
      const { parts, events, set } = await mergeRecordings(inputs, writer, ["strobe", "merge", ...argv]);
      progress?.hide();
      for (const [i, by] of set.entries())
        if (by !== undefined) {
          const seconds = (by / 1e9).toFixed(3);
          tell(
            `WARNING: the wall clock of ${files[i]} was set by ${seconds} s meanwhile: its times are by the last one\n`,
          );
        }
      const hosts = [...new Set(parts.map(({ name }) => name))];
      tell(`${output}: ${events} events of ${hosts.join(", ")}, ${writer.size} bytes\n`);
      return 0;
    } finally {
      closeSync(into);
    }
  } finally {
    progress?.hide();
    for (const descriptor of opened) closeSync(descriptor);
  }
}

function readOptions(argv: readonly string[]): { readonly files: readonly string[]; readonly output: string } {
  let output: string | undefined;
  const files: string[] = [];
  for (let at = 0; at < argv.length; at++) {
    const word = argv[at];
    if (word === "-o" || word === "--output") output = argv[++at];
    else if (word.startsWith("-")) throw new UsageError(recordingFiles.mergeHasNoOption(word));
    else files.push(word);
  }
  if (files.length < 2 || output === undefined || output === "") throw new UsageError(recordingFiles.mergeTakes());
  return { files, output };
}
