// What the kernel must not probe in itself: the code of exceptions, of tracing and of probes.
import { readFileSync } from "node:fs";

/** Address ranges, from /sys/kernel/debug/kprobes/blacklist; none where debugfs is not there: then attaching tells. */
export function kprobeBlacklist(): readonly { readonly start: bigint; readonly end: bigint }[] {
  let text: string;
  try {
    text = readFileSync("/sys/kernel/debug/kprobes/blacklist", "latin1");
  } catch {
    return [];
  }
  // `0xffffffff81000000-0xffffffff81000010	name`
  return [...text.matchAll(/^0x([0-9a-f]+)-0x([0-9a-f]+)/gm)].map(([, start = "0", end = "0"]) => ({
    start: BigInt(`0x${start}`),
    end: BigInt(`0x${end}`),
  }));
}
