// Plain data as text, and back: JSON, and beside it where what JSON has no words for belongs.

type Key = string | number;
/** `n`: a bigint, in decimal; `b`: bytes, in base 64; `m`: a map, as its entries; `u`: undefined within an array. */
type Mend = readonly [path: readonly Key[], kind: "n" | "b" | "m" | "u"];

const deepest = 100;

/** @throws TypeError of what is no data: functions, objects of a class, getters. */
export function toText(data: unknown): string {
  const mends: Mend[] = [];
  const plain = (value: unknown, path: readonly Key[]): unknown => {
    if (typeof value === "bigint") {
      mends.push([path, "n"]);
      return String(value);
    }
    if (value === undefined) {
      mends.push([path, "u"]);
      return null;
    }
    if (
      typeof value === "function" ||
      typeof value === "symbol" ||
      (typeof value === "number" && !Number.isFinite(value))
    )
      throw new NotPlain(path);
    if (typeof value !== "object" || value === null) return value;
    if (value instanceof Uint8Array) {
      mends.push([path, "b"]);
      return Buffer.from(value).toString("base64");
    }
    if (Array.isArray(value)) return value.map((each, i) => plain(each, [...path, i]));
    if (value instanceof Map) {
      const entries = plain([...value], path);
      mends.push([path, "m"]);
      return entries;
    }
    if (Object.getPrototypeOf(value) !== Object.prototype) throw new NotPlain(path);
    const properties = Object.entries(Object.getOwnPropertyDescriptors(value));
    // What is found out when it is asked for may have no end: types that hold themselves.
    if (path.length > deepest || properties.some(([, property]) => "get" in property)) throw new NotPlain(path);
    return Object.fromEntries(
      properties
        .filter(([, { value: each }]) => each !== undefined)
        .map(([key, { value: each }]) => [key, plain(each, [...path, key])]),
    );
  };
  return JSON.stringify({ data: plain(data, ["data"]), mends });
}

/** @throws SyntaxError of what toText() never wrote. */
export function fromText(text: string): unknown {
  const whole: unknown = JSON.parse(text);
  try {
    return mended(whole as { readonly data: unknown; readonly mends: readonly Mend[] });
  } catch (error) {
    throw new SyntaxError(undefined, { cause: error });
  }
}

function mended(whole: { readonly data: unknown; readonly mends: readonly Mend[] }): unknown {
  // What is inside another comes before it.
  for (const [path, kind] of whole.mends) {
    let holder = whole as unknown as Record<Key, unknown>;
    for (let i = 0; i < path.length - 1; i++) holder = holder[path[i]] as Record<Key, unknown>;
    const last = path[path.length - 1];
    const value = holder[last];
    switch (kind) {
      case "n":
        holder[last] = BigInt(value as string);
        break;
      case "b":
        holder[last] = bytes(value as string);
        break;
      case "m":
        holder[last] = new Map(value as [unknown, unknown][]);
        break;
      case "u":
        holder[last] = undefined;
        break;
    }
  }
  return whole.data;
}

/** A copy of their own: Node's buffers are parts of a larger one. */
function bytes(base64: string): Uint8Array {
  return new Uint8Array(Buffer.from(base64, "base64"));
}

/** Something is no plain data; the message says where. */
export class NotPlain extends Error {
  constructor(path: readonly Key[]) {
    super(path.join("."));
    this.name = "NotPlain";
  }
}
