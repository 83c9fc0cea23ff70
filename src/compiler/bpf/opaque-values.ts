// Numbers of which the verifier is made to lose track: what it knows of a variable, it follows through every round of a
// loop.
import { Alu } from "../../bpf/instruction.ts";
import { at } from "./emitter.ts";
import type { Memory, Register } from "./machine.ts";
import type { FunctionScope } from "./scope.ts";

/**
 * Makes the verifier forget what it knows about a number: through scratch memory when there is some anyway, else
 * through the stack in halves, which it does not follow either. A loop whose variables it knows nothing about looks the
 * same in every round, so that it walks through it once; else one branch on a counter is enough to make it follow the
 * counter to its end.
 */
export function forget(scope: FunctionScope, register: Register): void {
  const { emitter, untracked } = scope;
  if (untracked !== undefined) {
    emitter.store(untracked, 8, register);
    emitter.load(register, untracked, 8);
    return;
  }
  const memory = emitter.temporary(8);
  const high = emitter.copy(register);
  emitter.aluConstant(Alu.RSH, high, 32n);
  emitter.store(memory, 4, register);
  emitter.store(at(memory, 4), 4, high);
  // Loaded as they were stored: one load of both would wait for the stores to leave the processor's store buffer.
  const again = emitter.register();
  emitter.load(register, memory, 4);
  emitter.load(again, at(memory, 4), 4);
  emitter.aluConstant(Alu.LSH, again, 32n);
  emitter.alu(Alu.OR, register, again);
}

/** Numbers that are one constant or another: the verifier would follow the rest of the program for each by itself. */
export function forgetChoices(scope: FunctionScope, to: number): void {
  const {
    constants,
    pointers,
    options: { easyToVerify },
    fn: { blocks },
  } = scope;
  if (blocks[to].parameters.length === 0) return;
  const ways = scope.predecessors[to].flatMap((from) => {
    const { terminator } = blocks[from];
    return terminator.op === "jump" ? [{ from, args: terminator.args }] : [];
  });
  // What changes from round to round is a guard's to forget, or what tells the verifier when the loop ends.
  if (ways.some(({ from }) => from >= to)) return;
  blocks[to].parameters.forEach((parameter, i) => {
    if (pointers.has(parameter)) return;
    if (easyToVerify || ways.some(({ args }) => constants.has(args[i] ?? parameter)))
      forget(scope, scope.resultRegister(parameter));
  });
}

/**
 * A variable that a callback changes is the same to the verifier: a counter that is compared, kept as it is known,
 * would be followed through a round for each number.
 */
export function storeInHalves(scope: FunctionScope, to: Memory, value: Register): void {
  const { emitter } = scope;
  const high = emitter.copy(value);
  emitter.aluConstant(Alu.RSH, high, 32n);
  emitter.store(to, 4, value);
  emitter.store(at(to, 4), 4, high);
}
