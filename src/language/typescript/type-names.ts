// Types as handlers write them, in strings and as C does: "struct sock *", "u32", "char[16]".
import type { Span } from "../diagnostic.ts";
import type { TypeName } from "../program.ts";

const written = /^\s*(?:(struct|union|enum)\s+)?([A-Za-z_][\w:]*(?:\s+[A-Za-z_]\w*)*?)\s*(\**)\s*((?:\[\d*\])*)\s*$/;

/** Undefined for what is no type. With `pointer` a struct alone means a pointer to one: what a handler has is always its address. */
export function parseTypeName(text: string, span: Span, pointer: boolean): TypeName | undefined {
  const match = written.exec(text.replace(/\s*\*\s*/g, "*").replace(/\*+/, (stars) => ` ${stars}`));
  if (match === null) return undefined;
  const [, tag, name, stars, lengths] = match;
  const dimensions = [...lengths.matchAll(/\[(\d*)\]/g)].map(([, length]) => Number(length));
  const structure = tag === "struct" || tag === "union";
  return {
    name: name.replace(/\s+/g, " "), ...(tag === undefined ? {} : { tag: tag as "struct" | "union" | "enum" }),
    pointers: stars.length === 0 && dimensions.length === 0 && structure && pointer ? 1 : stars.length, dimensions, span,
  };
}
