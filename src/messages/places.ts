// Places in programs and in the kernel.
import { says, saysOf, type Message, type Shown } from "./message.ts";

export const places = {
  /** Only of a FIFO, a socket or a device: `uprobe:/dev/null:f`. */
  notRegularFile: (target: Shown): Message =>
    says(
      "name",
      `\`${target}\` is not a regular file`,
      "programs and libraries are: it is a FIFO, a socket or a device, which strobe does not open",
    ),
  /** @example uprobe:/usr/bin:f { } */
  folder: (target: string): Message =>
    says("name", `\`${target}\` is a folder`, `name what is in it, as in \`${target.replace(/\/*$/, "")}/*\``),
  /** @example uprobe:/etc/passwd:f { } */
  notElf: (target: Shown): Message =>
    says(
      "name",
      `\`${target}\` is no program and no library (ELF)`,
      "what a script does is seen in the program that runs it; in a file of bare code an offset can be probed with --unsafe",
    ),
  /** Of what is not in a ZIP archive: `uprobe:/opt/app.apk!/lib/nothing.so:f`. */
  notInArchive: (entry: Shown, archive: Shown, near: readonly string[]): Message =>
    says(
      "name",
      `there is no \`${entry}\` in the ZIP archive \`${archive}\``,
      near.length > 0 ? `did you mean ${near.map((name) => `\`${name}\``).join(" or ")}?` : undefined,
    ),
  /** Of what is compressed or encrypted in a ZIP archive. */
  packedInArchive: (entry: Shown, archive: Shown): Message =>
    says(
      "name",
      `\`${entry}\` is compressed in the ZIP archive \`${archive}\``,
      "code is run where it lies only from what is stored as it is (`zip -0`); a program that unpacks it runs the unpacked file",
    ),
  /** Of a file that was given as `FILE!/LIBRARY`. */
  damagedArchive: (archive: Shown, what: Shown): Message =>
    says("name", `\`${archive}\` is no ZIP archive that can be read: ${what}`),
  /** @example uprobe:/no/such/program:f { } */
  noSuchBinary: (target: Shown): Message =>
    saysOf(
      { kind: "program" },
      says(
        "name",
        `target file '${target}' does not exist or is not executable`,
        "give a path, or a name that the shell or the loader finds",
      ),
    ),
  /** @example uprobe:/bin/stripped:main@main.c { } */
  functionsOfFileUnknown: (file: Shown, reason: Shown): Message =>
    says("arguments", `which functions \`${file}\` has is not known: ${reason}`),
  /** @example uprobe:/bin/app:0x401001 { } */
  addressInsideInstruction: (address: Shown, name: Shown, inside: Shown): Message =>
    says("arguments", `${address} is inside an instruction of \`${name}\`, which begins at ${name}+${inside}`),
  /** @example uprobe:/bin/app:0x10 { } */
  addressOutsideCode: (address: Shown, binary: Shown, help?: string): Message =>
    says("arguments", `the address ${address} is in no code of ${binary}`, help),
  /** @example uprobe:/bin/app:main+two { } */
  notBytes: (text: Shown): Message => says("arguments", `\`${text}\` is not a number of bytes`),
  /** @example uretprobe:/bin/app:main+2 { } */
  returnTakesNoOffset: (): Message => says("arguments", "a return probe takes no offset"),
  /** @example uprobe:/bin/app:main+16 { } */
  onlySoManyBytes: (name: Shown, size: Shown): Message =>
    saysOf({ kind: "function", name: String(name) }, says("arguments", `\`${name}\` has only ${size} bytes`)),
  /** @example uprobe:/bin/app:main+1 { } */
  offsetInsideInstruction: (text: Shown, name: Shown, inside: Shown): Message =>
    says("arguments", `\`${text}\` is inside an instruction, which begins at ${name}+${inside}`),
  /**
   * @on without-code
   * @example ret:vfs_read { }
   */
  codeUnreadable: (reason: Shown, help?: string): Message => says("feature", `${reason}`, help),
  /** Only on machines other than x86-64, of functions that a return trampoline would harm. */
  returnsOutOfReach: (why: Shown, unsafely: Shown): Message =>
    says("feature", `${why}`, `strobe decodes x86-64 instructions only, to probe those that return; ${unsafely}`),
  /** Of functions that a return trampoline would harm, as `uretprobe` of a program in Go. */
  returnsProbedReturnInstructionsRet: (what: Shown, why: Shown, help?: string): Message =>
    says("feature", `returns are probed at ${what} return instructions, as by \`ret:\`: ${why}`, help),
  /** Only on machines other than x86-64, of functions that a return trampoline would harm. */
  functionsLeftOutOne: (count: Shown, name: Shown, why: Shown, unsafely: Shown): Message =>
    says(
      "feature",
      `${count} functions are left out, \`${name}\` for one: ${why}`,
      `strobe decodes x86-64 instructions only, to probe those that return; ${unsafely}`,
    ),
  /**
   * @on bare
   * @example ret:* { }
   */
  noKernelFunctionMatches: (text: Shown): Message =>
    saysOf({ kind: "probes" }, says("name", `no kernel function matches \`${text}\``)),
  /** @example kprobe:f { } */
  noMatchesThereNoKernel: (provider: Shown, what: Shown, name: Shown, where: Shown, help?: string): Message =>
    saysOf(
      { kind: "probes" },
      says("name", `no matches for ${provider} ${what}${name}: there is no kernel function \`${name}\`${where}`, help),
    ),
  /** @example kprobe:demo@demo.c:8 { } */
  linesNotKnown: (what: Shown, reason: Shown): Message => says("name", `lines of ${what} are not known: ${reason}`),
  /** @example ret:/bin/app:m* { } */
  noneFunctionsMatchReturnInstruction: (count: Shown): Message =>
    says("arguments", `none of the ${count} functions that match has a return instruction`),
  /** @example ret:/bin/app:main { } */
  noReturnInstructionNeverReturns: (name: Shown): Message =>
    says("arguments", `\`${name}\` has no return instruction: it never returns`),
  /** @example ret:/bin/app:last { } */
  noReturnInstructionEndsJump: (name: Shown, value: Shown, what: Shown, instead: Shown): Message =>
    says("arguments", `\`${name}\` has no return instruction: it ends with a jump to ${value}`, `${what}${instead}`),
  /** @example uprobe:/bin/app:nothing* { } */
  noFunctionMatches: (where: Shown, name: Shown): Message =>
    saysOf({ kind: "probes" }, says("name", `no function ${where} matches \`${name}\``)),
  /** @example uprobe:/bin/app:mian { } */
  noMatchesThereNoFunction: (provider: Shown, value: Shown, name: Shown, where: Shown, help?: string): Message =>
    saysOf(
      { kind: "probes" },
      says("name", `no matches for ${provider} ${value}: there is no function \`${name}\` ${where}`, help),
    ),
  /** Only of programs with functions that end with a jump to another. */
  callsEndElsewhere: (calls: string, instead: string): Message =>
    says(
      "feature",
      `some calls end with a jump to another function, and are not seen: ${calls}`,
      `the other function returns in its place: probe it as well, or ${instead}`,
    ),
  /** Only of programs with bytes between their instructions. */
  bytesOfNoInstruction: (name: string, address: string): Message =>
    says("feature", `\`${name}\` has bytes that are no instruction, at ${address}`, "returns behind them are not seen"),
  /** Only of probes at several places, some of which do not have what the handler asks for. */
  placesLeftOut: (some: number, all: number, probe: string, place: string, lacking: string): Message =>
    says(
      "name",
      `${some} of the ${all} places of \`${probe}\` ${some === 1 ? "is" : "are"} left out: at ${place} ${lacking}`,
    ),
};
