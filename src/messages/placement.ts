// What cannot be where it is: in the kernel, in strobe itself, in this probe.
import { says, type Message } from "./message.ts";

export const placement = {
  /** @example kprobe:f { @ = stddev(arg0); $x = (uint64)@; print(*(uint64 *)$x); } */
  hostDecidesWhatIsRead: (because: string): Message =>
    says(
      "placement",
      `what is read here depends on what only the host knows${because === "" ? "" : ` (${because})`}`,
      "memory is read while the event happens, and the host goes on when it is over: read it first, into a variable",
    ),
  /**
   * @on unsafe
   * @example kprobe:f { @ = stddev(arg0); if (@ > 2.5) { signal(9); } }
   */
  hostDecidesWhatIsDone: (because: string): Message =>
    says(
      "placement",
      `whether and how this is done depends on what only the host knows${because === "" ? "" : ` (${because})`}`,
      "it is done while the event happens, and the host goes on when it is over",
    ),
  /** @example kprobe:f { @ = stddev(arg0); for ($i : 0..3) { print((@, *(uint64 *)(arg1 + $i))); } } */
  readInLoop: (): Message =>
    says(
      "placement",
      "this is read anew in each round of a loop of which a part runs on the host",
      "read it before the loop, into a variable; or keep what the rounds read in a map, and loop over that",
    ),
  /**
   * @on systemtap
   * @example
   * global m
   * probe kernel.function("f") { m[1] = 2; foreach (k in m-) println(kernel_int(k)) }
   */
  readInLoopOfHost: (because: string): Message =>
    says(
      "placement",
      `this is read in a loop that runs on the host${because === "" ? "" : ` (${because})`}`,
      "memory is read while the event happens, and the host goes on when it is over: read it before the loop, into a variable",
    ),
  /** Of `signal()` and the like in a loop in which something else needs the host. */
  doneInLoop: (): Message =>
    says(
      "placement",
      "this is done in each round of a loop of which a part runs on the host",
      "do it in a loop of its own",
    ),
  /** Of `signal()` and the like in a loop over a map of the host. */
  doneInLoopOfHost: (because: string): Message =>
    says(
      "placement",
      `this is done in a loop that runs on the host${because === "" ? "" : ` (${because})`}`,
      "it is done while the event happens, and the host goes on when it is over",
    ),
};
