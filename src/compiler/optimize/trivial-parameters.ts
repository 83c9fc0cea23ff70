// A block parameter that is given one and the same value on every way in is that value; one that nobody reads is dropped.
import type { IrFunction, Value } from "../ir.ts";
import { operandsOf, terminatorOperands } from "./operands.ts";
import { replaceValues } from "./replace.ts";

export function dropTrivialParameters(fn: IrFunction): IrFunction {
  let current = fn;
  for (;;) {
    const next = once(current);
    if (next === current) return current;
    current = next;
  }
}

function once(fn: IrFunction): IrFunction {
  const given = new Map<Value, Set<Value>>();
  for (const { terminator: t } of fn.blocks) {
    if (t.op !== "jump") continue;
    fn.blocks[t.to].parameters.forEach((parameter, i) => {
      const values = given.get(parameter) ?? new Set();
      if (t.args[i] !== parameter) values.add(t.args[i]);
      given.set(parameter, values);
    });
  }
  const read = readValues(fn);
  const same = new Map<Value, Value>();
  const dropped = new Set<Value>();
  for (const [parameter, values] of given) {
    const [only] = values;
    if (values.size === 1) same.set(parameter, only);
    if (values.size === 1 || !read.has(parameter)) dropped.add(parameter);
  }
  if (dropped.size === 0) return fn;
  const blocks = fn.blocks.map((block) => {
    const { terminator: t } = block;
    return {
      ...block,
      parameters: block.parameters.filter((p) => !dropped.has(p)),
      terminator: t.op === "jump" ? { ...t, args: t.args.filter((_, i) => !dropped.has(fn.blocks[t.to].parameters[i])) } : t,
    };
  });
  return replaceValues({ ...fn, blocks }, same);
}

/** Values that something depends on: read by an instruction or a branch, or passed on to a parameter that is. */
function readValues(fn: IrFunction): ReadonlySet<Value> {
  const read = new Set<Value>();
  for (const { instructions, terminator } of fn.blocks) {
    for (const i of instructions) for (const value of operandsOf(i)) read.add(value);
    if (terminator.op !== "jump") for (const value of terminatorOperands(terminator)) read.add(value);
  }
  for (let changed = true; changed;) {
    changed = false;
    for (const { terminator: t } of fn.blocks) {
      if (t.op !== "jump") continue;
      fn.blocks[t.to].parameters.forEach((parameter, i) => {
        if (read.has(parameter) && !read.has(t.args[i])) {
          read.add(t.args[i]);
          changed = true;
        }
      });
    }
  }
  return read;
}
