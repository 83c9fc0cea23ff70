// What the last parts of a uprobe mean in a binary: symbols, names as their authors wrote them, places in functions,
// source lines. Debug information is only opened where no symbol answers.
import { inlinedCopies } from "../../messages/inlined-copies.ts";
import { places as placesMessages } from "../../messages/places.ts";
import { DamageError } from "../../debuginfo/damage.ts";
import type { DebugInfo, SourceFunction, SourcePosition } from "../../debuginfo/dwarf/facts.ts";
import { instructionAt } from "../../debuginfo/instructions.ts";
import { cppName, withoutArguments, type CppName } from "../../machine/binaries/binaries.ts";
import { behindTypedefs } from "../../machine/values/debug-types.ts";
import { coldPart } from "../../debuginfo/function-ends.ts";
import { mergedNotes } from "./merged-functions.ts";
import type { Place, Places, Wanted } from "./places.ts";
import { parseCount } from "../quantity.ts";
import type { Message } from "../../messages/message.ts";
import { placesOfCopies } from "./inlined-places.ts";
import type { Binary, BinarySymbol } from "../../machine/system.ts";
import { debugInfoOf, isFile, type InlinedCopy } from "../../machine/values/user-variables.ts";
import { hasWildcard, matcher, matches } from "../../machine/wildcard.ts";
import { lazy } from "../../base/lazy.ts";
import { Failure } from "../../base/failure.ts";

const untracedCalls = lazy<typeof import("./untraced-calls.ts")>(() => require("./untraced-calls.ts"));

/** Bytes of the longest x86-64 instruction. */
const longestInstruction = 15;

const none: Places = { places: [], notes: [] };
const just = (...places: readonly Place[]): Places => ({ places, notes: [] });

/**
 * The places that a name, a wildcard, `function+offset` or an address means. A name means the function's body and its
 * inlined copies, a wildcard bodies alone.
 */
export function placesNamed(binary: Binary, wanted: string, options: Wanted): Places {
  const { cpp, inlined, symbolsOnly = false } = options;
  const address = parseCount(wanted);
  if (address !== undefined) return placeAt(binary, wanted, address);
  const [, named, file] = /^([^@]+)@([^@:]+)$/.exec(wanted) ?? [];
  if (file !== undefined && !cpp && binary.symbol(wanted) === undefined) return placesInFile(binary, named, file);
  if (inlined) return placesOfSource(binary, wanted, options);
  if (cpp) {
    const found = placesOfCpp(binary, wanted);
    return found.length > 0 || symbolsOnly
      ? withCopies(binary, wanted, found, options)
      : placesOfSource(binary, wanted, options);
  }
  // Names of Go look like wildcards: `main.(*Server).handle`, `main.Map[...]`.
  if (hasWildcard(wanted) && (binary.go === undefined || binary.symbol(wanted) === undefined)) {
    const named = matcher(wanted);
    const found = placesByName(binary.symbols(named), named, (symbol) => symbol);
    return just(...(found.length > 0 || !isQualified(wanted) ? found : placesOfCpp(binary, wanted)));
  }
  const exact = binary.symbol(wanted);
  // Instances of a generic Go function share a name.
  if (exact !== undefined && binary.go !== undefined)
    return withCopies(
      binary,
      wanted,
      placesByName(
        binary.symbols(),
        (symbol) => symbol === wanted,
        (symbol) => symbol,
      ),
      options,
    );
  if (exact?.kind === "object") {
    const outside = outsideCode(binary, `of \`${wanted}\``, exact.address, exact.fileOffset);
    if (outside !== undefined) return outside;
  }
  if (exact !== undefined) {
    const all = [exact, ...(binary.namesakes?.(exact) ?? [])].filter(
      ({ fileOffset, address: at }) => fileOffset > 0n || at > 0n,
    );
    const offsets = new Set(all.map(({ fileOffset }) => fileOffset));
    return offsets.size === 0
      ? none
      : withCopies(
          binary,
          wanted,
          [...offsets].map((offset) => ({ name: wanted, offset })),
          options,
        );
  }
  const plus = /^(.+)\+(\w+)$/.exec(wanted);
  if (plus !== null) {
    const found = placeIn(binary, wanted, plus[1], plus[2], options.returns);
    if (found !== undefined) return found;
  }
  if (isQualified(wanted)) {
    const found = placesOfCpp(binary, wanted);
    if (found.length > 0) return withCopies(binary, wanted, found, options);
  }
  return symbolsOnly ? none : placesOfSource(binary, wanted, options);
}

