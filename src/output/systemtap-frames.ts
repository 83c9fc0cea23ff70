// Frames of stacks as SystemTap draws them.
import type { Frame } from "../session/events.ts";

/** `0x401136 : main+0x14 [/usr/bin/app]`; short: `main+0x14`. An address in a file without its symbol is that. */
export function systemtapFrame(
  frame: Frame,
  kernel: boolean,
  whole: boolean,
  otherwise: (frame: Frame) => string,
): string {
  const { symbol, offset, inlined, mark, language } = frame;
  if (mark !== undefined || language !== undefined) return otherwise(frame);
  const address = `0x${frame.address.toString(16)}`;
  const file = frame.module ?? (kernel ? "kernel" : undefined);
  if (symbol === undefined) {
    if (!whole || file === undefined) return address;
    return `${address} [${file}${kernel || offset === undefined ? "" : `+0x${offset.toString(16)}`}]`;
  }
  const place = inlined ? `${symbol} [inlined]` : `${symbol}+0x${(offset ?? 0).toString(16)}`;
  return whole ? `${address} : ${place}${file === undefined ? "" : ` [${file}]`}` : place;
}
