// The formats that output comes in (`-f`): a file each, and a line here.
import type { Printer, PrinterOptions } from "./printer.ts";
import { TextConsumer } from "./text.ts";
import { lazy } from "../base/lazy.ts";

// Loaded for `-f json`.
const json = lazy<typeof import("./json.ts")>(() => require("./json.ts"));

export interface Format {
  readonly name: string;
  readonly doc: string;
  readonly open: (options: PrinterOptions) => Printer;
}

export const formats: readonly Format[] = [
  { name: "text", doc: "lines, as bpftrace prints them", open: (options) => new TextConsumer(options) },
  { name: "json", doc: "an object a line", open: (options) => new (json().JsonConsumer)(options) },
  { name: "folded", doc: "maps for flame graphs", open: (options) => new TextConsumer({ ...options, folded: true }) },
];
