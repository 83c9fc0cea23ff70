// A handler that is captured, while it is found out which of it runs where: its function, in which what depends on the
// moment stands where the kernel can always compute it.
import { placement } from "../../messages/placement.ts";
import { hostText } from "../../language/host-texts.ts";
import { InternalError } from "../../base/internal-error.ts";
import type { Message } from "../../messages/message.ts";
import type { Instruction, IrBlock, IrFunction, IrModule, Source, Value } from "../ir/ir.ts";
import { sourceSize } from "../ir/ir.ts";
import { dominators, loopsOf } from "../optimize/graph.ts";
import { mapOperands, mapTerminator, operandsOf, resultOf } from "../optimize/operands.ts";
import { controlOf, type Control } from "./control.ts";
import { hostPart, loopBody, type Homes, type HostPart } from "./host-part.ts";
import { isOfMoment, natureOf, slotsRead, slotWritten } from "./operations.ts";
import { needOf, type Given, type Need } from "./slice.ts";

/** What is told of a handler to those who make its two parts. */
export interface Analysis {
  readonly control: Control;
  readonly part: HostPart;
  readonly need: Need;
  readonly given: Given;
  /** What has an effect on the host. */
  readonly isEffect: (i: Instruction) => boolean;
  readonly loops: readonly (readonly number[] | undefined)[];
}

/** What a callback on the host takes from the record, in the handler's own function. */
export type Lifted = { readonly value: Value } | { readonly fill: Extract<Instruction, { op: "fill" }> };

export class CapturedHandler {
  fn: IrFunction;
  readonly lifted = new Map<Instruction, Lifted>();
  readonly #module: IrModule;
  readonly #refuse: (at: Instruction, because: Instruction | undefined, said: Said) => never;
  /** Instructions that stand for others, which are in the script. */
  readonly #remade: (made: Instruction, from: Instruction) => void;

  constructor(
    fn: IrFunction,
    module: IrModule,
    refuse: (at: Instruction, because: Instruction | undefined, said: Said) => never,
    remade: (made: Instruction, from: Instruction) => void,
  ) {
    this.#module = module;
    this.#refuse = refuse;
    this.#remade = remade;
    this.fn = this.#apart(this.#behindLoops(fn));
  }

