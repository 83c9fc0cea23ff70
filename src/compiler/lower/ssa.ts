// Builds a function in SSA form while its tree is walked (Braun et al., "Simple and Efficient Construction of Static
// Single Assignment Form"), with block parameters in the place of phis.
import { InternalError } from "../../base/internal-error.ts";
import type { Span } from "../../language/diagnostic.ts";
import type { BinaryOp, CompareOp, Instruction, IrBlock, Slot, Terminator, Value, ValueInfo } from "../ir/ir.ts";
import { foldBinary, foldCompare, foldExtend, unchangedOperand } from "../optimize/fold.ts";
import { mapOperands, mapTerminator, retarget, successorsOf } from "../optimize/operands.ts";

/** A variable that lives in SSA values: whatever `newVariable` gave. */
export type Variable = number;

interface Parameter {
  readonly variable: Variable;
  readonly value: Value;
  args: Value[];
}

/** A block under construction. `args` of its parameters follow `predecessors`. */
interface Draft {
  parameters: Parameter[];
  readonly instructions: Instruction[];
  terminator: Terminator | undefined;
  readonly predecessors: number[];
  sealed: boolean;
  /** The value that each variable has at the end of what is built so far. */
  readonly definitions: Map<Variable, Value>;
}

/** Where ways meet, while what the variable has on each is looked for. */
interface Meeting {
  readonly block: Draft;
  readonly parameter: Parameter;
  readonly args: Value[];
  readonly passed: ReadonlySet<Draft>;
}

type Origin = Extract<Instruction, { op: "read" | "builtin" }>;

export class FunctionBuilder {
  readonly values: ValueInfo[] = [];
  readonly slots: { name: string; size: number; align: number }[] = [];
  readonly #blocks: Draft[] = [];
  readonly #constants = new Map<Value, bigint>();
  readonly #replaced = new Map<Value, Value>();
  readonly #origins = new Map<Value, Origin>();
  #variables = 0;
  #current: number;

  constructor() {
    this.#current = this.newBlock();
    this.seal(this.#current);
  }

  /** How many there are so far. */
  get instructions(): number {
    return this.#blocks.reduce((sum, { instructions }) => sum + instructions.length, 0);
  }

  // ── values and memory ──

  newValue(name?: string): Value {
    return this.values.push(name === undefined ? {} : { name }) - 1;
  }

  newVariable(): Variable {
    return this.#variables++;
  }

  newSlot(name: string, size: number, align = 8): number {
    return this.slots.push({ name, size, align }) - 1;
  }

  /** Put between: what is left to emit of each instruction; it may emit others itself. */
  watch: ((instruction: Instruction) => Instruction | undefined) | undefined;

  /** Where instructions are from, if anybody wants to know: `now` tells it of those that are emitted. */
  places: { readonly all: WeakMap<Instruction, Span>; readonly now: () => Span | undefined } | undefined;

  emit(made: Instruction): void {
    const instruction = this.watch === undefined ? made : this.watch(made);
    if (instruction === undefined) return;
    const span = this.places?.now();
    if (span !== undefined) this.places?.all.set(instruction, span);
    const block = this.#blocks[this.#current];
    if (block.terminator === undefined) block.instructions.push(instruction);
    if (instruction.op === "read" || instruction.op === "builtin") this.#origins.set(instruction.result, instruction);
  }

  /** The read of memory, or the builtin, that a value is from. */
  originOf(value: Value): Origin | undefined {
    return this.#origins.get(value);
  }

  /** Emits an instruction at the start of the function, before all others. */
  emitFirst(instruction: Instruction): void {
    this.#blocks[0].instructions.unshift(instruction);
  }

  /** Emits an instruction that has a result, and gives the result. */
  give(make: (result: Value) => Instruction, name?: string): Value {
    const result = this.newValue(name);
    this.emit(make(result));
    return result;
  }

  constant(value: bigint): Value {
    const folded = BigInt.asIntN(64, value);
    const result = this.give((r) => ({ op: "constant", result: r, value: folded }));
    this.#constants.set(result, folded);
    return result;
  }

  /** What is known of a value while building. */
  constantOf(value: Value): bigint | undefined {
    return this.#constants.get(this.#resolve(value));
  }

  binary(kind: BinaryOp, left: Value, right: Value): Value {
    const [l, r] = [this.constantOf(left), this.constantOf(right)];
    if (l !== undefined && r !== undefined) return this.constant(foldBinary(kind, l, r));
    const unchanged = unchangedOperand(kind, l, r);
    if (unchanged !== undefined) return unchanged === "left" ? left : right;
    return this.give((result) => ({ op: "binary", kind, result, left, right }));
  }

  compare(kind: CompareOp, left: Value, right: Value): Value {
    const [l, r] = [this.constantOf(left), this.constantOf(right)];
    if (l !== undefined && r !== undefined) return this.constant(foldCompare(kind, l, r));
    return this.give((result) => ({ op: "compare", kind, result, left, right }));
  }

  extend(value: Value, bits: 8 | 16 | 32, signed: boolean): Value {
    const known = this.constantOf(value);
    if (known !== undefined) return this.constant(foldExtend(known, bits, signed));
    return this.give((result) => ({ op: "extend", result, value, bits, signed }));
  }

  // ── control flow ──

  get current(): number {
    return this.#current;
  }

  /** False behind a return, a break, …: what is built there is dropped. */
  get reachable(): boolean {
    const block = this.#blocks[this.#current];
    return block.terminator === undefined && (this.#current === 0 || block.predecessors.length > 0 || !block.sealed);
  }

  /** A block whose predecessors are not all known yet: `seal` it when they are. */
  newBlock(): number {
    return (
      this.#blocks.push({
        parameters: [],
        instructions: [],
        terminator: undefined,
        predecessors: [],
        sealed: false,
        definitions: new Map(),
      }) - 1
    );
  }

