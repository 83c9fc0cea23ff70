// Variables of programs at a place: `args`, `var()`, `vars` and a typed `retval`, from debug information.
import { splitName } from "../../debuginfo/dwarf/partial-names.ts";
import type { DebugInfo, DebugType, FunctionInstance, SourceFunction, Variable } from "../../debuginfo/dwarf/facts.ts";
import { expressions } from "../../messages/expressions.ts";
import { describe } from "../../language/check/unify.ts";
import type { Argument, Context, Fetch, ProgramVariables } from "../../language/context.ts";
import { sizeOf } from "../../language/layout.ts";
import { u64, type Type } from "../../language/types.ts";
import { parametersAtEntry, onFrame, resultOf, type Prologue } from "../calls/call-arguments.ts";
import { DebugTypes } from "./debug-types.ts";
import type { CallSoFar } from "../calls/kept-arguments.ts";
import { KeptEntry } from "../calls/kept-entry.ts";
import { displaced, targetOf, valueOf, type Seen } from "./locations.ts";
import { fetchRegister, hostMachine, registersOf } from "../contexts/registers.ts";
import { perCpuAddress } from "./per-cpu.ts";
import type { Binary, KernelImage, System } from "../system.ts";
import { threadLocalAddress } from "./thread-locals.ts";
import { Failure, type Reason, saidBy } from "../../base/failure.ts";
import { type Around, codeOf, functionAround, isNotYet, prologueOf } from "./function-around.ts";
import { linesWithValue, withLines } from "./lines-with-value.ts";
import { variableReasons } from "../../messages/on-demand.ts";

/** Where a probe is in a program. */
export interface ProgramPlace {
  readonly binary: Binary;
  /** File offset of the instruction. */
  readonly offset: bigint;
  /** The probe fires when the function there has returned: its frame is gone. */
  readonly returns: boolean;
  /** The binary is the running kernel's, which is so much further up than it was linked for. */
  readonly kernelSlide?: bigint;
  /** The copy that begins there. */
  readonly inlined?: InlinedCopy;
  /**
   * What the call was entered with can be kept for the place: for variables that the script names, or for all that it
   * prints.
   */
  readonly keeps?: "named" | "all";
}

/** A copy of a function that was inlined into another. */
export interface InlinedCopy {
  readonly fn: SourceFunction;
  readonly instance: FunctionInstance;
}

/** Types of a binary, by name. */
export function typesNamed(binary: Binary): NonNullable<Context["typeNamed"]> {
  return (name, tag) => {
    const info = debugInfoOf(binary);
    const found = info instanceof Failure ? undefined : info.typeNamed(name, tag);
    return found === undefined || info instanceof Failure ? undefined : debugTypes(info, "user").typeOf(found);
  };
}

/** Values of a binary's enumerators, by name. */
export function enumeratorsOf(binary: Binary): NonNullable<Context["enumerator"]> {
  return (name) => {
    const info = debugInfoOf(binary);
    return info instanceof Failure ? undefined : info.enumerator(name);
  };
}

export function userTypeOf(info: DebugInfo, type: DebugType): Type {
  return debugTypes(info, "user").typeOf(type);
}

/** Whether a handler wants anything that only debug information tells. */
export function wantsVariables(uses: ReadonlySet<string>): boolean {
  return uses.has("args") || uses.has("var") || uses.has("vars") || uses.has("retval");
}

export function debugInfoOf(binary: Binary): DebugInfo | Failure {
  return binary.debugInfo?.() ?? new Failure(variableReasons().noDebugInformation(binary.shownPath));
}

/** Types are made once a binary, so that equal ones are one object. */
const typesOf = new WeakMap<DebugInfo, DebugTypes>();

function debugTypes(info: DebugInfo, space: "user" | "kernel"): DebugTypes {
  let types = typesOf.get(info);
  if (types === undefined) typesOf.set(info, (types = new DebugTypes(info, space)));
  return types;
}

export interface PlaceContext {
  readonly context: Context;
  /** Equal for places where everything that the handler mentions is fetched alike: they can share a program. */
  readonly key: string;
  /** What the handler mentions and is not there: "`n` is optimised out here". */
  readonly lacking?: Reason;
  /** What of the call's beginning the handler needs. */
  readonly call?: CallSoFar;
}

