// The two parts of a handler that is captured: what the kernel runs, which sends a record, and what the host runs of it.
import { u64, u8, type Type } from "../../language/types.ts";
import { fieldLayout } from "../../language/layout.ts";
import type { Instruction, IrBlock, IrFunction, IrModule, Place, Source, Terminator, Value } from "../ir/ir.ts";
import { headerSize } from "../layouts/record-header.ts";
import { dominators, reversePostorder } from "../optimize/graph.ts";
import { operandsOf, resultOf, successorsOf } from "../optimize/operands.ts";
import { fromRecord, type Analysis, type CapturedHandler } from "./captured-handler.ts";
import { controlOf } from "./control.ts";
import { wayOn } from "./host-part.ts";
import { natureOf, slotsRead, slotWritten, written } from "./operations.ts";
import { needOf, sliced, withoutUnreachable } from "./slice.ts";

export interface Parts {
  readonly kernel: IrFunction;
  readonly host: IrFunction;
  /** Callbacks of the host's part, to stand behind the module's functions. */
  readonly callbacks: readonly IrFunction[];
  readonly fields: readonly { readonly name: string; readonly type: Type }[];
}

/** What a record holds: a value, or what an instruction wrote. */
type Field =
  | { readonly value: Value; readonly type: Type }
  | { readonly write: Instruction; readonly to: Place; readonly size: number; readonly type: Type };

type Draft = { parameters: readonly Value[]; instructions: Instruction[]; terminator: Terminator };

/** `schema`: of the record. Undefined where the host has nothing to do. */
export function partsOf(
  handler: CapturedHandler,
  analysis: Analysis,
  module: IrModule,
  schema: number,
): Parts | undefined {
  const { fn } = handler;
  if (!fn.blocks.some(({ instructions }) => instructions.some(analysis.isEffect))) return undefined;
  const fields = fieldsOf(handler, analysis);
  const { offsets } = fieldLayout(fields.map(({ type }) => type));
  const at = new Map<Value | Instruction, number>();
  fields.forEach((field, i) => at.set("write" in field ? field.write : field.value, headerSize() + offsets[i]));
  return {
    kernel: kernelPart(fn, analysis, fields, schema),
    ...hostPartOf(handler, analysis, module, at),
    fields: fields.map(({ type }, i) => ({ name: `c${i}`, type })),
  };
}

function fieldsOf(handler: CapturedHandler, { need, given }: Analysis): Field[] {
  const values = new Set([...need.values].filter((value) => given.value(value)));
  const writes = new Set([...need.instructions].filter((i) => given.write(i)));
  for (const lifted of handler.lifted.values()) {
    if ("value" in lifted) values.add(lifted.value);
    else writes.add(lifted.fill);
  }
  return [
    ...[...values].sort((a, b) => a - b).map((value) => ({ value, type: u64 })),
    ...[...writes].map((write) => {
      const { to, size } = written(write, handler.fn.slots);
      return { write, to, size, type: { kind: "array" as const, element: u8, length: size } };
    }),
  ];
}

// ── the host ──

function hostPartOf(
  handler: CapturedHandler,
  { control, need, given }: Analysis,
  module: IrModule,
  at: ReadonlyMap<Value | Instruction, number>,
): Pick<Parts, "host" | "callbacks"> {
  const callbacks: IrFunction[] = [];
  const lifted = (i: Instruction): Instruction | undefined => {
    const taken = handler.lifted.get(i);
    if (taken === undefined) return undefined;
    const offset = at.get("value" in taken ? taken.value : taken.fill);
    return offset === undefined ? undefined : fromRecord(i, offset);
  };
  // A function that calls itself is one, however often it does.
  const called = new Map<number, number>();
  const withOwnCallback = (i: Instruction): Instruction => {
    if (i.op !== "for-each" && i.op !== "call") return i;
    const known = i.op === "call" ? called.get(i.callback) : undefined;
    if (known !== undefined) return { ...i, callback: known };
    const callee = module.functions[i.callback];
    const index = module.functions.length + callbacks.length;
    callbacks.push(callee);
    if (i.op === "call") called.set(i.callback, index);
    const { context: _, ...rest } = callee;
    callbacks[index - module.functions.length] = {
      ...rest,
      placement: "host",
      blocks: callee.blocks.map((block) => ({
        ...block,
        instructions: block.instructions.flatMap((one) =>
          one.op === "loop-cut" ? [] : (lifted(one) ?? withOwnCallback(one)),
        ),
      })),
    };
    return { ...i, callback: index };
  };
  const part = sliced(handler.fn, control, need, given);
  const loads = [...need.values].flatMap((value): Instruction[] => {
    const offset = at.get(value);
    if (offset === undefined) return [];
    const from = { kind: "callback", of: "record", offset } as const;
    return [{ op: "load", result: value, from, size: 8, signed: false }];
  });
  const blocks = part.blocks.map((block, id) => ({
    ...block,
    instructions: [
      ...(id === 0 ? loads : []),
      ...block.instructions.flatMap((i): Instruction[] => {
        if (!given.write(i)) return [withOwnCallback(i)];
        const { to, size } = written(i, handler.fn.slots);
        const from = { kind: "callback", of: "record", offset: at.get(i) ?? 0 } as const;
        return [{ op: "fill", to, source: { kind: "copy", from, size } }];
      }),
    ],
  }));
  const { context: _, ...rest } = part;
  return { host: { ...rest, placement: "host", matches: [], blocks }, callbacks };
}

