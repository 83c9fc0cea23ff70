// The settings of a run: defaults, then the script's config block, then the environment (which wins, as in bpftrace).
import { declarations } from "../../messages/declarations.ts";
import type { Diagnostic, Span } from "../diagnostic.ts";
import { nearest } from "../nearest.ts";
import type { ConfigEntry } from "../program.ts";
import type { Rules } from "../rules.ts";
import { stackUnwindings, type StackUnwinding } from "../types.ts";

/** The config variables that touch compiling and running, resolved from defaults, the script and the environment. */
export interface Config {
  readonly maxStringLength: number;
  /** Elements of a list or a map of a program that are copied. */
  readonly maxElements: number;
  readonly maxMapKeys: number;
  /** Where maps by key are: in hash tables of the kernel, or as far as they can in mapped ones of strobe's own. */
  readonly hashTables: "kernel" | "mapped";
  readonly maxCatBytes: number;
  /** Undefined, as the next one is: there is no limit but the kernel's. */
  readonly maxProbes: number | undefined;
  readonly maxBpfProgs: number | undefined;
  /** Bytes of the event ring buffer, a power of two. */
  readonly ringBytes: number;
  readonly onStackLimit: number;
  readonly stackMode: "bpftrace" | "perf" | "raw" | "build_id";
  /** How ustack is found unless it says. */
  readonly stackUnwinding: StackUnwinding;
  readonly missingProbes: "error" | "warn" | "ignore";
  readonly printMapsOnExit: boolean;
  /** The language's: a blank line stands between what a script prints and the maps behind it, printed or not. */
  readonly blankBeforeMaps: boolean;
  readonly stringTrailer: string;
  readonly cppDemangle: boolean;
  readonly lazySymbolication: boolean;
  readonly license: string;
  readonly logSize: number;
  readonly showDebugInfo: boolean;
  readonly cacheUserSymbols: "PER_PROGRAM" | "PER_PID" | "NONE";
}

const defaults: Config = {
  maxStringLength: 1024,
  maxElements: 16,
  maxMapKeys: 4096,
  hashTables: "mapped",
  maxCatBytes: 10240,
  maxProbes: undefined,
  maxBpfProgs: undefined,
  ringBytes: 8 * 1024 * 1024,
  onStackLimit: 32,
  stackMode: "bpftrace",
  stackUnwinding: "auto",
  missingProbes: "error",
  printMapsOnExit: true,
  blankBeforeMaps: true,
  stringTrailer: "..",
  cppDemangle: true,
  lazySymbolication: true,
  license: "Dual MIT/GPL",
  logSize: 1_000_000,
  showDebugInfo: false,
  cacheUserSymbols: "PER_PID",
};

/** Reads a value's text; a string is the complaint when it does not do. */
type Reader = (text: string) => { readonly set: Partial<Config> } | { readonly complaint: string };

const integer =
  (key: keyof Config, least: number, most: number): Reader =>
  (text) => {
    const value = /^(0x[0-9a-f]+|\d[\d_]*)$/i.test(text) ? Number(text.replaceAll("_", "")) : NaN;
    return value >= least && value <= most
      ? { set: { [key]: value } }
      : { complaint: `an integer from ${least} to ${most}` };
  };
const truth =
  (key: keyof Config): Reader =>
  (text) => {
    if (text === "1" || text === "true") return { set: { [key]: true } };
    if (text === "0" || text === "false") return { set: { [key]: false } };
    return { complaint: "true or false" };
  };
const choice =
  (key: keyof Config, values: readonly string[]): Reader =>
  (text) =>
    values.includes(text) ? { set: { [key]: text } } : { complaint: `one of ${values.join(", ")}` };
/** Known to bpftrace, without meaning here. */
const ignored: Reader = () => ({ set: {} });
const unstable: Reader = (text) =>
  ["error", "warn", "enable"].includes(text) ? { set: {} } : { complaint: "one of error, warn, enable" };

