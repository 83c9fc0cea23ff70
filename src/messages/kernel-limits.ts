// Handlers that are more than the kernel takes
import type { Reason } from "../base/failure.ts";
import { reason, says, type Message } from "./message.ts";

const tooManyWays =
  "has more ways through it than the kernel's verifier walks (a million instructions, 8,192 branches on a way)";

export const kernelLimits = {
  /** Only where the kernel's verifier gives up on a loop. */
  tooManyWaysInLoop: (probe = "the probe"): Message =>
    says(
      "limit",
      `${probe} with this loop ${tooManyWays}`,
      "let the loop do less: fewer branches and accesses to maps, shorter strings, or a part of it in a probe of its own",
    ),
  /** Only where the kernel's verifier gives up on a probe with many branches. */
  tooManyWays: (branches: number): Message =>
    says(
      "limit",
      `this probe ${tooManyWays}, in ${branches} branches`,
      "divide it into several probes, with fewer branches each",
    ),
  /** Only where the kernel's verifier gives up on a probe with many branches. */
  tooManyWaysHere: (branches: number, all: number): Message =>
    says(
      "limit",
      `this probe ${tooManyWays}, and ${branches} of its ${all} branches are here`,
      "do this in a probe of its own, or with fewer branches",
    ),
};

/** Only of handlers that are more than an eBPF program holds: behind `this probe cannot be compiled for the kernel:`. */
export const limitReasons = {
  values: (): Reason => reason("it keeps too many values for later"),
  someStack: (name: string, bytes: number, room: number): Reason =>
    reason(`${name} needs some ${bytes} bytes of stack, and has ${room}`),
  stack: (name: string, bytes: number, room: number): Reason =>
    reason(`${name} needs ${bytes} bytes of stack, and has ${room}`),
  memory: (bytes: number): Reason => reason(`it needs ${bytes} bytes of working memory`),
};
