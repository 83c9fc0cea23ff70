// Probe descriptions, `provider:module:function:name`: which kind of probe of the tree each is.
import { posix } from "node:path";
import { dDescriptions } from "../../messages/d-descriptions.ts";
import type { Message } from "../../messages/message.ts";
import type { Span } from "../diagnostic.ts";
import type { Given } from "../language.ts";
import { nearest } from "../nearest.ts";
import * as nodes from "../nodes.ts";
import type { ProbeSpec, SpecOptions } from "../probe-spec.ts";
import type { Expression } from "../program.ts";
import { describe, globSource, type Described } from "./descriptions.ts";
import { expression } from "./expressions.ts";
import { needs } from "./helpers.ts";
import { isStableProvider, missingProbe, stableProbe, stableProbes } from "./stable-probes.ts";
import { readText } from "./translators.ts";
import type { ClauseScope, HelperName, Unit } from "./unit.ts";

export interface Placed {
  readonly specs: readonly ProbeSpec[];
  readonly scope: ClauseScope;
  /** Of one process only, or what else the probe means. */
  readonly guard?: Expression;
  /** The guard gives `this->` what the clause reads. */
  readonly assigns?: true;
}

type Find = (described: Described, unit: { readonly given: Given }, span: Span) => Found | Message | string | undefined;

interface Found {
  /** `when`, in D: only then it fires. */
  readonly probes: readonly {
    readonly kind: string;
    readonly parts: readonly string[];
    readonly options?: SpecOptions;
    readonly when?: string;
  }[];
  readonly returns?: boolean;
  readonly user?: boolean;
  readonly pid?: number | "command";
  readonly when?: string;
  readonly needs?: HelperName;
}

const none = (part: string): boolean => part === "" || part === "*";
/** What an empty part stands for. */
const any = (part: string): string => (part === "" ? "*" : part);

const once: Readonly<Record<string, string>> = { BEGIN: "begin", END: "end" };

/** Those that are listed; any other rate is there as well. */
export const listedRates: readonly string[] =
  "profile-97 profile-199 profile-499 profile-997 profile-1999 profile-4001 profile-4999 tick-1 tick-10 tick-100 tick-500 tick-1000 tick-5000"
    .split(" ")
    .map((rate) => `profile:::${rate}`);

/** Of a time the unit in which strobe has it, and how many nanoseconds it has. */
const units: Readonly<Record<string, readonly [unit: string, nanoseconds: bigint]>> = {
  ns: ["us", 1n],
  nsec: ["us", 1n],
  us: ["us", 1000n],
  usec: ["us", 1000n],
  ms: ["ms", 1_000_000n],
  msec: ["ms", 1_000_000n],
  s: ["s", 1_000_000_000n],
  sec: ["s", 1_000_000_000n],
  m: ["s", 60_000_000_000n],
  min: ["s", 60_000_000_000n],
  h: ["s", 3_600_000_000_000n],
  hour: ["s", 3_600_000_000_000n],
  d: ["s", 86_400_000_000_000n],
  day: ["s", 86_400_000_000_000n],
};
const inUnit: Readonly<Record<string, bigint>> = { us: 1000n, ms: 1_000_000n, s: 1_000_000_000n };
/** DTrace has none that fires more often. */
const shortest = 200_000n;

/** `tick-10s`, `profile-97hz`: by a rate unless a unit says. */
function timed({ module, function: of, name }: Described): Found | undefined {
  const [, kind, digits, written = ""] = /^(tick|profile)-(\d+)([a-z]*)$/i.exec(name) ?? [];
  if (kind === undefined || !none(module) || !none(of)) return undefined;
  const number = BigInt(digits);
  const given = written.toLowerCase();
  const isRate = given === "" || given === "hz";
  if (number === 0n || (!isRate && !Object.hasOwn(units, given))) return undefined;
  const [unit, nanoseconds] = isRate ? ["hz", 0n] : units[given];
  const between = isRate ? 1_000_000_000n / number : number * nanoseconds;
  if (between < shortest) return undefined;
  // Of nanoseconds none is left out.
  const count = isRate ? number : (between + inUnit[unit] - 1n) / inUnit[unit];
  return {
    probes: [{ kind: kind.toLowerCase() === "tick" ? "interval" : "profile", parts: [unit, String(count)] }],
    user: true,
  };
}

function entryOrReturn(
  { name }: Described,
  make: (returns: boolean) => { readonly kind: string; readonly parts: readonly string[] },
): Found | undefined {
  const ways = none(name) ? [false, true] : name === "entry" ? [false] : name === "return" ? [true] : [];
  return ways.length === 0 ? undefined : { probes: ways.map(make), returns: ways.length === 1 && ways[0] };
}

