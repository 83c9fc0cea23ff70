// Probe points: which kind of probe of the tree each is, and what its handler sees.
import { Failure } from "../../base/failure.ts";
import { systemtap } from "../../messages/systemtap.ts";
import type { Message } from "../../messages/message.ts";
import type { Span } from "../diagnostic.ts";
import type { FileIdentity, Given, MachineGiven } from "../language.ts";
import { nearest } from "../nearest.ts";
import type { ProbeSpec, SpecOptions } from "../probe-spec.ts";
import type { Expression } from "../program.ts";
import type { Component, Point } from "./syntax.ts";
import * as tree from "./tree.ts";
import { machineReasons } from "../../messages/on-demand.ts";

export interface Place {
  /** Where `$x` is: among the variables in scope, the arguments of the event, or nowhere. */
  readonly variables: "vars" | "args" | "none";
  /** A `.return` probe: `$x` is as it was when the function was entered. */
  readonly returns: boolean;
  /** What `$x` and addresses point into. */
  readonly space: "kernel" | "user";
  /** Any system call: `$syscall`, and `$arg1` to `$arg6`. */
  readonly calls?: true;
  /** `$$name` and `$$system` of a tracepoint: that has no system where it is a `kernel.tracepoint`. */
  readonly tracepoint?: "trace" | "tracepoint";
  /** `$$name` of a mark or an imported function. */
  readonly marks?: true;
  /** The file of the program whose functions these are, as the point names it. */
  readonly program?: string;
  /** What pnlabel() is. */
  readonly label?: string;
  /** `$return` is this argument of the event. */
  readonly result?: string;
  /** `begin`, `end`, `error`: they run in that order, and the last only where something failed. */
  readonly phase?: "begin" | "end" | "error";
  /** pp(), where the point has no wildcard. */
  readonly text?: string;
}

export interface Placed {
  readonly spec: ProbeSpec;
  readonly place: Place;
  /** Of one process only. */
  readonly guard?: Expression;
  /** Where a `.return` probe's function is entered. */
  readonly entry?: ProbeSpec;
  /** What holds there, of the calls whose returns are wanted. */
  readonly entered?: Expression;
}

const host: Place = { variables: "none", returns: false, space: "kernel" };

/** Kinds of probes whose first part is a file. */
const ofFiles: ReadonlySet<string> = new Set(["uprobe", "uretprobe", "usdt", "plt", "pltret"]);

/** What points ask of the command line and the machine. */
type PointGiven = Pick<Given, "machine" | "target" | "command">;

type Reading = Placed | "nothing" | { readonly problem: Message };

