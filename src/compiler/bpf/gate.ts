// What comes before a handler: whether the session is over, and the gate of governed handlers. While the session has
// closed it, a run is counted and leaves at once, but for one in so many. An open gate is one load and one branch. The
// memory is laid out in `KernelMapRole` ("gates").
import { Alu, Jump } from "../../bpf/instruction.ts";
import { InternalError } from "../../base/internal-error.ts";
import { behind } from "./emitter.ts";
import type { FunctionScope } from "./scope.ts";

/** Leaves by `out` once the session is over, of which the globals' last word tells. */
export function writeEnd(scope: FunctionScope, out: number): void {
  const { emitter, options } = scope;
  const over = emitter.register();
  emitter.load(over, behind(emitter.mapValue(scope.globals, options.kernelMaps[scope.globals].valueSize - 8)), 8);
  emitter.branchConstant(Jump.JNE, over, 0n, out);
}

/** Goes on when the handler shall run, else to `out`. `gate`: the program's index. */
export function writeGate(scope: FunctionScope, gate: number, out: number): void {
  const { emitter, options } = scope;
  const index = options.kernelMaps.findIndex(({ role }) => role.kind === "gates");
  const role = options.kernelMaps[index]?.role;
  if (role?.kind !== "gates") throw new InternalError("no kernel map holds gates");
  const mask = emitter.register();
  const closed = emitter.label();
  const open = emitter.label();
  emitter.load(mask, behind(emitter.mapValue(index, gate * 8)), 8);
  emitter.branchConstant(Jump.JNE, mask, 0n, closed);
  emitter.bind(open);
  emitter.cold(() => {
    emitter.bind(closed);
    const cpu = emitter.callFor("get_smp_processor_id");
    const counts = behind(scope.addStripes(index, cpu, role.stripe, role.cpus), role.first + gate * 16);
    // u64 turns, u64 skipped. Every so many turns one is the handler's.
    const turns = emitter.register();
    emitter.load(turns, counts, 8);
    emitter.add(turns, 1);
    emitter.store(counts, 8, turns);
    emitter.alu(Alu.AND, turns, mask);
    emitter.branchConstant(Jump.JEQ, turns, 0n, open);
    const skipped = { ...counts, offset: counts.offset + 8 };
    if (scope.preemptible) emitter.atomicAdd(skipped, emitter.constant(1n), false);
    else {
      emitter.load(turns, skipped, 8);
      emitter.add(turns, 1);
      emitter.store(skipped, 8, turns);
    }
    emitter.jump(out);
  });
}
