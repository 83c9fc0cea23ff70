// What the last parts of a uprobe mean in a binary: symbols, names as their authors wrote them, places in functions, source lines.
// Debug information is only opened where no symbol answers.
import type { FunctionInstance, SourceFunction } from "../debuginfo/dwarf/facts.ts";
import { instructionAt } from "../debuginfo/instructions.ts";
import { cppName, type CppName } from "./binaries.ts";
import { parseCount } from "./quantity.ts";
import { didYouMean } from "./resolution.ts";
import type { Binary } from "./system.ts";
import { debugInfoOf, isFile, type InlinedCopy } from "./user-variables.ts";
import { hasWildcard, matches } from "./wildcard.ts";

/** Bytes of the longest x86-64 instruction. */
const longestInstruction = 15;

export interface Place {
  /** As the probe's name says it. */
  readonly name: string;
  /** In the file. */
  readonly offset: bigint;
  /** The function that a handler is told; where absent, the one that the symbol table has there. */
  readonly func?: string;
  /** A copy that was inlined into another function. */
  readonly inlined?: InlinedCopy;
}

/** Places, and what their author should know about them; or what is wrong. */
export type Places = { readonly places: readonly Place[]; readonly notes: readonly { readonly message: string; readonly help?: string }[] }
  | { readonly problem: string; readonly help?: string };

const none: Places = { places: [], notes: [] };
const just = (...places: readonly Place[]): Places => ({ places, notes: [] });

export interface Wanted {
  /** As a C++ name, whatever symbols there are. */
  readonly cpp: boolean;
  /** Only the copies that were inlined. */
  readonly inlined: boolean;
  readonly returns: boolean;
  /** Debug information is left alone. */
  readonly symbolsOnly?: boolean;
}

/** The places that a name, a wildcard, `function+offset` or an address means. */
export function placesNamed(binary: Binary, wanted: string, { cpp, inlined, returns, symbolsOnly = false }: Wanted): Places {
  const address = parseCount(wanted);
  if (address !== undefined) return placeAt(binary, wanted, address);
  if (inlined) return placesOfSource(binary, wanted, returns, "inlined");
  if (cpp) {
    const found = placesOfCpp(binary, wanted);
    return found.length > 0 || symbolsOnly ? just(...found) : placesOfSource(binary, wanted, returns);
  }
  // Names of Go look like wildcards: `main.(*Server).handle`, `main.Map[...]`.
  if (hasWildcard(wanted) && (binary.go === undefined || binary.symbol(wanted) === undefined)) {
    const found = placesByName(binary, (symbol) => matches(wanted, symbol), (symbol) => symbol);
    return just(...(found.length > 0 || !isQualified(wanted) ? found : placesOfCpp(binary, wanted)));
  }
  const exact = binary.symbol(wanted);
  // Instances of a generic Go function share a name.
  if (exact !== undefined && binary.go !== undefined) return just(...placesByName(binary, (symbol) => symbol === wanted, (symbol) => symbol));
  if (exact !== undefined) return exact.fileOffset > 0n || exact.address > 0n ? just({ name: wanted, offset: exact.fileOffset }) : none;
  const plus = /^(.+)\+(\w+)$/.exec(wanted);
  if (plus !== null) {
    const found = placeIn(binary, wanted, plus[1], plus[2], returns);
    if (found !== undefined) return found;
  }
  if (isQualified(wanted)) {
    const found = placesOfCpp(binary, wanted);
    if (found.length > 0) return just(...found);
  }
  return symbolsOnly ? none : placesOfSource(binary, wanted, returns);
}

