// How a value of a function was made, told as what a provider tells of its own values: what fetches it.
import type { Fetch } from "../../language/context.ts";
import type { BinaryOp, Instruction, IrFunction, Value } from "../ir/ir.ts";

export class MadeValues {
  readonly #made = new Map<Value, Instruction>();

  constructor({ blocks }: IrFunction) {
    for (const { instructions } of blocks)
      for (const i of instructions) if ("result" in i && i.result !== undefined) this.#made.set(i.result, i);
  }

  fetch(value: Value): Fetch {
    const made = this.#made.get(value);
    switch (made?.op) {
      case "constant":
        return { kind: "constant", value: made.value };
      case "load-context": {
        const { offset, size, signed } = made;
        return { kind: "context", offset, size, signed };
      }
      case "read": {
        const { offset, size, signed, space } = made;
        return { kind: "pointed", base: this.fetch(made.address), offset, size, signed, space };
      }
      case "extend": {
        const size = (made.bits / 8) as 1 | 2 | 4;
        return { kind: "narrow", of: this.fetch(made.value), size, signed: made.signed };
      }
      case "binary": {
        const operator = operators[made.kind];
        if (operator === undefined) return computed;
        return { kind: "binary", operator, left: this.fetch(made.left), right: this.fetch(made.right) };
      }
      case "builtin":
        return made.name === "task" ? { kind: "task" } : computed;
      default:
        return computed;
    }
  }
}

const zero: Fetch = { kind: "constant", value: 0n };
/** What the words of an event have no way to say. */
const computed: Fetch = { kind: "binary", operator: "*", left: zero, right: zero };

const operators: Partial<Record<BinaryOp, Extract<Fetch, { kind: "binary" }>["operator"]>> = { add: "+", sub: "-" };