  start(block: number): void {
    this.#current = block;
  }

  jump(to: number): void {
    this.#end({ op: "jump", to, args: [] });
  }

  /** Ends the block in two new ones, each with this one predecessor. */
  branch(condition: Value): { then: number; otherwise: number } {
    const targets = { then: this.newBlock(), otherwise: this.newBlock() };
    const known = this.constantOf(condition);
    if (known === undefined) this.#end({ op: "branch", condition, ...targets });
    else this.jump(known === 0n ? targets.otherwise : targets.then);
    this.seal(targets.then);
    this.seal(targets.otherwise);
    return targets;
  }

  guard(rounds?: number): { body: number; exit: number } {
    const targets = { body: this.newBlock(), exit: this.newBlock() };
    this.#end({ op: "guard", ...targets, ...(rounds === undefined ? {} : { rounds }) });
    this.seal(targets.body);
    this.seal(targets.exit);
    return targets;
  }

  /** Leaves the function; what follows is unreachable. */
  return(stop?: boolean): void {
    this.#end(stop === undefined ? { op: "return" } : { op: "return", stop });
    this.startUnreachable();
  }

  startUnreachable(): void {
    const block = this.newBlock();
    this.seal(block);
    this.start(block);
  }

  #end(terminator: Terminator): void {
    const block = this.#blocks[this.#current];
    if (block.terminator !== undefined) return;
    const { reachable } = this;
    block.terminator = terminator;
    // A way that nothing takes brings no values.
    if (!reachable) return;
    for (const successor of successorsOf(terminator)) {
      const target = this.#blocks[successor];
      if (target.sealed) throw new InternalError(`block ${successor} was sealed before its last predecessor`);
      target.predecessors.push(this.#current);
    }
  }

  seal(id: number): void {
    const block = this.#blocks[id];
    if (block.sealed) return;
    block.sealed = true;
    for (const parameter of block.parameters) this.#supply(id, parameter);
  }

  // ── variables ──

  write(variable: Variable, value: Value): void {
    this.#blocks[this.#current].definitions.set(variable, value);
  }

  /** A variable that was never written is 0. */
  read(variable: Variable): Value {
    return this.#resolve(this.#readIn(variable, this.#current));
  }

