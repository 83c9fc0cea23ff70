// Maps of aggregations whose words one handler may change while it has interrupted another on the same CPU: there,
// additions are atomic.
import type { IrFunction, IrModule } from "../ir/ir.ts";

const known = new WeakMap<IrModule, ReadonlySet<number>>();

/**
 * By their index. The kernel runs no program of a perf event (kprobe, tracepoint, perf_event) in another's: it counts
 * them by CPU (bpf_prog_active: trace_call_bpf() in kernel/trace/bpf_trace.c, bpf_overflow_handler() in
 * kernel/events/core.c). Raw tracepoints and trampolines are only kept from interrupting themselves (prog->active:
 * __bpf_trace_run(), __bpf_prog_enter()), and of a trampoline's handler there is a program for each function. Uprobes
 * can be preempted at any time (scope.ts: preemptible).
 */
export function interruptedMaps(module: IrModule): ReadonlySet<number> {
  let maps = known.get(module);
  if (maps === undefined) known.set(module, (maps = find(module)));
  return maps;
}

function find({ functions }: IrModule): ReadonlySet<number> {
  const adders = new Map<number, IrFunction[]>();
  for (const fn of functions.filter(({ placement }) => placement === "kernel")) {
    const maps = new Set(
      fn.blocks.flatMap(({ instructions }) => instructions.flatMap((one) => (one.op === "aggregate" ? [one.map] : []))),
    );
    for (const map of maps) adders.set(map, [...(adders.get(map) ?? []), fn]);
  }
  return new Set([...adders].filter(([, all]) => canMeet(all)).map(([map]) => map));
}

/** What is no handler of its own (the body of a loop) runs in one that nobody knows here. */
function canMeet(adders: readonly IrFunction[]): boolean {
  const types = adders.map(({ context }) => context?.program.type);
  if (types.includes("tracing")) return true;
  return adders.length > 1 && types.some((type) => type === "raw_tracepoint" || type === undefined);
}