// ── the kernel ──

function kernelPart(fn: IrFunction, analysis: Analysis, fields: readonly Field[], schema: number): IrFunction {
  const { part, control, isEffect, loops } = analysis;
  const values = [...fn.values];
  const slots = [...fn.slots];
  const isOfHost = (i: Instruction): boolean =>
    part.host.has(i) ||
    operandsOf(i).some((value) => part.values.has(value)) ||
    slotsRead(i).some((slot) => part.slots.has(slot) && natureOf(i) !== "loop");
  const blocks = fn.blocks.map(({ parameters, instructions, terminator }, id): Draft => ({
    parameters,
    // Where the host decides whether it runs, the host does all of it.
    instructions: part.blocks.has(id) ? [] : instructions.filter((i) => !isOfHost(i)),
    terminator,
  }));

  // The record is sent at the one end of all ways on which the host has something to do.
  const end = blocks.push({ parameters: [], instructions: [], terminator: { op: "return" } }) - 1;
  const effects = fn.blocks.map(({ instructions }) => instructions.some(isEffect));
  const something = reachedFrom(fn.blocks, effects);
  const sends = effects.map((one, id) => one && !part.blocks.has(id));
  fn.blocks.forEach(({ terminator }, id) => {
    if (terminator.op === "return") {
      if (something[id]) blocks[id].terminator = { op: "jump", to: end, args: [] };
      return;
    }
    if (terminator.op !== "branch") return;
    // What a branch in a block that the host decides of looks at is computed there.
    if (!part.values.has(terminator.condition) && !part.blocks.has(id)) return;
    const on = part.blocks.has(id) ? undefined : wayOn(fn.blocks, loops, id);
    if (on !== undefined) {
      // The host says whether the handler is left: the kernel goes on in any case.
      blocks[id].terminator = { op: "jump", to: on, args: [] };
      return;
    }
    // The host says which way: the kernel goes on where both meet.
    if (leadsTo(fn.blocks, id, control.joins[id], effects)) sends[id] = true;
    const join = control.joins[id];
    if (join === undefined) {
      blocks[id].terminator = { op: "jump", to: end, args: [] };
      return;
    }
    const other = fn.blocks.find((block) => block.terminator.op === "jump" && block.terminator.to === join);
    blocks[id].terminator = other?.terminator.op === "jump" ? other.terminator : { op: "jump", to: join, args: [] };
  });

  // Where the host decides on one way to a block, the kernel may come there on another.
  const reached = new Set(reversePostorder(blocks));
  effects.forEach((one, id) => {
    if (one && reached.has(id)) sends[id] = true;
  });

  const idom = dominators(blocks);
  const dominatesEnd = (block: number): boolean => {
    for (let id = end; ; id = idom[id] ?? 0) {
      if (id === block) return true;
      if (id === 0) return false;
    }
  };
  const first: Instruction[] = [];
  const zero = (size: number, name: string): Place => {
    const place = { kind: "slot", slot: slots.push({ name, size, align: 8 }) - 1, offset: 0 } as const;
    first.push({ op: "zero", at: place, size });
    return place;
  };
  const makers = new Map<Value, number>();
  const makerOf = new Map<Instruction, number>();
  const writers = new Map<number, number>();
  const readers = new Map<number, number>();
  blocks.forEach((block, id) => {
    for (const parameter of block.parameters) makers.set(parameter, id);
    for (const i of block.instructions) {
      makerOf.set(i, id);
      const result = resultOf(i);
      if (result !== undefined) makers.set(result, id);
      const slot = slotWritten(i);
      if (slot !== undefined) writers.set(slot, (writers.get(slot) ?? 0) + 1);
      for (const one of slotsRead(i)) readers.set(one, (readers.get(one) ?? 0) + 1);
    }
  });
  const isSure = (block: number): boolean => loops[block] === undefined && dominatesEnd(block);
  const behind = (i: Instruction | Value, made: Instruction): void => {
    const block = typeof i === "number" ? (makers.get(i) ?? 0) : (makerOf.get(i) ?? 0);
    const { instructions } = blocks[block];
    const at = typeof i === "number" ? instructions.findIndex((one) => resultOf(one) === i) : instructions.indexOf(i);
    instructions.splice(at + 1, 0, made);
  };
  const sources = fields.map((field): Source => {
    if ("value" in field) {
      if (isSure(makers.get(field.value) ?? 0)) return { kind: "value", value: field.value, width: 8 };
      const to = zero(8, "captured");
      behind(field.value, { op: "store", to, value: field.value, size: 8 });
      return { kind: "copy", from: to, size: 8 };
    }
    const { write, to, size } = field;
    const slot = to.kind === "slot" ? to.slot : -1;
    if (isSure(makerOf.get(write) ?? 0) && writers.get(slot) === 1) {
      // Nobody else looks at it: it goes straight into the record.
      if (write.op === "fill" && resultOf(write) === undefined && readers.get(slot) === undefined) return write.source;
      return { kind: "copy", from: to, size };
    }
    const kept = zero(size, "captured");
    behind(write, { op: "fill", to: kept, source: { kind: "copy", from: to, size } });
    return { kind: "copy", from: kept, size };
  });
  const send: Instruction = { op: "emit", schema, fields: sources };
  if (sends.some((one, id) => one && isSure(id))) blocks[end].instructions.push(send);
  else {
    const flag = zero(8, "sends");
    sends.forEach((one, id) => {
      if (!one) return;
      const value = values.push({}) - 1;
      blocks[id].instructions.push(
        { op: "constant", result: value, value: 1n },
        { op: "store", to: flag, value, size: 8 },
      );
    });
    const [asked, last, out] = [values.push({}) - 1, end + 1, end + 2];
    blocks[end].instructions.push({ op: "load", result: asked, from: flag, size: 8, signed: false });
    // oxlint-disable-next-line unicorn/no-thenable -- the IR's word
    blocks[end].terminator = { op: "branch", condition: asked, then: last, otherwise: out };
    blocks.push({ parameters: [], instructions: [send], terminator: { op: "return" } });
    blocks.push({ parameters: [], instructions: [], terminator: { op: "return" } });
  }
  blocks[0].instructions.unshift(...first);
  return needed({ ...fn, values, slots, blocks }, send);
}

