// Constructors of probes. A handler is compiled from its source, in the kernel; here it is only kept.
import type { ParameterMeaning } from "../language/typescript/binding.ts";
import type { SourceFunction } from "./captures.ts";
import type {
  ArgumentsOf,
  DeclaredAs,
  FunctionNameIn,
  Iterators,
  KernelFunctions,
  NameIn,
  RawTracepoints,
  ReturnOf,
  Tracepoints,
  Unchecked,
  UserFunctions,
  UserProbes,
} from "./declarations.ts";

/** A probe that was asked for: data, until trace() attaches it. */
export interface Probe {
  readonly kind: "probe";
  /** `tracepoint`, and the parts behind it. */
  readonly provider: string;
  readonly parts: readonly string[];
  /** Probes with the same handler. */
  readonly also?: readonly { readonly provider: string; readonly parts: readonly string[] }[];
  readonly constructorName: string;
  readonly parameters: readonly ParameterMeaning[];
  readonly handler: SourceFunction;
  readonly filter?: SourceFunction;
  readonly captures?: Captures;
}

/**
 * What the names in a handler are, when nothing rewrites it (`strobe run`, `node --import strobe/register`, the plugins
 * of bundlers do): `tracepoint("…", () => bytes.at(comm).count(), { bytes })`. What strobe itself exports need not be
 * named.
 */
export type Captures = Readonly<Record<string, unknown>>;

/** A handler; with a filter it runs only where that holds, which is looked at first. */
export type Handler<Parameters extends readonly unknown[]> =
  | ((...parameters: Parameters) => void)
  | { readonly filter: (...parameters: Parameters) => unknown; readonly handler: (...parameters: Parameters) => void };

function make(
  constructorName: string,
  provider: string,
  parts: readonly string[],
  parameters: readonly ParameterMeaning[],
  handler: Handler<never>,
  captures: Captures | undefined,
): Probe {
  for (const part of parts) {
    if (typeof part !== "string")
      throw new TypeError(`strobe: ${constructorName}() wants the probe's name as a string`);
  }
  const both = typeof handler === "function" ? { handler } : handler;
  if (typeof both?.handler !== "function" || ("filter" in both && typeof both.filter !== "function")) {
    throw new TypeError(`strobe: ${constructorName}() wants a handler: a function, or { filter, handler }`);
  }
  return {
    kind: "probe",
    provider,
    parts,
    constructorName,
    parameters,
    ...both,
    ...(captures === undefined ? {} : { captures }),
  };
}

/** Parts at colons. */
const split = (name: string): string[] => (typeof name === "string" ? name.split(":") : [name]);

/** An event of the kernel: `tracepoint("sched:sched_switch", (args) => …)`. Wildcards are allowed. */
export function tracepoint<Name extends NameIn<Tracepoints>>(
  event: Name,
  handler: Handler<[args: DeclaredAs<Tracepoints, Name>]>,
  captures?: Captures,
): Probe {
  return make("tracepoint", "tracepoint", split(event), ["args"], handler, captures);
}

/** The same events with their raw arguments: cheaper. */
export function rawTracepoint<Name extends NameIn<RawTracepoints>>(
  event: Name,
  handler: Handler<[args: DeclaredAs<RawTracepoints, Name>]>,
  captures?: Captures,
): Probe {
  return make("rawTracepoint", "rawtracepoint", split(event), ["args"], handler, captures);
}

/** A function of the kernel is called. `args[0]` is an argument by number. */
export function kprobe<Name extends FunctionNameIn<KernelFunctions>>(
  fn: Name,
  handler: Handler<[args: ArgumentsOf<KernelFunctions, Name>]>,
  captures?: Captures,
): Probe {
  return make("kprobe", "kprobe", split(fn), ["args"], handler, captures);
}

/** A function of the kernel returns. */
export function kretprobe<Name extends FunctionNameIn<KernelFunctions>>(
  fn: Name,
  handler: Handler<[retval: ReturnOf<KernelFunctions, Name>]>,
  captures?: Captures,
): Probe {
  return make("kretprobe", "kretprobe", split(fn), ["retval"], handler, captures);
}

/** A function of the kernel is called; cheaper than a kprobe, with typed arguments. */
export function fentry<Name extends FunctionNameIn<KernelFunctions>>(
  fn: Name,
  handler: Handler<[args: ArgumentsOf<KernelFunctions, Name>]>,
  captures?: Captures,
): Probe {
  return make("fentry", "fentry", split(fn), ["args"], handler, captures);
}

/** A function of the kernel returns, with its arguments and what it returns. */
export function fexit<Name extends FunctionNameIn<KernelFunctions>>(
  fn: Name,
  handler: Handler<[args: ArgumentsOf<KernelFunctions, Name>, retval: ReturnOf<KernelFunctions, Name>]>,
  captures?: Captures,
): Probe {
  return make("fexit", "fexit", split(fn), ["args", "retval"], handler, captures);
}

/** Names of functions in a program; any while nothing is declared of it. */
type FunctionIn<Binary> =
  DeclaredAs<UserFunctions, Binary> extends infer Declared
    ? unknown extends Declared
      ? string
      : FunctionNameIn<Declared>
    : never;
