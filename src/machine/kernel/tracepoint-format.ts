// The text of a tracepoint's `format` file (Documentation/trace/events.rst).
import type { TracepointField, TracepointFormat } from "../system.ts";

const FIELD = /^\s*field:(.*?);\s*offset:(\d+);\s*size:(\d+);(?:\s*signed:(\d+);)?/;
/** Type, name, dimensions: `__data_loc char[] name`, `char prev_comm[16]`, `const char * filename`. */
const DECLARATION = /^(.*[\s*\]])?(\w+)((?:\s*\[[^\]]*\])*)$/;

/** Some kernels print a length of texts that nobody has set (user_event_add_field leaves it as it finds it). */
const unsetLength = /^(__rel_loc .*)\[\d+\]$/;
/** Of one byte each: they have as many elements as bytes. The kernel prints an unset length of user events' here as well. */
const bytesInPlace = /^((?:(?:un)?signed )?char|[us]8)\[\d*\]$/;

/**
 * Fields in the file's order, without the common_ ones. A field's `declaration` is its C type without the name: an
 * array's dimensions stand behind it (`char[16]`), `__data_loc` and `__rel_loc` in front. Undefined when the text is no
 * format.
 */
export function parseTracepointFormat(text: string): TracepointFormat | undefined {
  const id = /^ID:\s*(\d+)/m.exec(text);
  if (id === null) return undefined;
  const fields: TracepointField[] = [];
  for (const line of text.split("\n")) {
    const match = FIELD.exec(line);
    if (match === null) {
      if (line.startsWith("print fmt:")) break;
      continue;
    }
    const declared = DECLARATION.exec(match[1].trim());
    if (declared === null) continue;
    const name = declared[2];
    if (name.startsWith("common_")) continue;
    const size = Number(match[3]);
    fields.push({
      name,
      declaration: `${(declared[1] ?? "").trim()}${declared[3].replace(/\s+/g, "")}`
        .replace(unsetLength, "$1[]")
        .replace(bytesInPlace, (all, element: string) => (size > 0 ? `${element}[${size}]` : all)),
      offset: Number(match[2]),
      size,
      signed: match[4] === "1",
    });
  }
  return { id: Number(id[1]), fields };
}