const readers: Readonly<Record<string, Reader>> = {
  cache_user_symbols: (text) => {
    if (text === "1") return { set: { cacheUserSymbols: "PER_PROGRAM" } };
    if (text === "0") return { set: { cacheUserSymbols: "NONE" } };
    return choice("cacheUserSymbols", ["PER_PROGRAM", "PER_PID", "NONE"])(text);
  },
  cpp_demangle: truth("cppDemangle"),
  hash_tables: choice("hashTables", ["kernel", "mapped"]),
  lazy_symbolication: truth("lazySymbolication"),
  license: choice("license", [
    "GPL",
    "GPL v2",
    "GPL and additional rights",
    "Dual BSD/GPL",
    "Dual MIT/GPL",
    "Dual MPL/GPL",
  ]),
  log_size: integer("logSize", 1, 0x4000_0000),
  max_bpf_progs: integer("maxBpfProgs", 1, 1_000_000),
  max_cat_bytes: integer("maxCatBytes", 0, 0x4000_0000),
  max_elements: integer("maxElements", 1, 1024),
  max_map_keys: integer("maxMapKeys", 1, 0xffff_ffff),
  max_probes: integer("maxProbes", 1, 1_000_000),
  max_strlen: integer("maxStringLength", 1, 1024 * 1024),
  max_ast_nodes: ignored,
  missing_probes: choice("missingProbes", ["error", "warn", "ignore"]),
  on_stack_limit: integer("onStackLimit", 0, 512),
  perf_rb_pages: (text) => {
    const pages = /^\d+$/.test(text) ? Number(text) : NaN;
    if (!(pages >= 1 && pages <= 1 << 20)) return { complaint: `an integer from 1 to ${1 << 20}` };
    // The kernel wants a power of two.
    return { set: { ringBytes: 2 ** Math.ceil(Math.log2(pages)) * 4096 } };
  },
  print_maps_on_exit: truth("printMapsOnExit"),
  show_debug_info: truth("showDebugInfo"),
  stack_mode: choice("stackMode", ["bpftrace", "perf", "raw", "build_id"]),
  stack_unwinding: choice("stackUnwinding", stackUnwindings),
  str_trunc_trailer: (text) => ({ set: { stringTrailer: text } }),
  unstable_tseries: unstable,
  unstable_dw_ustack: unstable,
  unstable_map_decl: unstable,
  unstable_import: unstable,
  unstable_macro: unstable,
  unstable_addr: unstable,
  unstable_typeinfo: unstable,
  use_blazesym: ignored,
  verify_llvm_ir: ignored,
  symbol_source: ignored,
  max_type_res_iterations: ignored,
};

/** What bpftrace has where nobody says how many probes and programs there may be. */
const customaryLimit = 1024;

/** Room for the longest text that str() gives, and its end. */
export function textCapacity(config: Config): number {
  return config.maxStringLength + 1;
}

/**
 * Names may be written `max_strlen`, `MAX_STRLEN`, `BPFTRACE_MAX_STRLEN` or `STROBE_MAX_STRLEN`; only the prefixed ones
 * are read from the environment.
 */
export function resolveConfig(
  entries: readonly ConfigEntry[],
  env: Record<string, string | undefined>,
  { printsMapsAtEnd }: Rules,
): { config: Config; diagnostics: Diagnostic[] } {
  const diagnostics: Diagnostic[] = [];
  const config: { -readonly [K in keyof Config]: Config[K] } = {
    ...defaults,
    printMapsOnExit: printsMapsAtEnd,
    blankBeforeMaps: printsMapsAtEnd,
  };
  const apply = (name: string, shown: string, value: string, span: Span): void => {
    const result = readers[name](value);
    if ("complaint" in result) {
      diagnostics.push({
        severity: "error",
        span,
        ...declarations.configValue(shown, value, result.complaint),
      });
    } else {
      Object.assign(config, result.set);
    }
  };
  for (const { name, value, span } of entries) {
    const key = name.toLowerCase().replace(/^(bpftrace|strobe)_/, "");
    if (Object.hasOwn(readers, key)) {
      apply(key, name, value, span);
      continue;
    }
    const [near] = nearest(key, Object.keys(readers));
    diagnostics.push({
      severity: "error",
      span,
      ...declarations.notKnownConfigurationOption(name, near),
    });
  }
  for (const prefix of ["BPFTRACE_", "STROBE_"]) {
    for (const key of Object.keys(readers)) {
      const variable = prefix + key.toUpperCase();
      const value = env[variable];
      if (value !== undefined && (value !== "" || key === "str_trunc_trailer"))
        apply(key, variable, value, { start: 0, end: 0 });
    }
  }
  return { config, diagnostics };
}

/** The setting of a name as scripts spell it, for `config.max_strlen`. */
export function configValue(config: Config, name: string): bigint | boolean | string | undefined {
  switch (name) {
    case "cache_user_symbols":
      return config.cacheUserSymbols;
    case "cpp_demangle":
      return config.cppDemangle;
    case "lazy_symbolication":
      return config.lazySymbolication;
    case "license":
      return config.license;
    case "log_size":
      return BigInt(config.logSize);
    case "max_bpf_progs":
      return BigInt(config.maxBpfProgs ?? customaryLimit);
    case "max_cat_bytes":
      return BigInt(config.maxCatBytes);
    case "max_elements":
      return BigInt(config.maxElements);
    case "max_map_keys":
      return BigInt(config.maxMapKeys);
    case "max_probes":
      return BigInt(config.maxProbes ?? customaryLimit);
    case "max_strlen":
      return BigInt(config.maxStringLength);
    case "missing_probes":
      return config.missingProbes;
    case "on_stack_limit":
      return BigInt(config.onStackLimit);
    case "perf_rb_pages":
      return BigInt(config.ringBytes / 4096);
    case "print_maps_on_exit":
      return config.printMapsOnExit;
    case "show_debug_info":
      return config.showDebugInfo;
    case "stack_mode":
      return config.stackMode;
    case "stack_unwinding":
      return config.stackUnwinding;
    case "str_trunc_trailer":
      return config.stringTrailer;
    default:
      return undefined;
  }
}

export const configNames: readonly string[] = Object.keys(readers);
