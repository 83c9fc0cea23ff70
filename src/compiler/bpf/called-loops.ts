// Loops whose rounds are calls: bpf_loop (Linux 5.17) calls a function again and again, and the verifier walks through
// that once or twice, however many rounds there are. For kernels that have no may_goto and gave up on a program:
// without it they walk every round by itself.
import { InternalError } from "../../base/internal-error.ts";
import type { Instruction, IrBlock, IrFunction, IrModule, Place, Terminator, Value, ValueInfo } from "../ir/ir.ts";
import { forEachSlot } from "../optimize/dead-code.ts";
import { dominators, predecessorsOf, reversePostorder } from "../optimize/graph.ts";
import { operandsOf, resultOf, retarget, terminatorOperands } from "../optimize/operands.ts";
import { wordsAt } from "./rounds.ts";
import { FunctionScope, type GenerateOptions, slotsOfPointers } from "./scope.ts";
import { roundsMatter } from "./uncounted.ts";

/** What a function with its loops has become. */
export interface CalledLoops {
  readonly fn: IrFunction;
  /** With a function more for each loop. */
  readonly module: IrModule;
  /** Bytes from the start of scratch memory that functions share. */
  readonly shared: number;
}

/** The handler `fn`, and the callbacks that it calls, with rounds for loops where that can be. */
export function withCalledLoops(
  fn: IrFunction,
  module: IrModule,
  called: Iterable<number>,
  options: GenerateOptions,
): CalledLoops {
  const outliner = new Outliner(module, options);
  for (const index of called) outliner.replace(index);
  const whole = outliner.outlined(fn);
  return { fn: whole, module: { ...module, functions: outliner.functions }, shared: outliner.shared };
}

class Outliner {
  readonly functions: IrFunction[];
  shared = 0;
  readonly #module: IrModule;
  readonly #options: GenerateOptions;

  constructor(module: IrModule, options: GenerateOptions) {
    this.functions = [...module.functions];
    this.#module = module;
    this.#options = options;
  }

  replace(index: number): void {
    this.functions[index] = this.outlined(this.functions[index]);
  }

  outlined(fn: IrFunction): IrFunction {
    let rest = fn;
    const rounds: number[] = [];
    for (;;) {
      if (!rest.blocks.some(({ terminator }) => terminator.op === "guard")) break;
      const scope = new FunctionScope(
        rest,
        this.#module,
        this.#options,
        rest.context?.program.type ?? "raw_tracepoint",
        new Set(),
        0,
      );
      const loop = outermost(scope);
      if (loop === undefined) break;
      const index = this.functions.length;
      const { caller, round } = this.#divide(rest, loop, index, scope);
      this.functions.push(round);
      rounds.push(index);
      rest = caller;
    }
    for (const index of rounds) this.replace(index);
    return rest;
  }