const kernelFunctions: Find = (of) =>
  entryOrReturn(of, (returns) => ({
    kind: returns ? "kretprobe" : "kprobe",
    parts: [
      ...(none(of.module) || of.module === "vmlinux" || of.module === "kernel" ? [] : [of.module]),
      any(of.function),
    ],
  }));

/** `kinst::FUNCTION:OFFSET` in decimal, nothing for all of them, and the ends of inlined copies. */
const kernelInstructions: Find = ({ module, function: of, name }) => {
  if (none(of)) return "kinst probes are of functions that are named";
  if (!/^(?:\d*|\*|entry|return)$/.test(name)) return undefined;
  const known = none(module) || module === "kernel" ? "" : module;
  return { probes: [{ kind: "insn", parts: [known, of, name] }] };
};

/** Probes whose names and arguments D defines. */
const stable = ({ provider, module, function: of, name }: Described): Found | string | undefined =>
  isKernel(module) && none(of) ? (stableProbe(provider, name) ?? missingProbe(provider, name)) : undefined;

/** The one module of probes that are of no module's own code. */
function isKernel(module: string): boolean {
  return none(module) || new RegExp(`^${globSource(module)}$`).test("vmlinux");
}

/** `cpc:::EVENT-MODE-COUNT`: every so many events of the processor, or of the kernel's. */
const counters: Find = ({ name }) => {
  const [, event = "", mode = "", count = ""] = /^(.+)-(user|kernel|all)-(\d+)$/.exec(name) ?? [];
  const own = event.replaceAll("_", "-");
  const kind = softwareEvents.has(own) ? "software" : "hardware";
  if (event === "") return undefined;
  if (mode !== "all") return `events in ${mode} mode alone are not counted: ${event}-all-${count} counts both`;
  return { probes: [{ kind, parts: [hardwareNames.get(own) ?? own, count] }], user: true };
};

const softwareEvents: ReadonlySet<string> = new Set(
  "cpu-clock task-clock page-faults context-switches cpu-migrations minor-faults major-faults alignment-faults emulation-faults".split(
    " ",
  ),
);
/** As perf has them, where strobe's kind of probe calls them otherwise. */
const hardwareNames: ReadonlyMap<string, string> = new Map([
  ["stalled-cycles-frontend", "frontend-stalls"],
  ["idle-cycles-frontend", "frontend-stalls"],
  ["stalled-cycles-backend", "backend-stalls"],
  ["idle-cycles-backend", "backend-stalls"],
]);

const providers: Readonly<Record<string, Find>> = {
  dtrace: ({ module, function: of, name }) =>
    none(module) && none(of) && Object.hasOwn(once, name) ? { probes: [{ kind: once[name], parts: [] }] } : undefined,
  profile: timed,
  syscall: (of) =>
    isKernel(of.module)
      ? entryOrReturn(of, (returns) => ({
          kind: "tracepoint",
          parts: ["syscalls", `sys_${returns ? "exit" : "enter"}_${any(of.function)}`],
        }))
      : undefined,
  fbt: kernelFunctions,
  rawfbt: kernelFunctions,
  kinst: kernelInstructions,
  sdt: ({ module, function: of, name }) => {
    const [group] = [module, of].filter((part) => !none(part) && part !== "vmlinux");
    return { probes: [{ kind: "tracepoint", parts: [group ?? "*", any(name)] }] };
  },
  rawtp: ({ module, name }) => ({
    probes: [{ kind: "rawtracepoint", parts: [any(name)], options: { group: any(module) } }],
  }),
  proc: stable,
  sched: stable,
  lockstat: stable,
  io: stable,
  ip: stable,
  tcp: stable,
  udp: stable,
  cpc: counters,
};

