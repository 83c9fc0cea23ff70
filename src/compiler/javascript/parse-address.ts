// The bytes of an internet address that was written out: 4 for IPv4, 16 for IPv6, in network order.
import { InternalError } from "../../base/internal-error.ts";

/** `text` may end with a NUL. Throws on what is no address: the checker has seen it before. */
export function parseAddress(text: Uint8Array): Uint8Array {
  const address = Buffer.from(text).toString("latin1").replace(/\0.*$/s, "");
  const bytes = address.includes(":") ? version6(address) : version4(address);
  if (bytes === undefined) throw new InternalError(`"${address}" is no internet address`);
  return Uint8Array.from(bytes);
}

function version4(text: string): number[] | undefined {
  const parts = text.split(".");
  const bytes = parts.map((part) => (/^\d{1,3}$/.test(part) ? Number(part) : 256));
  return parts.length === 4 && bytes.every((byte) => byte < 256) ? bytes : undefined;
}

function version6(text: string): number[] | undefined {
  const halves = text.split("::");
  if (halves.length > 2) return undefined;
  const [head, tail] = halves.map((half) => (half === "" ? [] : half.split(":").flatMap(group)));
  if (head === undefined) return undefined;
  const gap = 16 - head.length - (tail?.length ?? 0);
  const bytes = tail === undefined ? head : [...head, ...Array<number>(Math.max(0, gap)).fill(0), ...tail];
  return bytes.length === 16 && bytes.every((byte) => byte >= 0) ? bytes : undefined;
}

/** Two bytes of a group; four of a dotted end; -1 marks nonsense. */
function group(text: string): number[] {
  if (text.includes(".")) return version4(text) ?? [-1];
  if (!/^[0-9a-f]{1,4}$/i.test(text)) return [-1];
  const value = Number.parseInt(text, 16);
  return [value >> 8, value & 255];
}
