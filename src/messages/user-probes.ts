// Probes of programs, of single instructions and of counters.
import { kernelFeatures } from "../base/kernel-features.ts";
import { lacks, says, saysOf, type Message, type Shown } from "./message.ts";

export const userProbes = {
  /** @example software:fault { } */
  notProbe: (event: Shown, name: Shown, help?: string): Message =>
    says("name", `${event} is not a ${name} probe`, help),
  /** @example hardware:cache-misses:a { exit(); } */
  invalidCountProbeInvalidInteger: (name: Shown, countText: Shown): Message =>
    says(
      "arguments",
      `invalid count for ${name} probe: invalid integer: ${countText}`,
      "write a whole number, such as 100 or 1e6",
    ),
  /** Only on machines other than x86-64. */
  strobeCanOnlyTellX: (shownPath: Shown): Message =>
    says("feature", "strobe decodes x86-64 instructions only", `probe ${shownPath} by \`uprobe\``),
  /** Of a symbol that lies outside of the file's code. */
  thereNoCode: (name: Shown, shownPath: Shown): Message => says("arguments", `no code of \`${name}\` in ${shownPath}`),
  /**
   * Of the instructions of a function that kernels refuse to probe: `insn:work:*`.
   *
   * @tested src/providers/kinds/insn.test.ts
   */
  instructionsCannotProbed: (count: Shown, probed: Shown, name: Shown, value: Shown, more: Shown): Message =>
    says("feature", `${count} of ${probed} instructions of \`${name}\` cannot be probed`, `${value}${more}`),
  /** @example insn:/bin/app:work:entry { } */
  endsOfFunctions: (binary: Shown, name: Shown, provider: Shown): Message =>
    says("arguments", "entry and return are names of the kernel's functions", `write ${provider}:${binary}:${name}`),
  /**
   * Of a kernel with debug information: `insn:get_page:0`.
   *
   * @tested src/providers/places/kernel-places.test.ts
   */
  onlyCopiesOf: (name: Shown): Message =>
    says(
      "name",
      `\`${name}\` has no code of its own: it was inlined into others`,
      `insn:${name}:entry and insn:${name}:return probe all copies`,
    ),
  /** Where a function's bytes are data, or instructions that the decoder does not know. */
  noInstructions: (name: Shown, from: Shown): Message =>
    says("arguments", `the bytes of \`${name}\` are no instructions from ${from} on`),
  /** @example insn:/bin/app:main:3 { } */
  insideInstruction: (place: Shown, begin: Shown, next?: Shown): Message =>
    says(
      "arguments",
      `${place} is inside an instruction, which begins at ${begin}${next === undefined ? "" : `; the next begins at ${next}`}`,
    ),
  /** @example insn:/bin/app:locked:0 { } */
  instructionNotProbed: (text: Shown, place: Shown, reason: Shown): Message =>
    says("arguments", `\`${text}\` at ${place} cannot be probed: ${reason}`),
  /** Only on machines other than x86-64. */
  strobeKnowsLinkageTablesX: (): Message =>
    says("feature", "strobe reads linkage tables of x86-64 only", "probe the function in its library by `uprobe`"),
  /** @example plt:/bin/stripped:malloc { } */
  noLinkageTable: (where: Shown): Message =>
    says(
      "name",
      `${where} has no linkage table`,
      "it is static, or built with -fno-plt: probe the functions by `uprobe`",
    ),
  /** @example plt:/bin/app:x* { } */
  noFunctionImportsMatches: (where: Shown, wanted: Shown): Message =>
    says("name", `no function that ${where} imports matches \`${wanted}\``),
  /** @example plt:/bin/app:mallok { } */
  noLinkageTableEntry: (where: Shown, wanted: Shown, help?: string): Message =>
    says("name", `${where} has no linkage table entry of \`${wanted}\``, help),
  /** @example process:x:begins { } */
  noMoment: (moment: Shown, name: Shown, help?: string): Message =>
    says("name", `unknown ${name} event \`${moment}\``, help),
  /** @example process:x:begin { } */
  thereNoProgram: (target: Shown): Message =>
    says("name", `no such program: \`${target}\``, "give a path, or a name in PATH; `*` matches any program"),
  /** @example process:*:begin { @begin[comm] = count(); } process:*:end { @end[comm] = count(); } */
  kernelDoesNotDescribeTasks: (): Message =>
    lacks(
      kernelFeatures.typeInformation,
      "this kernel has no type information of tasks",
      `it was built without ${kernelFeatures.typeInformation.config}`,
    ),
  /** Of a file whose inode cannot be read. */
  whichProcessesRunCannotTold: (target: Shown, reason: Shown): Message =>
    says("feature", `which processes run ${target} cannot be told: ${reason}`),
  /** Only before Linux 6.16: `process:*:exit`. */
  whichEndsToldSinceLinux: (what: Shown): Message =>
    lacks(
      kernelFeatures.endsOfProcesses,
      `which ${what} ends is told since Linux ${kernelFeatures.endsOfProcesses.since.join(".")}`,
      "tracepoint:sched:sched_process_exit sees every thread that ends",
    ),
  /** Only on machines other than x86-64. */
  returnsNeedX86: (shownPath: Shown): Message =>
    says("feature", "strobe decodes x86-64 instructions only", `probe ${shownPath} by \`uretprobe\``),
  /** Of a function on the kernel's list of places that must not be probed: `ret:FUNCTION`. */
  returnsWhereKernelMustNot: (name: Shown): Message =>
    says("feature", `\`${name}\` returns where the kernel must not be probed`),
  /** @example self:signal:SIGKILL { } */
  notSignalStrobeCanProbed: (signal: Shown, help?: string): Message =>
    says("name", `${signal} is not a signal that self probes accept`, help),
  /** @example test: { } */
  needsName: (name: Shown): Message => says("syntax", `a ${name} needs a name`, `write \`${name}:NAME { … }\``),
  /** @example uretprobe:/bin/app@main.c:5 { } */
  sourceLineDoesNotReturn: (): Message =>
    says("arguments", "a source line does not return", "probe the function's return, or the line with uprobe"),
  /**
   * In a file of bare code, with `--unsafe`.
   *
   * @on unsafe
   * @example uprobe:/etc/passwd:0x10 { }
   */
  couldNotDetermineInstructionBoundary: (text: Shown): Message =>
    says(
      "name",
      `could not determine instruction boundary for ${text}: the file is no ELF file, and a misaligned probe can crash what runs it`,
    ),
  /** @example usdt:/bin/app:app:tick { print(arg1); } */
  argumentCannotRead: (i: Shown, group: Shown, reason: Shown, text: Shown): Message =>
    says("feature", `argument ${i} of ${group} cannot be read: it is ${reason}`, `its place is \`${text}\``),
  /** @example usdt:/bin/app:app:rate { print(arg0); } */
  argumentFloatingPointNumber: (i: Shown, group: Shown): Message =>
    says("feature", `argument ${i} of ${group} is a floating-point number`, `print(args.arg${i}) shows it`),
  /** @example usdt:/bin/stripped:app:rate { } */
  thereNoStaticProbes: (where: Shown): Message =>
    saysOf({ kind: "probes" }, says("name", `no static probes ${where}`, "it was built without them (sys/sdt.h)")),
  /** @example usdt:/bin/app:app:tock { } */
  noStaticProbeMatches: (where: Shown, name: Shown, help?: string): Message =>
    saysOf({ kind: "probes" }, says("name", `no static probe ${where} matches \`${name}\``, help)),
};
