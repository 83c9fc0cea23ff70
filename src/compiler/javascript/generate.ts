// An IR function as the source of a JavaScript function. Values are BigInts in the range of a signed 64-bit integer,
// slots are byte arrays, blocks are the cases of a switch in a loop.
import { InternalError } from "../../base/internal-error.ts";
import { operandsOf, terminatorOperands } from "../optimize/operands.ts";
import type { IrFunction, Terminator, Value } from "../ir/ir.ts";
import { writeInstruction } from "./operations.ts";
import { supportFunction, supportNeeds, type SupportName } from "./support.ts";
import type { HostModule, LoadFromContext, Writer } from "./writer.ts";

/** After so many rounds of loops the runtime is asked whether to go on: some milliseconds. */
const ROUNDS_AT_ONCE = 1 << 16;

/**
 * The source of an expression whose value is a `HostFunction` (see runtime.ts; evaluate() makes it one). The map
 * callbacks that the function calls are part of it.
 */
export function generate(fn: IrFunction, module: HostModule): string {
  const constants: string[] = [];
  const constantNames = new Map<string, string>();
  const used = new Set<SupportName>();
  const callbacks = new Map<number, string>();
  /** A captured handler's record is known to its callbacks as well. */
  let record = false;
  const own: string[] = [];
  let temporaries = 0;

  const functionText = (of: IrFunction): string => {
    const lines: string[] = [];
    const slot = (index: number): string =>
      `const s${index} = new Uint8Array(${of.slots[index].size}); // ${comment(of.slots[index].name)}`;
    const moved = movedFromContext(of);
    const known = constantsIn(of);
    const writer: Writer = {
      module,
      movedFromContext: (value) => moved.get(value),
      line: (text) => void lines.push(text),
      temporary: () => `t${temporaries++}`,
      constant(bytes) {
        const text = `[${bytes.join(",")}]`;
        let name = constantNames.get(text);
        if (name === undefined) {
          constantNames.set(text, (name = `c${constants.length}`));
          constants.push(`const ${name} = new Uint8Array(${text});`);
        }
        return name;
      },
      constantValue: (value) => known.get(value),
      support(name) {
        used.add(name);
        for (const need of supportNeeds[name] ?? []) used.add(need);
        return name;
      },
      callback(index) {
        if (!callbacks.has(index)) {
          callbacks.set(index, "");
          const callee = module.functions[index];
          if (callee === undefined) throw new InternalError(`no function ${index} for a map callback`);
          callbacks.set(
            index,
            `function callback${index}(runtime, key, value, captures, frame) ${functionText(callee)}`,
          );
        }
        return `callback${index}`;
      },
      sizeOf: (index) => of.slots[index].size,
      place(place) {
        return place.kind === "slot"
          ? { bytes: `s${place.slot}`, offset: place.offset }
          : { bytes: place.of, offset: place.offset };
      },
      record(offset) {
        record = true;
        return `recordAt + ${offset}`;
      },
      missing(what) {
        used.add("missing");
        lines.push(`missing(${JSON.stringify(what)});`);
      },
    };
    writeBody(writer, of);
    const slots = of.slots.map((_, i) => slot(i));
    // What runs for each event works in what is made once.
    if (of === fn && module.eachEvent === true) own.push(...slots);
    else lines.unshift(...slots);
    return `{\n${lines.join("\n")}\n}`;
  };

  const main = functionText(fn);
  const support = [...used].map(supportFunction);
  const kept = record ? ["let record, recordAt = 0;"] : [];
  const taken = record ? "{\nrecord = ownRecord; recordAt = ownAt;" : "{";
  return `(() => {\n${[...kept, ...own, ...constants, ...support, ...callbacks.values()].join("\n")}\nreturn (runtime${record ? ", ownRecord, ownAt" : ""}) => ${main.replace("{", () => taken)};\n})()`;
}

/** Values that are one constant, wherever they are given. */
function constantsIn({ blocks }: IrFunction): ReadonlyMap<Value, bigint> {
  const constants = new Map<Value, bigint>();
  const given = new Set<Value>();
  for (const { instructions } of blocks)
    for (const one of instructions) {
      if (!("result" in one) || one.result === undefined) continue;
      if (one.op === "constant" && !given.has(one.result)) constants.set(one.result, one.value);
      else constants.delete(one.result);
      given.add(one.result);
    }
  return constants;
}

/** A number of 64 bits that is made only to be taken apart takes longer than the bytes to move. */
function movedFromContext({ blocks }: IrFunction): ReadonlyMap<Value, LoadFromContext> {
  const loads = new Map<Value, LoadFromContext>();
  const stored = new Set<Value>();
  const used = new Set<Value>();
  for (const { instructions, terminator } of blocks) {
    for (const instruction of instructions) {
      if (instruction.op === "load-context") loads.set(instruction.result, instruction);
      if (instruction.op !== "store" || stored.has(instruction.value))
        for (const value of operandsOf(instruction)) used.add(value);
      else stored.add(instruction.value);
    }
    for (const value of terminatorOperands(terminator)) used.add(value);
  }
  return new Map([...loads].filter(([value]) => stored.has(value) && !used.has(value)));
}

function writeBody(out: Writer, fn: IrFunction): void {
  const callback = fn.kind === "map-callback";
  if (fn.values.length > 0) out.line(`let ${fn.values.map((_, i) => `v${i} = 0n`).join(", ")};`);
  if (fn.blocks.some(({ terminator }) => terminator.op === "guard")) out.line("let rounds = 0;");
  const lone = fn.blocks.length === 1 && fn.blocks[0]?.terminator.op === "return";
  if (!lone) out.line("let block = 0;\nfor (;;) switch (block) {");
  fn.blocks.forEach((block, i) => {
    if (!lone) out.line(`case ${i}: {`);
    for (const instruction of block.instructions) writeInstruction(out, instruction);
    writeTerminator(out, fn, block.terminator, callback);
    if (!lone) out.line("}");
  });
  if (!lone) out.line("}");
}

function writeTerminator(out: Writer, fn: IrFunction, terminator: Terminator, callback: boolean): void {
  switch (terminator.op) {
    case "jump": {
      const parameters = fn.blocks[terminator.to]?.parameters ?? [];
      const moves = parameters.map((to, i) => ({ to, from: terminator.args[i] })).filter(({ to, from }) => to !== from);
      if (moves.length === 1) {
        out.line(`v${moves[0]?.to} = v${moves[0]?.from};`);
      } else if (moves.length > 1) {
        // All at once: an argument may be a parameter of the same block.
        const names = moves.map(({ from }) => {
          const name = out.temporary();
          out.line(`const ${name} = v${from};`);
          return name;
        });
        moves.forEach(({ to }, i) => out.line(`v${to} = ${names[i]};`));
      }
      out.line(`block = ${terminator.to}; continue;`);
      return;
    }
    case "branch":
      out.line(`block = v${terminator.condition} !== 0n ? ${terminator.then} : ${terminator.otherwise}; continue;`);
      return;
    case "guard":
      out.line(
        `if (++rounds === ${ROUNDS_AT_ONCE}) { rounds = 0; runtime.rest(); }\nblock = ${terminator.body}; continue;`,
      );
      return;
    case "return":
      out.line(callback ? `return ${terminator.stop === true};` : "return;");
      return;
  }
}

function comment(text: string): string {
  return text.replace(/[^ -~]/g, "?");
}