  #divide(
    fn: IrFunction,
    { guard, blocks: inLoop }: Loop,
    index: number,
    scope: FunctionScope,
  ): { readonly caller: IrFunction; readonly round: IrFunction } {
    const head = fn.blocks[guard];
    if (head.terminator.op !== "guard") throw new InternalError("a loop without a guard");
    const within = fn.kind === "round" ? (fn.within ?? "handler") : fn.kind;
    const { pointers, constants } = scope;
    const slots = fn.slots.map((slot, i) => {
      if (slot.shared !== undefined || !slotsIn(fn, inLoop).has(i)) return slot;
      const shared = this.shared;
      this.shared += Math.ceil(slot.size / 8) * 8;
      return { ...slot, shared };
    });
    const frame = slots.length;
    const caller = new Half(fn, pointers);
    const round = new Half(fn, pointers);

    // What goes in, what changes from round to round, and what comes out again.
    const definedIn = new Set<Value>();
    const usedIn = new Set<Value>();
    const usedOutside = new Set<Value>();
    const defining = new Map<Value, number>();
    fn.blocks.forEach((block, id) => {
      const inside = inLoop.has(id);
      const define = (value: Value): void => {
        defining.set(value, id);
        if (inside) definedIn.add(value);
      };
      block.parameters.forEach(define);
      for (const instruction of block.instructions) {
        const result = resultOf(instruction);
        if (result !== undefined) define(result);
        for (const value of operandsOf(instruction)) (inside ? usedIn : usedOutside).add(value);
      }
      const { terminator } = block;
      for (const value of terminatorOperands(terminator)) (inside ? usedIn : usedOutside).add(value);
      // What a jump out of the loop hands on, the caller does.
      if (inside && terminator.op === "jump" && !inLoop.has(terminator.to))
        for (const value of terminator.args) usedOutside.add(value);
    });
    const given = [...usedIn].filter((value) => !definedIn.has(value) && !constants.has(value));
    const taken = [...definedIn].filter((value) => usedOutside.has(value) && !constants.has(value));
    const words = new Map<Value, number>();
    const start = wordsAt(within);
    for (const value of new Set([...head.parameters, ...given, ...taken])) words.set(value, start + words.size * 8);
    const inCaller = (offset: number): Place => ({ kind: "slot", slot: frame, offset });
    const inRound = (offset: number): Place => ({ kind: "callback", of: "frame", offset });
    const wordOf = (value: Value): number => words.get(value) ?? 0;
    const load = (result: Value, from: Place): Instruction => ({ op: "load", result, from, size: 8, signed: false });
    const store = (to: Place, value: Value): Instruction => ({ op: "store", to, value, size: 8 });
    const constantsOf = (values: ReadonlySet<Value>, elsewhere: (value: Value) => boolean): Instruction[] =>
      [...values].flatMap((result) => {
        const value = constants.get(result);
        return value === undefined || !elsewhere(result) ? [] : [{ op: "constant" as const, result, value }];
      });

    // The round: its first block takes over, then come the loop's own blocks.
    const idom = dominators(fn.blocks);
    const dominates = (above: number, below: number): boolean => {
      for (let id = below; ; id = idom[id] ?? 0) {
        if (id === above) return true;
        if (id === 0) return false;
      }
    };
    const number = new Map(
      reversePostorder(fn.blocks)
        .filter((id) => id !== guard && inLoop.has(id))
        .map((id, i) => [id, i + 1]),
    );
    const bodies: IrBlock[] = [];
    const ends: IrBlock[] = [];
    const ways: { readonly to: number; readonly args: readonly Value[] }[] = [];
    const end = (instructions: readonly Instruction[], stop: boolean): number =>
      number.size + ends.push({ parameters: [], instructions, terminator: { op: "return", stop } });
    /** A block of the round's own that ends it, instead of the edge to `to`. */
    const leaving = (from: number, to: number, args: readonly Value[]): number => {
      if (to === guard) {
        return end(
          args.flatMap((value, i) =>
            value === head.parameters[i] ? [] : [store(inRound(wordOf(head.parameters[i])), value)],
          ),
          false,
        );
      }
      const way = round.fresh();
      ways.push({ to, args });
      const reaching = taken.filter(
        (value) => !head.parameters.includes(value) && dominates(defining.get(value) ?? 0, from),
      );
      return end(
        [
          ...reaching.map((value) => store(inRound(wordOf(value)), value)),
          { op: "constant", result: way, value: BigInt(ways.length) },
          store(inRound(0), way),
        ],
        true,
      );
    };
    for (const id of number.keys()) {
      const { parameters, instructions, terminator } = fn.blocks[id];
      const leaves = (to: number): boolean => !number.has(to);
      const moved: Terminator =
        terminator.op === "jump" && leaves(terminator.to)
          ? { op: "jump", to: leaving(id, terminator.to, terminator.args), args: [] }
          : retarget(terminator, (to) => number.get(to) ?? leaving(id, to, []));
      bodies.push({ parameters, instructions, terminator: moved });
    }
    const first: IrBlock = {
      parameters: [],
      instructions: [
        ...constantsOf(usedIn, (value) => !inLoop.has(defining.get(value) ?? -1) || defining.get(value) === guard),
        ...[...head.parameters, ...given].map((value) => load(value, inRound(wordOf(value)))),
      ],
      terminator: { op: "jump", to: number.get(head.terminator.body) ?? 0, args: [] },
    };

    // The caller: in the place of the guard it hands over, has the rounds called and goes on where they left.
    const before = head.parameters.map((value) => caller.fresh(pointers.has(value)));
    const zero = caller.fresh();
    const way = caller.fresh();
    const outside = fn.blocks.map((block, id): IrBlock => (inLoop.has(id) ? unreachable : block));
    const chain = (n: number): { readonly instructions: readonly Instruction[]; readonly terminator: Terminator } => {
      if (n === ways.length)
        return {
          instructions: [],
          terminator: { op: "jump", to: (head.terminator as Terminator & { op: "guard" }).exit, args: [] },
        };
      const [wanted, condition] = [caller.fresh(), caller.fresh()];
      const { to, args } = ways[n];
      const then = outside.push({ parameters: [], instructions: [], terminator: { op: "jump", to, args } }) - 1;
      const otherwise = outside.push({ parameters: [], ...chain(n + 1) }) - 1;
      return {
        instructions: [
          { op: "constant", result: wanted, value: BigInt(n + 1) },
          { op: "compare", kind: "eq", result: condition, left: way, right: wanted },
        ],
        terminator: { op: "branch", condition, then, otherwise },
      };
    };
    const on = chain(0);
    outside[guard] = {
      parameters: before,
      instructions: [
        ...constantsOf(usedOutside, (value) => definedIn.has(value)),
        { op: "constant", result: zero, value: 0n },
        store(inCaller(0), zero),
        ...taken
          .filter((value) => !head.parameters.includes(value))
          .map((value) => store(inCaller(wordOf(value)), zero)),
        ...head.parameters.map((value, i) => store(inCaller(wordOf(value)), before[i])),
        ...given.map((value) => store(inCaller(wordOf(value)), value)),
        {
          op: "rounds",
          round: index,
          frame,
          variables: head.parameters.filter((value) => !pointers.has(value)).map(wordOf),
        },
        load(way, inCaller(0)),
        ...taken.map((value) => load(value, inCaller(wordOf(value)))),
        ...on.instructions,
      ],
      terminator: on.terminator,
    };
    const shape = { name: "frame", size: start + words.size * 8, align: 8 };
    return {
      caller: { ...fn, values: caller.values, slots: [...slots, shape], blocks: reachable(outside) },
      round: {
        name: `round_${index}`,
        kind: "round",
        within,
        placement: "kernel",
        ...(fn.context === undefined ? {} : { context: fn.context }),
        matches: [],
        values: round.values,
        slots,
        blocks: [first, ...bodies, ...ends],
      },
    };
  }
}

