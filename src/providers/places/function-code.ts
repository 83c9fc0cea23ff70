// The machine code of functions, for probes inside them.
import { coldPart, partsOf, type CodeRange } from "../../debuginfo/function-ends.ts";
import type { Context } from "../../language/context.ts";
import type { SiteRef } from "../../language/resolved-probe.ts";
import { u64 } from "../../language/types.ts";
import type { ResolveOptions } from "../provider.ts";
import { fetchRegister, hostMachine, registersOf } from "../../machine/contexts/registers.ts";
import { groupBy, variantsOf, type Variant } from "../resolution.ts";
import type { Binary, BinarySymbol, System } from "../../machine/system.ts";
import { userContext } from "../../machine/contexts/user-context.ts";
import { Failure } from "../../base/failure.ts";

/** A function of a program, the kernel's or a user's, with its code. */
export interface FunctionCode {
  readonly name: string;
  /** The body first, then the parts that the compiler put elsewhere. */
  readonly ranges: readonly CodeRange[];
}

/** Bytes of a function whose size no table tells: as far as the next one, within reason. */
const unsizedLimit = 1 << 16;

/** Where a function begins in the file, and its name. */
interface CodePlace {
  readonly name: string;
  readonly offset: bigint;
}

/** Reads functions' code out of a file. */
export class UserCode {
  readonly #binary: Binary;
  #cold: ReadonlyMap<string, readonly BinarySymbol[]> | undefined;
  #byOffset: ReadonlyMap<bigint, BinarySymbol> | undefined;

  constructor(binary: Binary) {
    this.#binary = binary;
  }

  /** The function that begins at a place; undefined where the file has no code for it. */
  at({ name, offset }: CodePlace): FunctionCode | undefined {
    const symbol = this.symbolAt({ name, offset });
    const body = symbol && this.#range(symbol);
    if (symbol === undefined || body === undefined) return undefined;
    const cold = (this.#coldParts().get(symbol.name) ?? []).flatMap((part) => this.#range(part) ?? []);
    return { name, ranges: [body, ...partsOf(body, cold)] };
  }

  /** The symbol of the function that begins at a place, or what debug information says of one that has none. */
  symbolAt({ name, offset }: CodePlace): BinarySymbol | undefined {
    const exact = this.#binary.symbol(name);
    if (exact?.fileOffset === offset) return exact;
    this.#byOffset ??= new Map(
      [...this.#binary.symbols()]
        .reverse()
        .flatMap((symbol) => (symbol.kind === "function" ? [[symbol.fileOffset, symbol] as const] : [])),
    );
    return this.#byOffset.get(offset) ?? this.#declaredAt(name, offset);
  }

  #declaredAt(name: string, fileOffset: bigint): BinarySymbol | undefined {
    const info = this.#binary.debugInfo?.("at hand");
    const address = this.#binary.address(fileOffset);
    if (info === undefined || info instanceof Failure || address === undefined) return undefined;
    const body = info.functionAt(address)?.instance.ranges.find(({ low, high }) => low <= address && address < high);
    return body?.low === address
      ? { name, address, size: body.high - address, fileOffset, kind: "function" }
      : undefined;
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
    for (const symbol of this.#binary.symbols())
      if (symbol.kind === "function" && coldPart.test(symbol.name)) parts.push(symbol);
    return (this.#cold = groupBy(parts, ({ name }) => name.replace(coldPart, "")));
  }
}

/** What a handler sees inside functions of programs; with `returns`, at their return instructions. */
export function insideUserFunction(
  provider: string,
  returns: boolean,
  system: System,
  uses?: ReadonlySet<string>,
): Context {
  const { numbered: _, ...context } = userContext({
    provider,
    returns: false,
    system,
    ...(uses === undefined ? {} : { uses }),
  });
  const file = registersOf(hostMachine);
  return {
    ...context,
    func: "site",
    ...(returns ? { retval: { type: u64, fetch: fetchRegister(file, file.result) } } : {}),
  };
}

/** Sites of one context: one program, unless the handler wants the function's name; then one a function. */
export function variantsByFunction(context: Context, sites: readonly SiteRef[], options: ResolveOptions): Variant[] {
  if (!options.uses.has("func")) return variantsOf(context, sites, options);
  return [...groupBy(sites, (site) => site.func ?? site.name).values()].map((group) => ({
    context,
    provider: context.provider,
    sites: group,
  }));
}

/** What names an address in a binary: a function, or the stub of one that it imports. Built when it is first asked. */
export function namesIn(
  binary: Binary,
): (address: bigint) => { readonly name: string; readonly offset: number } | undefined {
  let stubs: ReadonlyMap<bigint, string> | undefined;
  return (address) => {
    const offset = binary.fileOffset(address);
    if (offset === undefined) return undefined;
    stubs ??= new Map((binary.imports?.() ?? []).map((stub) => [stub.fileOffset, `${stub.name}@plt`]));
    const stub = stubs.get(offset);
    return stub === undefined ? binary.functionAt(offset) : { name: stub, offset: 0 };
  };
}

/**
 * A place inside a function as probes name it: bytes from the function's start in decimal, for cold parts from theirs.
 */
export function placeName({ name, ranges }: FunctionCode, range: CodeRange, offset: number): string {
  return `${range === ranges[0] ? name : `${name}.cold`}:${offset}`;
}
