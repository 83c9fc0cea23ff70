// Source lines in a probe's name, `FILE:LINES` or `FUNCTION@FILE:LINES`: what is written, which places it means, and
// their listing. The same for programs and for the kernel. SystemTap writes lines alike: `function@file:10,20-30`,
// `:*`.
import type {
  DebugInfo,
  FoundLines,
  LineRange,
  SourceFile,
  SourceFunction,
  WantedLines,
} from "../../debuginfo/dwarf/facts.ts";
import { uprobeRefusal } from "../../debuginfo/uprobe-refusals.ts";
import { spellDebugType } from "../../machine/values/debug-types.ts";
import { sourceLines } from "../../messages/source-lines.ts";
import type { Message } from "../../messages/message.ts";
import type { Place, Places, Problem } from "./places.ts";
import { sourceListed } from "./source-places.ts";
import type { Listed, ListOptions } from "../provider.ts";
import { parseCount } from "../quantity.ts";
import { didYouMean } from "../resolution.ts";
import type { Binary } from "../../machine/system.ts";
import { functionsOf } from "./user-places.ts";
import { debugInfoOf, isFile } from "../../machine/values/user-variables.ts";
import { hasWildcard, matches } from "../../machine/wildcard.ts";
import { Failure } from "../../base/failure.ts";

export interface SourceLines {
  /** Only lines of the function; with wildcards those of all that match. */
  readonly func?: string;
  /** A path or the end of one; each folder may have wildcards. */
  readonly file: string;
  /** As written: `10,20,30-35`, `+2`, `*`; behind that a column. */
  readonly lines: readonly string[];
}

/**
 * `FUNCTION@FILE:LINES`, of the parts behind a binary or a module; names in C++ have colons. Undefined where it is a
 * function alone.
 */
export function linesInFunction(parts: readonly string[]): SourceLines | undefined {
  const [, func, file, lines] = /^([^@]+)@([^@:]+):([\d+*][^@]*)$/s.exec(parts.join(":")) ?? [];
  return func === undefined ? undefined : { func, file, lines: lines.split(":") };
}

/** `FILE:LINE`, as one of the places that are meant is named. */
export function shownLine({ func }: SourceLines, place: string): string {
  return func === undefined ? `@${place}` : `:${func}@${place}`;
}

interface Item extends LineRange {
  readonly text: string;
  /** Counted from the function's first line. */ readonly relative: boolean;
}

/** What is wrong is told. */
function itemsOf(text: string): readonly Item[] | Problem {
  const items: Item[] = [];
  for (const item of text.split(",")) {
    const [, plus, first, last = first] = /^(\+?)(\w+)(?:-\+?(\w+))?$/.exec(item === "*" ? "1" : item) ?? [];
    const [low, high] = [first, last].map((number) => Number(parseCount(number ?? "") ?? NaN));
    const relative = plus === "+";
    if (!Number.isSafeInteger(low) || !Number.isSafeInteger(high) || (!relative && low < 1))
      return { problem: sourceLines.notALine(item) };
    if (high < low) return { problem: sourceLines.endBeforeTheyBegin(item) };
    items.push({ text: item, relative, first: low, last: item === "*" ? Number.MAX_SAFE_INTEGER : high });
  }
  return items;
}

/** Whether more than one line is asked for: then what cannot be probed is left out. */
export function meansSeveral({ file, lines: [text = ""] }: SourceLines): boolean {
  return hasWildcard(file) || /[*,-]/.test(text);
}

/** Most places that one probe of lines may mean in a program: a breakpoint each. */
const mostPlaces = 50_000;

interface Taken {
  /** As many places are taken. */ readonly most?: number;
  /** What a uprobe cannot be on is left in. */ readonly inKernel?: boolean;
}

