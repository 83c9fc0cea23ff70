// Values of libraries as their languages show them, copied from programs: as text and as JSON. Loaded where a script
// shows one.
import { fieldLayout, sequenceHeader } from "../language/layout.ts";
import type { Alternative, ChoiceType, SequenceType, Type } from "../language/types.ts";

/** Bytes to read from: records and map entries alike. */
export interface Memory {
  readonly bytes: Uint8Array;
  readonly view: DataView;
}

/** A value at an offset, as text or as JSON. */
type Show = (type: Type, offset: number) => string;

/** The offsets of the elements, of how many (undefined: an impossible number), and what says how many are missing. */
function elementsOf(
  { capacity, stride }: SequenceType,
  { view }: Memory,
  offset: number,
): { readonly offsets: readonly number[]; readonly possible: boolean; readonly missing: string | undefined } {
  const total = view.getBigUint64(offset, true);
  if (total === impossible) return { offsets: [], possible: false, missing: undefined };
  const copied = Math.min(capacity, stride === 0 ? 0 : Math.floor(view.getUint32(offset + 12, true) / stride));
  const offsets = Array.from({ length: copied }, (_, i) => offset + sequenceHeader + i * stride);
  const more = total - BigInt(copied);
  const brokeOff = view.getUint32(offset + 8, true) !== 0 || copied === 0;
  return {
    offsets,
    possible: true,
    missing: more === 0n ? undefined : brokeOff ? `<${more} unreadable>` : `… ${more} more`,
  };
}

const impossible = (1n << 64n) - 1n;
const impossibleText = "<impossible length>";

function chosen(type: ChoiceType, { view }: Memory, offset: number): Alternative {
  return type.alternatives[view.getUint32(offset, true)] ?? {};
}

/** `[1, 2, … 5 more]`, `{"a": 1}` */
export function sequenceText(type: SequenceType, memory: Memory, offset: number, show: Show): string {
  const { offsets, possible, missing } = elementsOf(type, memory, offset);
  const [open, close] = type.form === "list" ? "[]" : "{}";
  if (!possible) return `${open}${impossibleText}${close}`;
  const texts = offsets.map((at) => {
    if (type.form !== "mapping" || type.element.kind !== "tuple") return show(type.element, at);
    const [key, value] = type.element.elements;
    const places = fieldLayout(type.element.elements).offsets;
    return `${show(key, at + places[0])}: ${show(value, at + places[1])}`;
  });
  return `${open}${[...texts, ...(missing === undefined ? [] : [missing])].join(", ")}${close}`;
}

/** `Some(5)`; what has brackets of its own stands behind the name: `Circle { .radius = 5 }`. */
export function choiceText(type: ChoiceType, memory: Memory, offset: number, show: Show): string {
  const { name, type: own } = chosen(type, memory, offset);
  if (own === undefined) return name ?? "";
  const text = show(own, offset + 8);
  if (name === undefined) return text;
  return own.kind === "record" || own.kind === "struct"
    ? `${name} ${text}`
    : own.kind === "tuple"
      ? `${name}${text}`
      : `${name}(${text})`;
}

/**
 * A list, or an object where the keys are texts, numbers or truths; else a list of pairs. What was not copied is
 * counted in a last element.
 */
export function sequenceJson(type: SequenceType, memory: Memory, offset: number, json: Show, key: Show): string {
  const { offsets, possible, missing } = elementsOf(type, memory, offset);
  if (!possible) return JSON.stringify(impossibleText);
  const left = missing === undefined ? [] : [JSON.stringify(missing)];
  const { element } = type;
  if (
    type.form !== "mapping" ||
    element.kind !== "tuple" ||
    !["string", "integer", "boolean", "enum"].includes(element.elements[0].kind)
  ) {
    return `[${[...offsets.map((at) => json(element, at)), ...left].join(",")}]`;
  }
  const places = fieldLayout(element.elements).offsets;
  const members = offsets.map(
    (at) => `${key(element.elements[0], at + places[0])}: ${json(element.elements[1], at + places[1])}`,
  );
  return `{${[...members, ...left.map((text) => `"…": ${text}`)].join(", ")}}`;
}

/** What stands for nothing is null; a name alone its text; a value with a name an object with one member. */
export function choiceJson(type: ChoiceType, memory: Memory, offset: number, json: Show): string {
  const { name, type: own, none } = chosen(type, memory, offset);
  if (none === true) return "null";
  if (own === undefined) return JSON.stringify(name ?? "");
  const value = json(own, offset + 8);
  return name === undefined ? value : `{${JSON.stringify(name)}: ${value}}`;
}
