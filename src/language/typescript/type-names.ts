// Types as handlers write them: in strings, as C does ("struct sock *", "u32", "char[16]"), as what struct() and its kin gave, and as
// `typeof x`.
import type * as js from "acorn";
import type { Span } from "../diagnostic.ts";
import type { TypeName } from "../program.ts";
import type { TypeBinding } from "./binding.ts";
import { casts, isCast } from "./specials.ts";
import type { Unit } from "./unit.ts";

const written = /^\s*(?:(struct|union|enum)\s+)?([A-Za-z_][\w:]*(?:\s+[A-Za-z_]\w*)*?)\s*(\**)\s*((?:\[\d*\])*)\s*$/;

/** Undefined for what is no type. */
export function parseTypeName(text: string, span: Span): TypeName | undefined {
  const match = written.exec(text.replace(/\s*\*\s*/g, "*").replace(/\*+/, (stars) => ` ${stars}`));
  if (match === null) return undefined;
  const [, tag, name, stars, lengths] = match;
  const dimensions = [...lengths.matchAll(/\[(\d*)\]/g)].map(([, length]) => Number(length));
  return {
    name: name.replace(/\s+/g, " "), ...(tag === undefined ? {} : { tag: tag as "struct" | "union" | "enum" }),
    pointers: stars.length, dimensions, span,
  };
}

/** The type that an argument names. */
export function typeArgument(unit: Unit, node: js.Expression | js.SpreadElement): TypeName {
  const span = unit.span(node);
  if (node.type === "SpreadElement") return unit.refuseSyntax(node, "SpreadElement");
  if (node.type === "UnaryExpression" && node.operator === "typeof") {
    return { name: "typeof", pointers: 0, dimensions: [], of: unit.grammar.value(unit, node.argument), span };
  }
  if (node.type === "CallExpression" && (node.callee.type === "Identifier" || node.callee.type === "MemberExpression")) {
    const callee = unit.grammar.refer(unit, node.callee);
    if (callee.kind === "special" && (callee.name === "pointerTo" || callee.name === "arrayOf")) {
      const [of, length] = node.arguments;
      const wanted = callee.name === "pointerTo" ? 1 : 2;
      if (node.arguments.length !== wanted) unit.refuse(node, "arguments", `${callee.name}() takes ${wanted === 1 ? "a type" : "a type and a length"}`);
      const inner = typeArgument(unit, of);
      if (callee.name === "pointerTo") return pointerTo(unit, inner, node);
      const count = length.type === "SpreadElement" ? undefined : unit.grammar.value(unit, length);
      if (count?.kind !== "integer") return unit.refuse(length, "arguments", "an array's length is a constant");
      return { ...inner, dimensions: [Number(count.value), ...inner.dimensions], span };
    }
  }
  if (node.type === "Identifier" || node.type === "MemberExpression") {
    const reference = unit.grammar.refer(unit, node);
    if (reference.kind === "type") return typeNameOf(unit, reference.type, node, reference.name);
    if (reference.kind === "special" && isCast(reference.name)) return { name: casts[reference.name], pointers: 0, dimensions: [], span };
    if (reference.kind !== "value") return notAType(unit, node);
  }
  const text = unit.grammar.value(unit, node);
  return (text.kind === "string" ? parseTypeName(text.value, span) : undefined) ?? notAType(unit, node);
}

function notAType(unit: Unit, node: js.Node): never {
  return unit.refuse(node, "arguments", "this is no type", 'write it as C does, "struct sock", "u32 *", "char[16]"; or describe it: const header = struct({ … })');
}

/** A struct alone means a pointer to one: what a handler has is always its address. */
export function addressType(type: TypeName): TypeName {
  const structure = type.tag === "struct" || type.tag === "union";
  return structure && type.pointers === 0 && type.dimensions.length === 0 ? { ...type, pointers: 1 } : type;
}

/** A described type, by name; its structs and enums become the script's own. `captured` is what the handler calls it. */
export function typeNameOf(unit: Unit, type: TypeBinding, node: js.Node, captured: string): TypeName {
  const span = unit.span(node);
  switch (type.kind) {
    case "written": return parseTypeName(type.text, span) ?? unit.refuse(node, "type",
      `${JSON.stringify(type.text)} is no type`, 'a type is written as C writes it: "struct sock *", "u32", "char[16]"');
    case "struct": {
      const name = unit.translation.structName(type, captured, span, (member, of) => typeNameOf(unit, of, node, `${captured}_${member}`));
      return { name, tag: type.union ? "union" : "struct", pointers: 0, dimensions: [], span };
    }
    case "enum": return { name: unit.translation.enumName(type, captured, span), tag: "enum", pointers: 0, dimensions: [], span };
    case "pointer": return pointerTo(unit, typeNameOf(unit, type.to, node, captured), node);
    case "array": {
      const of = typeNameOf(unit, type.of, node, captured);
      return { ...of, dimensions: [type.length, ...of.dimensions] };
    }
  }
}

function pointerTo(unit: Unit, type: TypeName, node: js.Node): TypeName {
  if (type.dimensions.length > 0) return unit.refuse(node, "type",
    "there are no pointers to arrays", "point to the element: pointerTo(u8), and p[i]");
  return { ...type, pointers: type.pointers + 1, span: unit.span(node) };
}