/** The beginnings of statements at lines: one a line and copy. A line without code means the next that has some. */
export function placesOfLines(
  binary: Binary,
  source: SourceLines,
  { most = mostPlaces, inKernel = false }: Taken = {},
): Places {
  const info = debugInfoOf(binary);
  if (info instanceof Failure) return { problem: sourceLines.unknown(info.reason) };
  const [text = "", columnText, ...more] = source.lines;
  const items = itemsOf(text);
  if ("problem" in items) return items;
  const column = columnText === undefined ? undefined : Number(parseCount(columnText) ?? NaN);
  if (
    more.length > 0 ||
    (column !== undefined && (!Number.isSafeInteger(column) || items.length !== 1 || items[0].first !== items[0].last))
  )
    return { problem: sourceLines.notLineAndColumn(source.lines.join(":")) };
  const relative = items.find((item) => item.relative);
  if (relative !== undefined && source.func === undefined)
    return { problem: sourceLines.countsFromFunction(relative.text, source.file, text) };
  const all = { moved: [] as FoundLines["moved"][number][], empty: [] as FoundLines["empty"][number][] };
  // Lines may begin at one instruction: each of them is a probe there.
  const places = new Map<string, Place>();
  const scopes = scopesOf(info, source, binary);
  if ("problem" in scopes) return scopes;
  for (const { file, first = 0, within } of scopes) {
    const ranges = items.map((item) =>
      item.relative ? { first: first + item.first, last: first + item.last } : { first: item.first, last: item.last },
    );
    const found = info.linePlaces(file, {
      ranges,
      most,
      ...(column === undefined ? {} : { column }),
      ...(within === undefined ? {} : { within }),
    });
    all.moved.push(...found.moved);
    all.empty.push(...found.empty);
    for (const { address, line, file: path, function: func } of found.places) {
      const offset = binary.fileOffset(address);
      const name = `${shownFile(source.file, path)}:${line}${column === undefined ? "" : `:${column}`}`;
      if (offset === undefined || places.has(`${offset} ${name}`)) continue;
      if (places.size === most) return { problem: sourceLines.tooManyPlaces(source.file, text, most) };
      places.set(`${offset} ${name}`, {
        name,
        offset,
        ...(func === undefined ? {} : { func }),
        source: { function: func, file: path, line },
      });
    }
  }
  if (places.size === 0) return noLines(binary, source, info, all.empty, column);
  const said = [
    ...all.moved.map(({ line, to }) => sourceLines.moved(line, source.file, to)),
    ...all.empty.map((range) => withoutCode(source, range)),
  ];
  const notes = [...new Map(said.map((each) => [each.message, each])).values()];
  return inKernel ? { places: [...places.values()], notes } : withoutRefused(binary, [...places.values()], notes);
}

interface Scope {
  readonly file: SourceFile;
  /** The line that others count from. */ readonly first?: number;
  readonly within?: WantedLines["within"];
}

/** Where lines are looked for: in files, or in functions of files. */
function scopesOf(info: DebugInfo, { func, file }: SourceLines, binary: Binary): readonly Scope[] | Problem {
  const meant = fileMeant(file);
  if (func === undefined) return [{ file: meant }];
  const pattern = hasWildcard(func);
  const named = pattern
    ? [...functionsIn(info, meant).values()].filter(({ name }) => matches(func, name))
    : functionsOf(info, func);
  if (named.length === 0) {
    const help = pattern ? undefined : didYouMean(func, info.functionNames());
    return { problem: sourceLines.noFunction(binary.shownPath, func, pattern ? ` in ${file}` : "", help) };
  }
  const there = named.filter(({ declared }) =>
    typeof meant === "string" ? isFile(declared.file, meant) : meant(declared.file),
  );
  if (there.length === 0) {
    const files = [...new Set(named.map(({ declared }) => declared.file))];
    return { problem: sourceLines.functionElsewhere(func, file, files) };
  }
  const around = new Map(
    [...new Set(there.map(({ declared }) => declared.file))].map((path) => [path, functionsIn(info, path)]),
  );
  return there.map((fn) => ({
    file: fn.declared.file,
    first: fn.declared.line,
    within: codeOf(info, fn, around.get(fn.declared.file)!),
  }));
}

/** Functions that have lines in a file, by their qualified names. */
function functionsIn(info: DebugInfo, file: SourceFile): ReadonlyMap<string, SourceFunction> {
  const found = new Map<string, SourceFunction>();
  const seen = new Set<string>();
  for (const { address } of info.lines(file)) {
    const name = innermost(info, address);
    if (seen.has(name)) continue;
    const fn = info.functionAt(address)?.fn;
    if (fn !== undefined) found.set(fn.qualifiedName, fn);
    // Where a function begins, it is told in place of a copy that begins there as well.
    if (fn === undefined || fn.qualifiedName === name) seen.add(name);
  }
  return found;
}

function innermost(info: DebugInfo, address: bigint): string {
  return info.framesAt(address)[0]?.function ?? "";
}

/**
 * Its lines, up to those of the next function of the file; with them those of lambdas and closures in it. The text
 * decides, since compilers mix code of what they inline and tell its blocks apart less well than its lines; but not
 * where functions begin on one line.
 */
function codeOf(
  info: DebugInfo,
  { name: plain, qualifiedName, declared }: SourceFunction,
  around: ReadonlyMap<string, SourceFunction>,
): NonNullable<WantedLines["within"]> {
  const others = new Set<string>();
  let end = Infinity;
  for (const [
    name,
    {
      declared: { file, line },
    },
  ] of around) {
    if (
      name === qualifiedName ||
      file !== declared.file ||
      [plain, qualifiedName].some((outer) => name.startsWith(`${outer}::`))
    )
      continue;
    if (line === declared.line || qualifiedName.startsWith(`${name}::`)) others.add(name);
    else if (line > declared.line) end = Math.min(end, line);
  }
  return (address, line) => line >= declared.line && line < end && !others.has(innermost(info, address));
}

/** Wildcards stay within a folder's name, as in a shell. */
function fileMeant(file: string): SourceFile {
  if (!hasWildcard(file)) return file;
  const wanted = file.split("/");
  return (path) => {
    const parts = path.split("/");
    if (parts.length < wanted.length || (file.startsWith("/") && parts.length !== wanted.length)) return false;
    const end = parts.slice(parts.length - wanted.length);
    return wanted.every((part, i) => matches(part, end[i]));
  };
}

