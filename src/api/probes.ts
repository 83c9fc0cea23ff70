// Constructors of probes. A handler is compiled from its source, in the kernel; here it is only kept.
import { library } from "../messages/on-demand.ts";
import { InternalError } from "../base/internal-error.ts";
import type { SpecOptions } from "../language/probe-spec.ts";
import { withOptions, type ParameterMeaning } from "../language/probe-spelling.ts";
import { partsOf, type Word } from "../language/typescript/probe-words.ts";
import { findConstructor, spellingOf } from "../providers/registry.ts";
import type { SourceFunction } from "./captures.ts";
import type {
  ArgumentsOf,
  DeclaredAs,
  FunctionNameIn,
  Iterators,
  KernelFunctions,
  NameIn,
  Probes,
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
  readonly options?: SpecOptions;
  /** Probes with the same handler. */
  readonly also?: readonly Pick<Probe, "provider" | "parts" | "options">[];
  readonly constructorName: string;
  /** What stood before the handler. */
  readonly words: readonly Word[];
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

/** A probe by its constructor's name: the kinds' registry tells which kind that is. */
function make(
  constructorName: string,
  words: readonly Word[],
  handler: Handler<never>,
  captures: Captures | undefined,
): Probe {
  const kind = findConstructor(constructorName);
  if (kind === undefined) throw new InternalError(`no kind of probe has the constructor ${constructorName}()`);
  const { provider, parameters } = kind;
  const parts = partsOf(kind.words, words, constructorName);
  return probeOf({ ...named(provider, parts), constructorName, words, parameters }, handler, captures);
}

function named(provider: string, parts: readonly string[]): Pick<Probe, "provider" | "parts" | "options"> {
  return { provider, ...withOptions(parts, spellingOf(provider)) };
}

function probeOf(
  asked: Pick<Probe, "provider" | "parts" | "options" | "also" | "constructorName" | "words" | "parameters">,
  handler: Handler<never>,
  captures: Captures | undefined,
): Probe {
  const both = typeof handler === "function" ? { handler } : handler;
  if (typeof both?.handler !== "function" || ("filter" in both && typeof both.filter !== "function"))
    throw new TypeError(library().takesHandler(asked.constructorName).message);
  return { kind: "probe", ...asked, ...both, ...(captures === undefined ? {} : { captures }) };
}

/** An event of the kernel: `tracepoint("sched:sched_switch", (args) => …)`. Wildcards are allowed. */
export function tracepoint<Name extends NameIn<Tracepoints>>(
  event: Name,
  handler: Handler<[args: DeclaredAs<Tracepoints, Name>]>,
  captures?: Captures,
): Probe {
  return make("tracepoint", [event], handler, captures);
}

/** The same events with their raw arguments: cheaper. */
export function rawTracepoint<Name extends NameIn<RawTracepoints>>(
  event: Name,
  handler: Handler<[args: DeclaredAs<RawTracepoints, Name>]>,
  captures?: Captures,
): Probe {
  return make("rawTracepoint", [event], handler, captures);
}

/** A function of the kernel is called. `args[0]` is an argument by number. */
export function kprobe<Name extends FunctionNameIn<KernelFunctions>>(
  fn: Name,
  handler: Handler<[args: ArgumentsOf<KernelFunctions, Name>]>,
  captures?: Captures,
): Probe {
  return make("kprobe", [fn], handler, captures);
}

/** A function of the kernel returns. */
export function kretprobe<Name extends FunctionNameIn<KernelFunctions>>(
  fn: Name,
  handler: Handler<[retval: ReturnOf<KernelFunctions, Name>]>,
  captures?: Captures,
): Probe {
  return make("kretprobe", [fn], handler, captures);
}

/** A function of the kernel is called; cheaper than a kprobe, with typed arguments. */
export function fentry<Name extends FunctionNameIn<KernelFunctions>>(
  fn: Name,
  handler: Handler<[args: ArgumentsOf<KernelFunctions, Name>]>,
  captures?: Captures,
): Probe {
  return make("fentry", [fn], handler, captures);
}

/** A function of the kernel returns, with its arguments and what it returns. */
export function fexit<Name extends FunctionNameIn<KernelFunctions>>(
  fn: Name,
  handler: Handler<[args: ArgumentsOf<KernelFunctions, Name>, retval: ReturnOf<KernelFunctions, Name>]>,
  captures?: Captures,
): Probe {
  return make("fexit", [fn], handler, captures);
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
  return make("uprobe", [binary, fn], handler, captures);
}

/** A function of a program or library returns. */
export function uretprobe<Binary extends string, Name extends FunctionIn<Binary>>(
  binary: Binary,
  fn: Name,
  handler: Handler<[retval: ReturnOf<DeclaredAs<UserFunctions, Binary>, Name>]>,
  captures?: Captures,
): Probe {
  return make("uretprobe", [binary, fn], handler, captures);
}

/** A static probe of a program: `usdt("/usr/bin/prog", "provider:name", ([first, second]) => …)`. */
export function usdt<Binary extends string, Name extends StaticProbeIn<Binary>>(
  binary: Binary,
  name: Name,
  handler: Handler<[args: StaticArguments<Binary, Name>]>,
  captures?: Captures,
): Probe {
  return make("usdt", [binary, name], handler, captures);
}

/** On every processor, so often: `profile("99hz", …)`, `profile("10ms", …)`. */
export function profile(rate: string, handler: Handler<[]>, captures?: Captures): Probe {
  return make("profile", [rate], handler, captures);
}

/** On one processor, so often: `interval("1s", …)`. */
export function interval(rate: string, handler: Handler<[]>, captures?: Captures): Probe {
  return make("interval", [rate], handler, captures);
}

/** A count of the kernel's: `software("page-faults", 100, …)` fires at every hundredth. */
export function software(event: string, every: number, handler: Handler<[]>, captures?: Captures): Probe {
  return make("software", [event, every], handler, captures);
}

/** A count of the processor's: `hardware("cache-misses", 1000, …)`. */
export function hardware(event: string, every: number, handler: Handler<[]>, captures?: Captures): Probe {
  return make("hardware", [event, every], handler, captures);
}

/** When the trace begins. */
export function begin(handler: Handler<[]>, captures?: Captures): Probe {
  return make("begin", [], handler, captures);
}

/** When the trace ends, after everything is detached. */
export function end(handler: Handler<[]>, captures?: Captures): Probe {
  return make("end", [], handler, captures);
}

/** Goes over objects of the kernel: `iter("task", (ctx) => print(ctx.task.comm))`. */
export function iter<Name extends NameIn<Iterators>>(
  of: Name,
  handler: Handler<[ctx: DeclaredAs<Iterators, Name>]>,
  captures?: Captures,
): Probe {
  return make("iter", [of], handler, captures);
}

/**
 * Any probe as bpftrace writes it: `probe("watchpoint:0x1234:8:w", …)`. Of several, `probe(["kprobe:tcp_*",
 * "kprobe:udp_*"], …)`, the handler is one program where they give it the same arguments.
 */
export function probe<const Spec extends string | readonly string[]>(
  spec: Spec,
  handler: Handler<[args: DeclaredAs<Probes, Spec>]>,
  captures?: Captures,
): Probe {
  const specs: readonly string[] = typeof spec === "string" ? [spec] : spec;
  const [first, ...rest] = specs.map((one) => {
    if (typeof one !== "string") throw new TypeError(library().takesName("probe", typeof one).message);
    const [provider, ...parts] = one.split(":");
    return named(provider, parts);
  });
  if (first === undefined) throw new TypeError(library().takesNames().message);
  return probeOf(
    {
      ...first,
      ...(rest.length === 0 ? {} : { also: rest }),
      constructorName: "probe",
      words: [specs[0]],
      parameters: ["args"],
    },
    handler,
    captures,
  );
}

export function isProbe(value: unknown): value is Probe {
  return typeof value === "object" && value !== null && "kind" in value && value.kind === "probe" && "handler" in value;
}