/**
 * `context` with what debug information tells of the variables at a place that the handler mentions.
 */
export function withVariables(
  context: Context,
  place: ProgramPlace,
  system: System,
  { uses }: { readonly uses: ReadonlySet<string> },
): PlaceContext {
  const info = debugInfoOf(place.binary);
  const address = place.binary.address(place.offset);
  if (info instanceof Failure || address === undefined) {
    const why = info instanceof Failure ? info : new Failure(variableReasons().placeInNoCode());
    // What a result is remains known, though not its type.
    return { context: { ...context, variables: why }, key: why.reason };
  }
  const seen = seenFrom(place, address, info, context, system);
  const kept = place.keeps === undefined ? undefined : new KeptEntry(seen, place.binary, info);
  const named = kept?.seen ?? seen;
  const elsewhere = kept?.elsewhere ?? seen;
  const plain = place.keeps === "all" ? named : seen;
  const around =
    place.inlined === undefined
      ? functionAround(info, place.binary, place.offset, address)
      : { ...place.inlined, entry: false, clone: false };
  const retval =
    around === undefined || !place.returns || !uses.has("retval")
      ? undefined
      : (resultOf(around.reduced === true ? { ...around.fn, altered: true } : around.fn, seen, () =>
          codeOf(around, place.binary),
        ) ?? noResult(around.fn));
  const args = place.returns
    ? undefined
    : parametersOf(
        around,
        info,
        (name) => (uses.has(`args.${name}`) || uses.has(`var.${name}`) ? named : plain),
        plain,
        place.binary,
      ).map((arg) =>
        arg.absent === undefined || !uses.has(`args.${arg.name}`)
          ? arg
          : withLines(
              arg,
              around?.instance?.parameters.find(({ name }) => name === arg.name),
              around,
              info,
              elsewhere,
              place.binary,
            ),
      );
  const variables = new Variables(
    info,
    { plain, named, elsewhere },
    place.binary,
    place.returns,
    args ?? [],
    around,
    uses,
  );
  const call = kept?.close();
  const usedArgs = (args ?? []).filter(({ name }) => uses.has("args.*") || uses.has(`args.${name}`));
  return {
    context: {
      ...context,
      variables,
      ...(args === undefined || !uses.has("args") ? {} : { args }),
      ...(retval === undefined ? {} : { retval }),
    },
    key: keyOf([usedArgs, variables.used, retval, call]),
    ...(call === undefined ? {} : { call }),
    ...lackingIn(args, variables, uses),
    ...(retval?.absent === undefined ? {} : { lacking: variableReasons().retval(retval.absent) }),
  };
}

/** Of a function that is declared to return nothing; what assembly returns is declared nowhere. */
function noResult({ name, language }: SourceFunction): Context["retval"] {
  if (language === "go" || language === "other") return undefined;
  return { type: u64, fetch: { kind: "constant", value: 0n }, absent: variableReasons().returnsNothing(name) };
}

function lackingIn(
  args: readonly Argument[] | undefined,
  variables: Variables,
  uses: ReadonlySet<string>,
): { readonly lacking?: Reason } {
  for (const use of uses) {
    const [kind, name] = /^(args|var)\.(.+)$/s.exec(use)?.slice(1) ?? [];
    if (name === undefined || name === "*" || (kind === "args" && args === undefined)) continue;
    // What a pointer points to is there, or is looked for in vain with it.
    if (name.startsWith("*")) continue;
    const found = kind === "args" ? args?.find((one) => one.name === name) : variables.find(name);
    if (found instanceof Failure) return { lacking: found.reason };
    if (found === undefined) return { lacking: variableReasons().none(name) };
    const behind = found.absent !== undefined && uses.has(`var.*${name}`) ? variables.find(`*${name}`) : undefined;
    if (behind !== undefined && !(behind instanceof Failure) && behind.absent === undefined) continue;
    if (found.absent !== undefined) return { lacking: saidBy(expressions.absent(name, found.absent)) };
  }
  return {};
}

