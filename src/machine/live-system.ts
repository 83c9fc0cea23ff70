// This machine as a System. Making one costs nothing: each fact is read when it is first asked for, and kept.
import { closeSync, fstatSync, openSync, readFileSync, readdirSync } from "node:fs";
import { Btf, BtfError, type BtfConstant } from "../debuginfo/btf.ts";
import type { Capabilities } from "../linux/kernel/capabilities.ts";
import type { TypeScope } from "../language/type-scope.ts";
import { kernelFeatures, kernelHas } from "../base/kernel-features.ts";
import { kernelConfiguration } from "../linux/kernel/configuration.ts";
import { cgroupId } from "../linux/kernel/cgroups.ts";
import { LinuxError } from "../linux/error.ts";
import { Features } from "../linux/kernel/features.ts";
import { FunctionLocations } from "../linux/kernel/function-locations.ts";
import { MAP_PRIVATE, mmap, PROT_READ } from "../linux/ffi.ts";
import type { Kallsyms } from "../linux/kernel/kallsyms.ts";
import { seenFiles, type SeenFile } from "../store/seen-files.ts";
import {
  hasSyntheticEvents,
  hasUserEvents,
  listEvents,
  listsFunctions,
  readFormat,
  traceableFunctions,
} from "../linux/kernel/tracefs.ts";
import { keepIndex, keptIndex } from "./kernel/kept-types.ts";
import { KernelTypes, plainTypes, type Signature } from "./kernel/kernel-types.ts";
import type { LiveBinary } from "./binaries/live-binary.ts";
import type { LiveKernelText } from "./kernel/live-kernel-text.ts";
import type { ModuleImages } from "./kernel/module-images.ts";
import { hostMachine } from "./contexts/registers.ts";
import { fixedStart, matcher, matches } from "./wildcard.ts";
import type {
  BpfFunction,
  FunctionAt,
  FunctionPlace,
  KernelCode,
  KernelFunction,
  KernelImage,
  System,
  TaskOfCpu,
  TracepointFormat,
} from "./system.ts";
import type { SearchPaths, Surroundings } from "./search-paths.ts";
import type { Descriptions } from "./values/descriptions.ts";
import { parseTracepointFormat } from "./kernel/tracepoint-format.ts";
import { lazy } from "../base/lazy.ts";
import { Failure } from "../base/failure.ts";

// Loaded when something is asked that they know.
const binaries = lazy<typeof import("./binaries/live-binary.ts")>(() => require("./binaries/live-binary.ts"));
const tasks = lazy<typeof import("./kernel/task-of-cpu.ts")>(() => require("./kernel/task-of-cpu.ts"));
const images = lazy<typeof import("./kernel/kernel-image.ts")>(() => require("./kernel/kernel-image.ts"));
const modules = lazy<typeof import("./kernel/module-images.ts")>(() => require("./kernel/module-images.ts"));
const kernelText = lazy<typeof import("./kernel/live-kernel-text.ts")>(() => require("./kernel/live-kernel-text.ts"));
const symbols = lazy<typeof import("../linux/kernel/kallsyms.ts")>(() => require("../linux/kernel/kallsyms.ts"));
const programs = lazy<typeof import("../linux/bpf/bpf-functions.ts")>(() => require("../linux/bpf/bpf-functions.ts"));
const names = lazy<typeof import("./kernel/function-names.ts")>(() => require("./kernel/function-names.ts"));
const describing = lazy<typeof import("./values/descriptions.ts")>(() => require("./values/descriptions.ts"));
const headers = lazy<typeof import("./kernel/header-constants.ts")>(() => require("./kernel/header-constants.ts"));
const imageTypes = lazy<typeof import("./kernel/image-types.ts")>(() => require("./kernel/image-types.ts"));

const BTF_FOLDER = "/sys/kernel/btf";
const VMLINUX = "vmlinux";
const BPF_PROG_TYPE_TRACING = 26;

/** What the live machine tells beyond what providers and the checker ask. */
export interface LiveSystem extends System {
  /** Kernel symbols, shared with whoever prints stacks: reading them takes tens of milliseconds. */
  kallsyms(): Kallsyms;
  binary(pathOrName: string, pid?: number): LiveBinary | undefined;
  /** Types of libraries that were looked at, whose name a description has, and whose members none. */
  unfittingTypes(): readonly string[];
  /** When the kernel's types were gone through: keeps what was found, so that the next process has it at once. */
  keepTypes(): void;
  /**
   * The files that all that was asked so far was found in, where they and the running kernel with its modules are all
   * that it depends on; undefined when processes, addresses or code were asked for.
   */
  madeOf(): readonly SeenFile[] | undefined;
}

