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
    empty: false,
    speculations: 1,
    speculationSize: 0,
    scratchSize: 256,
    rawBytes: false,
    printSize: 1024,
    layout,
  };
}

/** A truth by its words, or a number. */
const isSet = (value: string | undefined): boolean | "invalid" => {
  if (value === undefined || value === "") return true;
  if (/^(?:on|true|yes|enabled?|set)$/i.test(value)) return true;
  if (/^(?:off|false|no|disabled?|unset)$/i.test(value)) return false;
  const number = whole(value);
  return number === undefined ? "invalid" : number !== 0;
};

/** As C reads a number: with blanks in front, by `0x` and by a zero in front. */
function whole(text: string): number | undefined {
  const [, digits] = /^\s*\+?(0x[0-9a-f]+|\d+)$/i.exec(text) ?? [];
  if (digits === undefined) return undefined;
  if (/^0[0-7]+$/.test(digits)) return Number.parseInt(digits, 8);
  const number = Number(/^0\d/.test(digits) ? Number.NaN : digits);
  return number < 2 ** 64 ? number : undefined;
}

/** A number with a unit of memory, as bytes. */
function bytes(value: string): number | undefined {
  const [, digits = "", unit = ""] = /^([^]*?)([kmgt]?)$/i.exec(value) ?? [];
  const number = whole(digits);
  return number === undefined
    ? undefined
    : number * 1024 ** ("kmgt".indexOf(unit.toLowerCase()) + (unit === "" ? 0 : 1));
}

const nothing = (value: string | undefined): boolean => value === undefined || value === "";

type Truth = "quiet" | "flowindent" | "destructive" | "rawBytes";
const truth =
  (name?: Truth): Take =>
  (value, options) => {
    const set = isSet(value);
    if (set === "invalid") return "invalid";
    if (name !== undefined) options[name] = set;
    return [];
  };

/** Of the compiler: it is there or not, and takes no value. */
const given =
  (name?: "defaultargs" | "argref" | "empty"): Take =>
  (value, options) => {
    if (value !== undefined) return "invalid";
    if (name !== undefined) options[name] = true;
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

/** A quantity, as `read` takes it from a text. Without a value nothing changes. */
const quantity =
  (read: (text: string) => number | undefined) =>
  (note?: (value: number, options: Options) => void): Take =>
  (value, options) => {
    if (nothing(value)) return [];
    const found = read(value!);
    if (found === undefined) return "invalid";
    note?.(found, options);
    return [];
  };

const number = quantity(whole);

/** Of the buffers of DTrace's own nothing here depends. */
const size = quantity(bytes);

/** As a number; behind a `=` one has to stand. */
const frames =
  (note: (value: number, options: Options) => void): Take =>
  (value, options, span) =>
    value === "" ? "invalid" : number(note)(value, options, span);

const rate: Take = (value) =>
  nothing(value) || /^\s*(?:0x[\da-f]+|\d*)(?:ns|nsec|us|usec|ms|msec|s|sec|m|min|h|hour|d|day|hz)?$/i.test(value!)
    ? []
    : "invalid";
const any: Take = () => [];
/** Any value, but one. */
const some: Take = (value) => (value === undefined ? "invalid" : []);
const oneOf =
  (...words: readonly string[]): Take =>
  (value) =>
    value !== undefined && words.includes(value) ? [] : "invalid";
const positive: Take = (value) => (value !== undefined && (whole(value) ?? 0) > 0 ? [] : "invalid");

/** How often DTrace looks at its buffers. */
export const rates: readonly string[] = ["aggrate", "cleanrate", "statusrate", "switchrate"];

const each = (names: string, take: Take): Readonly<Record<string, Take>> =>
  Object.fromEntries(names.split(" ").map((name) => [name, take]));

const takes: Readonly<Record<string, Take>> = {
  quiet: truth("quiet"),
  flowindent: truth("flowindent"),
  destructive: truth("destructive"),
  rawbytes: truth("rawBytes"),
  defaultargs: given("defaultargs"),
  argref: given("argref"),
  empty: given("empty"),
  nspec: number((value, options) => (options.speculations = value)),
  specsize: size((value, options) => (options.speculationSize = value)),
  aggsortkey: order("byKey"),
  aggsortrev: order("descending"),
  aggsortkeypos: number((key, options) => (options.layout = { ...options.layout, key })),
  aggsortpos: number((map, options) => (options.layout = { ...options.layout, map })),
  amin: (value, options) => {
    const least = readAttributes(value ?? "");
    if (least === undefined) return "invalid";
    options.least = least;
    return [];
  },
  strsize: (value, options, span) => {
    const read = nothing(value) ? undefined : bytes(value!);
    if (read === undefined || read < 2) return "invalid";
    options.textBytes = read - 1;
    return [{ name: "max_strlen", value: String(options.textBytes), span }];
  },
  stackframes: frames((value, options) => (options.stackFrames = value)),
  ustackframes: frames((value, options) => (options.userStackFrames = value)),
  cpu: number((value, options) => (options.cpu = value)),
  printsize: size((value, options) => (options.printSize = value)),
  scratchsize: size((value, options) => (options.scratchSize = value)),
  ...each("maxframes jstackframes stackindent", number()),
  ...each("aggsize bufsize dynvarsize bpflogsize pcapsize jstackstrsize", size()),
  ...each(rates.join(" "), rate),
  ...each("bpflog grabanon noresolve quietresize", truth()),
  ...each("aggpercpu core cpp cpphdrs errtags kdefs knodefs nolibs pspec strip udefs unodefs verbose zdefs", given()),
  ...each(
    "btfpath bufpolicy bufresize cppargs cpppath ctfpath ctypes define disasm dtypes incdir ldpath libdir lockmem modpath pgmax procfspath syslibdir undef useruid",
    some,
  ),
  ...each("droptags lazyload linknommap", any),
  ...each("iregs tregs tree", positive),
  debugassert: () => "invalid",
  evaltime: oneOf("exec", "main", "postinit", "preinit"),
  late: oneOf("dynamic", "static"),
  linkmode: oneOf("dynamic", "kernel", "static"),
  linktype: oneOf("dof", "elf"),
  stdc: oneOf("a", "c", "s", "t"),
  preallocate: (value) => (value !== undefined && bytes(value) !== undefined ? [] : "invalid"),
  debug: any,
  version: any,
};

/** What output would look like with them is not known here: said where they are set. */
export const withoutEffect: ReadonlySet<string> = new Set("aggpercpu maxframes stackindent".split(" "));

export const optionNames: readonly string[] = Object.keys(takes);

/** Notes what an option says; gives the tree's settings that it means. */
export function readOption(
  { name, value, span }: ScriptOption,
  options: Options,
): readonly Setting[] | "unknown" | "invalid" {
  return Object.hasOwn(takes, name) ? takes[name](value, options, span) : "unknown";
}
