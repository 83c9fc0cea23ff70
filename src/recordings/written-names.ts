// What a recording's texts of names hold, by kind; addresses and ids are decimal text.

/** A frame: address, symbol, offset, module, language, mark. */
export type WrittenFrame = readonly [
  address: string,
  symbol: string | null,
  offset: number | null,
  module: string | null,
  language?: "python" | "javascript" | "interpreted" | null,
  mark?: string | null,
];

export interface WrittenNames {
  readonly kernel: readonly (readonly [address: string, frame: WrittenFrame])[];
  /** Of a process: kinds as SymbolResolver has them. */
  readonly user: readonly (readonly [kind: UserKind, pid: number, address: string, frame: WrittenFrame])[];
  readonly users: readonly (readonly [uid: number, name: string])[];
  readonly cgroups: readonly (readonly [id: string, path: string])[];
  readonly calls: readonly (readonly [number: number, name: string])[];
}

export type UserKind = "user" | "signalReturn" | "interpreted";
