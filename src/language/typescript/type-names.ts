// Types as handlers write them: in strings, as C does ("struct sock *", "u32", "char[16]"), as what struct() and its
// kin gave, and as `typeof x`.
import { handlerNames } from "../../messages/typescript-names.ts";
import type * as js from "acorn";
import type { Span } from "../diagnostic.ts";
import type { TypeModifiers, TypeName } from "../program.ts";
import type { TypeBinding } from "./binding.ts";
import { casts, isCast } from "./specials.ts";
import type { Reader } from "./reader.ts";

const written = /^\s*(?:(struct|union|enum)\s+)?([A-Za-z_][\w:]*(?:\s+[A-Za-z_]\w*)*?)\s*((?:\*|\[\d*\])*)\s*$/;

/** Undefined for what is not a type. */
export function parseTypeName(text: string, span: Span): TypeName | undefined {
  const match = written.exec(text.replace(/\s*([*[])\s*/g, "$1").replace(/[*[]/, " $&"));
  if (match === null) return undefined;
  const [, tag, name, modifiers] = match;
  const rounds = [...modifiers.matchAll(/(\**)((?:\[\d*\])*)/g)].map(([, stars, lengths]) => ({
    pointers: stars.length,
    dimensions: [...lengths.matchAll(/\[(\d*)\]/g)].map(([, length]) => Number(length)),
  }));
  const [first, ...behind] = rounds.filter(
    ({ pointers, dimensions }, i) => i === 0 || pointers + dimensions.length > 0,
  );
  return {
    name: name.replace(/\s+/g, " "),
    ...(tag === undefined ? {} : { tag: tag as "struct" | "union" | "enum" }),
    ...first,
    ...(behind.length === 0 ? {} : { behind }),
    span,
  };
}

/** The type that an argument names. */
export function typeArgument(reader: Reader, node: js.Expression | js.SpreadElement): TypeName {
  const span = reader.span(node);
  if (node.type === "SpreadElement") return reader.refuseSyntax(node, "SpreadElement");
  if (node.type === "UnaryExpression" && node.operator === "typeof") {
    return { name: "typeof", pointers: 0, dimensions: [], of: reader.grammar.value(reader, node.argument), span };
  }
  if (
    node.type === "CallExpression" &&
    (node.callee.type === "Identifier" || node.callee.type === "MemberExpression")
  ) {
    const callee = reader.grammar.refer(reader, node.callee);
    if (callee.kind === "special" && (callee.name === "pointerTo" || callee.name === "arrayOf")) {
      const [of, length] = node.arguments;
      const wanted = callee.name === "pointerTo" ? 1 : 2;
      if (node.arguments.length !== wanted)
        reader.refuse(node, handlerNames.takes(callee.name, wanted === 1 ? "a type" : "a type and a length"));
      const inner = typeArgument(reader, of);
      if (callee.name === "pointerTo") return pointerTo(inner, span);
      const count = length.type === "SpreadElement" ? undefined : reader.grammar.value(reader, length);
      if (count?.kind !== "integer") return reader.refuse(length, handlerNames.arrayLengthConstant());
      return { ...arrayOf(inner, Number(count.value)), span };
    }
  }
  if (node.type === "Identifier" || node.type === "MemberExpression") {
    const reference = reader.grammar.refer(reader, node);
    if (reference.kind === "type") return typeNameOf(reader, reference.type, node, reference.name);
    if (reference.kind === "special" && isCast(reference.name))
      return { name: casts[reference.name], pointers: 0, dimensions: [], span };
    if (reference.kind !== "value") return notAType(reader, node);
  }
  const text = reader.grammar.value(reader, node);
  return (text.kind === "string" ? parseTypeName(text.value, span) : undefined) ?? notAType(reader, node);
}

function notAType(reader: Reader, node: js.Node): never {
  return reader.refuse(node, handlerNames.noType());
}

/** A struct alone means a pointer to one: what a handler has is always its address. */
export function addressType(type: TypeName): TypeName {
  const structure = type.tag === "struct" || type.tag === "union";
  return structure && type.pointers === 0 && type.dimensions.length === 0 ? { ...type, pointers: 1 } : type;
}

/**
 * A described type, by name; its structs and enums become the script's own. `captured` is what the handler calls it.
 */
export function typeNameOf(reader: Reader, type: TypeBinding, node: js.Node, captured: string): TypeName {
  const span = reader.span(node);
  switch (type.kind) {
    case "written":
      return parseTypeName(type.text, span) ?? reader.refuse(node, handlerNames.textNotType(JSON.stringify(type.text)));
    case "struct": {
      const name = reader.translation.structName(type, captured, span, (member, of) =>
        typeNameOf(reader, of, node, `${captured}_${member}`),
      );
      return { name, tag: type.union ? "union" : "struct", pointers: 0, dimensions: [], span };
    }
    case "enum":
      return {
        name: reader.translation.enumName(type, captured, span),
        tag: "enum",
        pointers: 0,
        dimensions: [],
        span,
      };
    case "pointer":
      return pointerTo(typeNameOf(reader, type.to, node, captured), span);
    case "array":
      return arrayOf(typeNameOf(reader, type.of, node, captured), type.length);
  }
}

function pointerTo(type: TypeName, span: Span): TypeName {
  const last = type.behind?.at(-1) ?? type;
  if (last.dimensions.length > 0)
    return { ...type, behind: [...(type.behind ?? []), { pointers: 1, dimensions: [] }], span };
  return { ...outermost(type, { pointers: last.pointers + 1, dimensions: [] }), span };
}

function arrayOf(type: TypeName, length: number): TypeName {
  const { pointers, dimensions } = type.behind?.at(-1) ?? type;
  return outermost(type, { pointers, dimensions: [length, ...dimensions] });
}

/** With the modifiers that were written last exchanged. */
function outermost(type: TypeName, modifiers: TypeModifiers): TypeName {
  return type.behind === undefined
    ? { ...type, ...modifiers }
    : { ...type, behind: [...type.behind.slice(0, -1), modifiers] };
}
