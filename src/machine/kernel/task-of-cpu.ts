// Whether programs can read the current task from the variable that each CPU has of it, without a call.
import { helpers } from "../../bpf/helpers.ts";
import { Alu, Class, encode, Jump, LD_IMM64, Mode, Pseudo, SOURCE_REGISTER, widthCode } from "../../bpf/instruction.ts";
import { memberOffset } from "../../language/layout.ts";
import { loadRefusal } from "../../linux/bpf/bpf.ts";
import type { TaskOfCpu } from "../system.ts";
import type { KernelTypes } from "./kernel-types.ts";

const RAW_TRACEPOINT = 17;

/**
 * Tried, since it takes more than the ids: a JIT, and a kernel that keeps addresses of variables (CONFIG_KALLSYMS_ALL).
 */
export function findTaskOfCpu(types: KernelTypes): TaskOfCpu | undefined {
  const { btf } = types;
  const variable =
    btf.find("current_task", "variable") ??
    // Until 6.14 the task is what another variable begins with.
    (memberOffset(types.find("pcpu_hot", "struct"), "current_task") === 0
      ? btf.find("pcpu_hot", "variable")
      : undefined);
  const cast = btf.find("bpf_rdonly_cast", "function");
  const task = btf.find("task_struct", "struct");
  if (variable === undefined || cast === undefined || task === undefined) return undefined;
  const found = { variable, cast, task };
  return loadRefusal(RAW_TRACEPOINT, reading(found)) === undefined ? found : undefined;
}

/** A program that reads the first word of the current task as handlers do (compiler/bpf/current-task.ts). */
function reading({ variable, cast, task }: TaskOfCpu): Uint8Array {
  const one = (code: number, dst = 0, src = 0, imm = 0) => ({ code, dst, src, offset: 0, imm });
  const call = Class.JMP | Jump.CALL;
  const load = Class.LDX | Mode.MEM | widthCode(8);
  const move = Class.ALU64 | Alu.MOV;
  const casted = [one(move, 2, 0, task), one(call, 0, Pseudo.KERNEL_FUNCTION, cast)];
  return encode([
    one(LD_IMM64, 1, Pseudo.BTF_ID, variable),
    one(0),
    one(call, 0, 0, helpers.this_cpu_ptr.id),
    one(move | SOURCE_REGISTER, 1, 0),
    ...casted,
    one(load, 1, 0),
    ...casted,
    one(load, 0, 0),
    one(move, 0, 0, 0),
    one(Class.JMP | Jump.EXIT),
  ]);
}
