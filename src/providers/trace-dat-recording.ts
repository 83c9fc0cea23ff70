// trace.dat as a recording: its events with their fields, stacks of the kernel by their names.
import type { KernelSymbol, TraceDat } from "../recordings/trace-dat.ts";
import type { WrittenFrame, WrittenNames } from "../recordings/written-names.ts";
import { foreignRow, foreignTracepoint, type ForeignTrace } from "./foreign-recording.ts";

/** ftrace knows threads, not the processes that they are of. */
const kept = ["time", "cpu", "tid"] as const;

export function traceDatTrace(trace: TraceDat): ForeignTrace {
  const formats = new Map(trace.formats.map((format) => [/^ID:\s*(\d+)/m.exec(format.text)?.[1], format]));
  const { hostname, release, machine, cpus } = trace;
  let stacked = false;
  return {
    by: "trace-cmd",
    hostname,
    release,
    machine,
    cpus,
    commandLine: [],
    *samples() {
      for (const sample of trace.samples()) {
        stacked ||= sample.kernelStack !== undefined || sample.userStack !== undefined;
        yield sample;
      }
    },
    kindOf(event, raw, system) {
      const format = formats.get(String(event));
      return format && foreignTracepoint(format, raw, foreignRow(raw, kept, stacked), system);
    },
    *symbols(addresses) {
      if (addresses.size === 0) return;
      const symbols = trace.kernelSymbols();
      // A caller is asked for by the byte before the one that it returns to.
      const asked = [...addresses].flatMap((address) => [address, address - 1n]);
      const kernel = asked.map((address) => [String(address), frameOf(address, symbols)] as const);
      const names: WrittenNames = { kernel, user: [], users: [], cgroups: [], calls: [] };
      yield JSON.stringify(names);
    },
  };
}

function frameOf(address: bigint, symbols: readonly KernelSymbol[]): WrittenFrame {
  let [low, high] = [0, symbols.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (symbols[middle].address <= address) low = middle + 1;
    else high = middle;
  }
  const found = symbols.at(low - 1);
  // Addresses are zeros where whoever recorded was not to see them.
  if (low === 0 || found === undefined || found.address === 0n) return [String(address), null, null, null];
  return [String(address), found.name, Number(address - found.address), found.module ?? null];
}