/** `paths`: where to look for what is not where the kernel and distributions have it. */
export function liveSystem(paths: SearchPaths = {}): LiveSystem {
  return new Live(paths);
}

class Live implements LiveSystem {
  readonly #around: Surroundings;
  #descriptions: Descriptions | undefined;
  #lasting = true;
  readonly #features = new Features();
  readonly #binaries = new Map<string, LiveBinary>();
  readonly #formats = new Map<string, TracepointFormat | undefined>();
  #sysfsBtf: { readonly bytes: Uint8Array | undefined } | undefined;
  /** `kept`: their index is on disk, or they are of no use there. */
  #kernel: { readonly types: KernelTypes | undefined; readonly kept: boolean } | undefined;
  #modules: ReadonlyMap<string, KernelTypes> | undefined;
  #kallsyms: Kallsyms | undefined;
  #kernelText: LiveKernelText | undefined;
  #moduleImages: ModuleImages | undefined;
  #kernelImage: KernelImage | Failure | undefined;
  #listsFunctions: boolean | undefined;
  #traceable: ReadonlySet<string> | undefined;
  #functions: readonly string[] | undefined;
  #init: readonly [bigint, bigint] | undefined;
  #locations: { readonly of: FunctionLocations | undefined } | undefined;
  #typedFunctions: readonly string[] | undefined;
  #sharedNames: ReadonlySet<string> | undefined;
  #sharedFunctions: ReadonlyMap<string, readonly bigint[]> | undefined;
  #events: readonly { readonly category: string; readonly name: string }[] | undefined;

