// Which processes run an interpreter whose frames the unwinder can tell, and what of it the unwinder has to know.
import { basename } from "node:path";
import {
  interpreter,
  interpreterAt,
  interpreterBytes,
  interpreterKind,
  v8,
  v8Version,
} from "../../../compiler/layouts/unwind-layout.ts";
import { DamageError } from "../../../debuginfo/damage.ts";
import { ElfSymbols } from "../../../debuginfo/elf-symbols.ts";
import type { Elf } from "../../../debuginfo/elf.ts";
import { pythonFacts, type PythonFacts } from "../../../debuginfo/python-code.ts";
import { v8Facts, type V8Facts } from "../../../debuginfo/v8-metadata.ts";
import { biasOf, type CodeMapping } from "../symbols/user-symbols.ts";
import { Failure, saidBy, type Reason } from "../../../base/failure.ts";
import { interpreterReasons, sessions } from "../../../messages/on-demand.ts";

type Words = readonly (readonly [at: number, word: bigint])[];

/**
 * Interpreters by the names of the files that have them; `words`: what the unwinder is told, at offsets of its layout.
 */
interface Kind {
  readonly file: RegExp;
  readonly of: string;
  words(elf: Elf, symbols: ElfSymbols): ((bias: bigint) => Words) | Failure | undefined;
  help(): Reason;
}
const kinds: readonly Kind[] = [
  {
    // `python3.11`, `libpython3.11.so.1.0`
    file: /^(?:lib)?python3/,
    of: "Python",
    help: () => interpreterReasons().pythonMaps(),
    words: (elf, symbols) => told(pythonFacts(elf, symbols), pythonWords),
  },
  {
    file: /^(?:lib)?(?:node|nodejs|v8)(?:$|[-.\d])/,
    of: "JavaScript",
    help: () => interpreterReasons().nodeMaps(),
    words: (elf, symbols) => told(v8Facts(elf, symbols), v8Words),
  },
];

function told<T extends object>(
  facts: T | Failure | undefined,
  words: (facts: T, bias: bigint) => Words,
): ((bias: bigint) => Words) | Failure | undefined {
  return facts === undefined || facts instanceof Failure ? facts : (bias) => words(facts, bias);
}

/** Whether a file may have an interpreter, by its name. */
export function mayInterpret(path: string): boolean {
  return kinds.some(({ file }) => file.test(basename(path)));
}

export class Interpreters {
  readonly #elfOf: (mapping: CodeMapping, pid: number) => Elf | undefined;
  readonly #trouble: (text: string) => void;
  readonly #known = new Map<Elf, ((bias: bigint) => Words) | undefined>();

  /** `trouble`: told once of a file whose frames cannot be told. */
  constructor(elfOf: (mapping: CodeMapping, pid: number) => Elf | undefined, trouble: (text: string) => void) {
    this.#elfOf = elfOf;
    this.#trouble = trouble;
  }

  /** What stands behind a process's rows; undefined when it runs none. */
  entry(pid: number, mappings: readonly CodeMapping[]): Uint8Array | undefined {
    for (const mapping of mappings) {
      const name = basename(mapping.path);
      const kind = kinds.find(({ file }) => file.test(name));
      const elf = kind && this.#elfOf(mapping, pid);
      const bias = elf && biasOf(mapping, elf);
      const words = elf && bias !== undefined ? this.#wordsOf(kind, elf, mapping.path) : undefined;
      if (words && bias !== undefined) return entryOf(words(bias));
    }
    return undefined;
  }

  #wordsOf(kind: Kind, elf: Elf, path: string): ((bias: bigint) => Words) | undefined {
    if (this.#known.has(elf)) return this.#known.get(elf);
    let words: ReturnType<Kind["words"]>;
    try {
      words = kind.words(elf, new ElfSymbols(elf));
    } catch (error) {
      if (!(error instanceof DamageError)) throw error;
      words = new Failure(saidBy(error));
    }
    if (words instanceof Failure) {
      this.#trouble(sessions().notInStacks(kind.of, path, words.reason, kind.help()).message);
      words = undefined;
    }
    this.#known.set(elf, words);
    return words;
  }
}

function pythonWords(facts: PythonFacts, bias: bigint): Words {
  const { minor, evaluates, otherPart, key } = facts;
  const offsets = [
    "threadId",
    "frame",
    "inner",
    "executable",
    "previous",
    "instruction",
    "owner",
    "names",
    "code",
    "firstLine",
  ] as const;
  return [
    [interpreter.kind, BigInt(minor === 11 ? interpreterKind.pythonEntered : interpreterKind.python)],
    [interpreter.version, BigInt(minor)],
    [interpreter.low, evaluates.low + bias],
    [interpreter.size, evaluates.size],
    [interpreter.key, key + bias],
    ...(otherPart
      ? ([
          [interpreter.otherLow, otherPart.low + bias],
          [interpreter.otherSize, otherPart.size],
        ] as const)
      : []),
    ...offsets.map((name) => [interpreter[name], BigInt(facts[name])] as const),
  ];
}

function v8Words(facts: V8Facts): Words {
  // Offsets count from pointers to objects, which are odd.
  const offsets = ["shared", "name", "script", "literal", "scriptName", "scriptId"] as const;
  const types = ["functionType", "scriptType", "scopeType", "scopeNames"] as const;
  return [
    [v8.kind, BigInt(interpreterKind.v8)],
    [v8.version, BigInt(v8Version + facts.scopeNames)],
    [v8.functionTypes, functionTypes],
    ...offsets.map((name) => [v8[name], BigInt(facts[name] - 1)] as const),
    ...types.map((name) => [v8[name], BigInt(facts[name])] as const),
  ];
}
/** Behind the type of functions there are those of constructors: of classes, promises, arrays. */
const functionTypes = 20n;

function entryOf(words: Words): Uint8Array {
  const bytes = new Uint8Array(interpreterBytes);
  const view = new DataView(bytes.buffer);
  for (const [at, word] of words) view.setBigUint64(at, BigInt.asUintN(64, word), true);
  return bytes;
}

/** A process's rows, with the interpreter that it runs. */
export function withInterpreter(rows: Uint8Array, entry: Uint8Array | undefined): Uint8Array {
  const bytes = new Uint8Array(interpreterAt + interpreterBytes);
  bytes.set(rows);
  if (entry) bytes.set(entry, interpreterAt);
  return bytes;
}