  /** What a loop computed and something behind it uses is a value of its own there, which the host is handed. */
  #behindLoops(fn: IrFunction): IrFunction {
    const loops = loopsOf(fn.blocks);
    const inLoops = new Set<Value>(
      fn.blocks.flatMap(({ parameters, instructions }, id) =>
        loops[id] === undefined ? [] : [...parameters, ...instructions.flatMap((i) => resultOf(i) ?? [])],
      ),
    );
    const values = [...fn.values];
    const blocks = fn.blocks.map((block, id): IrBlock => {
      if (loops[id] !== undefined) return block;
      const copies = new Map<Value, Value>();
      const own = (value: Value): Value => {
        if (!inLoops.has(value)) return value;
        const known = copies.get(value) ?? values.push({}) - 1;
        copies.set(value, known);
        return known;
      };
      const instructions = block.instructions.map((i): Instruction => {
        if (!operandsOf(i).some((value) => inLoops.has(value))) return i;
        const made = mapOperands(i, own);
        this.#remade(made, i);
        return made;
      });
      const terminator = mapTerminator(block.terminator, own);
      if (copies.size === 0) return block;
      const zero = values.push({}) - 1;
      const front: Instruction[] = [
        { op: "constant", result: zero, value: 0n },
        ...[...copies].map(([left, result]): Instruction => ({ op: "binary", kind: "or", result, left, right: zero })),
      ];
      return { ...block, instructions: [...front, ...instructions], terminator };
    });
    return { ...fn, values, blocks };
  }

  /** What is read for an event or for a map's value is read on its own, and so is what a loop left behind. */
  #apart(fn: IrFunction): IrFunction {
    const slots = [...fn.slots];
    const loops = loopsOf(fn.blocks);
    const inLoops = slotsOfLoops(fn, loops);
    const blocks = fn.blocks.map((block, id): IrBlock => {
      const instructions: Instruction[] = [];
      const readFirst = (source: Source, i: Instruction): Source => {
        if (!isOfMoment(source) && (loops[id] !== undefined || !copiesOneOf(source, inLoops))) return source;
        const size = sourceSize(source);
        const to = { kind: "slot", slot: slots.push({ name: "captured", size, align: 8 }) - 1, offset: 0 } as const;
        const fill: Instruction = { op: "fill", to, source };
        this.#remade(fill, i);
        instructions.push(fill);
        return { kind: "copy", from: to, size };
      };
      for (const i of block.instructions) {
        if (i.op === "emit" && i.fields.some(isOfMoment)) {
          const made: Instruction = { ...i, fields: i.fields.map((field) => readFirst(field, i)) };
          this.#remade(made, i);
          instructions.push(made);
        } else if (i.op === "map-store" && isOfMoment(i.source)) {
          const made: Instruction = { ...i, source: readFirst(i.source, i) };
          this.#remade(made, i);
          instructions.push(made);
        } else instructions.push(i);
      }
      return { ...block, instructions };
    });
    return { ...fn, slots, blocks };
  }

  /** Finds out what runs where; `homes` may grow by it, and then what was found out of other handlers may not hold. */
  analyze(homes: Homes): Analysis {
    for (;;) {
      const analysis = this.#once(homes);
      if (analysis !== undefined) return analysis;
    }
  }

  /** Undefined when something was moved. */
  #once(homes: Homes): Analysis | undefined {
    const { fn } = this;
    const control = controlOf(fn.blocks);
    const part = hostPart(fn, this.#module, control, homes);
    if (this.#moveMaps(part, homes) || this.#lift(part) || this.#hoist(part)) return undefined;
    this.#refuseWhatDepends(part);
    const loops = loopsOf(fn.blocks);
    const isEffect = (i: Instruction): boolean =>
      part.host.has(i) &&
      (["send", "map-write", "loop"].includes(natureOf(i)) ||
        (i.op === "host-text" && hostText(i.name).keeps === true));
    const given = this.#given(part, loops, isEffect);
    const need = needOf(fn, control, isEffect, given);
    return this.#moveLate(need, given, part, homes) ? undefined : { control, part, need, given, isEffect, loops };
  }

  // ── maps ──

  /** Maps that the host part writes live there; and those that it reads and the kernel's part writes. */
  #moveMaps(part: HostPart, homes: Homes): boolean {
    const before = homes.maps.size;
    const inKernel = new Set<number>();
    for (const i of this.#instructions()) {
      if (part.host.has(i)) continue;
      if (natureOf(i) === "map-write" && "map" in i) inKernel.add(i.map);
      if (i.op === "for-each") for (const map of loopBody(this.#module, i.callback, homes).writes) inKernel.add(map);
    }
    const read = (map: number, origin: Instruction): void => {
      if (inKernel.has(map)) this.#move(map, origin, homes);
    };
    for (const [i, origin] of part.host) {
      const nature = natureOf(i);
      if (nature === "map-write" && "map" in i) this.#move(i.map, origin, homes);
      if (nature === "map-read" && "map" in i) read(i.map, origin);
      if (i.op !== "for-each" && i.op !== "call") continue;
      const body = loopBody(this.#module, i.callback, homes);
      for (const map of body.writes) this.#move(map, i, homes);
      for (const map of [...(i.op === "for-each" ? [i.map] : []), ...body.reads]) read(map, i);
    }
    return homes.maps.size > before;
  }

  #move(map: number, because: Instruction, homes: Homes): void {
    if (this.#module.maps[map].stacks !== undefined) throw new InternalError("a map of stacks is the kernel's");
    if (!homes.maps.has(map)) homes.maps.set(map, because);
  }

  // ── what depends on the moment ──

  /** Bodies of loops that run on the host find in the record what is the same in each round. */
  #lift(part: HostPart): boolean {
    const wanted: { readonly i: Instruction; readonly loop: Instruction; readonly block: number }[] = [];
    this.fn.blocks.forEach(({ instructions }, block) => {
      for (const loop of instructions) {
        if ((loop.op !== "for-each" && loop.op !== "call") || !part.host.has(loop)) continue;
        for (const i of bodyOf(this.#module, loop.callback)) {
          const nature = natureOf(i);
          if (nature === "act" && i.op !== "loop-cut") this.#refuse(i, loop, placement.doneInLoopOfHost);
          if (nature === "moment" && !this.lifted.has(i)) wanted.push({ i, loop, block });
        }
      }
    });
    for (const { i, loop, block } of wanted) {
      if (operandsOf(i).length > 0 || slotsRead(i).length > 0) this.#refuse(i, loop, placement.readInLoopOfHost);
      const blocks = this.fn.blocks.map((one) => ({ ...one, instructions: [...one.instructions] }));
      const to = this.#above(block, part);
      let made: Instruction;
      if (i.op === "fill") {
        const slots = [...this.fn.slots, { name: "lifted", size: sourceSize(i.source), align: 8 }];
        if (i.length !== undefined || i.failed !== undefined) this.#refuse(i, loop, placement.readInLoopOfHost);
        made = { op: "fill", to: { kind: "slot", slot: slots.length - 1, offset: 0 }, source: i.source };
        this.lifted.set(i, { fill: made });
        this.fn = { ...this.fn, slots };
      } else if ("result" in i && i.result !== undefined) {
        const values = [...this.fn.values, {}];
        made = { ...i, result: values.length - 1 } as Instruction;
        this.lifted.set(i, { value: values.length - 1 });
        this.fn = { ...this.fn, values };
      } else this.#refuse(i, loop, placement.readInLoopOfHost);
      this.#remade(made, i);
      const at = to === block ? blocks[to].instructions.indexOf(loop) : blocks[to].instructions.length;
      blocks[to].instructions.splice(at, 0, made);
      this.fn = { ...this.fn, blocks };
    }
    return wanted.length > 0;
  }

  /** The nearest block before one that the kernel always comes by, and once. */
  #above(from: number, part: HostPart): number {
    const idom = dominators(this.fn.blocks);
    const loops = loopsOf(this.fn.blocks);
    let block = from;
    while (block !== 0 && (part.blocks.has(block) || loops[block] !== undefined)) block = idom[block] ?? 0;
    return block;
  }

  /** Where the host decides whether something is read, the kernel reads it in any case. */
  #hoist(part: HostPart): boolean {
    for (const [id, { instructions }] of this.fn.blocks.entries()) {
      const because = part.blocks.get(id);
      if (because === undefined) continue;
      for (const i of instructions) {
        if (natureOf(i) !== "moment" || part.host.has(i) || this.#dependency(i, part) !== undefined) continue;
        if (!this.#hoistOne(i, id, part)) this.#refuse(i, because, placement.hostDecidesWhatIsRead);
        return true;
      }
    }
    return false;
  }

  /** Moves an instruction, and what it is made of, up to where it is always computed, and once. */
  #hoistOne(i: Instruction, from: number, part: HostPart): boolean {
    const { fn } = this;
    const to = this.#above(from, part);
    if (to === from) return false;
    const makers = new Map<Value, { readonly i: Instruction; readonly block: number }>();
    const parameters = new Map<Value, number>();
    fn.blocks.forEach((block, id) => {
      for (const parameter of block.parameters) parameters.set(parameter, id);
      for (const one of block.instructions) {
        const result = resultOf(one);
        if (result !== undefined) makers.set(result, { i: one, block: id });
      }
    });
    const idom = dominators(fn.blocks);
    const isThere = (block: number): boolean => {
      for (let above = to; ; above = idom[above] ?? 0) {
        if (above === block) return true;
        if (above === 0) return false;
      }
    };
    const moved = new Map<Instruction, number>();
    const collect = (one: Instruction, block: number): boolean => {
      if (moved.has(one)) return true;
      const movable =
        ["constant", "binary", "compare", "extend", "swap-bytes"].includes(one.op) || natureOf(one) === "moment";
      if (!movable || slotsRead(one).length > 0 || one.op === "fill-element") return false;
      for (const value of operandsOf(one)) {
        const parameter = parameters.get(value);
        if (parameter !== undefined) {
          if (!isThere(parameter)) return false;
          continue;
        }
        const maker = makers.get(value);
        if (maker === undefined || (!isThere(maker.block) && !collect(maker.i, maker.block))) return false;
      }
      moved.set(one, block);
      return true;
    };
    if (!collect(i, from)) return false;
    const slots = [...fn.slots];
    const front: Instruction[] = [];
    const left = new Map<Instruction, Instruction>();
    for (const one of moved.keys()) {
      if (one.op !== "fill") {
        front.push(one);
        continue;
      }
      const size = sourceSize(one.source);
      const own = { kind: "slot", slot: slots.push({ name: "captured", size, align: 8 }) - 1, offset: 0 } as const;
      const early: Instruction = { ...one, to: own };
      const copy: Instruction = { op: "fill", to: one.to, source: { kind: "copy", from: own, size } };
      this.#remade(early, one);
      this.#remade(copy, one);
      front.push(early);
      left.set(one, copy);
    }
    this.fn = {
      ...fn,
      slots,
      blocks: fn.blocks.map((block, id) => {
        const instructions = block.instructions.flatMap((one) => left.get(one) ?? (moved.has(one) ? [] : [one]));
        return { ...block, instructions: id === to ? [...instructions, ...front] : instructions };
      }),
    };
    return true;
  }

  #dependency(i: Instruction, part: HostPart): Instruction | undefined {
    for (const value of operandsOf(i)) if (part.values.has(value)) return part.values.get(value);
    for (const slot of slotsRead(i)) if (part.slots.has(slot)) return part.slots.get(slot);
    return undefined;
  }

  #refuseWhatDepends(part: HostPart): void {
    this.fn.blocks.forEach(({ instructions }, id) => {
      for (const i of instructions) {
        const nature = natureOf(i);
        if (part.host.has(i)) continue;
        if (nature === "moment") {
          const because = this.#dependency(i, part);
          if (because !== undefined) this.#refuse(i, because, placement.hostDecidesWhatIsRead);
        } else if (nature === "act" && i.op !== "loop-cut") {
          const because = this.#dependency(i, part) ?? part.blocks.get(id) ?? part.guarded.get(id);
          if (because !== undefined) this.#refuse(i, because, placement.hostDecidesWhatIsDone);
        }
      }
    });
  }

  // ── what the host needs ──

  #given(part: HostPart, loops: Analysis["loops"], isEffect: (i: Instruction) => boolean): Given {
    const { blocks } = this.fn;
    const values = new Set<Value>();
    const writes = new Set<Instruction>();
    const inLoops = slotsOfLoops(this.fn, loops);
    blocks.forEach((block, id) => {
      if (part.blocks.has(id) || loops[id] !== undefined) return;
      for (const parameter of block.parameters) if (!part.values.has(parameter)) values.add(parameter);
      for (const i of block.instructions) {
        if (part.host.has(i)) continue;
        const result = resultOf(i);
        // An entry is known by its address: nobody else has that.
        if (result !== undefined && !part.values.has(result) && i.op !== "constant" && i.op !== "map-lookup")
          values.add(result);
        if (result === undefined && natureOf(i) !== "pure") writes.add(i);
        // What a fill tells of itself is a value, and what it fills is written.
        if (i.op === "fill" && natureOf(i) === "moment") writes.add(i);
        // What a loop left behind: the host need not run that again.
        if (i.op === "fill" && copiesOneOf(i.source, inLoops) && this.#dependency(i, part) === undefined) writes.add(i);
      }
    });
    const idom = dominators(blocks);
    const dominates = (above: number, below: number): boolean => {
      for (let id = below; ; id = idom[id] ?? 0) {
        if (id === above) return true;
        if (id === 0) return false;
      }
    };
    const effects = blocks.flatMap(({ instructions }, id) => (instructions.some(isEffect) ? [id] : []));
    const ways = blocks.map(({ terminator }, id) => {
      if (terminator.op !== "branch" || part.values.has(terminator.condition)) return undefined;
      if (part.blocks.has(id) || loops[id] !== undefined || effects.length === 0) return undefined;
      return [terminator.then, terminator.otherwise].find((to) => effects.every((effect) => dominates(to, effect)));
    });
    return {
      value: (value) => values.has(value),
      write: (i) => writes.has(i),
      way: (block) => ways[block],
    };
  }

  /** What the host needs and the kernel cannot hand out once for each record: in loops. */
  #moveLate(need: Need, given: Given, part: HostPart, homes: Homes): boolean {
    for (const [id, { instructions }] of this.fn.blocks.entries()) {
      for (const i of instructions) {
        if (!need.instructions.has(i) || part.host.has(i) || given.write(i)) continue;
        const result = resultOf(i);
        if (result !== undefined && given.value(result)) continue;
        switch (natureOf(i)) {
          case "moment":
            if (i.op === "builtin" && i.name === "random") continue;
            if (!this.#hoistOne(i, id, part)) this.#refuse(i, undefined, placement.readInLoop);
            return true;
          case "map-read":
          case "loop":
            homes.late.add(i);
            return true;
          case "map-write":
            if ("map" in i) this.#move(i.map, i, homes);
            return true;
          case "act":
            if (i.op !== "loop-cut") this.#refuse(i, undefined, placement.doneInLoop);
            break;
          case "pure":
          case "send":
        }
      }
    }
    return false;
  }

  *#instructions(): Iterable<Instruction> {
    for (const { instructions } of this.fn.blocks) yield* instructions;
  }
}

