// What cannot be where it is: in the kernel, in strobe itself, in this probe.
import { says, type Message } from "./message.ts";

export const placement = {
  hostDecidesWhatIsRead: (because: string): Message =>
    says(
      "placement",
      `what is read here depends on what only the host knows${because === "" ? "" : ` (${because})`}`,
      "memory is read while the event happens, and the host goes on when it is over: read it first, into a variable",
    ),
  hostDecidesWhatIsDone: (because: string): Message =>
    says(
      "placement",
      `whether and how this is done depends on what only the host knows${because === "" ? "" : ` (${because})`}`,
      "it is done while the event happens, and the host goes on when it is over",
    ),
  readInLoop: (): Message =>
    says(
      "placement",
      "this is read anew in each round of a loop of which a part runs on the host",
      "read it before the loop, into a variable; or keep what the rounds read in a map, and loop over that",
    ),
  readInLoopOfHost: (because: string): Message =>
    says(
      "placement",
      `this is read in a loop that runs on the host${because === "" ? "" : ` (${because})`}`,
      "memory is read while the event happens, and the host goes on when it is over: read it before the loop, into a variable",
    ),
  doneInLoop: (): Message =>
    says(
      "placement",
      "this is done in each round of a loop of which a part runs on the host",
      "do it in a loop of its own",
    ),
  doneInLoopOfHost: (because: string): Message =>
    says(
      "placement",
      `this is done in a loop that runs on the host${because === "" ? "" : ` (${because})`}`,
      "it is done while the event happens, and the host goes on when it is over",
    ),
};