/** `pid123`, `usdt456`: of a process. */
function ofProcess(
  { provider, module, function: of, name }: Described,
  { given }: { readonly given: Given },
): Found | Message | string | undefined {
  const [, kind, number] = /^([A-Za-z_]\w*?)(\d+|\$target)$/.exec(provider) ?? [];
  if (kind === undefined) return undefined;
  if (kind === "pid" && Number(number) === 0) return dDescriptions.noPid(provider);
  const pid = number === "$target" ? (given.target ?? 0) : Number(number);
  const path = pid === "command" ? given.command : `/proc/${pid}/exe`;
  if (path === undefined) return "the command that is started has no path";
  const binary = none(module) || module === "a.out" ? path : fileOf(module, path);
  const more = { user: true, pid };
  if (kind === "pid") {
    if (/^[0-9a-f]+$/i.test(name)) {
      // Of no function: an address of the module.
      const at =
        of === "-"
          ? { kind: "uprobe", parts: [binary, `0x${name}`] }
          : { kind: "insn", parts: [binary, of, `0x${name}`] };
      return { probes: [at], ...more };
    }
    // Any of the traced process's modules. (The files of one that is named by its number are not looked through.)
    const anywhere = none(module) && pid === given.target ? "*" : binary;
    if (none(name) && !none(of)) {
      const probes = ["uprobe", "uretprobe"].map((kind) => ({ kind, parts: [anywhere, of] }));
      return { probes: [...probes, { kind: "insn", parts: [binary, of, "*"] }], ...more };
    }
    if (!none(name) && !/^(?:entry|return)$|[*?[]/.test(name)) return dDescriptions.instructionName(name);
    const found = entryOrReturn({ provider, module, function: of, name }, (returns) => ({
      kind: returns ? "uretprobe" : "uprobe",
      parts: [anywhere, any(of)],
    }));
    return found === undefined ? undefined : { ...found, ...more };
  }
  // `-` is `__` in the program's notes.
  const noted = any(name).replaceAll("-", "__");
  return { probes: [{ kind: "usdt", parts: [binary, kind, noted], options: { function: any(of) } }], ...more };

  /** The process's own file of this name, whatever else has it. */
  function fileOf(named: string, program: string): string {
    if (pid !== "command") return given.machine?.mappedFile?.(pid, named) ?? named;
    return new RegExp(`^${globSource(named)}$`).test(posix.basename(program)) ? program : named;
  }
}

/** Of `sched:::`, `dtrace:::*`, `BEG*`: the names that they stand for; undefined where nothing is to be found out. */
function namesMeant({ provider, module, function: of, name }: Described): readonly string[] | undefined {
  if (!(none(name) || /[*?[]/.test(name)) || !none(of) || !(none(module) || module === "vmlinux")) return undefined;
  if (module === "vmlinux" && ["dtrace", "profile"].includes(provider)) return undefined;
  const own = stableProbes().filter((one) => one.startsWith(`${provider}:`));
  const isRate = provider === "profile" || (none(provider) && /^(?:tick|profile)-/.test(name));
  const all = isRate
    ? listedRates
    : provider === "dtrace" || (none(provider) && !none(name))
      ? ["dtrace:::BEGIN", "dtrace:::END", "dtrace:::ERROR"]
      : own;
  const wanted = new RegExp(`:${none(name) ? ".*" : globSource(name)}$`);
  const found = all.filter((one) => wanted.test(one));
  return found.length === 0 ? undefined : found;
}

/** Not each of several need be there. */
function asWished(spec: ProbeSpec): ProbeSpec {
  return ["begin", "end"].includes(spec.provider) ? spec : { ...spec, optional: true };
}

/** The probes of a description, together where the same guard holds; reported where there are none. */
export function placed(text: string, span: Span, unit: Unit): readonly Placed[] {
  const { cursor } = unit;
  const described = describe(text);
  if (described === undefined) {
    cursor.report(span, dDescriptions.invalidProbe(text));
    return [];
  }
  const meant = namesMeant(described);
  if (meant !== undefined)
    return meant.flatMap((own) => placed(own, span, unit)).map((one) => ({ ...one, specs: one.specs.map(asWished) }));
  if (described.name === "ERROR" && (none(described.provider) || described.provider === "dtrace"))
    return [{ specs: [], scope: { provider: "error", returns: false, user: false } }];
  const found = findProbes(described, unit, span);
  const mayBeMissing = unit.given.settings?.has("zdefs") === true;
  if (found === undefined || typeof found === "string" || "message" in found) {
    if (mayBeMissing) return [];
    if (typeof found === "object") {
      cursor.report(span, found);
      return [];
    }
    const [near] = nearest(described.provider, Object.keys(providers));
    cursor.report(
      span,
      typeof found === "string"
        ? dDescriptions.providerMissing(text, found)
        : dDescriptions.provider(
            text,
            near === undefined || near === described.provider ? undefined : `did you mean \`${near}\`?`,
          ),
    );
    return [];
  }
  const { probes, pid, returns = false, user = false, when } = found;
  // DTrace's own command knows no files that come later.
  const mustBeThere = pid !== undefined && unit.given.settings?.has("command") === true;
  if (found.needs !== undefined) needs(unit, found.needs);
  const scope: ClauseScope = {
    provider: described.provider === "" ? impliedProvider(described) : described.provider,
    name: described.name,
    returns,
    user,
  };
  const { clause } = unit;
  unit.clause = scope;
  const condition = pid === undefined ? (when === undefined ? undefined : guard(when)) : isProcess(pid, span);
  const own = probes.map((probe) => ({ probe, guard: probe.when === undefined ? condition : guard(probe.when) }));
  unit.clause = clause;
  return [...new Set(own.map((one) => one.guard))].map((same) => ({
    specs: own
      .filter((one) => one.guard === same)
      .map(({ probe: { kind, parts, options } }) => ({
        provider: kind,
        parts,
        ...(options === undefined ? {} : { options }),
        text,
        span,
      }))
      .map((spec) => (mayBeMissing ? asWished(spec) : mustBeThere ? { ...spec, present: true as const } : spec)),
    scope,
    ...(same === undefined ? {} : { guard: same }),
    ...(own.some((one) => one.guard === same && one.probe.when !== undefined) ? { assigns: true } : {}),
  }));

  function guard(condition: string): Expression {
    return readText(unit, condition, span, expression);
  }
}

function isProcess(pid: number | "command", span: Span): Expression {
  const id = pid === "command" ? nodes.builtin("cpid", span) : nodes.integer(pid, span);
  return nodes.binary("==", nodes.builtin("pid", span), id, span);
}

function impliedProvider({ name }: Described): string {
  return Object.hasOwn(once, name) ? "dtrace" : /^(?:tick|profile)-/.test(name) ? "profile" : "";
}

function findProbes(described: Described, unit: Unit, span: Span): Found | Message | string | undefined {
  const { provider, name } = described;
  if (provider === "" || provider === "*") {
    const implied = impliedProvider(described);
    if (implied !== "") return providers[implied](described, unit, span);
    if (name === "entry" || name === "return") return kernelFunctions(described, unit, span);
    return undefined;
  }
  return (Object.hasOwn(providers, provider) ? providers[provider] : ofProcess)(described, unit, span);
}

/** A probe that was found, as D names it. */
export function spelledProbe(name: string, asked?: ProbeSpec): string {
  const parts = name.split(":");
  const [kind, ...rest] = parts;
  const described = asked === undefined ? undefined : describe(asked.text);
  if (described !== undefined && isStableProvider(described.provider))
    return `${described.provider}:vmlinux::${described.name}`;
  switch (kind) {
    case "begin":
      return "dtrace:::BEGIN";
    case "end":
      return "dtrace:::END";
    case "tracepoint": {
      const [, way, call] = rest[0] === "syscalls" ? (/^sys_(enter|exit)_(.*)$/.exec(rest[1]) ?? []) : [];
      if (way !== undefined) return `syscall:vmlinux:${call}:${way === "enter" ? "entry" : "return"}`;
      return `sdt:${rest[0]}::${rest[1]}`;
    }
    case "interval":
    case "profile": {
      const own = asked === undefined ? undefined : describe(asked.text)?.name;
      return `profile:::${own ?? `${kind === "interval" ? "tick" : "profile"}-${rest[1] ?? ""}${rest[0] ?? ""}`}`;
    }
    case "kprobe":
    case "kretprobe":
    case "fentry":
    case "fexit": {
      const [module, of] = rest.length > 1 ? rest : ["vmlinux", rest[0]];
      return `fbt:${module}:${of}:${kind === "kprobe" || kind === "fentry" ? "entry" : "return"}`;
    }
    case "hardware":
    case "software": {
      const own = asked === undefined ? undefined : describe(asked.text)?.name;
      return `cpc:::${own ?? rest.join("-")}`;
    }
    case "rawtracepoint":
      return `rawtp:${rest.length > 1 ? rest[0] : "vmlinux"}::${rest.at(-1) ?? ""}`;
    case "uprobe":
    case "uretprobe": {
      const own = asked === undefined ? undefined : describe(asked.text);
      const of = rest.at(-1) ?? "";
      const offset = /\+(?:0x)?([0-9a-f]+)$/.exec(of)?.[1];
      const module = (rest[0] ?? "").split("/").at(-1) ?? "";
      if (of.startsWith("0x")) return `${own?.provider ?? "pid"}:${module}:-:${of.slice(2)}`;
      return `${own?.provider ?? "pid"}:${module}:${of.replace(/\+.*$/, "")}:${offset ?? (kind === "uprobe" ? "entry" : "return")}`;
    }
    case "insn": {
      const offset = rest.at(-1) ?? "";
      if (rest.length < 3) return `kinst:vmlinux:${rest[0] ?? ""}:${offset}`;
      const own = asked === undefined ? undefined : describe(asked.text);
      const module = rest[0]?.split("/").at(-1) ?? "";
      return `${own?.provider ?? "pid"}:${module}:${rest.slice(1, -1).join(":")}:${Number(offset).toString(16)}`;
    }
    case "usdt": {
      const own = asked === undefined ? undefined : describe(asked.text);
      const of = rest.length > 3 ? rest[2] : "";
      const module = (rest[0] ?? "").split("/").at(-1) ?? "";
      return `${own?.provider ?? rest[1] ?? ""}:${module}:${of}:${(rest.at(-1) ?? "").replaceAll("__", "-")}`;
    }
    default:
      return name;
  }
}
