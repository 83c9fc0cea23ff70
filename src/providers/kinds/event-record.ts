// The record of an event, as its format file describes it.
import type { Argument, Fetch } from "../../language/context.ts";
import { integer } from "../../language/types.ts";
import { declaredType } from "../../machine/kernel/declared-type.ts";
import type { System, TracepointField } from "../../machine/system.ts";

const wordSizes = [1, 2, 4, 8] as const;

/** A field of the record that the program's context points to. */
export function recordArgument(field: TracepointField, space: "kernel" | "user", system: System): Argument {
  const { name, offset, size, signed } = field;
  const dynamic = /^__(data|rel)_loc\s+(.*?)\s*(\[\s*\])?$/.exec(field.declaration);
  if (dynamic) {
    // The word says where in the record the array lies; as a value it is the array's address.
    const element = declaredType(dynamic[2], 0, signed, "kernel", system.types);
    return {
      name,
      type: { kind: "pointer", target: element, space: "kernel" },
      fetch: { kind: "data-location", offset, relative: dynamic[1] === "rel" },
    };
  }
  // What is left of the record, whose length nothing says: ftrace:print's text.
  if (size === 0 && field.declaration.endsWith("[]")) {
    const element = declaredType(field.declaration.slice(0, -2), 0, signed, "kernel", system.types);
    const fetch: Fetch = { kind: "address", base: "context", offset };
    return { name, type: { kind: "pointer", target: element, space: "kernel" }, fetch };
  }
  const type = declaredType(field.declaration, size, signed, space, system.types);
  const word = wordSizes.find((one) => one === size);
  if (word === undefined || type.kind === "array" || type.kind === "struct") {
    const fetch: Fetch = { kind: "address", base: "context", offset };
    // Bytes of a type unknown to us.
    const bytes =
      type.kind === "array" || type.kind === "struct"
        ? type
        : { kind: "array" as const, element: integer(8, false), length: size };
    return { name, type: bytes, fetch, place: "context" };
  }
  const extended = type.kind === "integer" || type.kind === "enum" ? type.signed : false;
  return { name, type, fetch: { kind: "context", offset, size: word, signed: extended } };
}

/** `    char prev_comm[16]`, as the format file has it. */
export function describeField(field: TracepointField): string {
  const array = /^(.*?)((?:\[[^\]]*\])+)$/.exec(field.declaration);
  if (array && !field.declaration.startsWith("__")) return `    ${array[1].trim()} ${field.name}${array[2]}`;
  return `    ${field.declaration} ${field.name}`;
}
