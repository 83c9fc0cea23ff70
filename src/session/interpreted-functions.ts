// Frames of interpreted functions in stacks: what the unwinder copied of each function, as names, files and lines.
import { functionAt, functionTexts } from "../compiler/unwind-layout.ts";
import { interpreted } from "../compiler/unwound-stack.ts";
import { lineOfInstruction, pythonBytes, pythonText } from "../debuginfo/python-code.ts";
import type { Frame } from "./events.ts";

interface PythonFunction {
  readonly pid: number;
  readonly object: bigint;
  readonly name: string | undefined;
  readonly file: string | undefined;
  readonly firstLine: number;
  readonly lines: Buffer;
}

/** What CPython runs below a constructor that it calls itself, to see that it gave nothing (_Py_InitCleanup, 3.12 and later). */
const cleanup = "__init__";
const functionsKept = 1 << 16;
const placeMask = (1n << BigInt(interpreted.placeBits)) - 1n;

export class InterpretedFunctions {
  readonly #lookup: (key: Uint8Array) => Uint8Array | undefined;
  readonly #known = new Map<bigint, PythonFunction>();

  /** `lookup`: in the kernel's map of what was copied. */
  constructor(lookup: (key: Uint8Array) => Uint8Array | undefined) {
    this.#lookup = lookup;
  }

  /** Words that nothing names. */
  readonly nameless = new Set<bigint>();

  /** undefined for what is no function of the program's. */
  frame(word: bigint, pid: number): Frame | undefined {
    const key = word & ~placeMask;
    let known = this.#known.get(key);
    if (known === undefined) {
      const copied = this.#lookup(new Uint8Array(BigUint64Array.of(key).buffer));
      if (copied === undefined) return this.#nameless(key);
      known = functionOf(copied);
      if (this.#known.size >= functionsKept) this.#known.clear();
      this.#known.set(key, known);
    }
    // A process can write anything to its stack.
    if (known.pid !== pid) return this.#nameless(key);
    const { object: address, name: symbol, file } = known;
    if (symbol === cleanup && file === cleanup) return undefined;
    if (symbol === undefined) this.#nameless(key);
    return {
      address, language: "python", ...(symbol === undefined ? {} : { symbol }),
      ...(file === undefined ? {} : { source: { file, line: lineOf(known, Number(word & placeMask)) } }),
    };
  }

  #nameless(key: bigint): Frame {
    if (this.nameless.size < functionsKept) this.nameless.add(key);
    return { address: 0n, language: "interpreted" };
  }
}

/** 0 where it cannot be told. */
function lineOf({ firstLine, lines }: PythonFunction, place: number): number {
  if (place === interpreted.before) return firstLine;
  return place === interpreted.beyond ? 0 : lineOfInstruction(lines, firstLine, place) ?? 0;
}

function functionOf(copied: Uint8Array): PythonFunction {
  const bytes = Buffer.from(copied);
  const part = (name: keyof typeof functionTexts): Buffer => bytes.subarray(functionAt[name], functionAt[name] + functionTexts[name]);
  const version = bytes.readUInt32LE(functionAt.version);
  return {
    pid: bytes.readUInt32LE(functionAt.pid), object: bytes.readBigUInt64LE(functionAt.object), firstLine: bytes.readUInt32LE(functionAt.firstLine),
    name: pythonText(part("qualifiedName"), version), file: pythonText(part("file"), version), lines: pythonBytes(part("lines")),
  };
}