/** A base point; aliases are expanded before. "nothing" for `never`. */
export function placeOf(point: Point, given: PointGiven = {}): Reading {
  const { machine } = given;
  const { components, text, span } = point;
  const [first, ...rest] = components;
  const spec = (provider: string, parts: readonly string[], sequence?: bigint, options?: SpecOptions): ProbeSpec => ({
    provider,
    parts,
    ...(options === undefined ? {} : { options }),
    ...(point.optional ? { optional: true as const } : {}),
    ...(sequence === undefined ? {} : { sequence: Number(sequence) }),
    text,
    span,
  });
  const wild = /[*?[]/.test(text);
  const place = (of: Partial<Place>): Place => ({ ...host, ...(wild ? {} : { text }), ...of });
  switch (first.name) {
    case "begin":
    case "end":
    case "error": {
      if (rest.length > 0) return { problem: unknown(point, baseNames, rest[0]) };
      if (typeof first.argument === "string")
        return { problem: systemtap.expected(`a number, as in ${first.name}(10)`, `\`${text}\``) };
      const sequence = typeof first.argument === "bigint" ? first.argument : undefined;
      return {
        spec: spec(first.name === "begin" ? "begin" : "end", [], sequence),
        place: place({ phase: first.name }),
      };
    }
    case "never":
      return "nothing";
    case "timer":
      return timer(rest, point, machine, (provider, parts) => ({ spec: spec(provider, parts), place: place({}) }));
    case "kernel":
    case "module":
      return kernel(
        first,
        rest,
        point,
        (provider, parts, of, entry, options) => ({
          spec: spec(provider, parts, undefined, options),
          place: place(of ?? {}),
          ...(entry === undefined ? {} : { entry: spec(...entry) }),
        }),
        given,
      );
    case "kprobe": {
      const module = rest[0]?.name === "module" && typeof rest[0].argument === "string" ? [rest[0].argument] : [];
      const [of, ...suffixes] = module.length > 0 ? rest.slice(1) : rest;
      if (of?.name === "statement" && typeof of.argument === "bigint")
        return { spec: spec("kprobe", [`0x${of.argument.toString(16)}`]), place: place({ variables: "args" }) };
      if (of?.name !== "function" || typeof of.argument !== "string")
        return { problem: unknown(point, ["function", "module", "statement"], of) };
      const parts = [...module, of.argument];
      const returns = suffixes[0]?.name === "return";
      const options = maxactive(suffixes, point);
      if (options !== undefined && "problem" in options) return options;
      return {
        spec: spec(returns ? "kretprobe" : "kprobe", parts, undefined, options),
        place: place({ returns, variables: "args" }),
        ...(returns ? { entry: spec("kprobe", parts) } : {}),
      };
    }
    case "process":
      return processPoint(
        withProgram(first, rest, given),
        rest,
        point,
        (provider, parts, of, entry) => ({
          spec: spec(provider, parts),
          place: place({ space: "user", ...(ofFiles.has(provider) ? { program: parts[0] } : {}), ...of }),
          ...guardOf(first, given, span),
          ...(entry === undefined ? {} : { entry: spec(...entry) }),
        }),
        given,
        guardOf(first, given, span).guard !== undefined,
      );
    case "perf":
      return perf(rest, point, machine, (provider, parts) => ({
        spec: spec(provider, parts),
        place: place({ space: "user" }),
      }));
    case "procfs":
    case "input":
    case "netfilter":
    case "java":
    case "python3":
    case "python2":
    case "debuginfod":
    case "xdp":
      return {
        problem: systemtap.pointNotSupported(
          text,
          `strobe has no \`${first.name}\` probes yet`,
          first.name === "procfs"
            ? "a probe timer.s(1) prints it, to a file with -o; -G NAME=VALUE gives a global its first value"
            : undefined,
        ),
      };
    default:
      return { problem: unknown(point, baseNames, first) };
  }
}

export const baseNames = ["begin", "end", "error", "never", "timer", "kernel", "module", "kprobe", "process", "perf"];

function unknown(point: Point, known: readonly string[], at: Component | undefined): Message {
  const [near] = at === undefined ? [] : nearest(at.name, known);
  return systemtap.unresolvedPoint(
    point.text,
    near === undefined ? `known here: ${known.join(", ")}` : `did you mean \`${near}\`?`,
  );
}

function isProcess(id: Expression, span: Span): Expression {
  return tree.binary("==", tree.toLong(tree.builtin("pid", span)), id, span);
}

/** Whether the current process runs a file: by its number, and by its device where that is a disk's. */
function isProgram({ inode, device }: FileIdentity, span: Span): Expression {
  const path = ["mm", "exe_file", "f_inode"];
  const file = path.reduce<Expression>((of, name) => tree.member(of, name, span), tree.builtin("curtask", span));
  const is = (value: Expression, wanted: bigint): Expression =>
    tree.binary("==", tree.toLong(value), tree.integer(wanted, span), span);
  const same = is(tree.member(file, "i_ino", span), inode);
  if (device === undefined) return same;
  return tree.binary("&&", same, is(tree.member(tree.member(file, "i_sb", span), "s_dev", span), device), span);
}

/** The same, in processes that run a file. */
function ofProgram(path: string, { text, span }: Point, machine: MachineGiven | undefined, place: Reading): Reading {
  const program = machine?.fileIdentity?.(path);
  if (program instanceof Failure)
    return { problem: systemtap.pointNotSupported(text, program.reason, "name the program by its path") };
  return program === undefined || typeof place === "string" || "problem" in place
    ? place
    : { ...place, guard: isProgram(program, span) };
}

/** `.data(ADDRESS|"NAME")[.length(N)].write` or `.rw`: on the processor's breakpoint registers. */
function watched(
  of: Component,
  suffixes: readonly Component[],
  point: Point,
  make: (length: string | undefined, mode: string) => Reading,
): Reading {
  const known = ["length", "write", "rw"];
  const other = suffixes.find(({ name }) => !known.includes(name));
  if (other !== undefined) return { problem: unknown(point, known, other) };
  const mode = suffixes.find(({ name }) => name !== "length")?.name;
  const length = suffixes.find(({ name }) => name === "length")?.argument;
  if (mode === undefined || of.argument === undefined)
    return { problem: systemtap.expected('`.write` or `.rw` behind data("NAME")', `\`${point.text}\``) };
  return make(length === undefined ? undefined : String(length), mode === "write" ? "w" : "rw");
}

type Make = (
  provider: string,
  parts: readonly string[],
  of?: Partial<Place>,
  entry?: readonly [string, readonly string[]],
  options?: SpecOptions,
) => Reading;

/** `.return.maxactive(100)`: how many calls may be under way at once. */
function maxactive(
  suffixes: readonly Component[],
  { text }: Point,
): { readonly maxactive: string } | { readonly problem: Message } | undefined {
  const given = suffixes.find(({ name }) => name === "maxactive");
  if (given === undefined) return undefined;
  if (typeof given.argument !== "bigint")
    return { problem: systemtap.expected("a number, as in .maxactive(100)", `\`${text}\``) };
  if (!suffixes.some(({ name }) => name === "return"))
    return {
      problem: systemtap.pointNotSupported(
        text,
        "`.maxactive` counts calls that have not returned yet",
        "write it behind `.return`",
      ),
    };
  return { maxactive: String(given.argument) };
}

/** Ticks of the kernel a second; where no machine is asked, what most distributions build. */
function ticksOf(machine: MachineGiven | undefined): bigint | Failure {
  const found = machine === undefined ? "250" : machine.config("CONFIG_HZ");
  if (found instanceof Failure) return found;
  return found !== undefined && /^[1-9]\d*$/.test(found) ? BigInt(found) : new Failure(machineReasons().noConfigHz());
}

function timer(
  [unit, ...suffixes]: readonly Component[],
  point: Point,
  machine: MachineGiven | undefined,
  make: Make,
): Reading {
  const units: Readonly<Record<string, readonly [string, bigint]>> = {
    s: ["s", 1n],
    sec: ["s", 1n],
    ms: ["ms", 1n],
    msec: ["ms", 1n],
    us: ["us", 1n],
    usec: ["us", 1n],
    hz: ["hz", 1n],
  };
  const known = [...Object.keys(units), "jiffies", "ns", "nsec", "profile"];
  if (unit === undefined) return { problem: unknown(point, known, unit) };
  const left = suffixes.find(({ name }) => name !== "randomize" && name !== "tick");
  if (left !== undefined && unit.name !== "profile") return { problem: unknown(point, ["randomize"], left) };
  if (unit.name === "profile") {
    const rate = suffixes.find(({ name }) => name === "hz")?.argument;
    const each = rate ?? ticksOf(machine);
    if (each instanceof Failure)
      return { problem: systemtap.ticksUnknown(point.text, each.reason, "timer.profile.hz(250)") };
    return make("profile", ["hz", String(each)], { space: "user" });
  }
  const { argument } = unit;
  if (typeof argument !== "bigint" || argument <= 0n)
    return {
      problem: known.includes(unit.name)
        ? systemtap.expected(`a time, as in timer.${unit.name}(10)`, `\`${point.text}\``)
        : unknown(point, known, unit),
    };
  if (unit.name === "ns" || unit.name === "nsec") return make("interval", ["us", String((argument + 999n) / 1000n)]);
  if (unit.name === "jiffies") {
    const each = ticksOf(machine);
    if (each instanceof Failure) return { problem: systemtap.ticksUnknown(point.text, each.reason, "timer.ms(4)") };
    return 1000n % each === 0n
      ? make("interval", ["ms", String((argument * 1000n) / each)])
      : make("interval", ["us", String((argument * 1_000_000n) / each)]);
  }
  const found = Object.hasOwn(units, unit.name) ? units[unit.name] : undefined;
  if (found === undefined) return { problem: unknown(point, known, unit) };
  return make("interval", [found[0], String(argument * found[1])]);
}

/** `func@file:line` as the tree's kinds write it; a path behind a pattern may come without its `@`. */
function functionPattern(pattern: string): readonly [name: string, lines: string | undefined] {
  const at = pattern.indexOf("@");
  // Lines behind the function's own: `f@file.c+2`.
  if (at >= 0) return [pattern.slice(0, at), pattern.slice(at + 1).replace(/(?<!:)(\+\d+)$/, ":$1")];
  const [, name, path] = /^([\w*?:~]+)(\/.*\.\w+)$/.exec(pattern) ?? [];
  return name === undefined || path === undefined ? [pattern, undefined] : [name, path];
}

/** Of any function a line is the program's, of one the function's. */
function statementParts(path: string, name: string, lines: string | undefined): readonly string[] {
  if (lines === undefined) return [path, name];
  const behindFile = lines.lastIndexOf(":");
  if (name !== "*" || behindFile < 0) return [path, `${name}@${lines}`];
  return [`${path}@${lines.slice(0, behindFile)}`, lines.slice(behindFile + 1)];
}

const ofFile = "which functions a file of the kernel has is not looked up: name the function without its file";

/** Inlined copies are neither called nor do they return. */
function ofCopies(suffixes: readonly Component[], { text }: Point): { readonly problem: Message } | undefined {
  const names = suffixes.map(({ name }) => name);
  const other = names.find((name) => name === "call" || name === "return" || name === "exported");
  if (other === undefined || !names.includes("inline")) return undefined;
  return {
    problem: systemtap.pointNotSupported(text, `an inlined copy has no \`.${other}\``, "write `.inline` alone"),
  };
}

const callSuffixes = [
  "call",
  "return",
  "inline",
  "exported",
  "maxactive",
  "callee",
  "callees",
  "label",
  "nearest",
  "absolute",
];

function kernel(
  first: Component,
  [of, ...suffixes]: readonly Component[],
  point: Point,
  make: Make,
  given: PointGiven,
): Reading {
  const words =
    first.name === "module" ? ["function", "statement"] : ["function", "statement", "trace", "tracepoint", "data"];
  if (of === undefined) return { problem: unknown(point, words, of) };
  const module = typeof first.argument === "string" ? [first.argument] : [];
  switch (of.name) {
    case "trace":
    case "tracepoint": {
      if (typeof of.argument !== "string") break;
      // The kernel's own arguments, as the tracepoint's prototype names them.
      const colon = of.argument.indexOf(":");
      const group = colon < 0 ? "*" : of.argument.slice(0, colon);
      return make(
        "rawtracepoint",
        [of.argument.slice(colon + 1)],
        { variables: "args", tracepoint: of.name },
        undefined,
        { group },
      );
    }
    case "function": {
      if (typeof of.argument !== "string") break;
      const refused = suffixes.find(({ name }) => !callSuffixes.includes(name));
      if (refused !== undefined) return { problem: unknown(point, callSuffixes, refused) };
      const [name, lines] = functionPattern(of.argument);
      if (lines?.includes(":") === false) return { problem: systemtap.pointNotSupported(point.text, ofFile) };
      const whole = lines === undefined ? name : `${name}@${lines}`;
      const returns = suffixes.some((one) => one.name === "return");
      const copies = ofCopies(suffixes, point);
      if (copies !== undefined) return copies;
      if (suffixes.some((one) => one.name === "inline"))
        return module.length > 0
          ? { problem: systemtap.pointNotSupported(point.text, "inlined copies are found in the kernel itself") }
          : make("kprobe", ["inlined", name], { variables: "vars" });
      const options = maxactive(suffixes, point);
      if (options !== undefined && "problem" in options) return options;
      if (!returns) return make("kprobe", [...module, whole], { variables: "args" });
      const entry = ["kprobe", [...module, name]] as const;
      return make("kretprobe", [...module, name], { variables: "args", returns }, entry, options);
    }
    // What syscall.NAME is an alias of.
    case "syscall": {
      const returns = suffixes.length > 0;
      const entry = ["tracepoint", ["syscalls", `sys_enter_${String(of.argument)}`]] as const;
      if (!returns) return make(...entry, { variables: "args" });
      const seen = { variables: "args", returns, result: "ret" } as const;
      return make("tracepoint", ["syscalls", `sys_exit_${String(of.argument)}`], seen, entry);
    }
    case "statement": {
      if (typeof of.argument !== "string") break;
      const [name, lines] = functionPattern(of.argument);
      return make("kprobe", [...module, lines === undefined ? name : `${name === "*" ? "" : name}@${lines}`], {
        variables: "vars",
      });
    }
    case "data":
      return watched(of, suffixes, point, (length, mode) => {
        const address =
          typeof of.argument === "bigint" ? of.argument : given.machine?.kernelAddress?.(String(of.argument));
        if (address === undefined)
          return {
            problem: systemtap.pointNotSupported(point.text, `the kernel does not tell where ${of.argument} is`),
          };
        return make("watchpoint", [`0x${address.toString(16)}`, length ?? "1", mode]);
      });
    case "mark":
    case "lsm":
      return { problem: systemtap.pointNotSupported(point.text, `\`kernel.${of.name}\` is not there yet`) };
    default:
      return { problem: unknown(point, words, of) };
  }
  return { problem: systemtap.expected(`a name in quotes, as in kernel.${of.name}("…")`, `\`${point.text}\``) };
}

/** Without a program: that of -c or -x; all processes where only their beginnings and ends are asked for. */
function withProgram(first: Component, [of]: readonly Component[], { target, command = "" }: PointGiven): Component {
  if (first.argument !== undefined) return first;
  if (of !== undefined && lives.includes(of.name)) return { ...first, argument: "*" };
  if (typeof target === "number") return { ...first, argument: BigInt(target) };
  const [program] = /^[^\s"'\\$;&|<>()]+(?=\s|$)/.exec(command.trim()) ?? [];
  return program === undefined ? first : { ...first, argument: program };
}

/** The file of the program whose functions a point is about; undefined where none is given. */
export function programOf([first, ...rest]: readonly Component[], given: PointGiven): string | undefined {
  const [of] = rest;
  if (of?.name === "library" && typeof of.argument === "string") return of.argument;
  const { argument } = withProgram(first, rest, given);
  return typeof argument === "bigint" ? `/proc/${argument}/exe` : argument;
}

const lives = ["begin", "end", "thread"];

/** What only one process may run: that of the point, or of -c or -x where the point has none. */
function guardOf({ argument }: Component, { target }: PointGiven, span: Span): { readonly guard?: Expression } {
  if (typeof argument === "bigint") return { guard: isProcess(tree.integer(argument, span), span) };
  if (argument !== undefined || target === undefined) return {};
  const id = target === "command" ? tree.toLong(tree.builtin("cpid", span)) : tree.integer(target, span);
  return { guard: isProcess(id, span) };
}

const processWords = [
  "function",
  "statement",
  "mark",
  "provider",
  "plt",
  "library",
  "begin",
  "end",
  "thread",
  "syscall",
  "data",
];

/** `ofOne`: of one process only, whatever its program is. */
function processPoint(
  first: Component,
  rest: readonly Component[],
  point: Point,
  make: Make,
  given: PointGiven,
  ofOne = false,
): Reading {
  const { argument } = first;
  const path = argument === undefined ? undefined : typeof argument === "bigint" ? `/proc/${argument}/exe` : argument;
  const [of, ...suffixes] = rest;
  if (of === undefined) return { problem: unknown(point, processWords, of) };
  if (path === undefined)
    return {
      problem: systemtap.pointNotSupported(
        point.text,
        "no program is given",
        'name it: process("PATH"), or give a process: -c COMMAND, -x PID',
      ),
    };
  const quoted = (): { readonly problem: Message } => ({
    problem: systemtap.expected(`a name in quotes, as in .${of.name}("…")`, `\`${point.text}\``),
  });
  switch (of.name) {
    case "library": {
      if (typeof of.argument !== "string") return quoted();
      return processPoint({ ...first, argument: of.argument }, suffixes, point, make, given);
    }
    case "function": {
      if (typeof of.argument !== "string" && typeof of.argument !== "bigint") return quoted();
      const refused = suffixes.find(({ name }) => !callSuffixes.includes(name));
      if (refused !== undefined) return { problem: unknown(point, callSuffixes, refused) };
      const [name, lines] =
        typeof of.argument === "bigint" ? [`0x${of.argument.toString(16)}`, undefined] : functionPattern(of.argument);
      const whole = lines === undefined ? name : `${name}@${lines}`;
      const returns = suffixes.some((one) => one.name === "return");
      const copies = ofCopies(suffixes, point);
      if (copies !== undefined) return copies;
      if (suffixes.some((one) => one.name === "inline"))
        return make("uprobe", [path, `inlined:${name}`], { variables: "vars" });
      if (!returns) return make("uprobe", [path, whole], { variables: "vars" });
      return make("uretprobe", [path, whole], { variables: "vars", returns }, ["uprobe", [path, whole]]);
    }
    case "statement": {
      if (of.argument === undefined) return quoted();
      if (typeof of.argument === "bigint")
        return make("uprobe", [path, `0x${of.argument.toString(16)}`], { variables: "vars" });
      const [name, lines] = functionPattern(of.argument);
      return make("uprobe", statementParts(path, name, lines), { variables: "vars" });
    }
    case "mark":
      if (typeof of.argument !== "string") return quoted();
      return make("usdt", [path, of.argument], { variables: "args", marks: true });
    case "provider": {
      const [mark] = suffixes;
      if (typeof of.argument !== "string" || mark?.name !== "mark" || typeof mark.argument !== "string")
        return quoted();
      return make("usdt", [path, of.argument, mark.argument], { variables: "args", marks: true });
    }
    case "plt": {
      const name = typeof of.argument === "string" ? of.argument : "*";
      const [suffix] = suffixes;
      if (suffix === undefined) return make("plt", [path, name], { variables: "args", marks: true });
      if (suffix.name !== "return") return { problem: unknown(point, ["return"], suffix) };
      return make("pltret", [path, name], { variables: "args", marks: true, returns: true }, ["plt", [path, name]]);
    }
    case "begin":
    case "end":
      return make("process", [path, of.name]);
    case "thread": {
      const [when] = suffixes;
      if (when?.name !== "begin" && when?.name !== "end") return { problem: unknown(point, ["begin", "end"], when) };
      return make("thread", [path, when.name]);
    }
    case "syscall": {
      const [suffix] = suffixes;
      if (suffix !== undefined && suffix.name !== "return") return { problem: unknown(point, ["return"], suffix) };
      const entry = ["tracepoint", ["raw_syscalls", "sys_enter"]] as const;
      const place =
        suffix === undefined
          ? make(...entry, { variables: "args", calls: true })
          : make(
              "tracepoint",
              ["raw_syscalls", "sys_exit"],
              { variables: "args", returns: true, result: "ret", calls: true },
              entry,
            );
      return typeof argument === "string" && !ofOne ? ofProgram(argument, point, given.machine, place) : place;
    }
    case "data":
      return watched(of, suffixes, point, (length, mode) => {
        if (typeof of.argument === "bigint")
          return {
            problem: systemtap.pointNotSupported(
              point.text,
              "variables of programs are watched by name",
              '.data("NAME")',
            ),
          };
        return make("watchpoint", [path, String(of.argument), ...(length === undefined ? [] : [length]), mode]);
      });
    default:
      return { problem: unknown(point, processWords, of) };
  }
}

/** How many events stap lets pass from one handler to the next. */
const everyEvents = "1000000";

/** By their numbers, of <linux/perf_event.h>. */
const perfEvents: Readonly<Record<"hardware" | "software", readonly string[]>> = {
  hardware: [
    "cpu-cycles",
    "instructions",
    "cache-references",
    "cache-misses",
    "branch-instructions",
    "branch-misses",
    "bus-cycles",
    "stalled-cycles-frontend",
    "stalled-cycles-backend",
    "ref-cycles",
  ],
  software: [
    "cpu-clock",
    "task-clock",
    "page-faults",
    "context-switches",
    "cpu-migrations",
    "minor-faults",
    "major-faults",
    "alignment-faults",
    "emulation-faults",
  ],
};

/** `perf.sw.page_faults`, `perf.type(0).config(0).sample(10000)` */
function perf(
  [type, event, ...suffixes]: readonly Component[],
  point: Point,
  machine: MachineGiven | undefined,
  make: Make,
): Reading {
  const known = ["sample", "process"];
  const other = suffixes.find(({ name }) => !known.includes(name));
  if (other?.name === "hz" || other?.name === "counter")
    return {
      problem: systemtap.pointNotSupported(
        point.text,
        other.name === "hz" ? "a rate of events is not there" : "counters that handlers read are not there yet",
        other.name === "hz"
          ? "`.sample(N)` is each time that so many passed, timer.profile.freq.hz(N) a rate"
          : undefined,
      ),
    };
  if (other !== undefined) return { problem: unknown(point, known, other) };
  const process = suffixes.find(({ name }) => name === "process");
  if (process !== undefined) {
    const inner = suffixes.filter((one) => one !== process);
    const counted = perf([type, event, ...inner], point, machine, make);
    return typeof process.argument === "string" ? ofProgram(process.argument, point, machine, counted) : counted;
  }
  const sample = suffixes.find(({ name }) => name === "sample")?.argument;
  const count = [typeof sample === "bigint" ? String(sample) : everyEvents];
  const config = type?.name === "type" && event?.name === "config" ? event.argument : undefined;
  const kind = type?.argument === 0n ? "hardware" : type?.argument === 1n ? "software" : undefined;
  if (kind !== undefined && typeof config === "bigint") {
    const name = perfEvents[kind][Number(config)];
    if (name !== undefined) return make(kind, [name, ...count]);
  }
  if (type?.name === "sw" && event !== undefined) return make("software", [event.name.replaceAll("_", "-"), ...count]);
  if (type?.name === "hw" && event !== undefined) return make("hardware", [event.name.replaceAll("_", "-"), ...count]);
  return {
    problem: systemtap.pointNotSupported(
      point.text,
      "events by number are not there yet",
      "perf.sw.* and perf.hw.* name them",
    ),
  };
}