function keyOf(parts: unknown): string {
  return JSON.stringify(parts, (key, value: unknown) => {
    if (typeof value === "bigint") return `${value}n`;
    return key === "type" ? `${describe(value as Type)} ${sizeOf(value as Type)}` : value;
  });
}

function seenFrom(
  { binary, returns, kernelSlide }: ProgramPlace,
  address: bigint,
  info: DebugInfo,
  context: Context,
  system: System,
): Seen {
  if (kernelSlide !== undefined) return seenInKernel({ binary, slide: kernelSlide }, address, info, system);
  const registers = registersOf(hostMachine);
  const types = debugTypes(info, "user");
  const here: Fetch | undefined = !returns
    ? fetchRegister(registers, hostMachine === "arm64" ? "pc" : "ip")
    : context.func === "user"
      ? { kind: "function" }
      : undefined;
  const seen: Seen = {
    address,
    registers,
    types,
    space: "user",
    loaded: (wanted) => {
      if (binary.fixed) return { kind: "constant", value: wanted };
      return here === undefined ? new Failure(variableReasons().returnUnknown()) : displaced(here, wanted - address);
    },
    threadLocal: (offset) => threadLocalAddress(binary, offset, seen, system),
  };
  return seen;
}

function seenInKernel({ binary, slide }: KernelImage, address: bigint, info: DebugInfo, system: System): Seen {
  return {
    address,
    registers: registersOf(hostMachine),
    types: debugTypes(info, "kernel"),
    space: "kernel",
    loaded: (wanted) =>
      perCpuAddress(binary, wanted, slide, system) ?? { kind: "constant", value: BigInt.asUintN(64, wanted + slide) },
    threadLocal: () => new Failure(variableReasons().kernelThreadLocal()),
  };
}

/** The kernel's globals, for handlers that are at no place of its code. */
export function kernelGlobals(
  image: KernelImage,
  system: System,
  uses: ReadonlySet<string>,
): ProgramVariables | Failure {
  const info = debugInfoOf(image.binary);
  if (info instanceof Failure) return info;
  const seen = seenInKernel(image, 0n, info, system);
  return new Variables(info, { plain: seen, named: seen, elsewhere: seen }, image.binary, true, [], undefined, uses);
}

/** What Go's compiler calls a result without a name; results are among the parameters. */
const unnamedResult = /^~[rb]\d+$/;

/** Parameters in order, as they are at the place. */
function parametersOf(
  around: Around | undefined,
  info: DebugInfo,
  seenFor: (name: string) => Seen,
  seen: Seen,
  binary: Binary,
): Argument[] {
  if (around === undefined) return [];
  const { fn, instance, entry, clone } = around;
  const parameters = (instance?.parameters ?? fn.parameters).filter(({ name }) => !unnamedResult.test(name));
  if (entry && instance !== undefined) {
    let prologue: { readonly is: Prologue | undefined } | undefined;
    const asked = (): Prologue | undefined => (prologue ??= { is: prologueOf(instance, info, binary) }).is;
    return parametersAtEntry(clone ? { ...fn, altered: true } : fn, parameters, seen, asked).map(({ name, value }) => ({
      name,
      ...value,
    }));
  }
  const inScope = info.variablesAt(seen.address).filter(({ kind, outer }) => kind === "parameter" && outer !== true);
  return parameters.map((parameter) => {
    const here = inScope.find(({ name }) => name === parameter.name) ?? parameter;
    return {
      name: parameter.name,
      ...valueOf(here, seenFor(parameter.name)),
      ...(isNotYet(here, around, seen, binary) ? { absent: variableReasons().notYet() } : {}),
    };
  });
}

/** Larger variables are not shown among the others: an event has an end. */
const largestShown = 1 << 10;

class Variables implements ProgramVariables {
  readonly #info: DebugInfo;
  readonly #seen: Seen;
  /** For what the script names. */
  readonly #named: Seen;
  readonly #elsewhere: Seen;
  readonly #binary: Binary;
  readonly #args: readonly Argument[];
  readonly #around: Around | undefined;
  readonly #scope: readonly Variable[];
  readonly #found = new Map<string, Argument | Failure | undefined>();
  #inScope: readonly Argument[] | undefined;
  /** What the script uses. */
  readonly used: readonly unknown[];

