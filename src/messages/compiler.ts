// What cannot be compiled, or is too large.
import { says, type Message, type Shown } from "./message.ts";

export const compiler = {
  /** Only of scripts whose nesting exhausts the stack while they are compiled. */
  scriptTooLargeWhatNested: (): Message =>
    says("limit", "the script is too large: its nesting or unrolling exceeds what can be compiled"),
  /** @example test:NAME { } */
  thereNothingAttach: (): Message => says("name", "nothing to attach to"),
  sees: (what: Shown, name: Shown, how: Shown): Message => says("placement", `${what} sees ${name} ${how}`),
  probeNeedsBytesWorkingMemory: (bytes: Shown, mostScratchBytes: Shown): Message =>
    says(
      "limit",
      `this probe needs ${bytes} bytes of working memory, and the kernel has ${mostScratchBytes} for it`,
      "divide it into several probes, or make its values smaller: config = { max_strlen = 256 }, str(pointer, 64), hist(n) without bits",
    ),
  probeCannotCompiledKernel: (message: Shown): Message =>
    says("limit", `this probe cannot be compiled for the kernel: ${message}`),
  thereNoArgumentHere: (name: Shown): Message => says("feature", `there is no argument \`${name}\` here`),
  notFieldHere: (name: Shown): Message => says("feature", `\`${name}\` is not a field here`),
  /** Only where an array of arrays was copied and its index is not a constant. */
  elementCopiedArrayArraysNeeds: (): Message =>
    says("feature", "an element of a copied array of arrays needs a constant index"),
  elementCopiedArrayLongNeeds: (): Message =>
    says("feature", "an element of a copied array this long needs a constant index"),
  notPointer: (): Message => says("feature", "not a pointer"),
  noPlace: (name: Shown): Message => says("feature", `${name} has no place`),
  noAddress: (): Message => says("feature", "this has no address"),
  emitWantsRecord: (): Message => says("feature", "`emit()` wants a record"),
  wantsMap: (name: Shown): Message => says("feature", `\`${name}()\` wants a map`),
  scriptFailsHere: (): Message => says("feature", "the script fails here"),
  joinWantsStringsMemory: (): Message => says("feature", "`join()` wants strings in memory"),
  loopVariableCannotAssigned: (): Message => says("feature", "a loop's variable cannot be assigned"),
  notNumber: (): Message => says("feature", "this is not a number"),
  holdsAggregation: (name: Shown): Message => says("feature", `${name} holds an aggregation`),
  operatorDoesNotAssign: (): Message => says("feature", "this operator does not assign"),
  notKnownHere: (name: Shown): Message => says("feature", `\`${name}\` is not known here`),
  thereNoRetvalHere: (): Message => says("feature", "there is no `retval` here"),
  thereNoGoidHere: (): Message => says("feature", "there is no `goid` here"),
  cannotCompiledNumber: (name: Shown): Message => says("feature", `\`${name}\` cannot be compiled as a number`),
  cannotCompiledHere: (name: Shown): Message => says("feature", `\`${name}\` cannot be compiled here`),
  thereNoArgumentsHere: (): Message => says("feature", "there are no arguments here"),
  skboutputFentryFexitRawtracepointProbes: (): Message =>
    says("feature", "skboutput() is for fentry, fexit and rawtracepoint probes"),
  symbolNotKnownHere: (): Message => says("feature", "this symbol is not known here"),
  registerNotKnownHere: (): Message => says("feature", "this register is not known here"),
  cannotCompiledYet: (name: Shown): Message => says("feature", `\`${name}()\` cannot be compiled yet`),
  mustConstant: (): Message => says("feature", "this must be a constant"),
  findWantsVariable: (): Message => says("feature", "`find()` wants a variable"),
  pathWantsStructPathKernel: (): Message => says("feature", "`path()` wants a struct path in the kernel"),
  variableNotKnownHere: (): Message => says("feature", "this variable is not known here"),
  strGivesString: (): Message => says("feature", "`str()` gives a string"),
  strWantsPointer: (): Message => says("feature", "`str()` wants a pointer"),
  bufGivesBuffer: (): Message => says("feature", "`buf()` gives a buffer"),
  constantNotKnown: (): Message => says("feature", "this constant is not known"),
  operandNotNumber: (kind: Shown): Message => says("feature", `a ${kind} is not a number`),
  functionGivesNothing: (): Message => says("feature", "this function gives nothing"),
  valueNotNumber: (): Message => says("feature", "not a number"),
  mapValuesCannotCopied: (): Message => says("feature", "this map's values cannot be copied"),
  thereNoFunction: (name: Shown): Message => says("feature", `there is no function \`${name}\``),
  callsItself: (name: Shown): Message =>
    says("feature", `\`${name}\` calls itself`, "functions are built into their callers: use a loop"),
  outsideLoop: (kind: Shown): Message => says("feature", `\`${kind}\` outside a loop`),
  unrollWantsConstant: (): Message => says("feature", "`unroll` wants a constant"),
  unrolledWhatAroundThereTimes: (unrolled: Shown, mostUnrolled: Shown): Message =>
    says(
      "feature",
      `unrolled with what is around it, this is there ${unrolled} times: ${mostUnrolled} is the most`,
      "use a loop",
    ),
  /** @example struct A { char x[1073741824]; } kprobe:f { print(((struct A *)arg0)->x); } */
  givesRecordBytesMost: (size: Shown, mostRecordBytes: Shown): Message =>
    says(
      "limit",
      `this gives a record of ${size} bytes, and ${mostRecordBytes} are the most`,
      "take a part of it: an element, a member, buf(address, length)",
    ),
  loopVariableNoPlace: (): Message => says("feature", "the loop's variable has no place"),
  loopVariableNotTuple: (): Message => says("feature", "the loop's variable is not a tuple"),
  doneStrobeWhichGoneWhen: (name: Shown): Message =>
    says(
      "feature",
      `\`${name}()\` runs in strobe, which has exited when a pinned iterator is read`,
      "print with printf(), or leave the pin out",
    ),
  formatWantsMoreArguments: (): Message => says("feature", "the format wants more arguments"),
  cannotPrint: (value: Shown, why: Shown): Message =>
    says(
      "feature",
      `${value} cannot print this: ${why}`,
      "the kernel prints it, and supports %d, %u, %x, %c, %p and %s with a width",
    ),
  valueNoType: (): Message => says("feature", "this value has no type"),
  theseElementsNowhere: (): Message => says("feature", "these elements are nowhere"),
  notStack: (): Message => says("feature", "not a stack"),
  noElements: (): Message => says("feature", "this has no elements"),
};
