// What `#pragma D option` and `-x` set.
import type { Program } from "../program.ts";
import { readAttributes } from "./attributes.ts";
import type { ScriptOption } from "./preprocess.ts";
import type { Options } from "./unit.ts";

type Setting = Program["config"][number];
type Take = (value: string | undefined, options: Options, span: Setting["span"]) => readonly Setting[] | "invalid";

export function defaultOptions(): Options {
  const layout = { byKey: false, key: 0, map: 0, descending: false };
  return {
    quiet: false,
    flowindent: false,
    destructive: false,
    defaultargs: false,
    argref: false,
    speculations: 1,
    speculationSize: 0,
    scratchSize: 256,
    rawBytes: false,
    printSize: 1024,
    layout,
  };
}

const isSet = (value: string | undefined): boolean | "invalid" =>
  value !== undefined && !/^(?:0|1|on|off|true|false|yes|no|enabled?|disabled?|set|unset)$/i.test(value)
    ? "invalid"
    : value === undefined || /^(?:1|on|true|yes|enable|set)/i.test(value);

const flag =
  (name: "quiet" | "flowindent" | "destructive" | "defaultargs" | "argref" | "rawBytes"): Take =>
  (value, options) => {
    const set = isSet(value);
    if (set === "invalid") return "invalid";
    options[name] = set;
    return [];
  };

const amount =
  (name: "speculations" | "speculationSize"): Take =>
  (value, options, span) => {
    if (value === undefined || size(value, options, span) === "invalid") return "invalid";
    options[name] = bytes(value);
    return [];
  };

const order =
  (name: "byKey" | "descending"): Take =>
  (value, options) => {
    const set = isSet(value);
    if (set === "invalid") return "invalid";
    options.layout = { ...options.layout, [name]: set };
    return [];
  };

const position =
  (name: "key" | "map"): Take =>
  (value, options, span) => {
    if (value === undefined || size(value, options, span) === "invalid") return "invalid";
    options.layout = { ...options.layout, [name]: bytes(value) };
    return [];
  };

/** Of the buffers and rates of DTrace's own: nothing here depends on them. */
const size: Take = (value) => (value !== undefined && /^\d+[kmgt]?$/i.test(value) ? [] : "invalid");
const rate: Take = (value) =>
  value !== undefined && /^\d+(?:ns|nsec|us|usec|ms|msec|s|sec|m|min|h|hour|d|day|hz)?$/i.test(value) ? [] : "invalid";
const any: Take = () => [];

const bytes = (value: string): number => {
  const [, number, unit = ""] = /^(\d+)([kmgt]?)$/i.exec(value) ?? [];
  return Number(number) * 1024 ** ("kmgt".indexOf(unit.toLowerCase()) + (unit === "" ? 0 : 1));
};

const count =
  (name: "stackFrames" | "userStackFrames" | "cpu" | "printSize"): Take =>
  (value, options, span) => {
    if (value === undefined || size(value, options, span) === "invalid") return "invalid";
    options[name] = bytes(value);
    return [];
  };

/** How often DTrace looks at its buffers. */
export const rates: readonly string[] = ["aggrate", "cleanrate", "statusrate", "switchrate"];

const takes: Readonly<Record<string, Take>> = {
  quiet: flag("quiet"),
  flowindent: flag("flowindent"),
  destructive: flag("destructive"),
  defaultargs: flag("defaultargs"),
  argref: flag("argref"),
  rawbytes: flag("rawBytes"),
  nspec: amount("speculations"),
  specsize: amount("speculationSize"),
  aggsortkey: order("byKey"),
  aggsortrev: order("descending"),
  aggsortkeypos: position("key"),
  aggsortpos: position("map"),
  amin: (value, options) => {
    const least = readAttributes(value ?? "");
    if (least === undefined) return "invalid";
    options.least = least;
    return [];
  },
  strsize: (value, options, span) => {
    if (size(value, options, span) === "invalid" || bytes(value!) < 2) return "invalid";
    options.textBytes = bytes(value!) - 1;
    return [{ name: "max_strlen", value: String(options.textBytes), span }];
  },
  stackframes: count("stackFrames"),
  ustackframes: count("userStackFrames"),
  cpu: count("cpu"),
  printsize: count("printSize"),
  scratchsize: (value, options, span) => {
    if (size(value, options, span) === "invalid") return "invalid";
    options.scratchSize = bytes(value!);
    return [];
  },
  ...Object.fromEntries(
    "aggsize bufsize dynvarsize maxframes jstackframes jstackstrsize stackindent pcapsize"
      .split(" ")
      .map((name) => [name, size]),
  ),
  ...Object.fromEntries(rates.map((name) => [name, rate])),
  ...Object.fromEntries(
    "bufpolicy bufresize grabanon lockmem quietresize errtags droptags nolibs linkmode linktype btfpath core cpp cpphdrs cpppath ctypes debug disasm dtypes empty evaltime incdir iregs kdefs knodefs late lazyload ldpath libdir link modpath nojtanalysis objcopypath pgmax preallocate procfspath stdc strip syslibdir tree tregs udefs undef unodefs useruntime verbose version zdefs zone temporal"
      .split(" ")
      .map((name) => [name, any]),
  ),
};

/** What output would look like with them is not known here: said where they are set. */
export const withoutEffect: ReadonlySet<string> = new Set("maxframes stackindent temporal".split(" "));

export const optionNames: readonly string[] = Object.keys(takes);

/** Notes what an option says; gives the tree's settings that it means. */
export function readOption(
  { name, value, span }: ScriptOption,
  options: Options,
): readonly Setting[] | "unknown" | "invalid" {
  return Object.hasOwn(takes, name) ? takes[name](value, options, span) : "unknown";
}
