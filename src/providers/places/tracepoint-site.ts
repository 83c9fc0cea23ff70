// What attaching a tracepoint needs to know of its place, and how events are named.

export type TracepointSite =
  | { readonly kind: "perf"; readonly id: number }
  | { readonly kind: "raw"; readonly event: string }
  /** The program was bound when it was loaded. */
  | { readonly kind: "bound" };

export interface Event {
  readonly category: string;
  readonly name: string;
}
