// The formats that output comes in (`-f`): a file each, and a line here.
import type { Printer, PrinterOptions } from "./printer.ts";
import { TextConsumer } from "./text.ts";
import { lazy } from "../base/lazy.ts";

// Loaded for scripts in D.
const dtraceDrops = lazy<typeof import("./dtrace-drops.ts")>(() => require("./dtrace-drops.ts"));
const dtraceMaps = lazy<typeof import("./dtrace-maps.ts")>(() => require("./dtrace-maps.ts"));

// Loaded for scripts in SystemTap's language.
const stapMaps = lazy<typeof import("./stap-maps.ts")>(() => require("./stap-maps.ts"));

// Loaded for `-f json`.
const json = lazy<typeof import("./json.ts")>(() => require("./json.ts"));

// Loaded for formats that are one document.
const documents = lazy<typeof import("./document.ts")>(() => require("./document.ts"));
const svg = lazy<typeof import("./svg/page.ts")>(() => require("./svg/page.ts"));
const speedscope = lazy<typeof import("./speedscope.ts")>(() => require("./speedscope.ts"));
const pprof = lazy<typeof import("./pprof.ts")>(() => require("./pprof.ts"));

// Loaded for lines that are events of the kernel's.
const kernelLines = lazy<typeof import("./kernel-lines.ts")>(() => require("./kernel-lines.ts"));

export interface Format {
  readonly name: string;
  readonly doc: string;
  /** Goes to no file: what stands behind `NAME=` is one of these in the kernel, whose own default there is. */
  readonly inKernel?: RegExp;
  readonly open: (options: PrinterOptions, inKernel?: string) => Printer;
}

export const formats: readonly Format[] = [
  { name: "text", doc: "lines, as bpftrace prints them", open: (options) => new TextConsumer(options) },
  {
    name: "dtrace",
    doc: "lines, and aggregations as DTrace prints them",
    open: (options) =>
      new TextConsumer({
        ...options,
        maps: (...map) => dtraceMaps().dtraceMap(...map),
        troubles: (trouble) => dtraceDrops().dtraceDrops(trouble),
      }),
  },
  {
    name: "stap",
    doc: "lines, and histograms as SystemTap prints them",
    open: (options) => new TextConsumer({ ...options, maps: (snapshot) => stapMaps().stapMap(snapshot) }),
  },
  { name: "json", doc: "an object a line", open: (options) => new (json().JsonConsumer)(options) },
  { name: "folded", doc: "maps for flame graphs", open: (options) => new TextConsumer({ ...options, folded: true }) },
  {
    name: "svg",
    doc: "maps as pictures, in one file at the end",
    open: (options) => new (documents().DocumentPrinter)(options, new (svg().SvgWriter)()),
  },
  {
    name: "speedscope",
    doc: "maps with stacks, for speedscope",
    open: (options) => new (documents().DocumentPrinter)(options, new (speedscope().SpeedscopeWriter)()),
  },
  {
    name: "pprof",
    doc: "maps with stacks, for pprof",
    open: (options) => new (documents().DocumentPrinter)(options, new (pprof().PprofWriter)()),
  },
  {
    name: "trace_marker",
    doc: "lines into the kernel's trace buffer, or =INSTANCE's",
    inKernel: /^[^/.][^/]*$/,
    open: (options, instance) => kernelLines().markerLines(options, instance),
  },
  {
    name: "user_events",
    doc: "lines as events user_events:strobe, or =EVENT",
    inKernel: /^[a-z_][\w:]*$/i,
    open: (options, event) => kernelLines().userEventLines(options, event),
  },
];
