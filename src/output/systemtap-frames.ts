// Frames of stacks as SystemTap draws them.
import { basename } from "node:path";
import type { StackMode } from "../language/types.ts";
import type { Frame } from "../session/events.ts";

/** Those that draw frames by their names. */
export type SystemtapMode = Extract<StackMode, "systemtap" | `systemtap_${"lines" | "brief" | "module"}`>;

/** `otherwise` writes frames that SystemTap has none of. */
export function systemtapFrames(
  frames: readonly Frame[],
  kernel: boolean,
  mode: SystemtapMode,
  otherwise: (frame: Frame) => string,
): string[] {
  if (mode !== "systemtap_lines") return frames.map((frame) => frameText(frame, kernel, mode, otherwise));
  // A function that others are inlined into is drawn once, at the line that it is in.
  const lines: string[] = [];
  let innermost: Frame["source"];
  for (const frame of frames) {
    innermost ??= frame.source;
    if (frame.inlined) continue;
    lines.push(frameText(innermost === undefined ? frame : { ...frame, source: innermost }, kernel, mode, otherwise));
    innermost = undefined;
  }
  return lines;
}

/**
 * `0x401136 : main+0x14 [/usr/bin/app]`; with lines: `0x401136 : main+0x14 at app.c:7 [/usr/bin/app]`; with the module
 * alone: `main+0x14 [app]`; brief: `main+0x14`. An address in a file without its symbol is that.
 */
function frameText(frame: Frame, kernel: boolean, mode: SystemtapMode, otherwise: (frame: Frame) => string): string {
  const { symbol, offset, inlined, mark, language, source } = frame;
  if (mark !== undefined || language !== undefined) return otherwise(frame);
  const whole = mode === "systemtap" || mode === "systemtap_lines";
  const address = `0x${frame.address.toString(16)}`;
  const file = frame.module ?? (kernel ? "kernel" : undefined);
  if (symbol === undefined) {
    if (!whole || file === undefined) return address;
    return `${address} [${file}${kernel || offset === undefined ? "" : `+0x${offset.toString(16)}`}]`;
  }
  const place = inlined ? `${symbol} [inlined]` : `${symbol}+0x${(offset ?? 0).toString(16)}`;
  if (mode === "systemtap_brief") return place;
  if (mode === "systemtap_module") return file === undefined ? place : `${place} [${basename(file)}]`;
  const line = mode === "systemtap_lines" && source !== undefined ? ` at ${source.file}:${source.line}` : "";
  return `${address} : ${place}${line}${file === undefined ? "" : ` [${file}]`}`;
}
