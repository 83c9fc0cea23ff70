// Functions that generated sources carry along when they use them (a plan is plain data: its sources import nothing).
import { lazy } from "../../base/lazy.ts";

// Most scripts put no text together.
const texts = lazy<typeof import("./text-functions.ts")>(() => require("./text-functions.ts"));

const functions = {
  /** 1 when two strings of at most `length` bytes differ; they end at a NUL that both have. */
  compareStrings: `function compareStrings(left, at, right, rightAt, length) {
  for (let i = 0; i < length; i++) {
    const a = left[at + i] ?? 0, b = right[rightAt + i] ?? 0;
    if (a !== b) return 1n;
    if (a === 0) return 0n;
  }
  return 0n;
}`,
  /** -1, 0 or 1, as the first byte that differs is less, absent or greater. */
  orderStrings: `function orderStrings(left, at, right, rightAt, length) {
  for (let i = 0; i < length; i++) {
    const a = left[at + i] ?? 0, b = right[rightAt + i] ?? 0;
    if (a !== b) return a < b ? -1n : 1n;
    if (a === 0) return 0n;
  }
  return 0n;
}`,
  /** Of a few bytes, sooner than a view of them is made. */
  copyBytes: `function copyBytes(to, at, from, fromAt, size) {
  if (size > 64) to.set(from.subarray(fromAt, fromAt + size), at);
  else for (let i = 0; i < size; i++) to[at + i] = from[fromAt + i];
}`,
  compareBytes: `function compareBytes(left, at, right, rightAt, length) {
  for (let i = 0; i < length; i++) if (left[at + i] !== right[rightAt + i]) return 1n;
  return 0n;
}`,
  /** Characters before the NUL. */
  stringLength: `function stringLength(bytes, at, capacity) {
  for (let i = 0; i < capacity; i++) if ((bytes[at + i] ?? 0) === 0) return i;
  return capacity;
}`,
  concatStrings: `function concatStrings(to, at, capacity, left, leftAt, leftCapacity, right, rightAt, rightCapacity) {
  to.fill(0, at, at + capacity);
  const length = stringLength(left, leftAt, leftCapacity);
  to.set(left.subarray(leftAt, leftAt + length), at);
  to.set(right.subarray(rightAt, rightAt + stringLength(right, rightAt, rightCapacity)), at + length);
}`,
  cutString: `function cutString(to, at, capacity, text, textAt, wanted) {
  const most = BigInt.asUintN(64, wanted), length = stringLength(text, textAt, capacity);
  const taken = text.slice(textAt, textAt + (most < BigInt(length) ? Number(most) : length));
  to.fill(0, at, at + capacity);
  to.set(taken, at);
}`,
  findString: `function findString(text, at, capacity, needle, needleAt, needleCapacity) {
  const end = stringLength(text, at, capacity), length = stringLength(needle, needleAt, needleCapacity);
  for (let start = 0; start + length <= end; start++) {
    let i = 0;
    while (i < length && text[at + start + i] === needle[needleAt + i]) i++;
    if (i === length) return BigInt(start);
  }
  return -1n;
}`,
  /** Bytes before the NUL, at most `limit`; like the kernel's, a string that cannot be read to its end is none at all. */
  readString: `function readString(runtime, space, address, limit) {
  const text = [];
  while (text.length < limit) {
    const here = BigInt.asUintN(64, address + BigInt(text.length));
    const size = Math.min(limit - text.length, 4096 - Number(here & 4095n));
    // The string may end before memory does: then byte by byte.
    const bytes = runtime.readMemory(space, here, size) ?? runtime.readMemory(space, here, 1);
    if (bytes === undefined) return undefined;
    for (const byte of bytes) {
      if (byte === 0) return text;
      text.push(byte);
    }
  }
  return text;
}`,
  /** Entries by their keys (part 0) or values, what is equal as it comes; see compared-fields.ts. */
  ordered: `function ordered(entries, part, fields, sign, limit, double) {
  const order = (bits) => (BigInt.asIntN(64, bits) < 0n ? -(bits & 0x7fff_ffff_ffff_ffffn) : bits);
  const rank = (bytes) => {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    return fields.map(([at, size, as]) => {
      switch (as) {
        case "t": { const end = bytes.indexOf(0, at); return Buffer.from(bytes.subarray(at, end < 0 || end > at + size ? at + size : end)).toString("latin1"); }
        case "d": return order(double(bytes));
        case "f": {
          const widened = new DataView(new ArrayBuffer(8));
          widened.setFloat64(0, size === 4 ? view.getFloat32(at, true) : view.getFloat64(at, true));
          return order(widened.getBigInt64(0));
        }
        case "a": { const count = view.getBigInt64(at + 8, true); return count === 0n ? 0n : view.getBigInt64(at, true) / count; }
        default: {
          const bits = BigInt.asUintN(size * 8, size === 8 ? view.getBigUint64(at, true) : BigInt(size === 4 ? view.getUint32(at, true) : size === 2 ? view.getUint16(at, true) : view.getUint8(at)));
          return as === "s" ? BigInt.asIntN(size * 8, bits) : as === "r" ? -bits : bits;
        }
      }
    });
  };
  const ranked = [...entries].map((entry) => [rank(entry[part]), entry]);
  if (fields.length > 0) ranked.sort(([a], [b]) => {
    const i = a.findIndex((value, at) => value !== b[at]);
    return i < 0 ? 0 : a[i] < b[i] ? -sign : sign;
  });
  const sorted = ranked.map(([, entry]) => entry);
  return limit === undefined ? sorted : sorted.slice(0, Number(BigInt.asIntN(64, limit) < 0n ? 0n : BigInt.asIntN(64, limit)));
}`,
  /** An unsigned value as a number no larger than `limit`. */
  atMost: `function atMost(value, limit) {
  const unsigned = BigInt.asUintN(64, value);
  return unsigned < BigInt(limit) ? Number(unsigned) : limit;
}`,
  /** A little-endian integer in `bytes`. */
  load: `function load(bytes, at, size, signed) {
  for (let i = 0; i < 8; i++) wordBytes[i] = i < size ? bytes[at + i] : 0;
  if (size === 8) return word[0];
  return BigInt(signed ? (wordLow[0] << (32 - size * 8)) >> (32 - size * 8) : wordLow[0] >>> 0);
}`,
  store: `function store(bytes, at, size, value) {
  word[0] = value;
  for (let i = 0; i < size; i++) bytes[at + i] = wordBytes[i];
}`,
  /** What load() and store() do one after the other. */
  moveWord: `function moveWord(to, at, size, from, fromAt, fromSize, signed) {
  const rest = signed && from[fromAt + fromSize - 1] > 127 ? 255 : 0;
  for (let i = 0; i < size; i++) to[at + i] = i < fromSize ? from[fromAt + i] : rest;
}`,
  /** Little-endian, as all that values are written to. */
  word: `const word = new BigInt64Array(1), wordBytes = new Uint8Array(word.buffer), wordLow = new Int32Array(word.buffer);`,
  swapBytes: `function swapBytes(value, bits) {
  let result = 0n, rest = BigInt.asUintN(bits, value);
  for (let i = 0; i < bits; i += 8, rest >>= 8n) result = (result << 8n) | (rest & 255n);
  return BigInt.asIntN(64, result);
}`,
  missing: `function missing(what) {
  throw new Error("internal error: " + what + " runs only in the kernel, but was placed on the host");
}`,
} as const;

export type SupportName = keyof typeof functions | keyof (typeof import("./text-functions.ts"))["textFunctions"];

/** The text of a function declaration that stands alone. */
export function supportFunction(name: SupportName): string {
  return isOwn(name) ? functions[name] : texts().textFunctions[name];
}

function isOwn(name: SupportName): name is keyof typeof functions {
  return Object.hasOwn(functions, name);
}

/** What a support function itself calls. */
export const supportNeeds: Partial<Record<SupportName, readonly SupportName[]>> = {
  load: ["word"],
  store: ["word"],
  textIn: ["stringLength"],
  matchedPart: ["matchesPattern"],
  findString: ["stringLength"],
  cutString: ["stringLength"],
  concatStrings: ["stringLength"],
  tracedBytes: ["dumpedBytes"],
  tracedText: ["dumpedBytes"],
  tracedNumber: ["dumpedBytes"],
};