/** Names of static probes in a program. */
type StaticProbeIn<Binary> =
  DeclaredAs<UserProbes, Binary> extends infer Declared
    ? unknown extends Declared
      ? string
      : NameIn<Declared>
    : never;
/** The arguments of one, where they are known. */
type StaticArguments<Binary, Name> =
  DeclaredAs<DeclaredAs<UserProbes, Binary>, Name> extends infer Declared
    ? unknown extends Declared
      ? Unchecked
      : Declared
    : never;

/** A function of a program or library is called. */
export function uprobe<Binary extends string, Name extends FunctionIn<Binary>>(
  binary: Binary,
  fn: Name,
  handler: Handler<[args: ArgumentsOf<DeclaredAs<UserFunctions, Binary>, Name>]>,
  captures?: Captures,
): Probe {
  return make("uprobe", "uprobe", [binary, ...split(fn)], ["args"], handler, captures);
}

/** A function of a program or library returns. */
export function uretprobe<Binary extends string, Name extends FunctionIn<Binary>>(
  binary: Binary,
  fn: Name,
  handler: Handler<[retval: ReturnOf<DeclaredAs<UserFunctions, Binary>, Name>]>,
  captures?: Captures,
): Probe {
  return make("uretprobe", "uretprobe", [binary, ...split(fn)], ["retval"], handler, captures);
}

/** A static probe of a program: `usdt("/usr/bin/prog", "provider:name", ([first, second]) => …)`. */
export function usdt<Binary extends string, Name extends StaticProbeIn<Binary>>(
  binary: Binary,
  name: Name,
  handler: Handler<[args: StaticArguments<Binary, Name>]>,
  captures?: Captures,
): Probe {
  return make("usdt", "usdt", [binary, ...split(name)], ["args"], handler, captures);
}

/** On every processor, so often: `profile("99hz", …)`, `profile("10ms", …)`. */
export function profile(rate: string, handler: Handler<[]>, captures?: Captures): Probe {
  return make("profile", "profile", rateParts("profile", rate), [], handler, captures);
}

/** On one processor, so often: `interval("1s", …)`. */
export function interval(rate: string, handler: Handler<[]>, captures?: Captures): Probe {
  return make("interval", "interval", rateParts("interval", rate), [], handler, captures);
}

/** `99hz` → hz, 99. */
function rateParts(constructorName: string, rate: string): string[] {
  const match = /^(\d+)\s*(hz|s|ms|us)$/i.exec(rate);
  if (match === null)
    throw new RangeError(
      `strobe: ${constructorName}() wants a rate as "99hz", "10ms", "1s", not ${JSON.stringify(rate)}`,
    );
  return [match[2].toLowerCase(), match[1]];
}

/** A count of the kernel's: `software("page-faults", 100, …)` fires at every hundredth. */
export function software(event: string, every: number, handler: Handler<[]>, captures?: Captures): Probe {
  return make("software", "software", [event, String(every)], [], handler, captures);
}

/** A count of the processor's: `hardware("cache-misses", 1000, …)`. */
export function hardware(event: string, every: number, handler: Handler<[]>, captures?: Captures): Probe {
  return make("hardware", "hardware", [event, String(every)], [], handler, captures);
}

/** When the trace begins. */
export function begin(handler: Handler<[]>, captures?: Captures): Probe {
  return make("begin", "begin", [], [], handler, captures);
}

/** When the trace ends, after everything is detached. */
export function end(handler: Handler<[]>, captures?: Captures): Probe {
  return make("end", "end", [], [], handler, captures);
}

/** Goes over objects of the kernel: `iter("task", (ctx) => print(ctx.task.comm))`. */
export function iter<Name extends NameIn<Iterators>>(
  of: Name,
  handler: Handler<[ctx: DeclaredAs<Iterators, Name>]>,
  captures?: Captures,
): Probe {
  return make("iter", "iter", split(of), ["ctx"], handler, captures);
}

/**
 * Any probe as bpftrace writes it: `probe("watchpoint:0x1234:8:w", …)`. Of several, `probe(["kprobe:tcp_*",
 * "kprobe:udp_*"], …)`, the handler is one program where they give it the same arguments.
 */
export function probe(
  spec: string | readonly string[],
  handler: Handler<[args: Unchecked]>,
  captures?: Captures,
): Probe {
  const [first, ...rest] = (typeof spec === "string" ? [spec] : spec).map((one) => {
    if (typeof one !== "string") throw new TypeError("strobe: probe() wants the probe's name as a string");
    const [provider, ...parts] = split(one);
    return { provider, parts };
  });
  if (first === undefined) throw new TypeError("strobe: probe() wants a probe's name");
  return {
    ...make("probe", first.provider, first.parts, ["args"], handler, captures),
    ...(rest.length === 0 ? {} : { also: rest }),
  };
}

export function isProbe(value: unknown): value is Probe {
  return typeof value === "object" && value !== null && "kind" in value && value.kind === "probe" && "handler" in value;
}
