// Events that a program emits into the kernel's tracing: strobe, perf, trace-cmd and tracefs can listen to them, filter
// them and count them. While nobody does, emitting one costs a look at a word that the kernel sets.
import { library } from "../messages/on-demand.ts";
import { LinuxError } from "../linux/error.ts";
import { EBADF, registerUserEvent, type UserEventRegistration } from "../linux/kernel/user-events.ts";
import { textOf, whole } from "./passed-values.ts";

/** Integers by width and sign; zero-terminated UTF-8. */
export type UserEventType = "i8" | "u8" | "i16" | "u16" | "i32" | "u32" | "i64" | "u64" | "string";
export type UserEventFields = Readonly<Record<string, UserEventType>>;
export type UserEventValues<F extends UserEventFields> = {
  readonly [Name in keyof F]: F[Name] extends "string"
    ? string | null
    : F[Name] extends "i64" | "u64"
      ? number | bigint
      : number;
};

export interface UserEvent<F extends UserEventFields> extends Disposable {
  /** Emits one. Does nothing while nobody listens. */
  (values: UserEventValues<F>): void;
  /** Whether anybody listens: for values that cost something to make. */
  readonly enabled: boolean;
  /** The event's name in the kernel: `user_events:app_request` traces it. */
  readonly kernelName: string;
  /** Why the event is not in the kernel and nobody can listen; undefined when it is there. */
  readonly absent: string | undefined;
  /** Events that somebody listened to and that could not be written. */
  readonly lost: number;
  /** Events with a text that was cut, as they would not have fit into the kernel's buffers. */
  readonly cut: number;
}

export interface UserEventOptions {
  /**
   * Lets the event stand beside others of its name that have other fields: for programs of several versions. In the
   * kernel the name has a number behind it then (Linux 6.9).
   */
  readonly multiFormat?: boolean;
}

/**
 * Registers an event of this process: `userEvent("app:request", { id: "u64", path: "string" })`. Where the kernel has
 * no user events, or keeps them from this user, the event does nothing, and `absent` says why.
 * @throws TypeError for names and types that cannot be
 */
export function userEvent<const F extends UserEventFields>(
  name: string,
  fields: F,
  options: UserEventOptions = {},
): UserEvent<F> {
  const kernelName = kernelNameOf(name);
  const layout = Object.entries(fields).map(([field, type]) => {
    if (!Object.hasOwn(kernelTypes, type))
      throw new TypeError(library().unknownFieldType(name, field, type, Object.keys(kernelTypes)).message);
    return { name: field, type: kernelTypes[type] };
  });
  return emitterOf<F>(kernelName, layout, options);
}

/** A field by its type as the kernel has it: `u64`, `char[16]`, `__rel_loc char[]`. */
export interface KernelField {
  readonly name: string;
  readonly type: string;
}

/** The kernel's words for the types of the library. */
export const kernelTypes: Readonly<Record<UserEventType, string>> = {
  i8: "s8",
  u8: "u8",
  i16: "s16",
  u16: "u16",
  i32: "s32",
  u32: "u32",
  i64: "s64",
  u64: "u64",
  string: "__rel_loc char[]",
};

const nameShape = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * As it is in the kernel, whose names have no colons: `app_request` of `app:request`.
 * @throws TypeError for what cannot be a name
 */
export function kernelNameOf(name: string): string {
  const kernelName = name.replaceAll(":", "_");
  if (!nameShape.test(kernelName)) throw new TypeError(library().userEventName(name).message);
  return kernelName;
}

/** The same by the kernel's own words. @throws TypeError */
export function emitterOf<F extends UserEventFields>(
  kernelName: string,
  fields: readonly KernelField[],
  { multiFormat = false }: UserEventOptions = {},
): UserEvent<F> {
  for (const field of fields)
    if (!nameShape.test(field.name)) throw new TypeError(library().fieldName(field.name).message);
  const encode = encoderOf(kernelName, fields);
  const declaration = `${kernelName} ${fields.map(({ name, type }) => `${type} ${name}`).join("; ")}`.trimEnd();
  let registration: UserEventRegistration | undefined;
  let absent: string | undefined;
  try {
    registration = registerUserEvent(declaration, multiFormat);
  } catch (error) {
    if (!(error instanceof LinuxError)) throw error;
    absent = error.message;
  }
  // A word of its own, of an event that is not there, is 0 for ever.
  let words = registration?.words ?? new Int32Array(1);
  let word = registration?.word ?? 0;
  const index = registration?.index ?? 0;
  let lost = 0;
  let cut = 0;
  const emit = (values: Readonly<Record<string, unknown>>): void => {
    let isCut = false;
    const length = encode(index, values, () => (isCut = true));
    if (isCut) cut++;
    const written = registration!.write(record, length);
    if (written < 0 && written !== -EBADF) lost++;
  };
  const emitIfEnabled = (values: UserEventValues<F>): void => {
    if (words[word] !== 0) emit(values);
  };
  return Object.defineProperties(emitIfEnabled, {
    enabled: { get: () => words[word] !== 0 },
    kernelName: { value: kernelName },
    absent: { get: () => absent },
    lost: { get: () => lost },
    cut: { get: () => cut },
    [Symbol.dispose]: {
      value: () => {
        registration?.[Symbol.dispose]();
        words = new Int32Array(1);
        word = 0;
        absent ??= "it was disposed of";
      },
    },
  }) as UserEvent<F>;
}