  /**
   * What a variable has at the end of a block. Ways that meet may be thousands, one behind the other: those that are
   * open wait in a list.
   */
  #readIn(variable: Variable, id: number): Value {
    const open: Meeting[] = [];
    let found = this.#readAbove(variable, id, open);
    for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
      const { block, parameter, args, passed } = top;
      if (found !== undefined) args.push(found);
      if (args.length < block.predecessors.length) {
        found = this.#readAbove(variable, block.predecessors[args.length], open);
        continue;
      }
      open.pop();
      parameter.args = args;
      found = this.#simplify(block, parameter, args);
      for (const one of [block, ...passed]) one.definitions.set(variable, found);
    }
    return found ?? 0;
  }

  #zeroAt(block: Draft): Value {
    const value = this.newValue();
    block.instructions.unshift({ op: "constant", result: value, value: 0n });
    this.#constants.set(value, 0n);
    return value;
  }

  /**
   * Up through blocks with one way in, to a value, or to where ways meet: then undefined. A ring of them is a loop that
   * nothing leads to.
   */
  #readAbove(variable: Variable, id: number, open: Meeting[]): Value | undefined {
    const passed = new Set<Draft>();
    let block = this.#blocks[id];
    while (!passed.has(block) && !block.definitions.has(variable) && block.sealed && block.predecessors.length === 1) {
      passed.add(block);
      block = this.#blocks[block.predecessors[0]];
    }
    let value = block.definitions.get(variable);
    if (value === undefined) {
      if (!block.sealed) value = this.#addParameter(block, variable).value;
      else if (block.predecessors.length < 2) value = this.#zeroAt(block);
      else {
        // The parameter is there before its arguments are looked for: that ends the search in loops.
        const parameter = this.#addParameter(block, variable);
        block.definitions.set(variable, parameter.value);
        open.push({ block, parameter, args: [], passed });
        return undefined;
      }
      block.definitions.set(variable, value);
    }
    for (const one of passed) one.definitions.set(variable, value);
    return value;
  }

  #addParameter(block: Draft, variable: Variable): Parameter {
    const parameter: Parameter = { variable, value: this.newValue(), args: [] };
    block.parameters.push(parameter);
    return parameter;
  }

  #supply(id: number, parameter: Parameter): Value {
    const block = this.#blocks[id];
    parameter.args = block.predecessors.map((p) => this.#readIn(parameter.variable, p));
    return this.#simplify(block, parameter, parameter.args);
  }

  /** A parameter whose arguments are one value (or itself) is that value. */
  #simplify(block: Draft, parameter: Parameter, args: readonly Value[]): Value {
    const distinct = new Set(args.map((a) => this.#resolve(a)));
    distinct.delete(parameter.value);
    if (distinct.size !== 1) return parameter.value;
    const [only] = distinct;
    this.#replaced.set(parameter.value, only);
    block.parameters = block.parameters.filter((p) => p !== parameter);
    return only;
  }

  #resolve(value: Value): Value {
    let resolved = value;
    for (let next = this.#replaced.get(resolved); next !== undefined; next = this.#replaced.get(resolved))
      resolved = next;
    return resolved;
  }

  // ── the end ──

  /**
   * The finished blocks: reachable ones only, renumbered, jumps with their arguments. Ends an open block with a return.
   */
  finish(): { values: readonly ValueInfo[]; slots: readonly Slot[]; blocks: readonly IrBlock[] } {
    for (const block of this.#blocks) block.terminator ??= { op: "return" };
    const order = this.#reachable();
    const number = new Map(order.map((id, index) => [id, index]));
    const live = (block: Draft, args: readonly Value[]): Value[] =>
      args.filter((_, i) => number.has(block.predecessors[i]));
    for (let changed = true; changed;) {
      changed = false;
      for (const id of order) {
        const block = this.#blocks[id];
        for (const parameter of block.parameters) {
          if (this.#simplify(block, parameter, live(block, parameter.args)) !== parameter.value) changed = true;
        }
      }
    }
    const resolve = (value: Value): Value => this.#resolve(value);
    const blocks = order.map((id): IrBlock => {
      const draft = this.#blocks[id];
      let terminator = draft.terminator ?? { op: "return" };
      if (terminator.op === "jump") {
        const target = this.#blocks[terminator.to];
        const edge = target.parameters.length === 0 ? -1 : target.predecessors.indexOf(id);
        terminator = { ...terminator, args: target.parameters.map((p) => p.args[edge]) };
      }
      return {
        parameters: draft.parameters.map((p) => p.value),
        instructions: draft.instructions.map((i) => {
          const made = mapOperands(i, resolve);
          const span = this.places?.all.get(i);
          if (span !== undefined) this.places?.all.set(made, span);
          return made;
        }),
        terminator: retarget(mapTerminator(terminator, resolve), (b) => number.get(b) ?? 0),
      };
    });
    return { values: this.values, slots: this.slots, blocks };
  }

  /** Reverse postorder, so that a block comes after what leads to it (loops aside). */
  #reachable(): number[] {
    const seen = new Set<number>();
    const postorder: number[] = [];
    const visit = (root: number): void => {
      const stack: { id: number; rest: number[] }[] = [];
      const enter = (id: number): void => {
        seen.add(id);
        stack.push({ id, rest: successorsOf(this.#blocks[id].terminator ?? { op: "return" }).reverse() });
      };
      enter(root);
      while (stack.length > 0) {
        const top = stack[stack.length - 1];
        const next = top.rest.shift();
        if (next === undefined) {
          postorder.push(top.id);
          stack.pop();
        } else if (!seen.has(next)) enter(next);
      }
    };
    visit(0);
    return postorder.reverse();
  }
}
