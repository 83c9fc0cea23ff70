// What a recording does not have that a script asks for.
import { says, type Message, type Shown } from "./message.ts";

export const recordings = {
  /** Only over a recording (strobe replay): of a probe that is not in it. */
  probeNotRecorded: (probe: string, command: string, there: string): Message =>
    says(
      "name",
      `${probe} was not recorded`,
      there === "" ? `${command} records it` : `${command} records it; recorded are ${there} … (strobe -l --in FILE)`,
    ),
  /** Only over a recording: of a stack or an argument that was not recorded. */
  valueNotRecorded: (value: string, how: string): Message => says("feature", `${value} was not recorded`, how),
  /** Only over a recording: of texts that a script asks for more of than was recorded. */
  textsCut: (bytes: number, command: string): Message =>
    says(
      "feature",
      `texts of more than ${bytes} bytes were cut when they were recorded, and the script asks for more`,
      `${command} records more of them`,
    ),
  /**
   * Only over a recording: of what a recording of such probes does not have.
   * @tested test/live/documented-recordings.test.ts
   */
  notOfThese: (what: Shown, probes: Shown): Message =>
    says("feature", `${what} is not in recordings of ${probes}`, "a live trace may tell it"),
  /** Only over a recording: of what no recording has, as memory behind a pointer. */
  onlyAtTheMoment: (what: Shown): Message =>
    says(
      "feature",
      `${what} can be told only at the moment of the event, and is not in the recording`,
      "a live trace can tell it",
    ),
  /** Only of strobe record: of probes of strobe's own, and of those that stay when it has gone. */
  notRecordable: (probe: string): Message =>
    says(
      "placement",
      `${probe} cannot be recorded`,
      "events of the kernel and of programs can: tracepoints, kprobes, uprobes, profile …",
    ),
};
