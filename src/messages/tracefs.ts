// What the tracefs engine cannot do that a script asks for.
import type { Reason } from "../base/failure.ts";
import { reason, says, type Message, type Shown } from "./message.ts";

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

/** Only with `--tracefs` and `strobe events`: what an event of the kernel cannot carry, behind what was asked for. */
export const tracefsReasons = {
  tooManyValues: (values: number, most: number): Reason => reason(`${values} values of one event (it has ${most})`),
  lengthToldLater: (): Reason => reason("bytes of a length that is told at the moment"),
  otherProbes: (provider: string): Reason =>
    reason(`${provider} probes: it is defined at a place in code or on an event`),
  otherCondition: (): Reason => reason("a condition on something else than the event's fields"),
  doesElse: (): Reason => reason("an event carries values, and does nothing else"),
  pathWithSpaces: (path: string): Reason => reason(`a path with spaces (${path}), which tracefs does not take`),
  textInRecord: (): Reason => reason("a text within the record"),
  stack: (): Reason => reason("a stack: whoever uses the event asks for stacks"),
  computed: (): Reason => reason("a value that is computed"),
  bytesAtOnce: (bytes: number, most: number): Reason =>
    reason(`${bytes} bytes at once (an event's arrays have ${most} elements)`),
  computedElement: (): Reason => reason("an element whose number is computed"),
  computedAddress: (): Reason => reason("an address that is computed"),
  partOnTheWay: (): Reason => reason("a part of a value, on the way to another"),
  computedOnTheWay: (): Reason => reason("a value that is computed, on the way to another"),
  currentTask: (): Reason => reason("the current task"),
  functionAddress: (): Reason => reason("the function's address"),
  fieldText: (): Reason => reason("a field's text"),
  valueOfEntry: (): Reason => reason("a value of the function's entry"),
  partOfField: (): Reason => reason("a part of a field"),
  textPointer: (needs: string | undefined): Reason =>
    reason(`memory behind a field that points to a text (that needs ${needs})`),
  partOfRegister: (): Reason => reason("a part of a register"),
  kernelMemory: (): Reason => reason("the kernel's memory, from a place in a program"),
  recordMemory: (): Reason => reason("memory of the event's own record"),
  fixedUserAddress: (): Reason => reason("a program's memory at a fixed address"),
  narrowPointer: (): Reason => reason("memory behind a pointer of less than 8 bytes"),
  stackOfOwnEvent: (): Reason => reason("a kernel stack of an event on an event"),
  readInMapLoop: (): Reason => reason("what a loop over a map reads of the event"),
};
