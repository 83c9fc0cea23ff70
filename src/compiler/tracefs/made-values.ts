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

  /** Where in the event's own record a text is, if it is there. */
  recordText(address: Value): RecordText | undefined {
    const made = this.#made.get(address);
    if (made?.op !== "binary" || made.kind !== "add") return undefined;
    const sides = [made.left, made.right].map((side) => this.#made.get(side));
    if (!sides.some((side) => side?.op === "builtin" && side.name === "context")) return undefined;
    for (const side of sides) {
      if (side?.op === "constant") return { offset: Number(side.value), located: false };
      if (side?.op !== "binary" || side.kind !== "and") continue;
      const [word, mask] = [this.#made.get(side.left), this.#made.get(side.right)];
      if (mask?.op === "constant" && mask.value === 0xffffn && word?.op === "load-context" && word.size === 4)
        return { offset: word.offset, located: true };
    }
    return undefined;
  }
}

/** `located`: at the offset is the word that says where the text is (`__data_loc`). */
export interface RecordText {
  readonly offset: number;
  readonly located: boolean;
}

const zero: Fetch = { kind: "constant", value: 0n };
/** What the words of an event have no way to say. */
const computed: Fetch = { kind: "binary", operator: "*", left: zero, right: zero };

const operators: Partial<Record<BinaryOp, Extract<Fetch, { kind: "binary" }>["operator"]>> = { add: "+", sub: "-" };
