// The machine code of functions, for probes inside them.
import { partsOf, type CodeRange } from "../debuginfo/function-ends.ts";
import type { Context } from "../language/context.ts";
import type { SiteRef } from "../language/check/checked.ts";
import { u64 } from "../language/types.ts";
import type { ProbeSpec } from "../language/program.ts";
import type { Resolution, ResolveOptions } from "./provider.ts";
import { asGoHasIt } from "./go-context.ts";
import { fetchRegister, hostMachine, registersOf } from "./registers.ts";
import { didYouMean, groupBy, missing, variantsOf, type Variant } from "./resolution.ts";
import type { Binary, BinarySymbol, System } from "./system.ts";
import type { UserSite } from "./user-attachment.ts";
import { symbolsSeenFrom, userContext } from "./user-context.ts";
import { wantsVariables, withVariables, type ProgramPlace } from "./user-variables.ts";
import { hasWildcard, matches } from "./wildcard.ts";

/** A function of a program, the kernel's or a user's, with its code. */
export interface FunctionCode {
  readonly name: string;
  /** The body first, then the parts that the compiler put elsewhere. */
  readonly ranges: readonly CodeRange[];
}

/** What compilers call the rarely executed part of a function, which they put apart. */
const coldPart = /\.cold(\.\d+)?$/;

/** Bytes of a function whose size no table tells: as far as the next one, within reason. */
const unsizedLimit = 1 << 16;

/** Functions by name or wildcard, one an address: several names may mean the same code. */
export function userFunctions(binary: Binary, wanted: string): BinarySymbol[] {
  const exact = binary.symbol(wanted);
  // Instances of a generic Go function share a name.
  if (exact?.kind === "function") return binary.go === undefined ? [exact] : [...binary.symbols()].filter(({ kind, name }) => kind === "function" && name === wanted);
  if (!hasWildcard(wanted)) return [];
  const found = new Map<bigint, BinarySymbol>();
  for (const symbol of binary.symbols()) {
    if (symbol.kind === "function" && matches(wanted, symbol.name) && !coldPart.test(symbol.name) && !found.has(symbol.address)) {
      found.set(symbol.address, symbol);
    }
  }
  return [...found.values()];
}

/** Reads functions' code out of a file. */
export class UserCode {
  readonly #binary: Binary;
  #cold: ReadonlyMap<string, readonly BinarySymbol[]> | undefined;

  constructor(binary: Binary) {
    this.#binary = binary;
  }

