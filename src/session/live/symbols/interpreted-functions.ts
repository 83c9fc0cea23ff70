// Frames of interpreted functions in stacks: what the unwinder copied of each function, as names, files and lines.
import {
  functionAt,
  functionTexts,
  v8FunctionAt,
  v8InferredRoom,
  v8ScopeWords,
  v8Version,
} from "../../../compiler/layouts/unwind-layout.ts";
import { interpreted } from "../../../compiler/layouts/unwound-stack.ts";
import { lineOfInstruction, pythonBytes, pythonText } from "../../../debuginfo/python-code.ts";
import { v8Scope, v8Text } from "../../../debuginfo/v8-metadata.ts";
import type { Frame } from "../../events.ts";
import type { ScriptLines } from "./script-lines.ts";

interface InterpretedFunction {
  readonly pid: number;
  readonly address: bigint;
  readonly language: "python" | "javascript";
  readonly name: string | undefined;
  readonly file: string | undefined;
  /** 0 where it cannot be told. */
  lineAt(place: number): number;
}

/**
 * What CPython runs below a constructor that it calls itself, to see that it gave nothing (_Py_InitCleanup, 3.12 and
 * later).
 */
const cleanup = "__init__";
const functionsKept = 1 << 16;
const placeMask = (1n << BigInt(interpreted.placeBits)) - 1n;

export class InterpretedFunctions {
  readonly #lookup: (key: Uint8Array) => Uint8Array | undefined;
  readonly #known = new Map<bigint, InterpretedFunction>();

  readonly #sources: ScriptLines;

  /** `lookup`: in the kernel's map of what was copied. */
  constructor(lookup: (key: Uint8Array) => Uint8Array | undefined, sources: ScriptLines) {
    this.#lookup = lookup;
    this.#sources = sources;
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
      known = functionOf(copied, this.#sources);
      if (this.#known.size >= functionsKept) this.#known.clear();
      this.#known.set(key, known);
    }
    // A process can write anything to its stack.
    if (known.pid !== pid) return this.#nameless(key);
    const { address, language, name: symbol, file } = known;
    if (language === "python" && symbol === cleanup && file === cleanup) return undefined;
    if (symbol === undefined) this.#nameless(key);
    return {
      address,
      language,
      ...(symbol === undefined ? {} : { symbol }),
      ...(file === undefined ? {} : { source: { file, line: known.lineAt(Number(word & placeMask)) } }),
    };
  }

  #nameless(key: bigint): Frame {
    if (this.nameless.size < functionsKept) this.nameless.add(key);
    return { address: 0n, language: "interpreted" };
  }
}

function functionOf(copied: Uint8Array, sources: ScriptLines): InterpretedFunction {
  const bytes = Buffer.from(copied);
  return bytes.readUInt32LE(functionAt.version) < v8Version
    ? pythonFunction(bytes)
    : javascriptFunction(bytes, sources);
}

function part(bytes: Buffer, at: number, room: number): Buffer {
  return bytes.subarray(at, at + room);
}

function pythonFunction(bytes: Buffer): InterpretedFunction {
  const version = bytes.readUInt32LE(functionAt.version);
  const firstLine = bytes.readUInt32LE(functionAt.firstLine);
  const lines = pythonBytes(part(bytes, functionAt.lines, functionTexts.lines));
  return {
    pid: bytes.readUInt32LE(functionAt.pid),
    address: bytes.readBigUInt64LE(functionAt.object),
    language: "python",
    name: pythonText(part(bytes, functionAt.qualifiedName, functionTexts.qualifiedName), version),
    file: pythonText(part(bytes, functionAt.file, functionTexts.file), version),
    lineAt: (place) =>
      place === interpreted.before
        ? firstLine
        : place === interpreted.beyond
          ? 0
          : (lineOfInstruction(lines, firstLine, place) ?? 0),
  };
}

function javascriptFunction(bytes: Buffer, sources: ScriptLines): InterpretedFunction {
  const pid = bytes.readUInt32LE(functionAt.pid);
  const words = v8ScopeWords * 8;
  const scope = v8Scope(
    part(bytes, v8FunctionAt.scope, words),
    part(bytes, v8FunctionAt.scopeName, words),
    bytes.readUInt32LE(functionAt.version) - v8Version,
  );
  const own =
    scope?.named === false ? undefined : v8Text(part(bytes, functionAt.qualifiedName, functionTexts.qualifiedName));
  const inferred =
    scope?.inferred === true
      ? v8Text(
          part(bytes, v8FunctionAt.inferred, v8InferredRoom),
          part(bytes, v8FunctionAt.inferredRest, v8InferredRoom),
        )
      : undefined;
  const file = v8Text(part(bytes, functionAt.file, functionTexts.file));
  const line = file === undefined || scope?.start === undefined ? 0 : sources.lineOf(pid, file, scope.start);
  return {
    pid,
    address: bytes.readBigUInt64LE(functionAt.object),
    language: "javascript",
    name: own || inferred || (scope === undefined ? undefined : "(anonymous)"),
    file,
    lineAt: () => line,
  };
}
