// Times and sizes on the command line.
import { commandLine } from "../messages/on-demand.ts";
import { UsageError } from "./usage-error.ts";

const times: Readonly<Record<string, number>> = { ns: 1, us: 1e3, ms: 1e6, s: 1e9, m: 60e9, h: 3600e9 };
const sizes: Readonly<Record<string, number>> = { "": 1, K: 1 << 10, M: 1 << 20, G: 2 ** 30 };

/** `10s`, `2.5ms`, `1m`: nanoseconds; a number alone is seconds. @throws UsageError */
export function readDuration(flag: string, text: string): number {
  const [, number, unit = ""] = /^(\d+(?:\.\d+)?)([a-z]*)$/.exec(text) ?? [];
  const factor = unit === "" ? times["s"] : times[unit];
  if (number === undefined || factor === undefined || !Object.hasOwn(times, unit === "" ? "s" : unit))
    throw new UsageError(commandLine().noTime(flag, text));
  return Math.round(Number(number) * factor);
}

/** `100M`, `1G`: bytes. @throws UsageError */
export function readSize(flag: string, text: string): number {
  const [, number, unit = ""] = /^(\d+(?:\.\d+)?)([KMG]?)i?B?$/.exec(text) ?? [];
  if (number === undefined) throw new UsageError(commandLine().noSize(flag, text));
  return Math.round(Number(number) * sizes[unit]);
}
