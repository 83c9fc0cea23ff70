// Which processes run an interpreter whose frames the unwinder can tell, and what of it the unwinder has to know.
import { basename } from "node:path";
import { interpreter, interpreterAt, interpreterBytes, interpreterKind } from "../compiler/unwind-layout.ts";
import { DamageError } from "../debuginfo/damage.ts";
import { ElfSymbols } from "../debuginfo/elf-symbols.ts";
import type { Elf } from "../debuginfo/elf.ts";
import { pythonFacts, type PythonFacts } from "../debuginfo/python-code.ts";
import { biasOf, type CodeMapping } from "./user-symbols.ts";

/** `python3.11`, `libpython3.11.so.1.0` */
const pythonFile = /^(?:lib)?python3/;

interface Words { readonly kind: number; readonly words: Readonly<Partial<Record<keyof typeof interpreter, bigint>>> }

export class Interpreters {
  readonly #elfOf: (mapping: CodeMapping, pid: number) => Elf | undefined;
  readonly #trouble: (text: string) => void;
  readonly #known = new Map<Elf, PythonFacts | undefined>();

  /** `trouble`: told once of a file whose frames cannot be told. */
  constructor(elfOf: (mapping: CodeMapping, pid: number) => Elf | undefined, trouble: (text: string) => void) {
    this.#elfOf = elfOf;
    this.#trouble = trouble;
  }

  /** What stands behind a process's rows; undefined when it runs none. */
  entry(pid: number, mappings: readonly CodeMapping[]): Uint8Array | undefined {
    for (const mapping of mappings) {
      if (!pythonFile.test(basename(mapping.path))) continue;
      const elf = this.#elfOf(mapping, pid);
      const bias = elf && biasOf(mapping, elf);
      const facts = elf && bias !== undefined ? this.#pythonOf(elf, mapping.path) : undefined;
      if (facts && bias !== undefined) return entryOf(pythonWords(facts, bias));
    }
    return undefined;
  }

  #pythonOf(elf: Elf, path: string): PythonFacts | undefined {
    if (this.#known.has(elf)) return this.#known.get(elf);
    let facts: PythonFacts | string | undefined;
    try {
      facts = pythonFacts(elf, new ElfSymbols(elf));
    } catch (error) {
      if (!(error instanceof DamageError)) throw error;
      facts = error.message;
    }
    if (typeof facts === "string") {
      this.#trouble(`Python's functions in ${path} are not shown in stacks: ${facts}`);
      facts = undefined;
    }
    this.#known.set(elf, facts);
    return facts;
  }
}

function pythonWords(facts: PythonFacts, bias: bigint): Words {
  const { minor, evaluates, otherPart, key } = facts;
  const offsets = ["threadId", "frame", "inner", "executable", "previous", "instruction", "owner", "names", "code", "firstLine"] as const;
  return {
    kind: minor === 11 ? interpreterKind.pythonEntered : interpreterKind.python,
    words: {
      low: evaluates.low + bias, size: evaluates.size, key: key + bias,
      ...(otherPart ? { otherLow: otherPart.low + bias, otherSize: otherPart.size } : {}),
      version: BigInt(minor),
      ...Object.fromEntries(offsets.map((name) => [name, BigInt(facts[name])])),
    },
  };
}

function entryOf({ kind, words }: Words): Uint8Array {
  const bytes = new Uint8Array(interpreterBytes);
  const view = new DataView(bytes.buffer);
  view.setBigUint64(interpreter.kind, BigInt(kind), true);
  for (const [name, word] of Object.entries(words)) view.setBigUint64(interpreter[name as keyof typeof interpreter], BigInt.asUintN(64, word), true);
  return bytes;
}

/** A process's rows, with the interpreter that it runs. */
export function withInterpreter(rows: Uint8Array, entry: Uint8Array | undefined): Uint8Array {
  const bytes = new Uint8Array(interpreterAt + interpreterBytes);
  bytes.set(rows);
  if (entry) bytes.set(entry, interpreterAt);
  return bytes;
}
