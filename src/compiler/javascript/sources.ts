// Filling memory from an IR source.
import { type Place, type Source, type Value, sourceSize } from "../ir/ir.ts";
import type { Target, Writer } from "./writer.ts";

/**
 * Statements that fill a target; `length` receives the characters or bytes copied, `failed` whether memory could not be
 * read.
 */
export function writeSource(out: Writer, target: Target, source: Source, length?: Value, failed?: Value): void {
  const { bytes, offset } = target;
  const size = sourceSize(source);
  const clear = `${bytes}.fill(0, ${offset}, ${offset + size});`;
  const copied = (expression: string): void => {
    if (length !== undefined) out.line(`v${length} = BigInt(${expression});`);
  };
  const unread = (read: string): void => {
    if (failed !== undefined) out.line(`v${failed} = ${read} ? 0n : 1n;`);
  };
  switch (source.kind) {
    case "value":
      out.line(`${out.support("store")}(${bytes}, ${offset}, ${source.width}, v${source.value});`);
      copied(String(source.width));
      return;
    case "copy": {
      if (source.from.kind === "callback" && source.from.of === "record") {
        const at = out.record(source.from.offset);
        out.line(`${out.support("copyBytes")}(${bytes}, ${offset}, record.bytes, ${at}, ${size});`);
        copied(String(size));
        return;
      }
      const from = out.place(source.from);
      out.line(`${bytes}.set(${from.bytes}.subarray(${from.offset}, ${from.offset + size}), ${offset});`);
      copied(String(size));
      return;
    }
    case "constant": {
      const text = source.bytes.subarray(0, size);
      if (text.length < size) out.line(clear);
      if (text.length > 0) out.line(`${bytes}.set(${out.constant(text)}, ${offset});`);
      const end = source.bytes.indexOf(0);
      copied(String(end < 0 ? text.length : end));
      return;
    }
    case "string": {
      const most =
        source.limit === undefined ? String(size - 1) : `${out.support("atMost")}(v${source.limit}, ${size - 1})`;
      out.line(`{ const text = ${out.support("readString")}(runtime, "${source.space}", v${source.address}, ${most});`);
      // The whole field, also where only the terminator is promised: then two runs give equal records.
      out.line(`${clear} ${bytes}.set(text ?? [], ${offset});`);
      copied("text ? text.length : 0");
      unread("text");
      out.line("}");
      return;
    }
    case "memory":
      out.line(
        `{ const memory = runtime.readMemory("${source.space}", BigInt.asUintN(64, v${source.address}), ${size});`,
      );
      out.line(`if (memory) ${bytes}.set(memory, ${offset}); else ${clear}`);
      copied(`memory ? ${size} : 0`);
      unread("memory");
      out.line("}");
      return;
    case "buffer":
      out.line(`{ const size = ${out.support("atMost")}(v${source.length}, ${source.capacity});`);
      out.line(
        `const memory = size === 0 ? [] : runtime.readMemory("${source.space}", BigInt.asUintN(64, v${source.address}), size);`,
      );
      out.line(`${clear} ${out.support("store")}(${bytes}, ${offset}, 4, BigInt(size));`);
      out.line(`if (memory) ${bytes}.set(memory, ${offset + 4});`);
      copied("memory ? size : 0");
      unread("memory");
      out.line("}");
      return;
    case "comm":
      out.line(`${clear} runtime.commInto(${bytes}, ${offset});`);
      copied("16");
      return;
    case "stack":
      out.line(`if (!runtime.stack) ${out.support("missing")}("a captured stack");`);
      out.line(`${bytes}.set(runtime.stack("${source.space}", ${source.limit}), ${offset});`);
      return;
    case "path":
      out.missing("path()");
      return;
  }
}

/** A fresh array filled from a source, of `size` bytes: a map's value. Gives its expression. */
export function sourceBytes(out: Writer, source: Source, size: number): string {
  if (source.kind === "constant" && source.bytes.length === size) return out.constant(source.bytes);
  if (source.kind === "copy" && source.size === size) return placeBytes(out, source.from, size);
  const name = out.temporary();
  const room = Math.max(size, sourceSize(source));
  out.line(`const ${name} = new Uint8Array(${room});`);
  writeSource(out, { bytes: name, offset: 0 }, source);
  return room === size ? name : `${name}.subarray(0, ${size})`;
}

/** A view of `size` bytes at a place. */
export function placeBytes(out: Writer, place: Place, size: number): string {
  if (place.kind === "slot" && place.offset === 0 && size === out.sizeOf(place.slot)) return `s${place.slot}`;
  const { bytes, offset } = out.place(place);
  return `${bytes}.subarray(${offset}, ${offset + size})`;
}
