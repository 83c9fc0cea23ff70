// Copies of functions that were inlined into others.
import { says, type Message, type Shown } from "./message.ts";

/** Some of the copies of a function. */
export interface SomeCopies {
  readonly wanted: string;
  readonly count: number;
  readonly all: number;
}

const subject = ({ wanted, count, all }: SomeCopies): string =>
  `${all === 1 ? "the one copy" : `${count} of the ${all} copies`} of \`${wanted}\``;
const verb = ({ count }: SomeCopies, one: string, more: string): string => (count === 1 ? one : more);

export const inlinedCopies = {
  /** @example uprobe:/bin/app:clamp { print(args.x); } */
  probed: (wanted: Shown, what: Shown, into: Shown): Message =>
    says(
      "name",
      `\`${wanted}\` is inlined: probing ${what}, in ${into}`,
      "what the compiler folded away, merged with other code, or unrolled as one copy is not told apart",
    ),
  /** @example uprobe:/bin/stripped:inlined:clamp { } */
  unknown: (reason: Shown): Message => says("arguments", `what was inlined is not known: ${reason}`),
  /** @example uprobe:/bin/app:clamp { print(arg0); } */
  bodyOnly: (wanted: Shown, into: Shown, why: Shown, returns: boolean): Message =>
    says(
      "arguments",
      `\`${wanted}\` is inlined into ${into}, and ${why}`,
      returns
        ? "a copy has no result of its own: leave `retval` out"
        : 'name its parameters: `args.NAME`, or `var("NAME")`',
    ),
  /** @example uprobe:/bin/app:work { print(arg0); } */
  probingBodyAlone: ({ code, message, help }: Message, copies: Shown): Message =>
    says(code, `${message}: probing its body alone, not ${copies}`, help),
  /** @example uprobe:/bin/app:halve { } */
  dissolved: (wanted: Shown): Message =>
    says("name", `\`${wanted}\` was also inlined where the compiler left no code of it: calls there are not seen`),
  /** @example uprobe:/bin/app:twice { } */
  folded: (binary: Shown, wanted: Shown): Message =>
    says(
      "name",
      `nothing in ${binary} calls the body of \`${wanted}\`: calls that the compiler inlined and folded away are not seen`,
    ),
  /**
   * Of LLVM, which does not say where it inlined a function and left no code of it, or merged what was left.
   *
   * @tested test/live/regressions/calls-that-left-no-code-are-said.test.ts
   */
  untraced: (wanted: Shown, into: Shown): Message =>
    says(
      "name",
      `calls of \`${wanted}\` in ${into} may have been inlined without a trace: they are not seen`,
      "LLVM describes no copy of which it left no code, or code that it merged with other code",
    ),
  /**
   * Where a linker (`--icf`) or compiler (`-fipa-icf`) made one function of several.
   *
   * @tested test/live/merged.test.ts
   */
  mergedWith: (wanted: Shown, others: Shown): Message =>
    says(
      "name",
      `\`${wanted}\` has its code together with ${others}: calls of all of them are seen`,
      "the compiler or the linker made one of functions of equal code; where they are called tells them apart (`ustack`)",
    ),
  /**
   * Where GCC sends those who call a function by its address to another of equal code, and all others there directly.
   *
   * @tested test/live/merged.test.ts
   */
  leftAsThunk: (wanted: Shown): Message =>
    says(
      "name",
      `GCC merged \`${wanted}\` with a function of equal code: calls that it sent there directly are not seen`,
      "-fno-ipa-icf keeps functions of equal code apart",
    ),
  /**
   * Where GCC left nothing of a function that it did not inline.
   *
   * @tested test/live/merged.test.ts
   */
  perhapsMergedWith: (wanted: Shown, others: Shown, count: number): Message =>
    says(
      "name",
      `${others} may have been merged with \`${wanted}\`: then ${count === 1 ? "its" : "their"} calls are seen too`,
      `GCC left no code of ${count === 1 ? "it" : "them"}, and merges functions of equal code (-fno-ipa-icf keeps them apart)`,
    ),
  /** Only on machines other than x86-64. */
  endsNeedX86: (wanted: Shown): Message =>
    says("arguments", `strobe decodes x86-64 instructions only, to find where copies of \`${wanted}\` end`),
  /** Where the compiler moved instructions of the copies and of the code around them among each other. */
  mixed: (copies: SomeCopies, what: "calls" | "returns"): Message =>
    says(
      "name",
      `${subject(copies)} ${verb(copies, "is", "are")} so mixed with the code around ${verb(copies, "it", "them")} that ${what} may be missed, or seen twice`,
    ),
  /** Where the code behind a copy can be reached without it as well. */
  endsLost: (copies: SomeCopies): Message =>
    says(
      "name",
      `${subject(copies)} ${verb(copies, "has", "have")} an end that no instruction tells from others: some returns are not seen`,
    ),
  /** Where the code of a copy can be reached by way of the code around it. */
  entriesLost: (copies: SomeCopies): Message =>
    says(
      "name",
      `${subject(copies)} ${verb(copies, "has", "have")} a way in that no instruction tells from others: some calls are not seen`,
    ),
  /** Where the instructions do not begin where the debug information says. */
  endsUnknown: (copies: SomeCopies): Message =>
    says(
      "name",
      `${subject(copies)} ${verb(copies, "has", "have")} code that does not agree with the debug information: their returns are not seen`,
    ),
  /** Of copies that end the program, or loop for ever. */
  neverReturn: (copies: SomeCopies): Message =>
    says("name", `${subject(copies)} never ${verb(copies, "returns", "return")}`),
  /** Of copies that stand at the end of the function that they are in, and call another one last. */
  tails: (copies: SomeCopies): Message =>
    says(
      "name",
      `${subject(copies)} ${verb(copies, "ends", "end")} with a jump to another function, and ${verb(copies, "is", "are")} seen before it`,
    ),
  /** Where no copy has an end that can be probed: why that of some, and why that of others. */
  unseen: (wanted: Shown, [first, second]: readonly Message[]): Message =>
    says(
      "name",
      first?.message ?? `where copies of \`${wanted}\` end is not known`,
      second?.message ?? "probe a line behind the call, or the return of the function that it is inlined into",
    ),
};
