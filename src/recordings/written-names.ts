// What a recording's texts of names hold, by kind; addresses, ids and offsets are decimal text.

import { RecordingError } from "./damaged-recording.ts";
import { damagedRecording } from "../messages/on-demand.ts";

/** A frame: address, symbol, offset, module, language, mark; file and line in the source of an interpreted function. */
export type WrittenFrame = readonly [
  address: string,
  symbol: string | null,
  offset: number | null,
  module: string | null,
  language?: "python" | "javascript" | "interpreted" | null,
  mark?: string | null,
  file?: string | null,
  line?: number,
];

/** One function at a place of code: its name where it is an inlined copy, and where in the source; line 0: unknown. */
export type WrittenLine = readonly [inlined: string | null, file: string | null, line: number];

export interface WrittenNames {
  /** Of a merged recording: which of its parts they are of. */
  readonly part?: number;
  readonly kernel: readonly (readonly [address: string, frame: WrittenFrame])[];
  /** Of a process: kinds as SymbolResolver has them. */
  readonly user: readonly (readonly [kind: UserKind, pid: number, address: string, frame: WrittenFrame])[];
  readonly users: readonly (readonly [uid: number, name: string])[];
  readonly cgroups: readonly (readonly [id: string, path: string])[];
  readonly calls: readonly (readonly [number: number, name: string])[];
  /** Files' code in processes, as far as addresses in it occur. */
  readonly mappings?: readonly (readonly [
    pid: number,
    start: string,
    end: string,
    offset: string,
    path: string,
    buildId: string | null,
  ])[];
  /** Of places in files, innermost function first. */
  readonly lines?: readonly (readonly [
    path: string,
    buildId: string | null,
    offset: string,
    functions: readonly WrittenLine[],
  ])[];
}

export type UserKind = "user" | "signalReturn" | "interpreted";

/** Texts of names, read: lists of lists. @throws RecordingError */
export function* writtenNames(texts: Iterable<string>): Iterable<WrittenNames> {
  for (const text of texts) {
    let names: unknown;
    try {
      names = JSON.parse(text);
    } catch {
      throw unreadableNames();
    }
    if (typeof names !== "object" || names === null) throw unreadableNames();
    const { part = 0, ...tables } = names as Partial<WrittenNames>;
    if (!Number.isInteger(part) || part < 0 || !Object.values(tables).every(isTable)) throw unreadableNames();
    const { kernel = [], user = [], users = [], cgroups = [], calls = [], ...more } = tables;
    yield { part, kernel, user, users, cgroups, calls, ...more };
  }
}

function isTable(value: unknown): boolean {
  return Array.isArray(value) && value.every((row) => Array.isArray(row));
}

export function unreadableNames(): RecordingError {
  return new RecordingError(damagedRecording().addressNames());
}
