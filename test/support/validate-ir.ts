// What every pass must keep: each value is defined once and before it is used, jumps supply what blocks take, memory is
// in bounds. Used by tests and by the differential suite.
import {
  type Instruction,
  type IrFunction,
  type IrModule,
  type Place,
  type Source,
  type Value,
  sourceSize,
} from "../../src/compiler/ir/ir.ts";
import { dominators, reversePostorder } from "../../src/compiler/optimize/graph.ts";
import { operandsOf, resultOf, successorsOf, terminatorOperands } from "../../src/compiler/optimize/operands.ts";
import { forEachSlot } from "../../src/compiler/optimize/dead-code.ts";

/** Complaints, each with the function and the block; empty when all is well. */
export function validateModule(module: IrModule): string[] {
  return module.functions.flatMap((fn, index) =>
    validateFunction(fn, module).map((complaint) => `${fn.name} (${index}): ${complaint}`),
  );
}

export function validateFunction(fn: IrFunction, module?: IrModule): string[] {
  const complaints: string[] = [];
  const defined = new Map<Value, { block: number; index: number }>();
  const define = (value: Value, block: number, index: number): void => {
    if (defined.has(value)) complaints.push(`b${block}: v${value} is defined twice`);
    if (value < 0 || value >= fn.values.length) complaints.push(`b${block}: v${value} is not in the table of values`);
    defined.set(value, { block, index });
  };
  if (fn.blocks.length === 0) return ["there are no blocks"];
  if (fn.blocks[0].parameters.length > 0) complaints.push("b0: the entry takes parameters");
  fn.blocks.forEach((block, id) => {
    for (const parameter of block.parameters) define(parameter, id, -1);
    block.instructions.forEach((i, index) => {
      const result = resultOf(i);
      if (result !== undefined) define(result, id, index);
    });
    for (const successor of successorsOf(block.terminator)) {
      const target = fn.blocks[successor];
      if (target === undefined) complaints.push(`b${id}: leads to b${successor}, which is not there`);
      else if (successor === 0) complaints.push(`b${id}: leads back to the entry`);
      else if (block.terminator.op !== "jump" && target.parameters.length > 0)
        complaints.push(`b${id}: branches to b${successor}, which takes parameters`);
      else if (block.terminator.op === "jump" && block.terminator.args.length !== target.parameters.length) {
        complaints.push(
          `b${id}: gives b${successor} ${block.terminator.args.length} values, it takes ${target.parameters.length}`,
        );
      }
    }
  });
  if (complaints.length > 0) return complaints;

  const idom = dominators(fn.blocks);
  const dominates = (above: number, below: number): boolean => {
    for (let id = below; ; id = idom[id] ?? 0) {
      if (id === above) return true;
      if (id === 0) return false;
    }
  };
  for (const id of reversePostorder(fn.blocks)) {
    const block = fn.blocks[id];
    const use = (value: Value, index: number): void => {
      const at = defined.get(value);
      if (at === undefined) complaints.push(`b${id}: v${value} is used but never defined`);
      else if (at.block === id ? at.index >= index : !dominates(at.block, id))
        complaints.push(`b${id}: v${value} is used before it is defined`);
    };
    block.instructions.forEach((i, index) => {
      for (const value of operandsOf(i)) use(value, index);
      complaints.push(...memoryComplaints(fn, i, module).map((complaint) => `b${id}: ${i.op}: ${complaint}`));
    });
    for (const value of terminatorOperands(block.terminator)) use(value, block.instructions.length);
  }
  return complaints;
}

function memoryComplaints(fn: IrFunction, i: Instruction, module: IrModule | undefined): string[] {
  const complaints: string[] = [];
  const inBounds = (place: Place, size: number): void => {
    if (place.kind === "callback") {
      if (
        place.of === "record"
          ? fn.placement !== "host"
          : place.of === "frame"
            ? fn.kind !== "round"
            : fn.kind !== "map-callback" && fn.within !== "map-callback"
      )
        complaints.push(`${place.of} is not there in a ${fn.kind}`);
      return;
    }
    const slot = fn.slots[place.slot];
    if (slot === undefined) complaints.push(`slot ${place.slot} is not there`);
    else if (place.offset < 0 || place.offset + size > slot.size)
      complaints.push(`bytes ${place.offset} to ${place.offset + size} of a slot of ${slot.size}`);
  };
  forEachSlot(i, (slot) => {
    if (fn.slots[slot] === undefined) complaints.push(`slot ${slot} is not there`);
  });
  const source = (s: Source): void => {
    if (s.kind === "copy") inBounds(s.from, s.size);
  };
  switch (i.op) {
    case "load":
      inBounds(i.from, i.size);
      break;
    case "kernel-print":
      inBounds(i.format, i.formatSize);
      inBounds(i.data, i.values * 8);
      break;
    case "address-of":
      if (i.what.kind !== "map") inBounds(i.what, 0);
      break;
    case "store":
      inBounds(i.to, i.size);
      break;
    case "zero":
      inBounds(i.at, i.size);
      break;
    case "fill":
      source(i.source);
      inBounds(i.to, sourceSize(i.source));
      break;
    case "fill-element":
      source(i.source);
      inBounds(i.to, i.count * i.stride);
      break;
    case "entry-copy":
    case "map-copy":
      inBounds(i.to, i.size);
      break;
    case "map-store":
      source(i.source);
      break;
    case "emit":
      i.fields.forEach(source);
      break;
    case "compare-bytes":
      inBounds(i.left, i.length);
      inBounds(i.right, i.length);
      break;
    case "concat-strings":
      inBounds(i.to, i.capacity);
      inBounds(i.left, i.leftCapacity);
      inBounds(i.right, i.rightCapacity);
      break;
    case "cut-string":
      inBounds(i.to, i.capacity);
      inBounds(i.text, i.capacity);
      break;
    case "host-text":
      if (i.to !== undefined) inBounds(i.to, i.capacity ?? 0);
      for (const arg of i.args) if (typeof arg !== "number") inBounds(arg.text, arg.capacity);
      break;
    case "compare-strings":
      inBounds(i.left, i.length);
      break;
    case "for-each":
      if (module !== undefined && module.functions[i.callback]?.kind !== "map-callback")
        complaints.push(`function ${i.callback} is no map callback`);
      break;
    case "rounds":
      if (module !== undefined && module.functions[i.round]?.kind !== "round")
        complaints.push(`function ${i.round} is no round`);
      break;
    default:
  }
  if ("map" in i && module !== undefined && module.maps[i.map] === undefined)
    complaints.push(`map ${i.map} is not there`);
  return complaints;
}
