// CPython 3.11 to 3.14: where its structures keep what tells a thread's frames, and what a code object's parts mean.
// Since 3.13 the interpreter's binary says most of it itself (struct _Py_DebugOffsets,
// Include/internal/pycore_debug_offsets.h); the rest is as the headers of each version have it.
import { CallFrames } from "./call-frames.ts";
import { ElfError, type Elf } from "./elf.ts";
import type { ElfSymbols } from "./elf-symbols.ts";
import { Failure } from "../base/failure.ts";
import { damagedElf, interpreterReasons } from "../messages/on-demand.ts";

/** Offsets in bytes, addresses as the file has them. See `interpreter` in compiler/layouts/unwind-layout.ts. */
export interface PythonFacts {
  /** 11 for Python 3.11. */
  readonly minor: number;
  readonly evaluates: { readonly low: bigint; readonly size: bigint };
  readonly otherPart: { readonly low: bigint; readonly size: bigint } | undefined;
  readonly key: bigint;
  readonly threadId: number;
  readonly frame: number;
  readonly inner: number;
  readonly executable: number;
  readonly previous: number;
  readonly instruction: number;
  readonly owner: number;
  readonly names: number;
  readonly code: number;
  readonly firstLine: number;
}

type Layout = Pick<
  PythonFacts,
  "threadId" | "frame" | "inner" | "executable" | "previous" | "instruction" | "owner" | "names" | "code" | "firstLine"
>;

/**
 * Include/internal/pycore_frame.h, Include/cpython/pystate.h and code.h. Since 3.13 the frame is pointed to directly.
 */
const layouts: ReadonlyMap<number, Layout> = new Map([
  [
    11,
    {
      threadId: 152,
      frame: 56,
      inner: 8,
      executable: 32,
      previous: 48,
      instruction: 56,
      owner: 68,
      names: 112,
      code: 184,
      firstLine: 72,
    },
  ],
  [
    12,
    {
      threadId: 136,
      frame: 56,
      inner: 0,
      executable: 0,
      previous: 8,
      instruction: 56,
      owner: 70,
      names: 112,
      code: 192,
      firstLine: 68,
    },
  ],
]);
/** Of autoTSSkey in _PyRuntimeState (pycore_runtime_structs.h); the number is behind a flag of 4 bytes. */
const keyOffsets: ReadonlyMap<number, number> = new Map([
  [11, 592],
  [12, 1544],
  [13, 2160],
  [14, 2336],
]);
const keyNumber = 4;
const cookie = "xdebugpy";
/** Words of _Py_DebugOffsets. */
const debugWords: ReadonlyMap<number, Readonly<Record<Exclude<keyof Layout, "inner"> | "lines", number>>> = new Map([
  [
    13,
    {
      frame: 23,
      threadId: 24,
      previous: 29,
      executable: 30,
      instruction: 31,
      owner: 33,
      names: 35,
      lines: 38,
      firstLine: 39,
      code: 43,
    },
  ],
  [
    14,
    {
      frame: 26,
      threadId: 27,
      previous: 32,
      executable: 33,
      instruction: 34,
      owner: 36,
      names: 40,
      lines: 43,
      firstLine: 44,
      code: 48,
    },
  ],
]);

/** undefined: no interpreter of Python. A text: why its frames cannot be told. @throws ElfError */
export function pythonFacts(elf: Elf, symbols: ElfSymbols): PythonFacts | Failure | undefined {
  const [runtime, evaluate, version] = ["_PyRuntime", "_PyEval_EvalFrameDefault", "Py_Version"].map((name) =>
    symbols.find(name),
  );
  if (runtime === undefined || evaluate === undefined) return undefined;
  if (elf.machine !== "x86-64") return new Failure(interpreterReasons().pythonMachine());
  const number = version === undefined ? 0 : Number(bytesAt(elf, version.address, 8).readBigUInt64LE());
  const [major, minor] = [number >>> 24, (number >>> 16) & 0xff];
  const key = major === 3 ? keyOffsets.get(minor) : undefined;
  if (key === undefined)
    return number === 0
      ? new Failure(interpreterReasons().oldPython())
      : new Failure(interpreterReasons().unknownPython(major, minor));
  const layout = layouts.get(minor) ?? debugLayout(bytesAt(elf, runtime.address, debugBytes), minor);
  if (layout instanceof Failure) return layout;
  const evaluates = { low: evaluate.address, size: evaluate.size };
  return {
    minor,
    evaluates,
    otherPart: otherPart(elf, evaluates),
    key: runtime.address + BigInt(key + keyNumber),
    ...layout,
  };
}

const debugBytes = 64 * 8;

function debugLayout(bytes: Buffer, minor: number): Layout | Failure {
  const words = debugWords.get(minor);
  if (words === undefined || bytes.toString("latin1", 0, 8) !== cookie)
    return new Failure(interpreterReasons().framesNotTold());
  const word = (at: number): number => Number(bytes.readBigUInt64LE(at * 8));
  if (word(2) !== 0) return new Failure(interpreterReasons().withoutGlobalLock());
  const layout: Layout = {
    threadId: word(words.threadId),
    frame: word(words.frame),
    inner: -1,
    executable: word(words.executable),
    previous: word(words.previous),
    instruction: word(words.instruction),
    owner: word(words.owner),
    names: word(words.names),
    code: word(words.code),
    firstLine: word(words.firstLine),
  };
  const inFrame =
    [layout.executable, layout.previous, layout.instruction].every((offset) => offset <= frameBytes - 8) &&
    layout.owner < frameBytes;
  const sensible =
    inFrame &&
    word(words.lines) === layout.names + 24 &&
    [layout.threadId, layout.frame, layout.code, layout.firstLine].every((offset) => offset < 4096);
  return sensible ? layout : new Failure(interpreterReasons().damagedRuntime());
}
/** What is read of a frame. */
const frameBytes = 80;

