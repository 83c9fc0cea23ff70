// What handlers can name beyond the table of builtins.

/** Integer casts: the name in a handler to the type that the tree knows. */
export const casts = {
  u8: "uint8",
  u16: "uint16",
  u32: "uint32",
  u64: "uint64",
  i8: "int8",
  i16: "int16",
  i32: "int32",
  i64: "int64",
} as const;

/** Those that are not casts. `print` and `emit` are statements; the others are values. */
export const specialNames = [
  "print",
  "emit",
  "range",
  "cast",
  "deref",
  "sizeof",
  "offsetof",
  "enums",
  "addressOf",
  "pointerTo",
  "arrayOf",
] as const;

export type SpecialName = (typeof specialNames)[number] | keyof typeof casts;

export function isCast(name: SpecialName): name is keyof typeof casts {
  return Object.hasOwn(casts, name);
}
