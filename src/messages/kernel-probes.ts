// Probes of kernel functions and objects.
import { kernelFeatures } from "../base/kernel-features.ts";
import { lacks, says, type Message, type Shown } from "./message.ts";

export const kernelProbes = {
  /**
   * On a kernel without BTF.
   *
   * @on without-btf
   * @example fentry:vfs_read { }
   */
  needsKernelTypeInformationBtf: (name: Shown, help?: string): Message =>
    lacks(kernelFeatures.typeInformation, `${name} needs the kernel's type information (BTF)`, help),
  /** Of a function that /proc/kallsyms has and BTF does not, as `fentry:FUNCTION`. */
  kernelNoTypeInformationFunction: (name: Shown, help?: string): Message =>
    says("name", `the kernel has no type information of the function \`${name}\``, help),
  /** Of functions of several files that share a name, as `fentry:FUNCTION`. */
  nameFunctionsWhichKernelTakes: (name: Shown, length: Shown, which: Shown): Message =>
    says("name", `\`${name}\` is the name of ${length} functions, of which the kernel takes ${which}`),
  /** @example fentry:bpf:nothing { } */
  noBpfFunction: (name: string, program: string | undefined, provider: string, near: string | undefined): Message =>
    says(
      "name",
      `no loaded BPF program has a function \`${name}\`${program === undefined ? "" : `, of the program ${program}`}`,
      near ?? bpfFunctionsListed(provider),
    ),
  /** @example fentry:bpf:nothing* { } */
  noBpfFunctionMatches: (
    probe: string,
    program: string | undefined,
    provider: string,
    near: string | undefined,
  ): Message =>
    says(
      "name",
      `no function of a loaded BPF program matches \`${probe}\`${program === undefined ? "" : `, of the program ${program}`}`,
      near ?? bpfFunctionsListed(provider),
    ),
  /** @example iter:task:/sys/fs/bpf/* { } */
  pinOneFile: (): Message => says("syntax", "expected one file as the pin"),
  /** @example iter:task:x { x } */
  iterNotAvailableYourKernel: (name: Shown, help?: string): Message =>
    says("name", `iter ${name} not available for your kernel version`, help),
  /** @example kretprobe:f@demo.c:8 { } */
  sourceLineDoesNotReturn: (): Message =>
    says("arguments", "a source line does not return", "probe the function's return, or the line with kprobe"),
  /** @example kretprobe:f:maxactive=0 { } */
  maxactiveHowManyCallsMay: (MAXACTIVE_LIMIT: Shown): Message =>
    says("arguments", `maxactive is how many calls may be under way at once: 1 to ${MAXACTIVE_LIMIT}`),
  /** @example kprobe:inlined:add { } */
  noCopyKnown: (name: Shown, help?: string): Message => says("name", `no copy of \`${name}\` is known`, help),
  /** @example kprobe:vfs_read+x { } */
  notFunctionOffset: (name: Shown): Message => says("syntax", `\`${name}\` is not FUNCTION+OFFSET`),
  /** @example kretprobe:f+4 { } */
  functionReturnsFromNoOffset: (name: Shown, name2: Shown): Message =>
    says("arguments", "a return probe takes no offset", `write ${name}:${name2}`),
  /** @example kprobe:vfs_*+4 { } */
  wildcardCannotOffset: (): Message => says("arguments", "a wildcard takes no offset"),
  /**
   * Of functions of several files that share a name: `kprobe:FUNCTION+4`.
   *
   * @tested src/providers/places/kernel-functions.test.ts
   */
  nameFunctionsWhoseCodeDiffers: (name: Shown, count: Shown, help?: string): Message =>
    says("arguments", `\`${name}\` is the name of ${count} functions, whose code differs`, help),
  /** Of functions of several files that share a name, as `kprobe:FUNCTION`. */
  nameFunctionsProbingAllThem: (name: Shown, count: Shown, hinted: unknown): Message =>
    says(
      "name",
      `\`${name}\` is the name of ${count} functions: probing all of them`,
      hinted
        ? "args are those of the only one that BTF describes: use arg0, arg1 … for all"
        : "kprobe:0xADDRESS probes one of them (/proc/kallsyms has the addresses)",
    ),
  /** Only on kernels without kprobes. */
  kernelNoKprobes: (others: Shown): Message =>
    lacks(
      kernelFeatures.kprobes,
      "this kernel has no kprobes",
      `it needs ${kernelFeatures.kprobes.config}; ${others} may do instead (strobe --info shows what this kernel offers)`,
    ),
};

const bpfFunctionsListed = (provider: string): string =>
  `\`strobe -l '${provider}:bpf:*'\` lists those there are: programs without type information cannot be traced`;