  /** Undefined where the file has no code for it. */
  of(symbol: BinarySymbol): FunctionCode | undefined {
    const body = this.#range(symbol);
    if (body === undefined) return undefined;
    const cold = (this.#coldParts().get(symbol.name) ?? []).flatMap((part) => this.#range(part) ?? []);
    return { name: symbol.name, ranges: [body, ...partsOf(body, cold)] };
  }

  #range(symbol: BinarySymbol): CodeRange | undefined {
    const size = symbol.size > 0n ? symbol.size : this.#untilNext(symbol);
    // A damaged table may say anything.
    const last = size > 0n && size < 1n << 28n ? this.#binary.fileOffset(symbol.address + size - 1n) : undefined;
    if (last !== symbol.fileOffset + size - 1n) return undefined;
    return { address: symbol.address, bytes: this.#binary.read(symbol.fileOffset, Number(size)) };
  }

  #untilNext({ address, fileOffset }: BinarySymbol): bigint {
    let next = address + BigInt(unsizedLimit);
    for (const other of this.#binary.symbols()) {
      if (other.kind === "function" && other.address > address && other.address < next) next = other.address;
    }
    // No further than its segment.
    while (next > address && this.#binary.fileOffset(next - 1n) !== fileOffset + (next - 1n - address)) next -= 1n;
    return next - address;
  }

  #coldParts(): ReadonlyMap<string, readonly BinarySymbol[]> {
    if (this.#cold !== undefined) return this.#cold;
    const parts: BinarySymbol[] = [];
    for (const symbol of this.#binary.symbols()) if (symbol.kind === "function" && coldPart.test(symbol.name)) parts.push(symbol);
    return (this.#cold = groupBy(parts, ({ name }) => name.replace(coldPart, "")));
  }
}

export interface UserSites { readonly provider: string; readonly returns: boolean; readonly binary: Binary; readonly sites: readonly SiteRef[] }

/** Places inside functions of a binary, grouped by what a handler sees there; with `returns` they are return instructions. */
export function userVariants({ provider, returns, binary, sites }: UserSites, system: System, options: ResolveOptions): Variant[] {
  const context = insideUserFunction(provider, returns, system);
  const { uses } = options;
  if (binary.go === undefined && !wantsVariables(uses) && !uses.has("uaddr")) return variantsByFunction(context, sites, options);
  const groups = groupBy(sites.map((site, i) => {
    const { offset } = site.data as UserSite;
    const seen = seenAt(context, { binary, offset, returns }, system, options);
    // Symbols are found from the place itself.
    return uses.has("uaddr") ? { site, context: { ...seen.context, userSymbol: symbolsSeenFrom(binary, offset, false) }, key: `${i}` } : { site, ...seen };
  }), ({ key }) => key);
  return [...groups.values()].flatMap((group) => variantsByFunction(group[0].context, group.map(({ site }) => site), options));
}

/** Variables are where debug information says for the very instruction; a result has its type. */
function seenAt(context: Context, place: ProgramPlace, system: System, options: ResolveOptions): { readonly context: Context; readonly key: string } {
  const there = asGoHasIt(context, place.binary, place.offset);
  if (!wantsVariables(options.uses)) return there;
  const here = withVariables(there.context, { ...place, returns: false }, system, options);
  // Go tells its results apart from C's: there may be several.
  if (!place.returns || there.key !== "") return { context: here.context, key: `${there.key} ${here.key}` };
  const result = withVariables(there.context, place, system, options);
  const { retval } = result.context;
  return { context: { ...here.context, ...(retval === undefined ? {} : { retval }) }, key: `${here.key} ${result.key}` };
}

/** What a handler sees inside functions of programs; with `returns`, at their return instructions. */
export function insideUserFunction(provider: string, returns: boolean, system: System): Context {
  const { numbered: _, ...context } = userContext({ provider, returns: false, system });
  const file = registersOf(hostMachine);
  return { ...context, func: "site", ...(returns ? { retval: { type: u64, fetch: fetchRegister(file, file.result) } } : {}) };
}

/** Sites of one context: one program, unless the handler wants the function's name; then one a function. */
export function variantsByFunction(context: Context, sites: readonly SiteRef[], options: ResolveOptions): Variant[] {
  if (!options.uses.has("func")) return variantsOf(context, sites, options);
  return [...groupBy(sites, (site) => site.func ?? site.name).values()].map((group) => ({ context, provider: context.provider, sites: group }));
}

/** What names an address in a binary: a function, or the stub of one that it imports. Built when it is first asked. */
export function namesIn(binary: Binary): (address: bigint) => { readonly name: string; readonly offset: number } | undefined {
  let stubs: ReadonlyMap<bigint, string> | undefined;
  return (address) => {
    const offset = binary.fileOffset(address);
    if (offset === undefined) return undefined;
    stubs ??= new Map((binary.imports?.() ?? []).map((stub) => [stub.fileOffset, `${stub.name}@plt`]));
    const stub = stubs.get(offset);
    return stub === undefined ? binary.functionAt(offset) : { name: stub, offset: 0 };
  };
}

/** A place inside a function as probes name it: bytes from the function's start in decimal, for cold parts from theirs. */
export function placeName({ name, ranges }: FunctionCode, range: CodeRange, offset: number): string {
  return `${range === ranges[0] ? name : `${name}.cold`}:${offset}`;
}

/** A function that is not there: near misses, or why none is known. */
export function noUserFunction(spec: ProbeSpec, binaries: readonly Binary[], wanted: string, options: ResolveOptions): Resolution {
  const where = binaries.length === 1 ? `in ${binaries[0].shownPath}` : `in any of ${binaries.length} binaries`;
  if (hasWildcard(wanted)) return missing(spec, options, `no function ${where} matches \`${wanted}\``);
  const names = binaries.flatMap((binary) => [...binary.symbols()].flatMap((symbol) => (symbol.kind === "function" ? [symbol.name] : [])));
  const help = names.length === 0 ? "it has no symbols: install its debug symbols" : didYouMean(wanted, names);
  return missing(spec, options, `no matches for ${spec.provider} ${spec.parts.join(":")}: there is no function \`${wanted}\` ${where}`, help);
}
