// What keeps the kernel's code and debug information from being read
import type { Reason } from "../base/failure.ts";
import { reason } from "./message.ts";

/** Only of kernels whose code or debug information cannot be read, behind a probe that needs it. */
export const kernelImageReasons = {
  addressesHidden: (): Reason =>
    reason("the kernel hides its addresses here: CAP_SYSLOG is missing, or kernel.kptr_restrict is 2"),
  moduleNotInstalled: (module: string, release: string): Reason =>
    reason(
      `the module ${module} has no debug information: build it with -g, or install its debug package into ` +
        `/usr/lib/debug/lib/modules/${release}`,
    ),
  moduleOfAnotherBuild: (file: string): Reason =>
    reason(`${file} is of another build of the module than the one that is loaded`),
  noMemoryFile: (file: string): Reason =>
    reason(`there is no ${file} (CONFIG_PROC_KCORE, or it is hidden in this container)`),
  memoryFileClosed: (file: string): Reason =>
    reason(`${file} is closed: it needs root, and a kernel that is not locked down`),
  memoryFileUnreadable: (file: string, why: string): Reason => reason(`${file} cannot be read: ${why}`),
  noFile: (file: string): Reason => reason(`there is no file ${file}`),
  notInstalled: (release: string): Reason =>
    reason(
      `the kernel's debug information is not installed: install its debug package (Debian: linux-image-${release}-dbg), or name its vmlinux with --vmlinux FILE`,
    ),
  ofAnotherKernel: (file: string, found: string | undefined, running: string | undefined): Reason =>
    reason(`${file} is of another kernel than the one that runs (build id ${found}, not ${running})`),
  noCode: (file: string): Reason => reason(`${file} has no code`),
  addressHidden: (): Reason => reason("/proc/kallsyms hides where the kernel is: be root"),
  unreadable: (file: string, why: string): Reason => reason(`${file}: ${why}`),
  otherMachine: (): Reason => reason("strobe decodes x86-64 instructions only"),
  functionAddress: (name: string): Reason =>
    reason(
      `the address of \`${name}\` is not known: /proc/kallsyms hides it, or the compiler has inlined it everywhere`,
    ),
  functionEnd: (name: string): Reason => reason(`the end of \`${name}\` is not known`),
  codeUnreadable: (why: string): Reason => reason(`the kernel's code cannot be read: ${why}`),
  probeHides: (name: string, offset: number): Reason =>
    reason(
      `a probe in \`${name}\`, at ${name}+${offset}, hides the instruction that is there: try again when it has gone`,
    ),
  moduleNotLoaded: (name: string): Reason =>
    reason(`no module ${name} is loaded, or the kernel does not tell where (CONFIG_KALLSYMS)`),
  moduleHidden: (name: string): Reason => reason(`the kernel hides where the module ${name} is: be root`),
  noCodeToRead: (): Reason => reason("this machine's kernel has no code to read"),
  placeInNoCode: (file: string): Reason => reason(`the place is in no code of ${file}`),
  noImage: (): Reason => reason("this machine has none"),
  noModules: (): Reason => reason("this machine has no modules"),
};
