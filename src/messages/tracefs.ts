// What the tracefs engine cannot do that a script asks for.
import { says, type Message, type Shown } from "./message.ts";

export const tracefs = {
  /**
   * Only on the tracefs engine: of what no event of tracefs can be asked for.
   * @tested test/live/tracefs.test.ts
   */
  needsBpf: (what: Shown, probe: string): Message =>
    says("feature", `${what} cannot be fetched on tracefs (${probe})`, "it needs BPF: --engine bpf"),
  /**
   * Only on the tracefs engine: of a handler that takes user stacks.
   * @tested test/live/tracefs.test.ts
   */
  userStacks: (): Message =>
    says(
      "feature",
      "user stacks on tracefs have 8 frames at most and follow frame pointers: code without them is left out",
      "eBPF unwinds them by tables: --engine bpf",
    ),
};
