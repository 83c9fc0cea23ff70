// Calls of builtins and functions: their arguments.
import { kernelFeatures, type KernelVersion } from "../base/kernel-features.ts";
import { lacks, says, saysOf, type Message, type Shown } from "./message.ts";

const countOfArguments = (count: number): string =>
  count === 0 ? "no arguments" : count === 1 ? "one argument" : `${count} arguments`;

export const calls = {
  /** @example begin { print(strftime("%H")); } */
  wrongCount: (name: Shown, given: number, least: number, most: number, usage?: string): Message => {
    const wanted =
      least === most
        ? `requires ${countOfArguments(least)}`
        : given < least
          ? `requires at least ${countOfArguments(least)}`
          : `takes up to ${countOfArguments(most)}`;
    return says("arguments", `${name}() ${wanted} (${given} provided)`, usage);
  },
  /** @example begin { static_assert(1 == 2, "the script's own words"); } */
  ofTheScript: (message: string): Message => says("type", message),
  /** @example begin { print(reg("ip")); } */
  canNotBeUsedHere: (name: Shown, provider: Shown, help?: string): Message =>
    says(
      "placement",
      `${name} can not be used ${provider === undefined ? "in a function" : `with "${provider}" probes`}`,
      help,
    ),
  /** @example usdt:app:done { print(kstack); } */
  notAvailable: (name: Shown, body: Shown): Message => says("placement", `${name} is not available in ${body}`),
  /** @example fn f() : void { print(arg0); } begin { } */
  notAvailableFunction: (name: Shown): Message =>
    says("placement", `${name} is not available in a function`, "pass it as an argument"),
  /** @example usdt:app:done { print(arg0); } */
  noArguments: (value: Shown): Message => says("placement", `${value} has no arguments`),
  /** @example kprobe:f { print(arg7) } */
  notAvailableHere: (name: Shown, count: Shown): Message =>
    says("placement", `${name} is not available here`, `arguments go from arg0 to arg${count}`),
  /** @example begin { @a[$i] = arg0; } */
  numberedNotAvailable: (name: Shown, body: Shown, hinted: unknown): Message =>
    says("placement", `${name} is not available in ${body}`, hinted ? undefined : "use args.NAME here"),
  /** @example begin { (retval); } */
  retvalNotAvailable: (body: Shown): Message =>
    says(
      "placement",
      `retval is not available in ${body}`,
      "only where a function returns: kretprobe, fexit, uretprobe, ret",
    ),
  /** @example fexit:schedule { print(retval); } */
  retval: (absent: Shown): Message => says("placement", `retval is ${absent}`),
  /** @example kprobe:f { print(goid); } */
  goidNotAvailable: (body: Shown): Message =>
    says("placement", `goid is not available in ${body}`, "only in functions that Go 1.17 or later compiled"),
  /** @example interval:s:1 { print(func); } */
  funcNotAvailable: (body: Shown): Message => says("placement", `func is not available in ${body}`),
  /**
   * On the command line without `-c`.
   *
   * @on without-command
   * @example kprobe:f { print(cpid); }
   */
  cpidThereNoCommand: (): Message =>
    says("placement", "cpid is 0: no command was given", "use -c; has_cpid tells whether a command was given"),
  /** Only on kernels without BTF: `ustack(dwarf)`. */
  unwindingNeedsKernelTypeInformation: (): Message =>
    lacks(kernelFeatures.typeInformation, "unwinding needs the kernel's type information of tasks", "use ustack(fp)"),
  /** Only on machines other than x86-64: `ustack(dwarf)`. */
  unwindingTablesX: (): Message =>
    says("feature", "unwinding by tables requires x86-64", "use ustack(fp): programs for arm64 have frame pointers"),
  /** @example begin { x(); } */
  unknownFunction: (name: Shown, help?: string): Message => says("name", `unknown function: '${name}'`, help),
  /** @example begin { sum(); } */
  mustAssignedDirectlyMap: (body: Shown, body2: Shown): Message =>
    says("placement", `${body}() must be assigned directly to a map`, `write ${body2} = ${body}(…)`),
  /** @example begin { system("ls") } */
  unsafeFunctionBeingUsedSafe: (body: Shown): Message =>
    says(
      "unsafe",
      `${body}() is an unsafe function being used in safe mode`,
      "allow it with --unsafe; from Node, with the option unsafe: true",
    ),
  /**
   * Here on Linux 5.4.
   *
   * @on old-kernel
   * @example fentry:packet_rcv { print(path(args.skb)); }
   */
  needsLinuxOrNewer: (body: string, since: KernelVersion): Message =>
    lacks({ name: `${body}()`, since }, `${body}() needs Linux ${since.join(".")} or newer`),
  /** @example fn f($x : int64) : int64 { return $x; } begin { print(f("a")); } */
  not: (body: Shown, body2: Shown, wanted: Shown, type: Shown): Message =>
    says("type", `${body} of ${body2}() is ${wanted}, not ${type}`),
  /** @example begin { kaddr(1); } */
  expectsStringLiteralProvided: (body: Shown, type: Shown): Message =>
    says("arguments", `${body}() expects a string literal (${type} provided)`),
  /** @example kprobe:f { print(buf((1, 2), 5)); } */
  expectsPointerNot: (body: Shown, type: Shown): Message => says("type", `${body}() expects a pointer, got ${type}`),
  /** @example begin { print(bswap("a")); } */
  onlySupportsIntArgumentsProvided: (body: Shown, type: Shown): Message =>
    says("type", `${body}() only supports int arguments (${type} provided)`),
  /** @example kprobe:f { print(buf(arg0, -1)); } */
  expectsLengthOrMore: (body: Shown): Message => says("limit", `${body}() expects a length of 0 or more`),
  /** @example begin { print(comm + "x"); print(str(comm, -1)) } */
  strExpectsLengthOrMore: (): Message => says("limit", "str() expects a length of 0 or more"),
  /** @example begin { print(strlen(5)); } */
  expectedTextNot: (type: Shown, help?: string): Message => says("type", `expected text, got ${type}`, help),
  /** @example begin { print(strncmp("a", "b", pid)); } */
  expectsConstantLength: (body: Shown): Message => says("arguments", `${body}() expects a constant length`),
  /** @example kprobe:f { print(memcmp(arg0, arg1, 100000)); } */
  memcmpComparesBytesMost: (mostCompared: Shown): Message =>
    says("limit", `memcmp() compares ${mostCompared} bytes at most`, "compare in several calls"),
  /** @example kprobe:f { print(buf(arg0)); print(buf("abc")); print(buf(curtask.comm)) } */
  bufExpectsLengthArgument: (type: Shown): Message =>
    says(
      "arguments",
      `buf() expects a length argument for ${type}`,
      "the length may be left out only for arrays and text",
    ),
  /** @example fentry:packet_rcv { print(path(args.skb)); } */
  pathExpectsStructPathNot: (type: Shown): Message => says("type", `path() expects a struct path, got ${type}`),
  /** @example begin { print(strcap(5)) } */
  strcapExpectsTextStringArray: (type: Shown): Message =>
    says("type", `strcap() expects text: a string, an array or a pointer, got ${type}`),
  /** @example begin { kaddr("symbol"); } */
  failedResolveKernelSymbol: (name: string, help?: string): Message =>
    saysOf({ kind: "symbol", name }, says("name", `failed to resolve kernel symbol: ${name}`, help)),
  /** @example uprobe:app:main { print(uaddr("x")); } */
  thereNoSymbolHere: (name: Shown, help?: string): Message => says("name", `unknown symbol \`${name}\` here`, help),
  /** Only where /proc/kallsyms hides addresses: `kaddr("avenrun")`. */
  kernelDoesNotTellWhere: (name: Shown, help?: string): Message =>
    says("feature", `this kernel does not show the address of \`${name}\` is`, help),
  /** @example kprobe:f { reg("ax"); } */
  thereNoRegister: (name: Shown, help?: string): Message => says("name", `unknown register \`${name}\``, help),
  /** @example begin { kstack(nope); } */
  errorParsingStackModeInvalid: (name: Shown, name2: Shown, value: Shown): Message =>
    says("name", `error parsing stack mode: ${name}: invalid value for stack_mode: ${name2}`, `it is one of ${value}`),
  /** @example begin { kstack("x"); } */
  invalidLimitValueExpectedConstant: (name: Shown): Message =>
    says("arguments", `${name}: invalid limit value, expected a constant`),
  /** @example kprobe:f { print(kstack(0)); } */
  takesFrameLeast: (body: Shown): Message => says("limit", `${body}() takes at least 1 frame`),
  /** @example kprobe:f { print(kstack(1024)); print(kstack(perf, 2000)) } */
  limitShouldnTExceedGiven: (body: Shown, constant: Shown): Message =>
    says("limit", `${body}()'s limit shouldn't exceed 1024, ${constant} given`),
  /** @example kprobe:f { print(kstack(1024)); print(kstack(perf, 2000)) } */
  keepsFramesMostAsked: (body: Shown, fullStack: Shown, constant: Shown): Message =>
    says(
      "limit",
      `${body}() keeps ${fullStack} frames at most, ${constant} asked for`,
      "a longer stack ends in a line that says so",
    ),
  /** @example begin { nsecs("monotonic"); } */
  takes: (body: Shown, value: Shown): Message => says("arguments", `${body}() takes ${value}`),
  /** @example kprobe:f { print(ksym("a")); } */
  expectsNumberNot: (body: Shown, type: Shown): Message => says("type", `${body}() expects a number, got ${type}`),
  /** @example begin { print(ntop("a")); } */
  ntopExpectsIntegerOrArray: (type: Shown): Message =>
    says("type", `ntop() expects an integer or an array of 4 or 16 bytes, got ${type}`),
  /** @example begin { print(macaddr("a")); } */
  macaddrExpectsBytesNot: (type: Shown): Message => says("type", `macaddr() expects 6 bytes, got ${type}`),
  /** @example begin { pton("address"); } */
  notIpvOrIpvAddress: (text: Shown): Message => says("arguments", `\`${text}\` is not an IPv4 or IPv6 address`),
  /** @example begin { cgroupid("path"); } */
  thereNoCgroup: (name: Shown): Message => says("name", `no such cgroup: \`${name}\``),
  /** @example begin { print(strftime("%H", -5)); } */
  strftimeExpectsTimeOrLater: (): Message => says("limit", "strftime() expects a time of 0 or later"),
  /** @example begin { print(strftime("%Y", nsecs(monotonic))); print(strftime("%Y", nsecs(boot))) } */
  strftimeCanNotTakeMonotonic: (): Message =>
    says(
      "arguments",
      "strftime() can not take a monotonic timestamp",
      "it excludes the time that the system was suspended: use nsecs, which is nsecs(boot)",
    ),
  /**
   * @on unsafe
   * @example kprobe:f { signal("SIGNONE"); }
   */
  unknownSignal: (value: Shown, help?: string): Message => says("name", `unknown signal \`${value}\``, help),
  /**
   * @on unsafe
   * @example kprobe:f { signal(65); }
   */
  signalsGoFrom: (): Message => says("limit", "signals are numbered 1 to 64"),
  /** Only on kernels without CONFIG_BPF_KPROBE_OVERRIDE: `override(1)`. */
  kernelLetsNoHandlerOverride: (): Message =>
    lacks(
      kernelFeatures.resultOverride,
      "this kernel cannot override a function's result",
      `it needs a kernel built with ${kernelFeatures.resultOverride.config}`,
    ),
  /** Of D: what is assigned to is a value, as a member of `args`. */
  notInMemory: (): Message => says("type", "what is assigned to is in no memory"),
  /**
   * @on d
   * @example
   * struct a { int x; };
   * struct a v;
   * BEGIN { v.x = "s"; }
   */
  otherInMemory: (target: Shown, value: Shown): Message =>
    saysOf(
      { kind: "types", operator: "=", left: String(target), right: String(value) },
      says("type", `cannot store a value of type '${value}' where one of type '${target}' is`),
    ),
  /**
   * @on unsafe
   * @example kprobe:f { write_user(arg0, 5, arg1); }
   */
  writeUserExpectsConstantLength: (): Message => says("arguments", "write_user() expects a constant length"),
  /** @example fentry:packet_rcv { print(socket_cookie(comm)); } */
  socketCookieExpectsStructSock: (type: Shown): Message =>
    says("type", `socket_cookie() expects a struct sock *, got ${type}`),
  /** @example fentry:packet_rcv { skboutput("", args.skb, 1, 0); } */
  captureFileNeedsName: (): Message => says("arguments", "a capture file needs a name"),
  /** @example fentry:packet_rcv { skboutput("packets.pcap", pid, 1, 0); } */
  skboutputExpectsStructSkBuff: (type: Shown): Message =>
    says("type", `skboutput() expects a struct sk_buff *, got ${type}`),
  /**
   * @example struct sk_buff { int len; }; fentry:packet_rcv { skboutput("packets.pcap", (struct sk_buff *)pid, 1, 0); }
   */
  skboutputExpectsPointerKernelKnows: (): Message =>
    says(
      "type",
      "skboutput() expects a pointer that the kernel knows: the probe's own argument",
      "write `args.skb`, without a cast, or a variable that holds it",
    ),
  /** @example fentry:packet_rcv { skboutput("packets.pcap", args.skb, "a", 0); } */
  skboutputExpectsNumberHereNot: (type: Shown): Message =>
    says("type", `skboutput() expects a number here, got ${type}`),
  /** @example begin { $a = 5; if comptime ($a == 5) { } } */
  notKnownBeforeScriptRuns: (): Message =>
    says(
      "arguments",
      "the value is not known before the script runs",
      "comptime takes literals, types, is_ptr() and the like",
    ),
  /** @example kprobe:f { print(container_of(1, 2, 3)); } */
  containerExpectsPointerStructMember: (): Message =>
    says("arguments", "container_of() expects a pointer, a struct and a member's name"),
  /** @example kprobe:f { print(container_of((struct path *)arg0, struct file, nosuch)); } */
  noMember: (struct: Shown, name: Shown): Message => says("name", `${struct} has no member \`${name}\``),
  /** @example begin { debugf("x %d %s %x|%c", -5, "text", 255, 65); exit(); } */
  debugfBuiltinNotRecommendedProduction: (): Message =>
    says(
      "unused",
      "the debugf() builtin is not recommended for production use: it prints into the kernel's trace buffer, which every tracer shares",
    ),
  /** @example kprobe:f { emit("x", 5); } */
  emitExpectsRecord: (): Message => says("arguments", "emit() expects a record"),
  /** @example begin { print(m, 5); } */
  onlyWholeMapTakesTop: (): Message => says("arguments", "only a whole map takes a top and a divisor"),
  /** @example begin { print("😀", pid); } */
  mustConstants: (what: Shown): Message => says("arguments", `${what} must be constants`),
  /** @example begin { @ = count(); print(@, 1, -1); } */
  printDivisorCannotNegative: (): Message => says("limit", "print()'s divisor cannot be negative"),
  /** @example begin { time(1); } */
  timeExpectsStringLiteralProvided: (type: Shown): Message =>
    says("arguments", `time() expects a string literal (${type} provided)`),
  /** @example begin { follow("a"); } */
  expectsAddress: (name: string, type: Shown): Message => says("type", `${name}() expects an address, got ${type}`),
  /** @example kprobe:f { unwatch("a"); } */
  unwatchExpectsAddressNot: (type: Shown): Message => says("type", `unwatch() expects an address, got ${type}`),
  /** @example kprobe:f { watch(pid, 1); } */
  watchWantsNameProbeString: (): Message =>
    says("arguments", "watch() expects the name of its probe as a string literal"),
  /** @example begin { watch("NAME", address); } */
  noWatchpointName: (value: Shown, help?: string): Message =>
    says("name", `no watchpoint has the name "${value}"`, help),
  /** @example tracepoint:sched:sched_switch { watch("state", comm); } watchpoint:state:8:w { } */
  watchWantsAddressNot: (type: Shown): Message => says("type", `watch() expects an address, got ${type}`),
  /** @example begin { exit("a"); } */
  exitCodeIntegerNot: (type: Shown): Message => says("type", `exit() expects an integer, got ${type}`),
  /** @example kprobe:f { join("a"); } */
  joinExpectsArrayStringsNot: (type: Shown): Message => says("type", `join() expects an array of strings, got ${type}`),
  /** @example kprobe:f { join((int8 **)arg0, 5); } */
  joinExpectsSeparatorStringLiteral: (): Message =>
    says("arguments", "join() expects its separator as a string literal"),
  /** @example begin { static_assert(pid, "text"); } */
  staticAssertNeedsConstantCondition: (): Message => says("arguments", "static_assert() needs a constant condition"),
  /** @example begin { static_assert(1 == 2, comm); } */
  staticAssertionFailed: (): Message => says("type", "static assertion failed"),
  /** @example begin { printf(5); } */
  expectedStringLiteralFormat: (): Message => says("arguments", "expected a string literal as the format"),
  /** @example begin { printf("%99999999d", 1); } */
  badFormat: (message: Shown): Message => says("arguments", `bad format: ${message}`),
  /** @example begin { printf("%d %d", 1) } */
  argumentsFormatStringSuppliedExpected: (what: Shown, count: Shown, wanted: Shown): Message =>
    says("arguments", `${what} arguments for format string (${count} supplied, ${wanted} expected)`),
  /** @example begin { printf("%.*s", "a", "b"); } */
  precisionExpectsIntegerNot: (type: Shown): Message =>
    says("type", `a precision of \`*\` expects an integer, got ${type}`),
  /** @example begin { printf("%f", 1); } */
  unsupportedFormatSpecifierType: (type: Shown, letter: Shown, help?: string): Message =>
    says("type", `unsupported format specifier for type '${type}': %${letter}`, help),
};
