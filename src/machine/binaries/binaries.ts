// Which binaries the first part of a uprobe or usdt means, and C++ names as their authors wrote them.
import type { Message } from "../../messages/message.ts";
import { places } from "../../messages/places.ts";
import { readdirSync, statSync } from "node:fs";
import { posix } from "node:path";
import { demangle } from "../../linux/demangle.ts";
import { noEntry } from "./archived.ts";
import { noteFile } from "../../store/seen-files.ts";
import type { Binary, System } from "../system.ts";
import { hasWildcard, matches } from "../wildcard.ts";

/**
 * A path or a name; a path with wildcards; or `*`, every binary that a process has mapped (any process, when none is
 * given).
 */
export function findBinaries(target: string, pid: number | undefined, system: System): Binary[] {
  if (!hasWildcard(target)) {
    const binary = system.binary(target, pid);
    return binary ? [binary] : [];
  }
  const found = new Map<string, Binary>();
  const add = (path: string, of: number | undefined): void => {
    const binary = system.binary(path, of);
    if (binary && !found.has(binary.path)) found.set(binary.path, binary);
  };
  if (pid === undefined && target.includes("/")) {
    for (const path of expandPath(target)) add(path, undefined);
  } else {
    for (const process of pid === undefined ? processes() : [pid]) {
      for (const path of system.mappedBinaries(process)) if (matchesPath(target, path)) add(path, process);
    }
  }
  return [...found.values()];
}

/** All of a path, or where a pattern has no `/` the file's name: `libc.so*`. */
export function matchesPath(pattern: string, path: string): boolean {
  return matches(pattern, path) || (!pattern.includes("/") && matches(pattern, posix.basename(path)));
}

/** Why a name means no binary, and what to do about it. */
export function noBinary(target: string): Message {
  let kind: "folder" | "file" | "special" | undefined;
  try {
    const found = target.includes("/") && !hasWildcard(target) ? statSync(target) : undefined;
    kind = found?.isDirectory() ? "folder" : found?.isFile() ? "file" : found && "special";
  } catch {
    // It is not there.
  }
  switch (kind) {
    case "special":
      return places.notRegularFile(target);
    case "folder":
      return places.folder(target);
    case "file":
      return places.notElf(target);
    case undefined:
      return noEntry(target) ?? places.noSuchBinary(target);
  }
}