function bytesAt(elf: Elf, address: bigint, length: number): Buffer {
  const offset = elf.fileOffset(address);
  if (offset === undefined) throw new ElfError(damagedElf().symbolOutside());
  return elf.read(Number(offset), length);
}

/**
 * The other part of a function that the compiler split: call frames describe it as a function of its own, and the
 * function jumps to its first byte and to others in it. Where a call became a jump, to the first only.
 */
function otherPart(
  elf: Elf,
  { low, size }: { readonly low: bigint; readonly size: bigint },
): { readonly low: bigint; readonly size: bigint } | undefined {
  const frames = CallFrames.of(elf);
  if (frames === undefined) return undefined;
  const code = bytesAt(elf, low, Number(size));
  const found = new Map<bigint, { readonly size: bigint; readonly targets: Set<bigint> }>();
  for (let at = 0; at + 6 <= code.length; at++) {
    // jcc and jmp with a distance of 32 bits
    const branch = code[at] === 0x0f && (code[at + 1] & 0xf0) === 0x80;
    if (!branch && code[at] !== 0xe9) continue;
    const length = branch ? 6 : 5;
    const target = low + BigInt(at + length + code.readInt32LE(at + length - 4));
    if (target >= low && target < low + size) continue;
    const range = frames.rangeAt(target);
    if (range === undefined) continue;
    const known = found.get(range.low) ?? { size: range.size, targets: new Set() };
    known.targets.add(target);
    found.set(range.low, known);
  }
  let best: { readonly low: bigint; readonly size: bigint; readonly targets: number } | undefined;
  for (const [start, part] of found) {
    const targets = part.targets.size;
    if (part.targets.has(start) && targets > (best?.targets ?? 1)) best = { low: start, size: part.size, targets };
  }
  return best;
}

/**
 * The line of an instruction (Objects/locations.md, 3.11 and later): entries of a first byte, 0x80 and 4 bits of how
 * the rest is written and 3 of how many instructions it is for, less one. undefined where there is none, or the bytes
 * end before.
 */
export function lineOfInstruction(table: Buffer, firstLine: number, instruction: number): number | undefined {
  let line = firstLine;
  let begins = 0;
  let at = 0;
  const variable = (): number => {
    let value = 0;
    for (let shift = 0; at < table.length && shift < 30; shift += 6) {
      const byte = table[at++];
      value |= (byte & 63) << shift;
      if ((byte & 64) === 0) return value;
    }
    at = table.length + 1; // it is cut off
    return 0;
  };
  while (at < table.length) {
    const first = table[at++];
    if ((first & 0x80) === 0) return undefined; // damaged
    const form = (first >> 3) & 15;
    let located = true;
    if (form < 10) at += 1;
    else if (form < 13) {
      line += form - 10;
      at += 2;
    } else if (form < 15) {
      const number = variable();
      line += (number & 1) === 0 ? number >> 1 : -(number >> 1);
      if (form === 14) for (let i = 0; i < 3; i++) variable();
    } else located = false;
    if (at > table.length) return undefined;
    begins += (first & 7) + 1;
    if (instruction < begins) return located ? line : undefined;
  }
  return undefined;
}

/**
 * The beginning of a str object as it is in memory; undefined when it is none. What reaches beyond is cut.
 * (Include/cpython/unicodeobject.h)
 */
export function pythonText(bytes: Buffer, minor: number): string | undefined {
  const length = Number(bytes.readBigInt64LE(16));
  const state = bytes.readUInt32LE(32);
  const [kind, compact, ascii] = [(state >> 2) & 7, (state >> 5) & 1, (state >> 6) & 1];
  if (!(length > 0) || compact === 0 || (kind !== 1 && kind !== 2 && kind !== 4)) return undefined;
  const begin = (minor === 11 ? 48 : 40) + (ascii === 1 ? 0 : minor === 11 ? 24 : 16);
  const held = Math.floor((bytes.length - begin) / kind);
  const text = bytes.subarray(begin, begin + Math.min(length, held) * kind);
  const whole = kind === 1 ? text.toString("latin1") : kind === 2 ? text.toString("utf16le") : fromUtf32(text);
  // Where less could be read, the rest is zeroes. No name has others, nor control characters: who writes them wants to
  // be taken for more.
  const zero = whole.indexOf("\0");
  const read = (zero < 0 ? whole : whole.slice(0, zero)).replaceAll(
    /\p{Cc}/gu,
    (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`,
  );
  return zero >= 0 || length > held ? `${read}..` : read;
}

function fromUtf32(bytes: Buffer): string {
  let text = "";
  for (let at = 0; at + 4 <= bytes.length; at += 4) {
    const point = bytes.readUInt32LE(at);
    text += point <= 0x10ffff ? String.fromCodePoint(point) : "\ufffd";
  }
  return text;
}

/** The beginning of a bytes object as it is in memory. */
export function pythonBytes(bytes: Buffer): Buffer {
  const length = Number(bytes.readBigInt64LE(16));
  return length > 0 ? bytes.subarray(32, Math.min(bytes.length, 32 + length)) : bytes.subarray(0, 0);
}
