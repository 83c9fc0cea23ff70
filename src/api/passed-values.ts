// What a program passes for an argument of a probe of its own, whatever it is, as a value of the declared kind: tracing
// must not make a program fail.

/** Null for what has no text. */
export function textOf(value: unknown): string | null {
  switch (typeof value) {
    case "string":
      return value;
    case "number":
    case "bigint":
    case "boolean":
      return String(value);
    default:
      return null;
  }
}

/** NaN for what is no number. */
export function real(value: unknown): number {
  return typeof value === "symbol" ? NaN : Number(value);
}

/** 0 for what is no number. */
export function whole(value: unknown): bigint {
  if (typeof value === "bigint") return value;
  const number = Math.trunc(real(value));
  return Number.isFinite(number) ? BigInt(number) : 0n;
}
