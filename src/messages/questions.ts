// What is wrong with a question whose script strobe writes: strobe leaks, func, follow.
import { usage, type UsageMessage } from "./message.ts";

export const questions = {
  /** @example strobe leaks --older 1s --lang d */
  writesItself: (name: string, option: string): UsageMessage =>
    usage(`strobe ${name} writes its script itself: it takes no ${option}`),
  /** @example strobe leaks --kernel get=f put=g --room none */
  wholeNumber: (option: string, least: number, found: string): UsageMessage =>
    usage(`--${option} takes a whole number from ${least} on, not "${found}"`),
  /** @example strobe func vfs_read --least soon */
  time: (option: string, found: string): UsageMessage =>
    usage(`${option} takes a time such as 50us, 10ms or 2s, not "${found}"`),
  /** @example strobe leaks --kernel get=f put=g --follow -c true */
  followsOne: (): UsageMessage =>
    usage("--follow chooses handlers of one process and its children, but any process may give back"),
  /** @example strobe leaks --kernel get=f put=g --cgroup / */
  withoutCgroup: (): UsageMessage => usage("--cgroup is not known here: choose by -p, --comm or --user"),
  /** @example strobe leaks threads */
  leaksKind: (kinds: readonly string[], found: string): UsageMessage =>
    usage(`strobe leaks takes one of ${kinds.join(", ")}, not "${found}"`),
  /** @example strobe leaks files memory */
  leaksOne: (kinds: readonly string[], more: string): UsageMessage =>
    usage(`strobe leaks takes one of ${kinds.join(", ")}, got "${more}" as well`),
  /** @example strobe leaks files --library libc */
  libraryForMemory: (kind: string): UsageMessage => usage(`--library is for memory: ${kind} are the kernel's`),
  /** @example strobe leaks --library /dev/null */
  noAllocator: (missing: readonly string[], library: string): UsageMessage =>
    usage(
      `there is no ${missing.join(" and no ")} in ${library}: --library names the library or program that has the allocator`,
    ),
  /** @example strobe leaks --library 'libc*' */
  libraryName: (found: string): UsageMessage => usage(`--library takes a library's name or path, not "${found}"`),
  /** @example strobe leaks --kernel take=f */
  leaksRole: (found: string): UsageMessage =>
    usage(`strobe leaks --kernel takes get=FUNCTION, put=FUNCTION and free=FUNCTION, not "${found}"`),
  /** @example strobe leaks get=f */
  roleNeedsKernel: (word: string, role: string): UsageMessage =>
    usage(`${word} needs --kernel, or a probe: ${role}=uprobe:PROGRAM:FUNCTION`),
  /** @example strobe leaks --kernel get=f */
  roleMissing: (role: string): UsageMessage =>
    usage(`${role}= is missing: strobe leaks --kernel get=FUNCTION put=FUNCTION`),
  /** @example strobe leaks --kernel get=f put=g --older 1s */
  notForPairs: (option: string): UsageMessage => usage(`--${option} is not for pairs of functions`),
  /** @example strobe leaks get=kprobe:f put=uprobe:./app:g */
  pairsOfOneSpace: (): UsageMessage =>
    usage("functions of the kernel and of programs have no objects in common: ask for either"),
  /** @example strobe leaks --kernel get= */
  needsFunction: (option: string): UsageMessage => usage(`${option} needs a function`),
  /** @example strobe leaks --kernel 'get=f arg0; arg1' */
  oneExpression: (option: string, found: string): UsageMessage =>
    usage(`${option}… takes one expression for the object, not "${found}"`),
  /** @example strobe leaks --kernel get=f/g */
  functionOrProbe: (option: string, found: string): UsageMessage =>
    usage(`${option} takes a function's name or a probe, not "${found}"`),
  /** @example strobe func */
  whichFunctions: (): UsageMessage => usage("which functions? strobe func 'vfs_*', strobe func ./server:handle"),
  /** @example strobe func vfs_read ./server:handle */
  functionsOfOneSpace: (): UsageMessage =>
    usage("functions of the kernel and of programs are told apart: ask for either"),
  /** @example strobe func vfs_read --lines --hist */
  linesOrHist: (): UsageMessage => usage("--lines or --hist: a line has one call's time"),
  /** @example strobe func 'vfs read' */
  functionName: (found: string): UsageMessage =>
    usage(`"${found}" is no function's name: write FUNCTION, or BINARY:FUNCTION, with wildcards`),
  /** @example strobe func uprobe:handle */
  functionOfProgram: (found: string): UsageMessage => usage(`"${found}": a program's function is BINARY:FUNCTION`),
  /** Only where a wildcard means more. */
  tooManyForLines: (probe: string, most: number): UsageMessage =>
    usage(`${probe} means more than ${most} functions: --lines has a handler for each`),
  /** @example strobe follow */
  followNeeds: (): UsageMessage =>
    usage("strobe follow needs to know where the object is seen: strobe follow 'PROBE OBJECT' FUNCTIONS…"),
  /** @example strobe follow vfs_read */
  followTakesProbe: (found: string): UsageMessage =>
    usage(`strobe follow takes a probe, such as kprobe:${found}, not "${found}"`),
  /** @example strobe follow 'kprobe:tcp_sendmsg arg0' */
  whichCalls: (): UsageMessage =>
    usage("which functions' calls? name some behind the probe, with wildcards: 'tcp_*' 'inet_*'"),
  /** @example strobe follow 'kprobe:tcp_sendmsg arg0' 'tcp-*' */
  noFunctionName: (found: string): UsageMessage => usage(`"${found}" is no function's name, nor a wildcard`),
  /** @example strobe follow 'uprobe:./server:make retval' --free destroy */
  freeTakesProbe: (found: string): UsageMessage => usage(`--free takes a probe, such as uprobe:PROGRAM:${found}`),
  /** @example strobe follow 'kprobe:tcp_sendmsg arg0' 'tcp_*' --value 8:f32 */
  member: (found: string): UsageMessage =>
    usage(`--value takes a member, or OFFSET:TYPE with a type from u8 to s64, not "${found}"`),
  /** @example strobe follow 'kprobe:tcp_sendmsg arg0' 'tcp_*' --writes state */
  written: (found: string): UsageMessage => usage(`--writes takes MEMBER:BYTES, as in state:4, not "${found}"`),
};