function processes(): number[] {
  return namesIn("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

/** Existing paths that match, as a shell would expand them. */
function expandPath(pattern: string): string[] {
  if (!pattern.startsWith("/")) noteFile(".");
  const [first, ...rest] = pattern.split("/");
  let paths = [first];
  for (const part of rest) {
    paths = hasWildcard(part)
      ? paths.flatMap((path) =>
          namesIn(`${path}/`)
            .filter((name) => matches(part, name))
            .sort()
            .map((name) => `${path}/${name}`),
        )
      : paths.map((path) => `${path}/${part}`);
  }
  return paths;
}

/** Folders come and go, and some are closed to us. */
function namesIn(folder: string): string[] {
  noteFile(folder);
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

export function unquote(part: string): string {
  return /^"(.*)"$/s.exec(part)?.[1] ?? part;
}

/** How a C++ function is called. */
export interface CppName {
  /** `app::twice<int>` */
  readonly name: string;
  /** With its parameters: `app::twice<int>(int) const`; just the name when they are not known. */
  readonly signature: string;
  /** Templates tell what they return as well: `int app::twice<int>(int) const`. */
  readonly full: string;
  /** What it goes by as well, where nothing has just that name: a method of Rust by its type or its trait. */
  readonly methods?: readonly string[];
}

/**
 * By the system's C++ runtime; without one, plain names only. Rust's older names are C++ ones with a hash at the end.
 */
export function cppName(symbol: string): CppName | undefined {
  const full = demangle(symbol);
  if (full !== undefined) {
    const rust = rustName(full);
    return rust === undefined
      ? cppNameParts(full)
      : { name: rust, signature: rust, full: rust, methods: rustMethods(rust) };
  }
  const name = sourceName(symbol);
  return name === undefined ? undefined : { name, signature: name, full: name };
}

// The legacy mangling of Rust writes what C++ allows in no name (rustc's `legacy` symbol mangling).
const rustEscapes: Readonly<Record<string, string>> = {
  SP: "@",
  BP: "*",
  RF: "&",
  LT: "<",
  GT: ">",
  LP: "(",
  RP: ")",
  C: ",",
};

/** `t::inner::take` of `t::inner::take::h0123456789abcdef`; undefined for a name that is not Rust's. */
export function rustName(demangled: string): string | undefined {
  const hashed = /^(.+)::h[0-9a-f]{16}(?:\.llvm\.\d+)?$/s.exec(demangled);
  return hashed?.[1]
    .replace(/\$u([0-9a-f]{1,6})\$/g, (all, code: string) =>
      Number.parseInt(code, 16) <= 0x10ffff ? String.fromCodePoint(Number.parseInt(code, 16)) : all,
    )
    .replace(/\$([A-Z]{1,2})\$/g, (all, escape: string) => rustEscapes[escape] ?? all)
    .replace(/(^|::)_</g, "$1<")
    .replaceAll("..", "::");
}

/**
 * `t::Point::fmt` and `core::fmt::Debug::fmt` of `<t::Point as core::fmt::Debug>::fmt`; `t::Cage::open` of
 * `t::Cage<T>::open`.
 */
export function rustMethods(name: string): readonly string[] {
  const [, type, trait, method] = /^<(.+) as (.+)>::([^:<>]+)$/s.exec(name) ?? [];
  if (method !== undefined) return [type, trait].map((owner) => `${withoutArguments(owner)}::${method}`);
  const plain = withoutArguments(name);
  return plain === name || plain === "" || plain.startsWith("::") ? [] : [plain];
}

/** Without what is between angle brackets. */
export function withoutArguments(name: string): string {
  let depth = 0;
  let plain = "";
  for (const c of name) {
    if (c === "<") depth++;
    else if (c === ">" && depth > 0) depth--;
    else if (depth === 0) plain += c;
  }
  return plain.replaceAll("::::", "::");
}

/** The parts of what a demangler gives. */
export function cppNameParts(full: string): CppName {
  const head = full.replace(/( \[clone [^\]]*\]| const| volatile| noexcept| ?&&?)*$/, "");
  let end = head.length;
  if (head.endsWith(")")) {
    let depth = 0;
    do {
      end--;
      if (head[end] === ")") depth++;
      else if (head[end] === "(") depth--;
    } while (depth > 0 && end > 0);
  }
  // What is returned ends at a space; but operators have spaces, < and > of their own.
  let start = /(?<![\w$])operator(?=\W)/.exec(head)?.index ?? end;
  for (let depth = 0; start > 0; start--) {
    const c = head[start - 1];
    if (c === ")" || c === ">") depth++;
    else if (c === "(" || c === "<") depth--;
    else if (c === " " && depth === 0) break;
  }
  return { name: full.slice(start, end), signature: full.slice(start), full };
}

/**
 * `app::Server::handle` of `_ZN3app6Server6handleEi`: names of plain functions and methods, which is what people probe
 * by name. Undefined for templates, operators and whatever else needs a real demangler.
 */
export function sourceName(symbol: string): string | undefined {
  const start = /^_ZN[rVKRO]*|^_Z(?=\d)/.exec(symbol);
  if (!start) return undefined;
  const nested = start[0].startsWith("_ZN");
  const names: string[] = [];
  let at = start[0].length;
  while (at < symbol.length) {
    const length = /^\d{1,5}/.exec(symbol.slice(at, at + 5))?.[0];
    if (length !== undefined) {
      at += length.length;
      const name = symbol.slice(at, at + Number(length));
      if (name.length < Number(length)) return undefined;
      names.push(name.startsWith("_GLOBAL__N") ? "(anonymous namespace)" : name);
      at += name.length;
      if (!nested) return names[0];
    } else if (symbol.startsWith("St", at) && names.length === 0) {
      names.push("std");
      at += 2;
    } else if (/^[CD][0-5]/.test(symbol.slice(at, at + 2)) && names.length > 0) {
      names.push(`${symbol[at] === "D" ? "~" : ""}${names.at(-1)}`);
      at += 2;
    } else break;
  }
  return nested && symbol[at] === "E" && names.length > 0 ? names.join("::") : undefined;
}