/** What the kernel does by itself, and what the record is made of. */
function needed(whole: IrFunction, send: Instruction): IrFunction {
  const fn = withoutUnreachable(whole);
  const control = controlOf(fn.blocks);
  const need = needOf(fn, control, (i) => {
    if (i === send) return true;
    const nature = natureOf(i);
    return nature === "map-write" || nature === "loop" || (nature === "act" && i.op !== "loop-cut");
  });
  // A loop that is left out is not cut short.
  const cuts = fn.blocks.flatMap(({ instructions }, id) =>
    [...control.deciders[id]].every((decider) => need.branches.has(decider))
      ? instructions.filter(({ op }) => op === "loop-cut")
      : [],
  );
  return sliced(fn, control, { ...need, instructions: new Set([...need.instructions, ...cuts]) });
}

/** Of each block, whether some block that is marked runs before its end. */
function reachedFrom(blocks: readonly IrBlock[], marked: readonly boolean[]): boolean[] {
  const reached = [...marked];
  const open = marked.flatMap((one, id) => (one ? [id] : []));
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    for (const to of successorsOf(blocks[id].terminator)) {
      if (reached[to]) continue;
      reached[to] = true;
      open.push(to);
    }
  }
  return reached;
}

/** Whether there is a marked block on a way from one to where its ways meet. */
function leadsTo(
  blocks: readonly IrBlock[],
  from: number,
  join: number | undefined,
  marked: readonly boolean[],
): boolean {
  const seen = new Set<number>();
  const open = successorsOf(blocks[from].terminator);
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (id === join || seen.has(id)) continue;
    if (marked[id]) return true;
    seen.add(id);
    open.push(...successorsOf(blocks[id].terminator));
  }
  return false;
}
