// Numbers in probe names: counts (`1e6`, `1_000`), addresses (`0x10`) and times (`99`, `5s`, `ms:100`).
import { Failure } from "../base/failure.ts";
import { quantityReasons } from "../messages/on-demand.ts";

/** A whole number as scripts write it; undefined for anything else. */
export function parseCount(text: string): bigint | undefined {
  const plain = text.replace(/(?<=[\da-fA-F])_(?=[\da-fA-F])/g, "");
  if (/^(0[xX][\da-fA-F]+|\d+)$/.test(plain)) return BigInt(plain);
  const scientific = /^(\d+)[eE](\d{1,2})$/.exec(plain);
  return scientific ? BigInt(scientific[1]) * 10n ** BigInt(scientific[2]) : undefined;
}

/** Nanoseconds of a unit that divides time; `hz` is a rate. */
const units: Readonly<Record<string, bigint>> = { ns: 1n, us: 1_000n, ms: 1_000_000n, s: 1_000_000_000n };

export type Timing =
  | { readonly kind: "period"; readonly nanoseconds: bigint }
  | { readonly kind: "rate"; readonly hertz: bigint };

/** `[hz, 99]`, `[s, 1]`, `[10ms]`, `[1000000]`; or what is wrong with it, for a probe of the kind `probe`. */
export function parseTiming(probe: string, parts: readonly string[]): Timing | Failure {
  const [first = "", second] = parts;
  if (second !== undefined) {
    const count = parseCount(second);
    const unit = ["s", "ms", "us"].includes(first) ? units[first] : undefined;
    if (unit === undefined && first !== "hz") return new Failure(quantityReasons().unitOfTime(first));
    if (count === 0n || /^-\d+$/.test(second)) return new Failure(quantityReasons().frequency(probe));
    if (count === undefined) return new Failure(quantityReasons().rate(probe, second));
    return unit === undefined ? { kind: "rate", hertz: count } : period(count * unit);
  }
  const single = /^(0[xX][\da-fA-F_]+|[\d_]+(?:[eE]\d+)?)(ns|us|ms|s|m|h|d)?$/.exec(first);
  const count = single ? parseCount(single[1]) : undefined;
  if (count === undefined) return new Failure(quantityReasons().rateOrPeriod(probe, first));
  const unit = { ...units, m: 60_000_000_000n, h: 3_600_000_000_000n, d: 86_400_000_000_000n }[single![2] ?? "ns"]!;
  return period(count * unit);
}

function period(nanoseconds: bigint): Timing | Failure {
  return nanoseconds < 1_000n ? new Failure(quantityReasons().shortest()) : { kind: "period", nanoseconds };
}

/** How `probe` names a timing: as it was written in two parts (`ms:20`), else in microseconds. */
export function timingName(timing: Timing, parts: readonly string[]): string {
  if (parts.length === 2) return `${parts[0]}:${parseCount(parts[1])}`;
  return timing.kind === "rate" ? `hz:${timing.hertz}` : `us:${timing.nanoseconds / 1_000n}`;
}
