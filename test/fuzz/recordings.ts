// Recordings of strobe's, perf's and trace-cmd's: read as `strobe replay` does, whoever wrote them.
import { ForeignRecording, type ForeignTrace } from "../../src/providers/foreign-recording.ts";
import { perfTrace } from "../../src/providers/perf-recording.ts";
import { replayable, type ReplayableRecording } from "../../src/providers/recorded.ts";
import { isDamage } from "../../src/providers/registry.ts";
import { traceDatTrace } from "../../src/providers/trace-dat-recording.ts";
import { PerfData } from "../../src/recordings/perf-data.ts";
import { Recording } from "../../src/recordings/reader.ts";
import { TraceDat } from "../../src/recordings/trace-dat.ts";
import { inMemory } from "../../src/recordings/tracing-data.ts";
import { writtenNames } from "../../src/recordings/written-names.ts";
import { perfDataSeeds, recordingSeeds, traceDatSeeds, withChecksums } from "./recording-seeds.ts";
import type { Target } from "./target.ts";

/** All that a replay asks of it. */
function readAll(recording: ReplayableRecording): void {
  for (const { block } of recording.blocks()) for (const stack of block.stacks) stack.at(0);
  for (const names of writtenNames(recording.symbols())) names.kernel.at(0);
}

function readForeign(trace: ForeignTrace, { length }: Buffer): void {
  readAll(new ForeignRecording(trace, length));
}

export const recordingTargets: readonly Target[] = [
  {
    name: "recording",
    seeds: recordingSeeds,
    run: (input) => readAll(replayable(new Recording(inMemory(withChecksums(input))))),
    refuses: isDamage,
  },
  {
    name: "perf-data",
    seeds: perfDataSeeds,
    run: (input) => readForeign(perfTrace(new PerfData(inMemory(input))), input),
    refuses: isDamage,
  },
  {
    name: "trace-dat",
    seeds: traceDatSeeds,
    run: (input) => readForeign(traceDatTrace(new TraceDat(inMemory(input))), input),
    refuses: isDamage,
  },
];
