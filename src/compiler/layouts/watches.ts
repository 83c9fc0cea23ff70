// `-k`: what failed in a handler, and where in the script that stands. Each such place has two words in the per-CPU
// stripe: how often, and the last failure's code. Nothing is sent, so that a handler that fails a million times a
// second costs no more.
import type { Span } from "../../language/diagnostic.ts";
import type { Source } from "../ir/ir.ts";

export type WatchedCall =
  | "probe_read_kernel"
  | "probe_read_user"
  | "probe_read_kernel_str"
  | "probe_read_user_str"
  | "map_lookup_elem";

/** A place in the script whose failures are counted. Instructions refer to it by its index. */
export interface Watch {
  readonly span: Span;
  readonly call: WatchedCall;
}

export class Watches {
  readonly list: Watch[] = [];
  readonly #known = new Map<string, number>();

  /** The index of a place: one however often it is compiled. */
  at(span: Span, call: WatchedCall): number {
    const key = `${span.start} ${span.end} ${call}`;
    let index = this.#known.get(key);
    if (index === undefined) this.#known.set(key, (index = this.list.push({ span, call }) - 1));
    return index;
  }

  /** The source, watched if it reads memory. */
  source(source: Source, span: Span): Source {
    switch (source.kind) {
      case "string":
        return source.watch === undefined
          ? { ...source, watch: this.at(span, `probe_read_${source.space}_str`) }
          : source;
      case "memory":
      case "buffer":
        return source.watch === undefined ? { ...source, watch: this.at(span, `probe_read_${source.space}`) } : source;
      default:
        return source;
    }
  }
}