/** Behind the index: ftrace takes events of little less than a page, perf up to 8192 bytes. */
const mostBytes = 3072;
/** struct trace_entry, which the kernel writes in front of what a program wrote. */
const commonHeader = 8;
const indexBytes = 4;

/** One event is written at a time: nothing is kept in here between two. */
const record = new Uint8Array(indexBytes + mostBytes);
const view = new DataView(record.buffer);
const utf8 = new TextEncoder();

type Encoder = (index: number, values: Readonly<Record<string, unknown>>, onCut: () => void) => number;
/** Writes a field at its place; `end`: where texts go. Gives where the next text goes. */
type FieldEncoder = (value: unknown, end: number, onCut: () => void) => number;

/** Writes an event into `record`; gives its length. @throws TypeError for types that cannot be, or too much of them */
function encoderOf(name: string, fields: readonly KernelField[]): Encoder {
  let at = indexBytes;
  const places = fields.map(({ name: field, type }) => {
    const place = at;
    const size = sizeOf(type);
    if (size === undefined) throw new TypeError(library().fieldNotEmitted(name, field, type).message);
    at += size;
    return { field, place, type };
  });
  if (at > indexBytes + mostBytes / 2)
    throw new TypeError(library().fieldsTooLarge(name, at - indexBytes, mostBytes / 2).message);
  const fixed = at;
  let texts = places.filter(({ type }) => isLocated(type)).length;
  const encoders = places.map(({ field, place, type }): [string, FieldEncoder] => [
    field,
    isLocated(type) ? located(place, type.startsWith("__rel_loc"), --texts) : inPlace(place, type),
  ]);
  return (index, values, onCut) => {
    view.setUint32(0, index, true);
    let end = fixed;
    for (const [field, encode] of encoders) end = encode(values[field], end, onCut);
    return end;
  };
}

function isLocated(type: string): boolean {
  return /^__(rel|data)_loc char\[\]$/.test(type);
}

/** Types as the kernel takes them from programs (user_event_field_size). */
const integers: Readonly<Record<string, { readonly size: 1 | 2 | 4 | 8; readonly signed: boolean }>> = {
  s8: { size: 1, signed: true },
  u8: { size: 1, signed: false },
  char: { size: 1, signed: true },
  "unsigned char": { size: 1, signed: false },
  s16: { size: 2, signed: true },
  u16: { size: 2, signed: false },
  short: { size: 2, signed: true },
  "unsigned short": { size: 2, signed: false },
  s32: { size: 4, signed: true },
  u32: { size: 4, signed: false },
  int: { size: 4, signed: true },
  "unsigned int": { size: 4, signed: false },
  s64: { size: 8, signed: true },
  u64: { size: 8, signed: false },
};

/** Bytes of a field; undefined of a type that is not known. */
function sizeOf(type: string): number | undefined {
  const array = /^(?:unsigned )?char\[(\d+)\]$/.exec(type);
  if (array !== null) return Number(array[1]);
  return isLocated(type) ? 4 : integers[type]?.size;
}

function inPlace(place: number, type: string): FieldEncoder {
  const integer = integers[type];
  if (integer === undefined) return fixedText(place, sizeOf(type)!);
  switch (integer.size) {
    case 1:
      return (value, end) => (view.setInt8(place, low(value)), end);
    case 2:
      return (value, end) => (view.setInt16(place, low(value), true), end);
    case 4:
      return (value, end) => (view.setInt32(place, low(value), true), end);
    case 8:
      return (value, end) => (view.setBigUint64(place, BigInt.asUintN(64, whole(value)), true), end);
  }
}

/** The low 32 bits. */
function low(value: unknown): number {
  return typeof value === "number" ? value | 0 : Number(BigInt.asIntN(32, whole(value)));
}

function fixedText(place: number, size: number): FieldEncoder {
  return (value, end, onCut) => {
    const text = textOf(value) ?? "";
    record.fill(0, place, place + size);
    const { read } = utf8.encodeInto(text, record.subarray(place, place + size - 1));
    if (read < text.length) onCut();
    return end;
  };
}

/** `after`: how many more texts are to have room for their terminators. */
function located(place: number, relative: boolean, after: number): FieldEncoder {
  return (value, end, onCut) => {
    const text = textOf(value) ?? "";
    const { read, written } = utf8.encodeInto(text, record.subarray(end, record.length - 1 - after));
    if (read < text.length) onCut();
    record[end + written] = 0;
    const from = relative ? end - (place + 4) : commonHeader + end - indexBytes;
    view.setUint32(place, from | ((written + 1) << 16), true);
    return end + written + 1;
  };
}