/** The slots that instructions in loops write. */
function slotsOfLoops({ blocks }: IrFunction, loops: Analysis["loops"]): ReadonlySet<number> {
  return new Set(
    blocks.flatMap(({ instructions }, id) =>
      loops[id] === undefined ? [] : instructions.flatMap((i) => slotWritten(i) ?? []),
    ),
  );
}

function copiesOneOf(source: Source, slots: ReadonlySet<number>): boolean {
  return source.kind === "copy" && source.from.kind === "slot" && slots.has(source.from.slot);
}

export type Said = (because: string) => Message;

/** Instructions of a callback, and of the callbacks in it. */
function* bodyOf(module: IrModule, callback: number, around: ReadonlySet<number> = new Set()): Iterable<Instruction> {
  const within = new Set([...around, callback]);
  for (const { instructions } of module.functions[callback].blocks) {
    for (const i of instructions) {
      yield i;
      if ((i.op === "for-each" || i.op === "call") && !within.has(i.callback))
        yield* bodyOf(module, i.callback, within);
    }
  }
}

/** The same instruction, with what a callback takes from the record in the place of what it computed. */
export function fromRecord(i: Instruction, offset: number): Instruction {
  const from = { kind: "callback", of: "record", offset } as const;
  if (i.op === "fill") return { op: "fill", to: i.to, source: { kind: "copy", from, size: sourceSize(i.source) } };
  const result = resultOf(i);
  if (result === undefined) throw new InternalError(`${i.op} gives nothing that a record has`);
  return { op: "load", result, from, size: 8, signed: false };
}