/** Functions of a name or a wildcard that a file of the source has. */
function placesInFile(binary: Binary, name: string, file: string): Places {
  const info = debugInfoOf(binary);
  if (info instanceof Failure) return { problem: placesMessages.functionsOfFileUnknown(file, info.reason) };
  const found = placesByName(binary.symbols(), matcher(name), (symbol) => symbol);
  return just(
    ...found.filter(({ offset }) => {
      const address = binary.address(offset);
      const declared = address === undefined ? undefined : info.functionAt(address)?.fn.declared.file;
      return declared !== undefined && isFile(declared, file);
    }),
  );
}

/** A name that no C function has. */
function isQualified(wanted: string): boolean {
  return /::|[(<]/.test(wanted);
}

function placeAt(binary: Binary, wanted: string, address: bigint): Places {
  const offset = binary.fileOffset(address);
  const outside = outsideCode(binary, wanted, address, offset);
  if (outside !== undefined) return outside;
  if (offset === undefined) return none;
  const within = binary.functionAt(offset);
  const inside = within && insideInstruction(binary, offset - BigInt(within.offset), within.offset);
  if (inside !== undefined) return { problem: placesMessages.addressInsideInstruction(wanted, within?.name, inside) };
  return just({ name: wanted, ...(within === undefined ? {} : { func: within.name }), offset });
}

/** Why nothing can be probed at an address: a breakpoint in data is never met, and would change what is read there. */
function outsideCode(binary: Binary, wanted: string, address: bigint, offset: bigint | undefined): Places | undefined {
  const { code } = binary;
  if (offset !== undefined && (code === undefined || code.some(({ low, high }) => offset >= low && offset < high)))
    return undefined;
  const hex = (value: bigint): string => `0x${value.toString(16)}`;
  const ranges = (code ?? [])
    .map(({ low, high }) => {
      const begin = binary.address(low);
      return begin === undefined ? "" : `${hex(begin)} to ${hex(begin + high - low - 1n)}`;
    })
    .filter((range) => range !== "");
  let nearest: BinarySymbol | undefined;
  const distance = (symbol: BinarySymbol): bigint =>
    symbol.address > address ? symbol.address - address : address - symbol.address;
  for (const symbol of binary.symbols()) {
    if (symbol.kind === "function" && (nearest === undefined || distance(symbol) < distance(nearest))) nearest = symbol;
  }
  const where = [
    ...(ranges.length === 0 ? [] : [`its code is at ${ranges.join(" and ")}`]),
    ...(nearest === undefined ? [] : [`the nearest function is \`${nearest.name}\` at ${hex(nearest.address)}`]),
  ];
  const help = where.length === 0 ? undefined : where.join("; ");
  return { problem: placesMessages.addressOutsideCode(wanted, binary.shownPath, help) };
}

function placeIn(binary: Binary, wanted: string, name: string, by: string, returns: boolean): Places | undefined {
  const symbol = binary.symbol(name);
  if (symbol === undefined) return undefined;
  const offset = parseCount(by);
  if (offset === undefined) return { problem: placesMessages.notBytes(by) };
  const outside = outsideCode(binary, wanted, symbol.address + offset, symbol.fileOffset + offset);
  if (outside !== undefined) return outside;
  if (returns && offset > 0n) return { problem: placesMessages.returnTakesNoOffset() };
  if (offset >= symbol.size && symbol.size > 0n)
    return { problem: placesMessages.onlySoManyBytes(symbol.name, symbol.size) };
  const inside = insideInstruction(binary, symbol.fileOffset, Number(offset));
  if (inside !== undefined) return { problem: placesMessages.offsetInsideInstruction(wanted, symbol.name, inside) };
  return just({ name: wanted, func: symbol.name, offset: symbol.fileOffset + offset });
}

/**
 * Where the instruction begins that a place is in the middle of; undefined when the place is a beginning. A breakpoint
 * in the middle of an instruction would corrupt the program.
 */
function insideInstruction(binary: Binary, functionOffset: bigint, offset: number): number | undefined {
  if (offset === 0) return undefined;
  if (binary.machine === "arm64") return offset % 4 === 0 ? undefined : offset - (offset % 4);
  const start = instructionAt(binary.read(functionOffset, offset + longestInstruction), offset);
  return start === offset ? undefined : (start ?? 0);
}

function placesByName(
  symbols: Iterable<BinarySymbol>,
  wanted: (symbol: string) => boolean,
  shown: (symbol: string) => string | undefined,
): Place[] {
  const found = new Map<string, Place>();
  for (const symbol of symbols) {
    if (symbol.kind !== "function" || symbol.fileOffset === 0n || !wanted(symbol.name)) continue;
    // A symbol may be in several tables, in one of them with a version.
    const key = `${symbol.name}@${symbol.fileOffset}`;
    if (!found.has(key)) found.set(key, { name: shown(symbol.name) ?? symbol.name, offset: symbol.fileOffset });
  }
  return [...found.values()];
}

/** The outer namespaces may be left out where nothing has just that name. */
function placesOfCpp(binary: Binary, wanted: string): Place[] {
  const shown = (symbol: string): string | undefined => cppName(symbol)?.name;
  // A cold part goes by its function's name, and is no function of its own.
  const named = (symbol: string): CppName | undefined => (coldPart.test(symbol) ? undefined : cppName(symbol));
  const exact = placesByName(binary.symbols(), (symbol) => matchesSource(wanted, named(symbol)), shown);
  if (exact.length > 0 || !wanted.includes("::") || hasWildcard(wanted)) return exact;
  const inner = placesByName(
    binary.symbols(),
    (symbol) => {
      const cpp = named(symbol);
      const at = cpp?.signature.indexOf(`::${wanted.split("::")[0]}::`) ?? -1;
      return (
        cpp !== undefined &&
        at >= 0 &&
        matchesSource(wanted, {
          name: cpp.name.slice(at + 2),
          signature: cpp.signature.slice(at + 2),
          full: cpp.signature.slice(at + 2),
        })
      );
    },
    shown,
  );
  return inner.length > 0
    ? inner
    : placesByName(
        binary.symbols(),
        (symbol) => named(symbol)?.methods?.some((method) => isOrEnds(method, wanted)) === true,
        shown,
      );
}

/** Is this the name that is meant, or one with outer scopes before it? */
function isOrEnds(name: string, wanted: string): boolean {
  return name === wanted || name.endsWith(`::${wanted}`);
}

/** A trait's method is in a block without a name in Rust: it goes by the type of what it is called on. */
function isMethod({ name, qualifiedName, parameters: [self] }: SourceFunction, wanted: string): boolean {
  if (!/\{impl#\d+\}::[^:]+$/.test(qualifiedName) || self?.name !== "self") return false;
  const own = behindTypedefs(self.type);
  const type = own.kind === "pointer" ? behindTypedefs(own.target()) : own;
  return type.kind === "struct" && isOrEnds(`${withoutArguments(type.name)}::${name.replace(/<.*$/s, "")}`, wanted);
}

/** A name without parameters means all overloads; a template's name without arguments, all that were made of it. */
function matchesSource(wanted: string, cpp: CppName | undefined): boolean {
  if (cpp === undefined) return false;
  const { name, signature, full } = cpp;
  if (!wanted.includes("("))
    return matches(wanted, name) || (!wanted.includes("<") && matches(wanted, name.replace(/<.*>$/, "")));
  const spaced = wanted.replaceAll(/\s*,\s*/g, ", ");
  if (matches(spaced, signature) || matches(spaced, full)) return true;
  // Where nothing demangles, parameters are unknown.
  return signature === name && matches(wanted.replace(/\(.*$/s, ""), name);
}

// ── by debug information ──

/**
 * Functions that debug information knows by a name that no symbol has: static ones, overloads, and copies that were
 * inlined.
 */
function placesOfSource(binary: Binary, wanted: string, options: Wanted): Places {
  const info = debugInfoOf(binary);
  if (info instanceof Failure) return options.inlined ? { problem: inlinedCopies.unknown(info.reason) } : none;
  const functions = functionsOf(info, wanted);
  const copies = copiesOf(functions);
  const found = new Map<bigint, Place>();
  for (const { kind, entry } of options.inlined ? [] : functions.flatMap(({ instances }) => instances)) {
    const offset = kind === "body" ? binary.fileOffset(entry) : undefined;
    if (offset === undefined || found.has(offset) || (copies.length > 0 && isSplitOff(binary, offset))) continue;
    found.set(offset, { name: wanted, offset });
  }
  const bodies = [...found.values()];
  return withMerged(binary, wanted, bodies, placesOfCopies(binary, wanted, bodies, copies, options));
}

/** With what is to be said of functions that share their code with others. */
function withMerged(binary: Binary, wanted: string, bodies: readonly Place[], found: Places): Places {
  if ("problem" in found || found.places.length === 0) return found;
  const merged = mergedNotes(
    binary,
    wanted,
    bodies.map(({ offset }) => offset),
  );
  return merged.length === 0 ? found : { places: found.places, notes: [...found.notes, ...merged] };
}

/** The larger part of a function, which GCC's copies of the smaller one call: to come there is not to be called. */
function isSplitOff(binary: Binary, offset: bigint): boolean {
  return /\.part\.\d+/.test(binary.functionAt(offset)?.name ?? "");
}

/**
 * What symbols tell, and the copies that debug information knows beside it, where that is on this machine and to be
 * read.
 */
function withCopies(binary: Binary, wanted: string, bodies: readonly Place[], options: Wanted): Places {
  const { copies, dissolved, untraced } =
    options.symbolsOnly === true
      ? nothingKnown
      : copiesKnown(
          binary,
          wanted,
          bodies.map(({ offset }) => offset),
        );
  const found: Places = dissolved
    ? { places: bodies, notes: [inlinedCopies.dissolved(wanted)] }
    : untraced !== undefined
      ? { places: bodies, notes: [untraced] }
      : placesOfCopies(binary, wanted, bodies, copies, options);
  return options.symbolsOnly === true ? found : withMerged(binary, wanted, bodies, found);
}

/** The copies of a function whose body is at an offset of the file; undefined when it has none. */
export function copiesBeside(binary: Binary, wanted: string, body: bigint, options: Wanted): Places | undefined {
  const { copies } = copiesKnown(binary, wanted, [body]);
  if (copies.length === 0) return undefined;
  const places = placesOfCopies(binary, wanted, [{ name: wanted, offset: body }], copies, options);
  return "problem" in places
    ? places
    : { ...places, places: places.places.filter(({ inlined }) => inlined !== undefined) };
}

/** `dissolved`: there are calls in place of which there is nothing. */
interface CopiesKnown {
  readonly copies: readonly InlinedCopy[];
  readonly dissolved: boolean;
  /** What is to be said of calls that its compiler inlined and says nothing of. */
  readonly untraced?: Message | undefined;
}

const nothingKnown: CopiesKnown = { copies: [], dissolved: false };

/** LLVM writes nothing about a function that it inlined and left no code of. */
const byLlvm = /clang|LLVM/;

function copiesKnown(binary: Binary, wanted: string, bodies: readonly bigint[]): CopiesKnown {
  try {
    const info = binary.debugInfo?.("at hand");
    if (info === undefined || info instanceof Failure) return nothingKnown;
    const address = bodies.length === 1 ? binary.address(bodies[0]) : undefined;
    const body = address === undefined ? undefined : info.functionAt(address);
    const only = body?.fn;
    // The clone of a function, or another name of it.
    if (
      only !== undefined &&
      ![only.name, only.qualifiedName, only.linkageName].includes(wanted) &&
      !isQualified(wanted)
    )
      return nothingKnown;
    // Most functions are inlined in their own unit only: the others need not be asked.
    const functions = only?.confined === true ? [only] : functionsOf(info, wanted);
    const copies = copiesOf(functions);
    const dissolved = copies.length === 0 && functions.some(({ inlined }) => inlined === true);
    const untraced =
      body !== undefined && copies.length === 0 && !dissolved && byLlvm.test(body.fn.producer ?? "")
        ? untracedCalls().untracedCalls(binary, wanted, info, body)
        : undefined;
    return { copies, dissolved, untraced };
  } catch (error) {
    // The function's body is there whatever is wrong with what is said of it.
    if (error instanceof DamageError) return nothingKnown;
    throw error;
  }
}

/** Functions of a name as C, C++ or Rust writes it. */
export function functionsOf(info: DebugInfo, wanted: string): readonly SourceFunction[] {
  const plain = wanted.replace(/(?<=.)\(.*$/s, "");
  const named = info.functionsNamed(plain);
  // The outer namespaces may be left out.
  const found =
    named.length > 0 || !plain.includes("::")
      ? named
      : info
          .functionsNamed(plain.slice(plain.lastIndexOf("::") + 2))
          .filter(
            (fn) =>
              isOrEnds(fn.qualifiedName, plain) ||
              isOrEnds(withoutArguments(fn.qualifiedName), plain) ||
              isMethod(fn, plain),
          );
  if (plain === wanted) return found;
  const spaced = wanted.replaceAll(/\s*,\s*/g, ", ");
  const overloads = found.filter(({ linkageName }) => {
    const cpp = linkageName === undefined ? undefined : cppName(linkageName);
    return matchesSource(wanted, cpp) || cpp?.signature.endsWith(`::${spaced}`) === true;
  });
  return overloads.length > 0 ? overloads : found;
}

/**
 * The inlined copies of functions. What GCC split off a function and put back is called where that is declared, and is
 * no copy.
 */
export function copiesOf(functions: readonly SourceFunction[]): InlinedCopy[] {
  const isPart = ({ declared }: SourceFunction, position: SourcePosition | undefined): boolean =>
    position?.line === declared.line && position.column === declared.column && position.file === declared.file;
  return functions.flatMap((fn) =>
    fn.instances.flatMap((instance) =>
      instance.kind === "inlined" && !isPart(fn, instance.caller?.position) ? [{ fn, instance }] : [],
    ),
  );
}