/** A name that no C function has. */
function isQualified(wanted: string): boolean {
  return /::|[(<]/.test(wanted);
}

function placeAt(binary: Binary, wanted: string, address: bigint): Places {
  const offset = binary.fileOffset(address);
  if (offset === undefined) return { problem: `the address ${wanted} is in no code of ${binary.shownPath}` };
  const within = binary.functionAt(offset);
  const inside = within && insideInstruction(binary, offset - BigInt(within.offset), within.offset);
  if (inside !== undefined) return { problem: `${wanted} is inside an instruction of \`${within?.name}\`, which begins at ${within?.name}+${inside}` };
  return just({ name: wanted, offset });
}

function placeIn(binary: Binary, wanted: string, name: string, by: string, returns: boolean): Places | undefined {
  const symbol = binary.symbol(name);
  if (symbol === undefined) return undefined;
  const offset = parseCount(by);
  if (offset === undefined) return { problem: `\`${by}\` is not a number of bytes` };
  if (returns && offset > 0n) return { problem: "a function returns from no offset" };
  if (offset >= symbol.size && symbol.size > 0n) return { problem: `\`${symbol.name}\` has only ${symbol.size} bytes` };
  const inside = insideInstruction(binary, symbol.fileOffset, Number(offset));
  if (inside !== undefined) return { problem: `\`${wanted}\` is inside an instruction, which begins at ${symbol.name}+${inside}` };
  return just({ name: wanted, offset: symbol.fileOffset + offset });
}

/**
 * Where the instruction begins that a place is in the middle of; undefined when the place is a beginning. A breakpoint in the
 * middle of an instruction would corrupt the program.
 */
function insideInstruction(binary: Binary, functionOffset: bigint, offset: number): number | undefined {
  if (offset === 0) return undefined;
  if (binary.machine === "arm64") return offset % 4 === 0 ? undefined : offset - (offset % 4);
  const start = instructionAt(binary.read(functionOffset, offset + longestInstruction), offset);
  return start === offset ? undefined : start ?? 0;
}

function placesByName(binary: Binary, wanted: (symbol: string) => boolean, shown: (symbol: string) => string | undefined): Place[] {
  const found = new Map<string, Place>();
  for (const symbol of binary.symbols()) {
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
  const exact = placesByName(binary, (symbol) => matchesSource(wanted, cppName(symbol)), shown);
  if (exact.length > 0 || !wanted.includes("::") || hasWildcard(wanted)) return exact;
  return placesByName(binary, (symbol) => {
    const cpp = cppName(symbol);
    const at = cpp?.signature.indexOf(`::${wanted.split("::")[0]}::`) ?? -1;
    return cpp !== undefined && at >= 0 && matchesSource(wanted, { name: cpp.name.slice(at + 2), signature: cpp.signature.slice(at + 2), full: cpp.signature.slice(at + 2) });
  }, shown);
}

/** A name without parameters means all overloads; a template's name without arguments, all that were made of it. */
function matchesSource(wanted: string, cpp: CppName | undefined): boolean {
  if (cpp === undefined) return false;
  const { name, signature, full } = cpp;
  if (!wanted.includes("(")) return matches(wanted, name) || (!wanted.includes("<") && matches(wanted, name.replace(/<.*>$/, "")));
  const spaced = wanted.replaceAll(/\s*,\s*/g, ", ");
  if (matches(spaced, signature) || matches(spaced, full)) return true;
  // Where nothing demangles, parameters are unknown.
  return signature === name && matches(wanted.replace(/\(.*$/s, ""), name);
}

// ── by debug information ──

/** Functions that debug information knows by a name that no symbol has: static ones, overloads, and copies that were inlined. */
function placesOfSource(binary: Binary, wanted: string, returns: boolean, only?: "inlined"): Places {
  const info = debugInfoOf(binary);
  if (typeof info === "string") return only === undefined ? none : { problem: `what was inlined is not known: ${info}` };
  const plain = wanted.replace(/(?<=.)\(.*$/s, "");
  let functions = info.functionsNamed(plain);
  // The outer namespaces may be left out.
  if (functions.length === 0 && plain.includes("::")) functions = info.functionsNamed(plain.slice(plain.lastIndexOf("::") + 2)).filter(({ qualifiedName }) => qualifiedName.endsWith(`::${plain}`));
  const instances = functions.flatMap((fn) => fn.instances.map((instance) => ({ fn, instance })));
  const bodies = only === undefined ? instances.filter(({ instance }) => instance.kind === "body") : [];
  if (bodies.length > 0) return just(...instancePlaces(binary, bodies, wanted));
  const copies = instances.filter(({ instance }) => instance.kind === "inlined");
  if (copies.length === 0) return none;
  const callers = [...new Set(copies.map(({ instance }) => instance.caller?.name ?? "?"))];
  const into = callers.length <= 3 ? callers.map((name) => `\`${name}\``).join(", ") : `${callers.length} functions`;
  if (returns) {
    return {
      problem: `\`${wanted}\` is inlined into ${into}, and what is inlined does not return`,
      help: "probe a line behind the call, or the return of the function that it is inlined into",
    };
  }
  const many = copies.length === 1 ? "its one copy" : `its ${copies.length} copies`;
  return { places: instancePlaces(binary, copies, wanted), notes: [{ message: `\`${wanted}\` is inlined: probing ${many}, in ${into}` }] };
}

function instancePlaces(binary: Binary, instances: readonly { readonly fn: SourceFunction; readonly instance: FunctionInstance }[], wanted: string): Place[] {
  const found = new Map<bigint, Place>();
  for (const { fn, instance } of instances) {
    const offset = binary.fileOffset(instance.entry);
    if (offset === undefined || found.has(offset)) continue;
    found.set(offset, { name: wanted, offset, ...(instance.kind === "inlined" ? { func: wanted, inlined: { fn, instance } } : {}) });
  }
  return [...found.values()];
}

/** `file.c`, `12` or `12:5` or `*`: the beginnings of statements. A line without code means the next one that has some. */
export function placesOfLine(binary: Binary, file: string, parts: readonly string[]): Places {
  const info = debugInfoOf(binary);
  if (typeof info === "string") return { problem: `lines are not known: ${info}` };
  const [line, column, ...more] = parts;
  if (more.length > 0) return { problem: "a place in a source file is a line, or a line and a column" };
  const found = new Map<bigint, Place>();
  const add = (address: bigint, at: number, func: string | undefined): void => {
    const offset = binary.fileOffset(address);
    if (offset !== undefined && !found.has(offset)) found.set(offset, { name: `${at}`, offset, ...(func === undefined ? {} : { func }) });
  };
  if (line === "*") {
    for (const place of info.lines(file)) add(place.address, place.line, place.function);
    return found.size > 0 ? just(...found.values()) : noFile(binary, file, info.sourceFiles());
  }
  const wanted = parseCount(line ?? "");
  const wantedColumn = column === undefined ? undefined : parseCount(column);
  if (wanted === undefined || wanted < 1n || (column !== undefined && wantedColumn === undefined)) return { problem: `\`${parts.join(":")}\` is not a line`, help: "a line is written FILE:LINE or FILE:LINE:COLUMN" };
  const places = info.linePlaces(file, Number(wanted), wantedColumn === undefined ? undefined : Number(wantedColumn));
  for (const place of places) add(place.address, place.line, place.function);
  const [first] = places;
  if (first === undefined || found.size === 0) return noFile(binary, file, info.sourceFiles(), `no code of ${binary.shownPath} is at line ${wanted} of ${file} or behind it`);
  const notes = BigInt(first.line) === wanted ? [] : [{ message: `line ${wanted} of ${file} has no code: probing line ${first.line}` }];
  return { places: [...found.values()], notes };
}

function noFile(binary: Binary, file: string, files: Iterable<string>, other?: string): Places {
  const all = [...files];
  if (other !== undefined && all.some((path) => isFile(path, file))) return { problem: other };
  const names = [...new Set(all.map((path) => path.split("/").at(-1) ?? path))];
  const help = didYouMean(file.split("/").at(-1) ?? file, names);
  return { problem: `no code of ${binary.shownPath} comes from a file ${file}`, ...(help === undefined ? {} : { help }) };
}
