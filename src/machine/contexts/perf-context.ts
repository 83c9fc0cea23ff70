// What programs of the perf_event type see (struct bpf_perf_event_data): the registers of what was interrupted.
import type { Context, Fetch, RunsInStrobe } from "../../language/context.ts";
import type { System } from "../system.ts";
import { fetchRegisters, hostMachine, registersOf, registersType } from "./registers.ts";

export function perfEventContext(provider: string, system: System, runsInStrobe?: RunsInStrobe): Context {
  const file = registersOf(hostMachine);
  return {
    provider,
    program: { type: "perf_event", cookie: true },
    ...(runsInStrobe === undefined ? {} : { runsInStrobe }),
    registers: fetchRegisters(file),
    // Looked up for those who ask: it takes the kernel's BTF, and intervals that run in strobe need none.
    get contextType() {
      const data = system.types.find("bpf_perf_event_data", "struct");
      return data ? ({ kind: "pointer", target: data, space: "kernel" } as const) : registersType(file);
    },
    defaultSpace: "kernel",
    stacks: true,
  };
}

/** The address that a breakpoint watches: `addr` of struct bpf_perf_event_data, behind the registers and the period. */
export function watchedAddress(): Fetch {
  const registers = process.arch === "arm64" ? 34 * 8 : 21 * 8;
  return { kind: "context", offset: registers + 8, size: 8, signed: false };
}
