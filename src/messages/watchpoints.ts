// Watchpoints: what they watch, and how many bytes of it.
import { says, type Message, type Shown } from "./message.ts";

export const watchpoints = {
  /** @example watchpoint:NAME:LENGTH:MODE { } */
  invalidWatchpointMode: (modeText: Shown, value: Shown): Message =>
    says("arguments", `invalid watchpoint mode: \`${modeText}\``, `the modes are ${value}`),
  /** @example watchpoint:0x1000:3:w { } */
  invalidLength: (length: Shown, help?: string): Message =>
    says("arguments", `watchpoint length must be one of 1, 2, 4, 8, not \`${length}\``, help),
  /** @example watchpoint:0x1001:4:w { } */
  unaligned: (length: Shown): Message => says("arguments", `the address must be a multiple of the length, ${length}`),
  /** @example watchpoint:opened+arg0:8:w { } */
  whatArgumentPointsWatchedHandler: (
    func: Shown,
    value: Shown,
    name: Shown,
    lengthText: Shown,
    value2: Shown,
  ): Message =>
    says(
      "arguments",
      "a watchpoint on an argument needs a handler of its function",
      `write uprobe:BINARY:${func} { watch("${func}", ${value}); } and ${name}:${func}:${lengthText}:${value2} { … }`,
    ),
  /** @example watchpoint:0xx:x:x { @ = count(); } */
  variableNotExecuted: (): Message =>
    says("arguments", "a watchpoint on a variable cannot have mode x", "the modes are w and rw"),
  /** @example watchpoint:/bin/*:x:8:w { } */
  watchpointOneBinary: (): Message =>
    says("arguments", "expected one binary for the watchpoint", "name it without wildcards"),
  /** @example watchpoint:/no/such/program:x:8:w { } */
  noBinary: ({ code, message, help }: Message): Message =>
    says(code, message, `${help}; an address is a number such as 0x10000000`),
  /** Of a variable of a library that the program has a copy of (a copy relocation). */
  useCopy: (wanted: Shown, shownPath: Shown, copied: Shown, name: Shown, value: Shown): Message =>
    says("name", `\`${wanted}\` of ${shownPath} is in use as a copy in ${copied}`, `write ${name}:${copied}:${value}`),
  /** Of a file of data alone. */
  noCodeWhichTellsWhere: (shownPath: Shown): Message =>
    says("arguments", `${shownPath} has no code, so that its load address is unknown`),
  /** @example watchpoint:/bin/stripped:settings.mode:w { } */
  membersUnknown: (name: Shown, reason: Shown): Message =>
    says("name", `the members of \`${name}\` are not known: ${reason}`),
  /** @example watchpoint:/bin/app:main:8:w { } */
  isFunction: (name: Shown): Message =>
    says(
      "name",
      `\`${name}\` is a function`,
      "probe a function with uprobe, or watch its code by an address and the mode x",
    ),
  /** @example watchpoint:/bin/app:totel:w { } */
  noVariable: (binary: Shown, name: Shown, help?: string): Message =>
    says("name", `${binary} has no variable \`${name}\``, help),
  /** @example watchpoint:/bin/app:main+arg0:8:w { } */
  argumentOfFunction: (binary: Shown, name: Shown, func: Shown, argument: Shown): Message =>
    says(
      "name",
      `${binary} has no variable \`${name}\``,
      `an argument is watched in a handler of its function: watch("${func}", ${argument})`,
    ),
  /** @example watchpoint:/bin/app:current:w { } */
  threadLocal: (name: Shown): Message =>
    says(
      "name",
      `\`${name}\` is thread-local: each thread has one of its own`,
      "watch its address in a handler of the thread, with watch()",
    ),
  /** @example watchpoint:/bin/app:folded:w { } */
  noAddress: (name: Shown): Message => says("name", `\`${name}\` has no address: the compiler left it out`),
  /** @example watchpoint:/bin/app:calls:w { } */
  several: (name: Shown, choices: readonly string[]): Message =>
    says("name", `there are several variables \`${name}\``, `say which: ${choices.join(" or ")}`),
  /** @example watchpoint:/bin/app:settings.mood:w { } */
  noMember: (shown: Shown, member: Shown, help?: string): Message =>
    says("name", `\`${shown}\` has no member \`${member}\``, help),
  /** @example watchpoint:/bin/app:settings.debug:w { } */
  bitField: (shown: Shown, member: Shown): Message =>
    says(
      "name",
      `\`${shown}.${member}\` is a bit field, which shares its bytes with others`,
      `watch the bytes that it is in, as in \`${shown}\``,
    ),
  /** @example watchpoint:/bin/app:table[4]:w { } */
  noElement: (shown: Shown, last: Shown, index: Shown): Message =>
    says("name", `\`${shown}\` has the elements 0 to ${last}, not ${index}`),
  /** @example watchpoint:/bin/app:first.mode:w { } */
  pointer: (shown: Shown): Message =>
    says(
      "name",
      `\`${shown}\` is a pointer: what it points to has no address before the program runs`,
      "watch that address in a handler, with watch()",
    ),
  /** @example watchpoint:/bin/app:total.low:w { } */
  noPart: (shown: Shown, step: Shown): Message => says("name", `\`${shown}\` has no \`${step}\``),
};