/** As much of a path as was asked for. */
function shownFile(wanted: string, path: string): string {
  return hasWildcard(wanted) ? path.split("/").slice(-wanted.split("/").length).join("/") : wanted;
}

function withoutCode(
  { file, func }: SourceLines,
  { first, last, before, behind }: FoundLines["empty"][number],
): Message {
  const near = [before, behind].filter((line) => line !== undefined);
  const lines =
    first === last ? `line ${first}` : last === Number.MAX_SAFE_INTEGER ? "what" : `lines ${first} to ${last}`;
  return sourceLines.withoutCode(lines, first === last, `${func === undefined ? "" : `\`${func}\` in `}${file}`, near);
}

function noLines(
  binary: Binary,
  source: SourceLines,
  info: DebugInfo,
  empty: FoundLines["empty"],
  column: number | undefined,
): Places {
  const files = [...info.sourceFiles()];
  const meant = fileMeant(source.file);
  if (!files.some((path) => (typeof meant === "string" ? isFile(path, meant) : meant(path)))) {
    const help = didYouMean(
      source.file.split("/").at(-1) ?? source.file,
      new Set(files.map((path) => path.split("/").at(-1) ?? path)),
    );
    return { problem: sourceLines.noFile(binary.shownPath, source.file, help) };
  }
  const [first] = empty;
  if (first !== undefined) return { problem: sourceLines.noCodeThere(binary.shownPath, withoutCode(source, first)) };
  return { problem: sourceLines.noStatementAtColumn(source.lines[0], source.file, column) };
}

/** Statements that begin with an instruction on which there can be no uprobe are left out. */
function withoutRefused(binary: Binary, all: readonly Place[], notes: readonly Message[]): Places {
  if (binary.machine !== "x86-64") return { places: all, notes };
  const refused: { readonly place: Place; readonly reason: string }[] = [];
  const places = all.filter((place) => {
    const end = binary.code?.find(({ low, high }) => place.offset >= low && place.offset < high)?.high ?? place.offset;
    const refusal = uprobeRefusal(binary.read(place.offset, Math.min(longestInstruction, Number(end - place.offset))));
    if (refusal !== undefined) refused.push({ place, reason: refusal.reason });
    return refusal === undefined;
  });
  const [first] = refused;
  if (first === undefined) return { places, notes };
  const why = sourceLines.notProbed(first.place.name, first.reason);
  if (places.length === 0) return { problem: why };
  return { places, notes: [...notes, sourceLines.leftOut(refused.length, all.length, why)] };
}

/** Bytes of the longest x86-64 instruction. */
const longestInstruction = 15;

/**
 * A probe for each line with code; with its function and the variables in scope. `before`: what stands in front of `@`.
 */
export function* listLines(
  binary: Binary,
  source: SourceLines,
  before: string,
  options: ListOptions,
  inKernel = false,
): Iterable<Listed> {
  const info = debugInfoOf(binary);
  const found = placesOfLines(binary, source, { most: Infinity, inKernel });
  if (info instanceof Failure || "problem" in found) return;
  const byName = new Map<string, Place[]>();
  for (const place of found.places) {
    const others = byName.get(place.name);
    if (others === undefined) byName.set(place.name, [place]);
    else others.push(place);
  }
  for (const [name, places] of [...byName].sort(([a], [b]) => inOrder(a, b))) {
    const probe = `${before}${shownLine(source, name)}`;
    if (options.sources === true) {
      // Copies of one line in several functions are several places.
      const functions = new Map(places.map((place) => [place.func ?? "", place]));
      for (const place of functions.values()) yield { probe, ...sourceListed(binary, place, options.verbose) };
    } else yield options.verbose ? { probe, details: describeLine(binary, info, places) } : { probe };
  }
}

function describeLine(binary: Binary, info: DebugInfo, places: readonly Place[]): string[] {
  const variables = new Map<string, string>();
  for (const { offset } of places) {
    const address = binary.address(offset);
    for (const variable of address === undefined ? [] : info.variablesAt(address)) {
      if (variable.name !== "" && !variables.has(variable.name))
        variables.set(variable.name, `    ${spellDebugType(variable.type, variable.name)}`);
    }
  }
  const functions = new Set(places.flatMap(({ func }) => func ?? []));
  return [...variables.values(), ...(functions.size === 0 ? [] : [`    in ${[...functions].join(", ")}`])];
}

/** By file, then by line. */
function inOrder(a: string, b: string): number {
  const [[fileA, lineA], [fileB, lineB]] = [a, b].map((name) => {
    const at = name.indexOf(":");
    return [name.slice(0, at), Number.parseInt(name.slice(at + 1), 10)] as const;
  });
  return fileA === fileB ? lineA - lineB : fileA < fileB ? -1 : 1;
}
