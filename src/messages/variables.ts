// What keeps a variable from being read
import type { Reason } from "../base/failure.ts";
import { reason } from "./message.ts";

/** Only of binaries with debug information whose variable cannot be read at the place of a probe, behind its name. */
export const variableReasons = {
  none: (name: string): Reason => reason(`there is no \`${name}\``),
  notSetYet: (): Reason => reason("not set yet at the function's entry; probe a line behind its declaration"),
  retval: (why: Reason): Reason => reason(`retval is ${why}`),
  returnsNothing: (name: string): Reason => reason(`not there: \`${name}\` returns nothing`),
  inlinedResult: (): Reason => reason("in no register of its own where an inlined copy ends"),
  fileNotOpened: (): Reason => reason("not known before the process opens a file that has it"),
  notKept: (): Reason => reason("not kept"),
  notKeptOnStack: (bytes: number): Reason =>
    reason(`not kept until the function returns: it has ${bytes} bytes on the stack`),
  readAt: (why: Reason, probe: string): Reason => reason(`${why}; it can be read at ${probe}`),
  valueAt: (why: Reason, lines: string): Reason => reason(`${why}; it has a value at ${lines}`),
  goneAllOver: (why: Reason, name: string): Reason => reason(`${why}, and all over ${name}()`),
  notYet: (): Reason => reason("not in its place yet at the function's beginning"),
  alteredResult: (): Reason =>
    reason("not known: the compiler changed what the function takes and returns; probe the line behind the call"),
  addressKept: (): Reason =>
    reason(
      'returned in memory, whose address the function does not give back; keep it at the entry: uprobe, reg("di")',
    ),
  rustOrC: (): Reason =>
    reason(
      'returned as Rust or as C does: debug information does not tell whether it is extern "C"; probe the line behind the call',
    ),
  longConstant: (): Reason => reason("too long a constant"),
  manyPieces: (): Reason => reason("in too many pieces"),
  pointerGone: (to: string): Reason =>
    reason(to === "" ? "a pointer that was optimised out" : `a pointer that was optimised out, to \`${to}\``),
  inVector: (): Reason => reason("in a vector register, which a probe cannot read"),
  unknownPlace: (): Reason => reason("in a place that strobe does not know"),
  several: (name: string, choices: string): Reason =>
    reason(`there are several variables \`${name}\`: say which, as in ${choices}`),
  goneWithBlock: (name: string, line: string): Reason =>
    reason(`\`${name}\`, declared at line ${line}, was optimised out with its block`),
  goneInBlock: (name: string, line: string): Reason =>
    reason(`\`${name}\`, declared at line ${line}, is of another block, and optimised out all over it`),
  ofAnotherBlock: (name: string, line: string, lines: string): Reason =>
    reason(`\`${name}\`, declared at line ${line}, is of another block: it has a value at ${lines}`),
  partly: (why: Reason): Reason => reason(`partly ${why}`),
  notInstalled: (file: string, buildId: string | undefined): Reason =>
    reason(
      `${file} has no debug information${buildId === undefined ? "" : ` (nor is there a debug file for its build id ${buildId})`}: ` +
        "install its debug package (-dbgsym, -dbg, -debuginfo), build it with -g, name the folder of its debug file " +
        "(--debuginfo), or set DEBUGINFOD_URLS",
    ),
  emptyLocation: (): Reason => reason("its location is empty"),
  baseNowhere: (): Reason => reason("its base is nowhere"),
  tooComplicated: (): Reason => reason("its location is too complicated"),
  noFrameFound: (): Reason => reason("its frame cannot be found: there is no unwinding information here"),
  threadLocalComputed: (): Reason => reason("its place in thread-local storage is computed"),
  dependsOnObject: (): Reason => reason("its location depends on the object it is in"),
  noCallerPasses: (): Reason =>
    reason(
      "optimised out: no caller passes it any more, and what each would have passed is told for debuggers that look at callers",
    ),
  dependsOnVariable: (): Reason => reason("its location depends on the value of another variable"),
  unknownOperation: (operation: number): Reason =>
    reason(`its location has the unknown operation 0x${operation.toString(16)}`),
  dependsOnComparison: (): Reason => reason("its location depends on a comparison"),
  floatingPoint: (): Reason => reason("computed with floating point"),
  dependsOnCall: (): Reason => reason("its location depends on a call that is not known"),
  entryValueNowhere: (): Reason => reason("its value at the function's beginning is nowhere"),
  callNotTold: (): Reason => reason("its call cannot be told from others: there is no unwinding information here"),
  wideLoad: (bytes: number): Reason => reason(`its location needs a load of ${bytes} bytes`),
  noFrame: (): Reason => reason("its function has no frame"),
  noFrameHere: (): Reason => reason("its function has no frame here"),
  libraryThreadLocalMachine: (): Reason =>
    reason("in a library's thread-local storage, which strobe finds on x86-64 only"),
  libraryThreadLocalMusl: (): Reason =>
    reason("in a library's thread-local storage, which strobe finds with glibc only, not with musl"),
  libraryThreadLocalUntold: (): Reason =>
    reason("in a library's thread-local storage, and nothing in the library tells where that is"),
  noKeptCall: (): Reason => reason("in no call that something is kept of"),
  threadLocalAtEntry: (): Reason => reason("in thread-local storage, at the function's entry"),
  keptEntryUncertain: (): Reason =>
    reason("optimised out here: what the function was called with tells it, and where it is entered is not certain"),
  keptNotInGo: (): Reason =>
    reason("optimised out here: what the function was called with tells it, which is not kept in Go"),
  keptCodeUnreadable: (): Reason =>
    reason("optimised out here: what the function was called with tells it, and its code cannot be read"),
  keptLoopAtEntry: (): Reason =>
    reason(
      "optimised out here: what the function was called with tells it, and a loop comes by its first instruction again",
    ),
  countedFrom: (symbol: string): Reason => reason(`counted from \`${symbol}\`, which is not in the symbol table`),
  ownOfThread: (): Reason => reason("a variable of each thread's own"),
  countedByLinker: (symbol: string): Reason =>
    reason(`counted from \`${symbol}\`, of which only the linker knew where it is`),
  onlyCalledWith: (): Reason => reason("optimised out here: only what the function was called with tells it"),
  piecesOfBits: (): Reason => reason("in pieces that are no whole bytes"),
  registerTooSmall: (): Reason => reason("in a register that is too small for it"),
  piecesNotFollowed: (): Reason => reason("in pieces that cannot be followed"),
  tooDeep: (): Reason => reason("where an expression is too deep to follow"),
  perCpuUntold: (): Reason =>
    reason("each CPU has its own, and /proc/kallsyms does not tell where (CONFIG_KALLSYMS_ALL)"),
  noThreadLocals: (): Reason => reason("in thread-local storage, and the file has none"),
  threadPointerUntold: (): Reason =>
    reason("in thread-local storage, and this kernel does not describe where that is (CONFIG_DEBUG_INFO_BTF)"),
  noDebugInformation: (file: string): Reason => reason(`${file} has no debug information`),
  placeInNoCode: (): Reason => reason("the place is in no code"),
  returnUnknown: (): Reason =>
    reason("unknown where a function returns: this kernel does not tell where the program was loaded"),
  kernelThreadLocal: (): Reason => reason("in thread-local storage, which the kernel does not have"),
  unknownAtEntry: (): Reason => reason("not known at the function's entry"),
  oldRust: (): Reason =>
    reason(
      "not told by compilers of Rust before 1.65, which leave results out without saying so; probe the line behind the call",
    ),
  optimisedOutHere: (): Reason => reason("optimised out here"),
  optimisedOut: (): Reason => reason("optimised out"),
  differingRust: (): Reason =>
    reason("returned in a way that compilers of Rust differ in; probe the line behind the call"),
  untoldRust: (): Reason =>
    reason("returned in a way that debug information does not tell; probe the line behind the call"),
};
