// Reading the current task (struct task_struct), which can be loaded through, without a call.
import { Jump, Pseudo } from "../../bpf/instruction.ts";
import type { TaskOfCpu } from "../../machine/system.ts";
import { behind, constant, type Emitter, inRegister } from "./emitter.ts";
import type { Memory, Register } from "./machine.ts";

/**
 * What get_current_task_btf reads, `current`, is a variable of the CPU, which no handler leaves while it runs. Its address is
 * asked for once a CPU and kept, at `kept`; bpf_rdonly_cast makes a number an address that can be loaded from, and is no call. Bad
 * addresses read as 0, as everything does that the verifier does not trust.
 */
export function readTaskOfCpu(emitter: Emitter, { variable, cast, task }: TaskOfCpu, kept: Memory): Register {
  const [unknown, known] = [emitter.label(), emitter.label()];
  const [address, word] = [emitter.register(), emitter.register()];
  emitter.load(address, kept, 8);
  emitter.branchConstant(Jump.JEQ, address, 0n, unknown);
  emitter.bind(known);
  const readable = emitter.callKernelFor(cast, inRegister(address), constant(task));
  emitter.load(word, behind(readable), 8);
  const found = emitter.callKernelFor(cast, inRegister(word), constant(task));
  emitter.cold(() => {
    emitter.bind(unknown);
    const typed = emitter.register();
    emitter.patched(typed, { kind: "kernel-variable", map: -1, offset: 0, id: variable }, Pseudo.BTF_ID);
    emitter.store(kept, 8, emitter.callFor("this_cpu_ptr", inRegister(typed)));
    // Not kept from the call: a number, as on the other way.
    emitter.load(address, kept, 8);
    emitter.jump(known);
  });
  return found;
}