  constructor(
    info: DebugInfo,
    { plain, named, elsewhere }: { readonly plain: Seen; readonly named: Seen; readonly elsewhere: Seen },
    binary: Binary,
    returns: boolean,
    args: readonly Argument[],
    around: Around | undefined,
    uses: ReadonlySet<string>,
  ) {
    this.#info = info;
    this.#seen = plain;
    this.#named = named;
    this.#elsewhere = elsewhere;
    this.#binary = binary;
    this.#args = args;
    this.#around = around;
    this.#scope = returns ? [] : scopeAt(info, plain.address, around?.instance);
    const names = [...uses].filter((use) => use.startsWith("var.")).map((use) => use.slice("var.".length));
    this.used = [...names.map((name) => [name, this.find(name)]), ...(uses.has("vars") ? this.inScope : [])];
  }

  find(name: string): Argument | Failure | undefined {
    if (!this.#found.has(name)) this.#found.set(name, this.#find(name));
    return this.#found.get(name);
  }

  get inScope(): readonly Argument[] {
    return (this.#inScope ??= this.#all());
  }

  *names(): Iterable<string> {
    for (const { name } of this.#args) yield name;
    for (const { name } of this.#scope) yield name;
  }

  #find(name: string): Argument | Failure | undefined {
    if (name.startsWith("*")) return this.#behind(name.slice(1));
    const at = name.indexOf("@");
    const [plain, file] = at < 0 ? [name, undefined] : [name.slice(0, at), name.slice(at + 1)];
    if (file === undefined) {
      const local = this.#scope.find((variable) => variable.name === plain);
      if (local !== undefined)
        return withLines(
          this.#argument(local, this.#named),
          local,
          this.#around,
          this.#info,
          this.#elsewhere,
          this.#binary,
        );
      const arg = this.#args.find((one) => one.name === plain);
      if (arg !== undefined) return arg;
    }
    const own = this.#globals(plain, file);
    const candidates = own.length > 0 || file !== undefined ? own : this.#aliased(plain);
    const [first] = candidates;
    if (first === undefined) return file === undefined ? this.#elsewhereIn(plain) : undefined;
    // Units may each describe one variable.
    const files = [...new Set(candidates.map(({ declared }) => declared.file.split("/").at(-1)))];
    const names = [...new Set(candidates.map(({ qualifiedName = plain }) => qualifiedName))];
    const choices = names.length > 1 ? names : files.map((one) => `${plain}@${one}`);
    if (choices.length > 1)
      return new Failure(
        variableReasons().several(
          plain,
          choices
            .slice(0, 3)
            .map((one) => `var("${one}")`)
            .join(" or "),
        ),
      );
    return { ...this.#argument(first, this.#seen), name };
  }

  /** Why a local of another block of the function is not here. */
  #elsewhereIn(name: string): Failure | undefined {
    const { fn } = this.#around ?? {};
    if (fn === undefined) return undefined;
    const found = this.#info.localsElsewhere(this.#seen.address).filter(({ variable }) => variable.name === name);
    if (found.length === 0) return undefined;
    const lines = found.flatMap(
      ({ variable, ranges }) => linesWithValue(variable, ranges, fn.declared.file, this.#info, this.#elsewhere) ?? [],
    );
    const where = found.map(({ variable }) => variable.declared.line).join(", ");
    const [some] = lines;
    const reasons = variableReasons();
    return new Failure(
      found.every(({ ranges }) => ranges.length === 0)
        ? reasons.goneWithBlock(name, where)
        : some === undefined
          ? reasons.goneInBlock(name, where)
          : reasons.ofAnotherBlock(name, where, lines.join(" and ")),
    );
  }

  /** What only the linker calls so. */
  #aliased(name: string): readonly Variable[] {
    if (this.#seen.space === "kernel") return name === "jiffies" ? this.#globals(kernelsJiffies, undefined) : [];
    const alias = this.#binary.symbol(name);
    if (alias?.kind !== "object") return [];
    for (const { kind, address, name: other } of this.#binary.symbols()) {
      const found =
        kind === "object" && address === alias.address && other !== name ? this.#globals(other, undefined) : [];
      if (found.length > 0) return found;
    }
    return [];
  }

  /** What a pointer points to that was optimised away itself. */
  #behind(name: string): Argument | undefined {
    if (this.#around?.entry === true) return undefined;
    const pointer = this.#scope.find((variable) => variable.name === name);
    const target = pointer && targetOf(pointer, this.#named);
    return target && { name: `*${name}`, ...target };
  }

  /**
   * What a name means here: the nearest scope around the function has it, the function's own file, or whatever has it.
   */
  #globals(name: string, file: string | undefined): readonly Variable[] {
    const fn = this.#around?.fn;
    const named = (wanted: string): Variable[] =>
      this.#info.globalsNamed(wanted).filter(({ declared }) => file === undefined || isFile(declared.file, file));
    const all = named(name);
    for (const scope of scopesAround(fn?.qualifiedName ?? "")) {
      // Constants of a class go by its name only.
      const visible =
        all.length === 0
          ? named(`${scope}::${name}`)
          : all.filter(({ qualifiedName = "" }) => withoutUnnamed(qualifiedName) === `${scope}::${name}`);
      if (visible.length > 0) return visible;
    }
    const outermost = all.filter(({ qualifiedName }) => qualifiedName === name);
    const found = outermost.length > 0 ? outermost : all;
    const own = found.filter(({ declared }) => declared.file === fn?.declared.file);
    return own.length > 0 ? own : found;
  }

  /** A parameter at the function's entry is where its caller put it; a local is nowhere yet. */
  #argument(variable: Variable, seen: Seen): Argument {
    const { name, kind } = variable;
    if (this.#around?.entry === true) {
      const arg = kind === "parameter" ? this.#args.find((one) => one.name === name) : undefined;
      if (arg !== undefined) return arg;
      if (this.#unset(variable)) {
        return {
          ...valueOf(variable, this.#seen),
          name,
          absent: variableReasons().notSetYet(),
        };
      }
    }
    const early = this.#around !== undefined && isNotYet(variable, this.#around, this.#seen, this.#binary);
    return { name, ...valueOf(variable, seen), ...(early ? { absent: variableReasons().notYet() } : {}) };
  }

  #unset(variable: Variable): boolean {
    if (this.#around?.entry !== true || variable.kind !== "local") return false;
    const location = variable.location(this.#seen.address);
    return location.kind === "memory" && onFrame(location.address);
  }

  #all(): Argument[] {
    const all = new Map<string, Argument>();
    for (const variable of this.#scope) {
      if (
        variable.outer === true ||
        variable.name === "" ||
        unnamedResult.test(variable.name) ||
        all.has(variable.name) ||
        this.#unset(variable)
      )
        continue;
      const argument = this.#argument(variable, this.#seen);
      if (argument.absent !== undefined || sizeOf(argument.type) <= largestShown) all.set(variable.name, argument);
    }
    return [...all.values()];
  }
}

/** arch/x86/kernel/vmlinux.lds.S, and arm64's: `jiffies = jiffies_64`. */
const kernelsJiffies = "jiffies_64";

/** At its very entry, a copy's parameters may not be in scope yet, by the letter. */
function scopeAt(info: DebugInfo, address: bigint, instance: FunctionInstance | undefined): readonly Variable[] {
  const inScope = info.variablesAt(address);
  if (instance?.kind !== "inlined") return inScope;
  const there = inScope.some(
    (variable) => variable.outer !== true && instance.parameters.some(({ name }) => name === variable.name),
  );
  return there ? inScope : [...instance.parameters];
}

/** Is this the file that is meant: its path, or the end of it? */
export function isFile(path: string, wanted: string): boolean {
  return path === wanted || path.endsWith(`/${wanted}`);
}

/** `a::b` and `a` of `a::b::f`. */
function scopesAround(name: string): readonly string[] {
  const scopes: string[] = [];
  for (let parts = splitName(withoutUnnamed(name)); parts !== undefined; parts = splitName(parts.scope))
    scopes.push(parts.scope);
  return scopes;
}

function withoutUnnamed(name: string): string {
  return name.replaceAll("(anonymous namespace)::", "");
}
