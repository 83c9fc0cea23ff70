// print(): what is at an address, by the type that the script gives it, as DTrace lays it out. A description of the
// type goes with the bytes to the host (printedMemory of text-functions.ts).
import { dCalls } from "../../messages/d-calls.ts";
import type { Span } from "../diagnostic.ts";
import * as nodes from "../nodes.ts";
import type { Expression, StructDeclaration, TypeName } from "../program.ts";
import { roundUp } from "../layout.ts";
import type { Item } from "./formats.ts";
import { isNumber, knownType } from "./types.ts";
import type { Unit } from "./unit.ts";

/** A type as it is shown: its name, its bytes; and what is in it, from a byte on, or from a bit. */
interface Shown {
  readonly name: string;
  readonly size: number;
  readonly align: number;
  readonly kind: "signed" | "unsigned" | "character" | "pointer" | "enum" | "struct" | "array";
  readonly members?: readonly (readonly [name: string, offset: number, of: Shown, bit?: number, bits?: number])[];
  readonly element?: Shown;
  readonly count?: number;
  readonly names?: readonly (readonly [value: number, name: string])[];
}

/** `print(p)`, where what `p` points to is a type of the script's or one of C's; undefined where it is another. */
export function printedAt(of: Expression, span: Span, unit: Unit): Item | undefined {
  const pointer = unit.pointerOf(of);
  if (pointer === undefined || pointer.pointers === 0) return undefined;
  const target = { ...pointer, pointers: pointer.pointers - 1 };
  if (target.name === "void" && target.pointers === 0) return unit.cursor.fail(dCalls.printedVoid(), of.span);
  const shown = shownType(target, unit);
  if (shown === undefined || shown.size === 0) return undefined;
  const address = unit.cast("uint64", of);
  const bytes = nodes.call("buf", [of, nodes.integer(Math.min(shown.size, unit.options.printSize), span)], span);
  const text = nodes.hostText("printedMemory", [nodes.text(JSON.stringify(shown), span), bytes], span);
  return { text: { format: "0x%lx = *\n%s", args: [address, text] } };
}

function shownType(type: TypeName, unit: Unit): Shown | undefined {
  const { name, tag, pointers, dimensions } = type;
  if (type.behind !== undefined) return undefined;
  if (dimensions.length > 0 && name !== "string") {
    const [count, ...rest] = dimensions;
    const element = shownType({ ...type, dimensions: rest }, unit);
    if (element === undefined) return undefined;
    const { size, align } = element;
    return {
      name: `${nameOf({ ...type, dimensions: [] })} ${dimensions.map((one) => `[${one}]`).join("")}`,
      size: size * count,
      align,
      kind: "array",
      element,
      count,
    };
  }
  if (pointers > 0) return { name: nameOf(type), size: 8, align: 8, kind: "pointer" };
  if (tag === "enum") {
    const found = unit.enums.find((one) => one.name === name);
    if (found === undefined) return undefined;
    const names = found.constants.map((one) => [Number(one.value), one.name] as const);
    return { name: nameOf(type), size: 4, align: 4, kind: "enum", names };
  }
  if (tag !== undefined) {
    const found = unit.structs.find((one) => one.name === name);
    return found === undefined ? undefined : structShown(found, nameOf(type), unit);
  }
  const known = knownType(type);
  if (!isNumber(known)) return undefined;
  const size = Number(/\d+$/.exec(known)?.[0] ?? 0) / 8;
  const kind = size === 1 && name === "char" ? "character" : known.startsWith("u") ? "unsigned" : "signed";
  return { name: nameOf(type), size, align: size, kind };
}

/** `struct s *`; of a struct without a name, `struct`. */
function nameOf({ name, tag, pointers, alias }: TypeName): string {
  const base = alias ?? (tag === undefined ? name : name.includes("#") ? tag : `${tag} ${name}`);
  return pointers === 0 ? base : `${base} ${"*".repeat(pointers)}`;
}

/** Laid out as C does; undefined where something in it is of a type that is not known here. */
function structShown(declaration: StructDeclaration, name: string, unit: Unit): Shown | undefined {
  const members: (readonly [string, number, Shown, number?, number?])[] = [];
  let [bits, align, size] = [0, 1, 0];
  for (const { name: member, type, bitWidth } of declaration.members) {
    const of = "members" in type ? structShown(type, type.union ? "union" : "struct", unit) : shownType(type, unit);
    if (of === undefined) return undefined;
    if (declaration.union) bits = 0;
    align = Math.max(align, of.align);
    if (bitWidth === undefined) {
      const offset = roundUp(Math.ceil(bits / 8), of.align);
      members.push([member, offset, of]);
      bits = (offset + of.size) * 8;
    } else {
      const room = of.size * 8;
      if (Math.floor(bits / room) !== Math.floor((bits + bitWidth - 1) / room)) bits = roundUp(bits, room);
      const offset = Math.floor(bits / room) * of.size;
      members.push([member, offset, of, bits - offset * 8, bitWidth]);
      bits += bitWidth;
    }
    size = Math.max(size, Math.ceil(bits / 8));
  }
  return { name, size: roundUp(size, align), align, kind: "struct", members };
}