/** Each block behind those that dominate it, and none that nothing leads to. */
function reachable(blocks: readonly IrBlock[]): readonly IrBlock[] {
  const order = reversePostorder(blocks);
  const number = new Map(order.map((id, i) => [id, i]));
  return order.map((id) => ({
    ...blocks[id],
    terminator: retarget(blocks[id].terminator, (to) => number.get(to) ?? 0),
  }));
}

/** Stands where a block of the loop was. */
const unreachable: IrBlock = { parameters: [], instructions: [], terminator: { op: "return" } };

/** The values of one of two functions that were one. */
class Half {
  readonly values: ValueInfo[];

  constructor(fn: IrFunction, pointers: ReadonlySet<Value>) {
    this.values = fn.values.map((info, value) => (pointers.has(value) ? { ...info, typed: true } : info));
  }
  fresh(typed = false): Value {
    return this.values.push(typed ? { typed } : {}) - 1;
  }
}

interface Loop {
  readonly guard: number;
  readonly blocks: ReadonlySet<number>;
}

/** A loop to call, in no other such loop. */
function outermost(scope: FunctionScope): Loop | undefined {
  const { blocks } = scope.fn;
  const predecessors = predecessorsOf(blocks);
  const loops = blocks.flatMap(({ terminator }, guard): Loop[] => {
    if (terminator.op !== "guard") return [];
    const loop = { guard, blocks: naturalLoop(guard, blocks, predecessors) };
    return canCall(scope, loop) ? [loop] : [];
  });
  return loops.find((loop) => !loops.some((other) => other !== loop && other.blocks.has(loop.guard)));
}

/** The blocks from a head back to it. */
function naturalLoop(
  head: number,
  blocks: readonly IrBlock[],
  predecessors: readonly (readonly number[])[],
): ReadonlySet<number> {
  const idom = dominators(blocks);
  const below = (id: number): boolean => {
    for (let at: number | undefined = id; at !== undefined; at = at === 0 ? undefined : idom[at])
      if (at === head) return true;
    return false;
  };
  const found = new Set([head]);
  const pending = predecessors[head].filter(below);
  for (let id = pending.pop(); id !== undefined; id = pending.pop()) {
    if (found.has(id)) continue;
    found.add(id);
    pending.push(...predecessors[id]);
  }
  return found;
}

/** Whether a round can be a function: what it has of memory it may find in scratch memory, and it loops over no map. */
function canCall(scope: FunctionScope, { guard, blocks }: Loop): boolean {
  const { fn } = scope;
  const { instructions, terminator } = fn.blocks[guard];
  if (terminator.op !== "guard" || !blocks.has(terminator.body) || instructions.some(({ op }) => op !== "constant"))
    return false;
  if (
    !roundsMatter(
      terminator.rounds,
      [...blocks].map((id) => fn.blocks[id]),
    )
  )
    return false;
  const used = slotsIn(fn, blocks);
  if ([...slotsOfPointers(scope)].some((slot) => used.has(slot))) return false;
  for (const { instructions: all } of fn.blocks) {
    for (const i of all) if (i.op === "for-each" && i.captures !== undefined && used.has(i.captures)) return false;
  }
  return true;
}

function slotsIn({ blocks }: IrFunction, within: ReadonlySet<number>): ReadonlySet<number> {
  const found = new Set<number>();
  for (const id of within) for (const i of blocks[id].instructions) forEachSlot(i, (slot) => found.add(slot));
  return found;
}
