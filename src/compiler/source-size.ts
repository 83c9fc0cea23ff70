import type { Source } from "./ir.ts";

/** Bytes that a source fills. */
export function sourceSize(source: Source): number {
  switch (source.kind) {
    case "value":
      return source.width;
    case "copy":
    case "constant":
    case "string":
    case "memory":
    case "path":
      return source.size;
    case "buffer":
      return 4 + source.capacity;
    case "comm":
    case "stack":
      return 16;
  }
}
