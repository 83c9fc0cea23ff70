// Variables that an optimiser left nothing of but what registers had when the function was entered (DW_OP_entry_value):
// what is kept of them there, and at which functions that can be done.
import { coldPart, type CodeRange } from "../../debuginfo/function-ends.ts";
import { flowOf } from "../../debuginfo/code-flow.ts";
import type { DebugInfo } from "../../debuginfo/dwarf/facts.ts";
import type { Fetch } from "../../language/context.ts";
import type { CallSoFar } from "./kept-arguments.ts";
import { displaced, follow, type AtEntry, type Seen } from "../values/locations.ts";
import { fetchRegister, hostMachine, registersOf } from "../contexts/registers.ts";
import type { Binary } from "../system.ts";
import { Failure } from "../../base/failure.ts";
import { variableReasons } from "../../messages/on-demand.ts";

/** Gathers what a place needs of the beginning of the call around it. */
export class KeptEntry {
  /** The place, seen with what is kept. */
  readonly seen: Seen;
  /** Other places of the function, by whether there is a value. */
  readonly elsewhere: Seen;
  readonly #plain: Seen;
  readonly #binary: Binary;
  readonly #info: DebugInfo;
  readonly #words: Fetch[] = [];
  readonly #known = new Map<string, Fetch>();
  #call: { readonly entry: bigint; readonly frame: Fetch } | undefined;
  #closed = false;

  constructor(plain: Seen, binary: Binary, info: DebugInfo) {
    this.#plain = plain;
    this.#binary = binary;
    this.#info = info;
    this.seen = { ...plain, atEntry: (expression) => this.#word(expression) };
    this.elsewhere = {
      ...plain,
      atEntry: ({ entry }) => refusalAt(entry, binary, info) ?? { kind: "constant", value: 0n },
    };
  }

  /** What is to be kept, of which there is no more from now on. */
  close(): CallSoFar | undefined {
    this.#closed = true;
    return this.#call === undefined ? undefined : { ...this.#call, words: this.#words };
  }

  #word({ value, entry, cfa }: AtEntry): Fetch | Failure {
    const refusal = refusalAt(entry, this.#binary, this.#info);
    if (refusal !== undefined) return refusal;
    const frame = follow(cfa, this.#plain);
    if (frame instanceof Failure) return frame;
    const fetch = follow(value, seenAtEntry(this.#plain, entry, this.#binary));
    if (fetch instanceof Failure) return fetch;
    const key = JSON.stringify([`${entry}`, frame, fetch], (_, part: unknown) =>
      typeof part === "bigint" ? `${part}n` : part,
    );
    let word = this.#known.get(key);
    if (word === undefined) {
      if (this.#closed || (this.#call !== undefined && this.#call.entry !== entry))
        return new Failure(variableReasons().noKeptCall());
      this.#call ??= { entry, frame };
      word = { kind: "kept", word: this.#words.push(fetch) - 1 };
      this.#known.set(key, word);
    }
    return word;
  }
}

function seenAtEntry(seen: Seen, entry: bigint, { fixed }: Binary): Seen {
  const here = fetchRegister(registersOf(hostMachine), hostMachine === "arm64" ? "pc" : "ip");
  return {
    ...seen,
    address: entry,
    loaded: (wanted) => (fixed ? { kind: "constant", value: wanted } : displaced(here, wanted - entry)),
    threadLocal: () => new Failure(variableReasons().threadLocalAtEntry()),
  };
}

const refusals = new WeakMap<DebugInfo, Map<bigint, Failure | undefined>>();

/** Why a probe at a function's entry does not see what its calls begin with; undefined where it does. */
function refusalAt(entry: bigint, binary: Binary, info: DebugInfo): Failure | undefined {
  let known = refusals.get(info);
  if (known === undefined) refusals.set(info, (known = new Map()));
  if (!known.has(entry)) known.set(entry, refusalFor(entry, binary, info));
  return known.get(entry);
}

/** Bytes of a function that are decoded. */
const largestFunction = 1n << 20n;

function refusalFor(entry: bigint, binary: Binary, info: DebugInfo): Failure | undefined {
  const found = info.functionAt(entry);
  const offset = binary.fileOffset(entry);
  const symbol = offset === undefined ? undefined : binary.functionAt(offset);
  if (
    found === undefined ||
    found.instance.kind !== "body" ||
    found.instance.entry !== entry ||
    (symbol !== undefined && (symbol.offset !== 0 || coldPart.test(symbol.name)))
  ) {
    return new Failure(variableReasons().keptEntryUncertain());
  }
  // Its stacks move.
  if (found.fn.language === "go") return new Failure(variableReasons().keptNotInGo());
  const { ranges } = found.instance;
  const read = (address: bigint, length: number): Uint8Array | undefined => {
    const from = binary.fileOffset(address);
    return from === undefined || binary.fileOffset(address + BigInt(length - 1)) !== from + BigInt(length - 1)
      ? undefined
      : binary.read(from, length);
  };
  const code: CodeRange[] = [];
  for (const { low, high } of ranges) {
    const bytes = high <= low || high - low > largestFunction ? undefined : read(low, Number(high - low));
    if (bytes === undefined) return new Failure(variableReasons().keptCodeUnreadable());
    code.push({ address: low, bytes });
  }
  const flow = flowOf(code, entry, { read });
  const first = flow.at(entry);
  // Registers have changed when control comes by again in the same call.
  if (first === undefined || flow.predecessors[first].length > 0) {
    return new Failure(variableReasons().keptLoopAtEntry());
  }
  return undefined;
}
