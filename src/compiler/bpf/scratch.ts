// Scratch memory: how a program finds its own. Handlers of programs' functions may be preempted anywhere, and run for
// another thread on the same CPU meanwhile (bpf_prog_run_array_uprobe() in include/linux/bpf.h stays on its CPU, and
// nothing else): each run takes an entry of a pool, which the thread owns until the handler ends. All else that runs
// programs runs each of them once a CPU at a time.
import { Jump } from "../../bpf/instruction.ts";
import type { Context } from "../../language/context.ts";
import { addressOf, behind, kernelMap } from "./emitter.ts";
import type { Register } from "./machine.ts";
import type { FunctionScope, GenerateOptions } from "./scope.ts";
import { count } from "./trouble-counters.ts";

/** Entries of the pool: so many threads may be preempted within handlers on one CPU. They are the map's first. */
export const scratchPool = 16;
/** Before the memory of an entry of the pool: a u64, who owns it (bpf_get_current_pid_tgid()); 0 while it is free. */
export const ownerBytes = 8;

/** Whether runs of its handlers may be preempted by others of the same handler, on the same CPU. */
export function sharesItsCpu({ program, defaultSpace }: Context): boolean {
  return program.type === "kprobe" && defaultSpace === "user";
}

/** Whether a program's memory is an entry of the pool. */
export function isPooled({ scratch }: GenerateOptions): boolean {
  return scratch !== undefined && "missed" in scratch;
}

/** Gives the register the address of this function's scratch memory; `leave` writes the way out, where there is none. */
export function findScratch(scope: FunctionScope, into: Register, leave: () => void): void {
  const { emitter, options } = scope;
  const { scratch = { index: 0 } } = options;
  const key = emitter.temporary(8);
  const entry = (index: number): void => {
    emitter.storeConstant(key, 4, BigInt(index));
    emitter.call("map_lookup_elem", kernelMap(scope.scratchMap), addressOf(key));
    emitter.move(into, 0);
    const found = emitter.label();
    emitter.branchConstant(Jump.JNE, into, 0n, found);
    leave();
    emitter.bind(found);
  };
  if (!("missed" in scratch)) return entry(scratch.index);
  const thread = emitter.callFor("get_current_pid_tgid");
  const mine = emitter.label();
  for (let index = 0; index < scratchPool; index++) {
    entry(index);
    const owner = behind(into, 0);
    if (scope.fn.kind === "handler")
      emitter.branchConstant(Jump.JEQ, emitter.compareExchange(owner, 0n, thread), 0n, mine);
    else {
      const other = emitter.register();
      emitter.load(other, owner, 8);
      emitter.branch(Jump.JEQ, other, thread, mine);
    }
  }
  if (scope.fn.kind === "handler") count(scope, scratch.missed);
  leave();
  emitter.bind(mine);
  emitter.add(into, ownerBytes);
}

/** The handler ends: others may have its entry of the pool. */
export function releaseScratch({ emitter }: FunctionScope, scratch: Register): void {
  emitter.storeConstant(behind(scratch, -ownerBytes), 8, 0n);
}