  /** The kernel's types, then its modules'; constants also of C headers. */
  readonly types: TypeScope = {
    find: (name, tag) =>
      (this.#kernelTypes() ?? plainTypes).find(name, tag) ?? this.#inModules((types) => types.find(name, tag))?.found,
    enumConstant: (name) =>
      this.#kernelTypes()?.enumConstant(name) ??
      headerEnum(name) ??
      this.#inModules((types) => types.enumConstant(name))?.found,
    similar: (name, tag) => (this.#kernelTypes() ?? plainTypes).similar(name, tag),
  };

  constructor(paths: SearchPaths) {
    this.#around = {
      paths,
      descriptions: () => (this.#descriptions ??= describing().readDescriptions(paths.types ?? [])),
    };
  }

  unfittingTypes(): readonly string[] {
    return [...(this.#descriptions?.unfitting ?? [])];
  }

  get capabilities(): Capabilities {
    return this.#features.capabilities();
  }

  kernelFunction(name: string): KernelFunction | undefined {
    const found = this.#signature((types) => types.function(name));
    if (found === undefined) return undefined;
    const { module, signature } = found;
    return {
      name,
      btfId: signature.id,
      module,
      parameters: signature.parameters,
      result: signature.result,
      spelled: signature.spelled,
    };
  }

  taskOfCpu(): TaskOfCpu | undefined {
    const types = this.#kernelTypes();
    return types === undefined ? undefined : tasks().findTaskOfCpu(types);
  }

  kernelFunctions(only?: "typed"): readonly string[] {
    // tracefs knows what is there. All symbols do, which take longer to read, and are hidden from the unprivileged:
    // then BTF is all there is to go by, which also describes what the compiler inlined away and what init code was.
    const listed = (this.#listsFunctions ??= listsFunctions());
    if (listed && only === undefined)
      return (this.#functions ??= names().functionNames(
        "traceable",
        () => [...this.#traceableFunctions()].sort(),
        () => this.#traceableFunctions().size > 0,
      ));
    return (this.#typedFunctions ??= listed ? this.#typedAndTraceable() : this.#typedSymbols());
  }

  #typedAndTraceable(): readonly string[] {
    const find = (): string[] => {
      const traceable = this.#traceableFunctions();
      return [...this.#functionsOfTypes()].filter((name) => traceable.has(name)).sort();
    };
    return this.#ownTypes() ? names().functionNames("typed-traceable", find) : find();
  }

  #typedSymbols(): readonly string[] {
    const find = (): string[] => {
      const typed = this.#functionsOfTypes();
      const symbols = this.kallsyms();
      if (symbols.size === 0) return [...typed].sort();
      // Deleting as they are met leaves out what occurs twice.
      return symbols
        .namesOutside(...this.#initText())
        .filter((name) => typed.delete(name))
        .sort();
    };
    return this.#ownTypes() ? names().functionNames("typed", find, () => this.kallsyms().size > 0) : find();
  }

  /** Types that were read from a file may be others' the next time. */
  #ownTypes(): boolean {
    return this.#kernelBtfBytes() !== undefined;
  }

  #traceableFunctions(): ReadonlySet<string> {
    return (this.#traceable ??= traceableFunctions());
  }

  #functionsOfTypes(): Set<string> {
    return new Set(this.#allTypes().flatMap((types) => [...types.functionNames()]));
  }

  functionModule(name: string): string | undefined {
    const symbols = this.kallsyms();
    const address = symbols.address(name);
    if (address === undefined) return this.kernelFunction(name)?.module;
    return symbols.lookup(address)?.module ?? VMLINUX;
  }

  functionsSharing(name: string): readonly FunctionPlace[] {
    this.#sharedNames ??= new Set(
      names().functionNames(
        "shared",
        () => [...this.kallsyms().sharedFunctions().keys()],
        () => this.kallsyms().size > 0,
      ),
    );
    if (!this.#sharedNames.has(name)) return [];
    const symbols = this.kallsyms();
    const [start, end] = this.#initText();
    const addresses = (this.#sharedFunctions ??= symbols.sharedFunctions()).get(name) ?? [];
    // What was only there while the kernel started is no function any more.
    return addresses
      .filter((address) => address < start || address >= end)
      .map((address) => ({ address, module: symbols.lookup(address)?.module ?? VMLINUX }));
  }

  /** Where code is that was only there while the kernel started. */
  #initText(): readonly [bigint, bigint] {
    const symbols = this.kallsyms();
    return (this.#init ??= [symbols.address("_sinittext") ?? 0n, symbols.address("_einittext") ?? 0n]);
  }

  functionsAt(
    { module, name }: { readonly module: string | undefined; readonly name: string },
    place: "start" | "traced",
  ): readonly FunctionAt[] | undefined {
    const { of: locations } = (this.#locations ??= { of: FunctionLocations.read() });
    if (locations === undefined) return undefined;
    const all = locations.find(fixedStart(name), matcher(name));
    const found = module === undefined ? all : all.filter((one) => matches(module, one.module ?? VMLINUX));
    if (place === "traced") return found;
    const symbols = this.kallsyms();
    return found.map(({ name: of, address }) => ({ name: of, address: symbols.start(address) ?? address }));
  }

  hasKernelFunction(name: string): boolean {
    const bytes = this.#kernelBtfBytes();
    return bytes === undefined ? this.kernelFunction(name) !== undefined : hasString(bytes, name);
  }

  symbolAddress(name: string): bigint | undefined {
    const address = this.kallsyms().address(name);
    // Programs that are loaded into the kernel have symbols, too, and so have probes.
    if (address === undefined || /^(?:bpf$|__builtin_)/.test(this.kallsyms().lookup(address)?.module ?? ""))
      this.#lasting = false;
    return address;
  }

  symbolsHidden(): string | undefined {
    return this.kallsyms().hidden;
  }

  kallsyms(): Kallsyms {
    return (this.#kallsyms ??= symbols().Kallsyms.read());
  }

  cgroupId(path: string): bigint | undefined {
    this.#lasting = false;
    return cgroupId(path);
  }

  kernelImage(): KernelImage | Failure {
    return (this.#kernelImage ??= images().kernelImage(() => this.kallsyms().address("_text"), this.#around));
  }

  moduleImage(name: string): KernelImage | Failure {
    return this.#images().image(name);
  }

  loadedModules(): readonly string[] {
    return this.#images().names();
  }

  #images(): ModuleImages {
    this.#lasting = false;
    return (this.#moduleImages ??= new (modules().ModuleImages)(this.#around));
  }

  moduleAt(address: bigint): string | undefined {
    this.#lasting = false;
    return this.kallsyms().lookup(address)?.module;
  }

  kernelCode(name: string, address?: bigint): KernelCode | Failure {
    this.#lasting = false;
    return (this.#kernelText ??= new (kernelText().LiveKernelText)(this.kallsyms())).code(name, address);
  }

  tracepoint(category: string, name: string): TracepointFormat | undefined {
    const key = `${category}:${name}`;
    if (!this.#formats.has(key)) {
      // Names come from scripts: they must not leave the folder.
      const text = /^[\w.-]+:[\w.-]+$/.test(key) ? readFormat(category, name) : undefined;
      const format = text === undefined ? undefined : parseTracepointFormat(text);
      this.#formats.set(key, category === "syscalls" ? format && withoutTexts(format) : format);
    }
    return this.#formats.get(key);
  }

  tracepoints(): readonly { readonly category: string; readonly name: string }[] {
    return (this.#events ??= listEvents());
  }

  userEvents(): boolean {
    return hasUserEvents();
  }

  eventsOnEvents(): boolean {
    const built = kernelConfiguration();
    return built instanceof Failure
      ? kernelHas(this.capabilities.kernel, kernelFeatures.eventsOnEvents)
      : built.has("CONFIG_EPROBE_EVENTS");
  }

  pairsOfEvents(): boolean {
    return hasSyntheticEvents();
  }

  rawTracepoint(name: string): ReturnType<System["rawTracepoint"]> {
    const found = this.#signature((types) => types.rawTracepoint(name));
    if (found === undefined) return undefined;
    const { signature, module } = found;
    return {
      btfId: signature.id,
      get args() {
        return signature.parameters;
      },
      ...(module === VMLINUX ? {} : { module }),
    };
  }

  hasRawTracepoint(name: string): boolean {
    // A look at the bytes: taking the kernel's types in would cost some milliseconds of a start that needs no other
    // type.
    const bytes = this.#kernelBtfBytes();
    return (bytes !== undefined && hasString(bytes, `btf_trace_${name}`)) || this.rawTracepoint(name) !== undefined;
  }

  rawTracepoints(): readonly string[] {
    return [...new Set(this.#allTypes().flatMap((types) => types.rawTracepointNames()))].sort();
  }

  typeNames(tag?: "struct" | "union" | "enum"): Iterable<string> {
    return this.#kernelTypes()?.names(tag) ?? [];
  }

  *enumConstants(): Iterable<BtfConstant> {
    const seen = new Set<string>();
    for (const types of this.#allTypes()) {
      for (const constant of types.enumConstants()) {
        if (seen.has(constant.name)) continue;
        seen.add(constant.name);
        yield constant;
      }
    }
  }

  bpfFunctions(): readonly BpfFunction[] {
    this.#lasting = false;
    return programs()
      .typedPrograms()
      .flatMap(({ id, type, btf: bytes, functions }) => {
        const btf = new Btf(bytes);
        return functions.flatMap((btfId): BpfFunction[] => {
          const found = btf.type(btfId);
          return found.kind === "function"
            ? [{ program: id, name: found.name, btfId, tracing: type === BPF_PROG_TYPE_TRACING }]
            : [];
        });
      });
  }

  iterators(): readonly string[] {
    return [...new Set(this.#allTypes().flatMap((types) => types.iteratorNames()))].sort();
  }

  binary(pathOrName: string, pid?: number): LiveBinary | undefined {
    if (pid !== undefined) this.#lasting = false;
    const key = `${pid ?? ""}:${pathOrName}`;
    const known = this.#binaries.get(key);
    if (known !== undefined) return known;
    const found = binaries().findBinary(pathOrName, this.#around, pid);
    if (found !== undefined) this.#binaries.set(key, found);
    return found;
  }

  mappedBinaries(pid: number): readonly string[] {
    this.#lasting = false;
    return binaries().mappedBinaries(pid);
  }

  /** Where the kernel offers its own: most do. */
  #kernelBtfBytes(): Uint8Array | undefined {
    return (this.#sysfsBtf ??= { bytes: readBtf(`${BTF_FOLDER}/${VMLINUX}`, true) }).bytes;
  }

  #kernelTypes(): KernelTypes | undefined {
    if (this.#kernel === undefined) {
      const bytes = this.#kernelBtfBytes();
      const kept = bytes === undefined ? undefined : keptIndex();
      const btf =
        bytes === undefined ? imageTypes().btfOfFile(this.#around.paths.btf) : new Btf(bytes, undefined, kept);
      this.#kernel = {
        types: btf === undefined ? undefined : new KernelTypes(btf),
        kept: bytes === undefined || kept !== undefined,
      };
    }
    return this.#kernel.types;
  }

  madeOf(): readonly SeenFile[] | undefined {
    return this.#lasting ? seenFiles() : undefined;
  }

  keepTypes(): void {
    const { types, kept } = this.#kernel ?? {};
    if (types !== undefined && !kept) keepIndex(types.btf);
  }

  #moduleTypes(): ReadonlyMap<string, KernelTypes> {
    if (this.#modules !== undefined) return this.#modules;
    const modules = new Map<string, KernelTypes>();
    const base = this.#kernelTypes()?.btf;
    for (const name of base === undefined ? [] : filesIn(BTF_FOLDER)) {
      try {
        const bytes = name === VMLINUX ? undefined : readBtf(`${BTF_FOLDER}/${name}`);
        if (bytes !== undefined) modules.set(name, new KernelTypes(new Btf(bytes, base)));
      } catch (error) {
        // A module built for another kernel has types that refer to nothing: it is left out, and the rest goes on.
        if (!(error instanceof BtfError)) throw error;
      }
    }
    return (this.#modules = modules);
  }

  #allTypes(): KernelTypes[] {
    const kernel = this.#kernelTypes();
    return kernel === undefined ? [] : [kernel, ...this.#moduleTypes().values()];
  }

  /** Modules are only read for what the kernel proper does not have. */
  #inModules<T>(
    find: (types: KernelTypes) => T | undefined,
  ): { readonly found: T; readonly module: string } | undefined {
    for (const [module, types] of this.#moduleTypes()) {
      const found = find(types);
      if (found !== undefined) return { found, module };
    }
    return undefined;
  }

  #signature(
    find: (types: KernelTypes) => Signature | undefined,
  ): { readonly signature: Signature; readonly module: string } | undefined {
    const kernel = this.#kernelTypes();
    const signature = kernel === undefined ? undefined : find(kernel);
    if (signature !== undefined) return { signature, module: VMLINUX };
    const inModule = this.#inModules(find);
    return inModule === undefined ? undefined : { signature: inModule.found, module: inModule.module };
  }
}

function readBtf(path: string, mapped = false): Uint8Array | undefined {
  let fd: number;
  try {
    fd = openSync(path, "r");
  } catch (error) {
    return absent(error);
  }
  try {
    return (mapped ? mapWhole(fd) : undefined) ?? readFileSync(path);
  } finally {
    closeSync(fd);
  }
}

/**
 * Reading sysfs gives a page a call: 13 ms for the kernel's types. Since Linux 6.16 they can be mapped, which takes
 * none.
 */
function mapWhole(fd: number): Uint8Array | undefined {
  try {
    return new Uint8Array(mmap(fd, fstatSync(fd).size, PROT_READ, 0, MAP_PRIVATE));
  } catch (error) {
    if (error instanceof LinuxError) return undefined;
    throw error;
  }
}

/**
 * Whether the string section has the whole string: its place is in the header's fifth and sixth word, behind the
 * header.
 */
function hasString(btf: Uint8Array, text: string): boolean {
  const { buffer, byteOffset, byteLength } = btf;
  if (byteLength < 24) return false;
  const header = new DataView(buffer, byteOffset, 24);
  const start = header.getUint32(4, true) + header.getUint32(16, true);
  return Buffer.from(buffer, byteOffset, byteLength)
    .subarray(start, start + header.getUint32(20, true))
    .includes(`\0${text}\0`, 0, "latin1");
}

function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    absent(error);
    return [];
  }
}

/** Files that are missing or closed to us are facts; anything else is a mistake. */
function absent(error: unknown): undefined {
  if (error instanceof Error && "code" in error) return undefined;
  throw error;
}

function headerEnum(name: string): ReturnType<TypeScope["enumConstant"]> {
  const value = headers().headerConstant(name, hostMachine);
  return value === undefined ? undefined : { value };
}

/**
 * Programs are given a system call's number and arguments, not the texts behind its pointers that newer kernels add to
 * the event's record (Linux 7: `__filename_val`; struct syscall_tp_t of kernel/trace/trace_syscalls.c has none).
 */
function withoutTexts({ id, fields }: TracepointFormat): TracepointFormat {
  return { id, fields: fields.filter(({ declaration }) => !declaration.startsWith("__data_loc ")) };
}
