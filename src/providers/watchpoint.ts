// watchpoint: memory accesses, by the processor's breakpoint registers.
import { disablePerfEvent, PERF_TYPE_BREAKPOINT } from "../linux/perf.ts";
import { Attaching } from "./attachment.ts";
import { attachEverywhere } from "./perf-sampling.ts";
import { perfEventContext } from "./perf-context.ts";
import type { Provider } from "./provider.ts";
import { parseCount } from "./quantity.ts";
import { refused, resolved, wrongParts } from "./resolution.ts";

// HW_BREAKPOINT_ bits (include/uapi/linux/hw_breakpoint.h). x86 cannot watch reads alone.
const modes: Readonly<Record<string, number>> = process.arch === "x64"
  ? { w: 2, rw: 3, x: 4 }
  : { r: 1, w: 2, rw: 3, x: 4 };

export interface WatchSite { readonly address: bigint; readonly length: number; readonly mode: number }

function watch(name: "watchpoint" | "asyncwatchpoint", alias: string): Provider {
  const provider: Provider = {
    name,
    aliases: [alias],
    usage: `${name}:ADDRESS:LENGTH:MODE`,
    doc: "When memory is written (w), read or written (rw) or executed (x).",
    followsProcess: true,
    followsCommand: true,
    list: () => [],
    resolve(spec, system) {
      const [addressText, lengthText, modeText] = spec.parts;
      if (addressText === undefined || lengthText === undefined || modeText === undefined || spec.parts.length > 3) return wrongParts(spec, provider.usage);
      const address = parseCount(addressText);
      if (address === undefined) {
        return refused(spec, "arguments", `\`${addressText}\` is not an address`, "watch a number such as 0x10000000; functions' arguments cannot be watched");
      }
      const length = Number(parseCount(lengthText) ?? 0n);
      if (![1, 2, 4, 8].includes(length)) return refused(spec, "arguments", `watchpoint length must be one of 1, 2, 4, 8, not \`${lengthText}\``);
      const mode = modes[modeText.split("").sort().join("")];
      if (mode === undefined) return refused(spec, "arguments", `invalid watchpoint mode: \`${modeText}\``, `the modes are ${Object.keys(modes).join(", ")}`);
      const executed = mode === modes.x;
      if (!executed && address % BigInt(length) !== 0n) return refused(spec, "arguments", `the address must be a multiple of the length, ${length}`);
      // An instruction is watched where it begins, however long it is; the kernel wants the size of a long.
      const data: WatchSite = { address, length: executed ? 8 : length, mode };
      const context = { ...perfEventContext(name, system), defaultSpace: "user" as const };
      return resolved({ context, provider: name, sites: [{ name: `${name}:${spec.parts.join(":")}`, data }] });
    },
    attach(request) {
      const events = new Map<bigint, number[]>();
      return new Attaching(request).each((site, cookie) => {
        const { address, length, mode } = site.data as WatchSite;
        const event = { type: PERF_TYPE_BREAKPOINT, config: 0, config1: address, config2: length, bpType: mode, samplePeriod: 1 };
        const opened = attachEverywhere(request.program, event, cookie, request.pid);
        events.set(address, [...events.get(address) ?? [], ...opened]);
        return opened;
      }).done({ unwatch: (address) => { for (const event of events.get(address) ?? []) disablePerfEvent(event); } });
    },
  };
  return provider;
}

export const watchpoint = watch("watchpoint", "w");
export const asyncWatchpoint = watch("asyncwatchpoint", "aw");
