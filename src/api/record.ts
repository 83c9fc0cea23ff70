// `strobe record`: probes to a program that sends all that handlers could ask there, and where in the records it is.
import { compile } from "../compiler/compile.ts";
import { headerOffset, type HeaderField } from "../compiler/layouts/record-header.ts";
import type { EventField, EventSchema, Plan } from "../compiler/plan.ts";
import { parse } from "../language/bpftrace/parse.ts";
import type { Argument, Context, RecordedRow, RecordedText, RecordedWord } from "../language/context.ts";
import { ScriptError, type Diagnostic, type Source, type Span } from "../language/diagnostic.ts";
import { sizeOf } from "../language/layout.ts";
import type { ProbeSpec } from "../language/probe-spec.ts";
import type { Expression, Probe, Program } from "../language/program.ts";
import type { ResolvedVariant } from "../language/resolved-probe.ts";
import { isScalar, unknownType, voidType, type Type } from "../language/types.ts";
import { isKept, viewText, type RecordedValue, type RecordedView } from "../machine/contexts/recorded-context.ts";
import type { LiveSystem } from "../machine/live-system.ts";
import type { System } from "../machine/system.ts";
import type { Resolution } from "../providers/provider.ts";
import { usedBuiltins } from "../language/check/uses.ts";
import type { Language } from "../language/language.ts";
import { whenName } from "../output/recorder.ts";
import { findProvider, resolveSpec, spellingOf } from "../providers/registry.ts";
import type { RecordedLayout, RecordedSite } from "../recordings/contents.ts";
import type { FieldRole, RowField } from "../recordings/layout.ts";
import { parseScript, type CompiledScript } from "./compile.ts";
import type { CodeChoices } from "./open.ts";
import { recordings } from "../messages/recordings.ts";

export interface RecordedWish {
  /** Each as in a script, with its predicate: `tracepoint:sched:* / pid == 3 /`. */
  readonly probes: readonly string[];
  /** What its handlers ask is recorded as well: its probes, and the stacks that it takes. */
  readonly script?: RecordedScriptWish | undefined;
  /** A probe whose events ask for what was recorded to be written. */
  readonly when?: string | undefined;
  readonly stacks: { readonly kernel: boolean; readonly user: boolean };
  readonly pid?: number | undefined;
  readonly command?: string | undefined;
}

export interface RecordedScriptWish {
  readonly source: Source;
  readonly language: Language;
  readonly positional: readonly string[];
}

export interface RecordingProgram {
  readonly source: Source;
  readonly compiled: CompiledScript;
  readonly layouts: readonly RecordedLayout[];
  readonly sites: readonly RecordedSite[];
}

const header: readonly HeaderField[] = ["time", "cpu", "pid", "tid", "probe"];

/** Always there, whoever is recorded: the lives of processes. */
const lives = ["fork", "exec", "exit"].map((what) => `tracepoint:sched:sched_process_${what}`);

/** Pages of 4096 bytes for events that wait, 64 MB: a quarter of a second of two million in a second. */
const ringPages = 16384;
/** Arrays and structs of more bytes are left out. */
const mostBytes = 512;

/** One place in the program that sends, and what. */
interface Sender {
  readonly variant: ResolvedVariant;
  readonly context: Context;
  readonly kept: readonly Argument[];
  readonly absent: readonly string[];
}

/** Compiles what records these probes on a machine. @throws ScriptError for probes that cannot be recorded */
export function compileRecording(wish: RecordedWish, system: LiveSystem, way: CodeChoices = {}): RecordingProgram {
  const script = wish.script && probesOfScript(wish.script);
  const whole: RecordedWish = {
    ...wish,
    stacks: {
      kernel: wish.stacks.kernel || script?.uses.has("kstack") === true,
      // The names of programs' code are kept of processes whose stacks are.
      user: wish.stacks.user || ["ustack", "usym", "usym_part"].some((name) => script?.uses.has(name)),
    },
  };
  const named = probesIn(wish.probes);
  const when = probesIn(wish.when === undefined ? [] : [wish.when]);
  // A site is recorded once, as it was asked for first.
  const seen = new Set<string>();
  const parts = [named, ...(script === undefined ? [] : [script]), when].map(({ source, probes }) => {
    const part = sendersOf(probes, system, whole, seen);
    refuseWrong(source, part.diagnostics);
    return part;
  });
  const asked = { senders: parts.flatMap((part) => part.senders), probes: parts.flatMap((part) => part.probes) };
  const asking = sendersOf(when.probes, system, whole);
  const side = lives.map(
    (text) => parse({ name: "record", text: `${text} { }` }, { positional: [] }).program.probes[0],
  );
  const known = new Set(asked.senders.flatMap(({ variant }) => variant.sites.map(({ name }) => name)));
  const more = sendersOf(
    side.filter((_, i) => !known.has(lives[i])),
    system,
    { ...wish, stacks: { kernel: false, user: false }, pid: undefined },
  );
  const senders = [...asked.senders, ...more.senders];
  const resolutions = new Map<ProbeSpec, Resolution>();
  const probes = [...asked.probes, ...more.probes].map((probe, i): Probe => {
    resolutions.set(probe.specs[0], { variants: [senders[i].variant], diagnostics: [] });
    return { ...probe, body: bodyOf(senders[i], i, i < asked.senders.length ? whole : undefined, probe.span) };
  });
  for (const [i, probe] of asking.probes.entries()) {
    resolutions.set(probe.specs[0], { variants: [asking.senders[i].variant], diagnostics: [] });
    probes.push({ ...probe, body: sends(whenName, [{ name: "comm", value: builtin("comm") }], probe.span) });
  }
  const { source } = script ?? named;
  const recorder: Program = {
    ...parse({ name: "record", text: "begin { }" }, { positional: [] }).program,
    source,
    config: [...(script?.config ?? []), { name: "perf_rb_pages", value: String(ringPages), span: noSpan }],
    probes,
  };
  const compiled = compile(recorder, system, {
    stamp: header,
    command: wish.command,
    ...way,
    env: process.env,
    resolve: (spec) => resolutions.get(spec) ?? { variants: [], diagnostics: [] },
  });
  if (compiled.plan === undefined) throw new ScriptError(source, compiled.diagnostics);
  return {
    source,
    compiled: { ...compiled, program: recorder, machine: system },
    ...described(compiled.plan, senders),
  };
}

interface AskedProbes {
  readonly source: Source;
  readonly probes: readonly Probe[];
}

/** Probes as a command line names them. @throws ScriptError */
function probesIn(texts: readonly string[]): AskedProbes {
  const source: Source = { name: "record", text: `${texts.join("\n{ }\n")}\n{ }\n` };
  if (texts.length === 0) return { source, probes: [] };
  const { program, diagnostics } = parse(source, { positional: [], probes: spellingOf });
  refuseWrong(source, diagnostics);
  return { source, probes: program.probes };
}

// ── what a script asks ──

/**
 * The probes of a script but for those that fire in strobe itself, with predicates that look at the event alone: what a
 * map has said decides when it is replayed. @throws ScriptError
 */
function probesOfScript({ source, language, positional }: RecordedScriptWish): AskedProbes & {
  readonly uses: ReadonlySet<string>;
  readonly config: Program["config"];
} {
  const { program, diagnostics } = parseScript(source, { positional }, language);
  refuseWrong(source, diagnostics);
  const probes = program.probes.flatMap((probe): Probe[] => {
    const specs = probe.specs.filter(({ provider }) => !inStrobe.has(findProvider(provider)?.name ?? provider));
    if (specs.length === 0) return [];
    const { predicate, ...rest } = probe;
    const kept = language.name === "bpftrace" && predicate !== undefined && isOfEvent(predicate);
    return [{ ...rest, specs, ...(kept ? { predicate } : {}) }];
  });
  return {
    source,
    probes,
    uses: new Set(program.probes.flatMap((probe) => [...usedBuiltins(probe, program.functions)])),
    config: program.config.filter(({ name }) => name === "max_strlen"),
  };
}

const inStrobe: ReadonlySet<string> = new Set(["begin", "end", "interval", "self"]);

/** Whether an expression is made of the event's values alone. */
function isOfEvent(expression: Expression): boolean {
  switch (expression.kind) {
    case "builtin":
    case "integer":
    case "string":
      return true;
    case "binary":
      return isOfEvent(expression.left) && isOfEvent(expression.right);
    case "unary":
      return isOfEvent(expression.operand);
    case "member":
      return isOfEvent(expression.object);
    case "call":
      return ["str", "strncmp", "strcontains"].includes(expression.name) && expression.args.every(isOfEvent);
    default:
      return false;
  }
}

function refuseWrong(source: Source, diagnostics: readonly Diagnostic[]): void {
  if (diagnostics.some(({ severity }) => severity === "error")) throw new ScriptError(source, diagnostics);
}

const noSpan: Span = { start: 0, end: 0 };

// ── what is sent ──

function sendersOf(
  probes: readonly Probe[],
  system: System,
  { stacks, pid, command }: RecordedWish,
  seen = new Set<string>(),
): { senders: Sender[]; probes: Probe[]; diagnostics: Diagnostic[] } {
  const senders: Sender[] = [];
  const sending: Probe[] = [];
  const diagnostics: Diagnostic[] = [];
  const uses = new Set(["args", "args.*", "probe", "arg0", "argN", "retval"]);
  if (stacks.kernel) uses.add("kstack");
  if (stacks.user) uses.add("ustack");
  for (const probe of probes) {
    for (const spec of probe.specs) {
      const resolve = (asking: ReadonlySet<string>): Resolution =>
        resolveSpec(spec, system, {
          uses: asking,
          missing: "error",
          ...(pid === undefined ? {} : { pid }),
          ...(command === undefined ? {} : { command }),
        });
      const whole = resolve(uses);
      // Where arguments would have to be kept from a function's entry on, there is its result alone.
      const keeps = whole.variants.some(({ context }) => context !== "host" && context.kept !== undefined);
      const { variants, diagnostics: said } = keeps
        ? resolve(new Set([...uses].filter((use) => !use.startsWith("arg"))))
        : whole;
      diagnostics.push(...said);
      for (const variant of variants) {
        const { context } = variant;
        if (context === "host" || context.runsInStrobe !== undefined || context.kept !== undefined) {
          diagnostics.push({
            severity: "error",
            span: spec.span,
            ...recordings.notRecordable(spec.text),
          });
          continue;
        }
        const sites = variant.sites.filter(({ name }) => !seen.has(name));
        for (const { name } of sites) seen.add(name);
        if (sites.length === 0) continue;
        const kept = (context.args ?? []).filter((arg) => arg.absent === undefined && isRecorded(arg));
        const keeps = new Set(kept);
        senders.push({
          variant: { ...variant, sites },
          context,
          kept,
          absent: (context.args ?? []).filter((arg) => !keeps.has(arg)).map(({ name }) => name),
        });
        const own = notOurs(probe, spec.span, pid);
        sending.push({ ...probe, specs: [{ ...spec }], predicate: own });
      }
    }
  }
  return { senders, probes: sending, diagnostics };
}

function isRecorded(argument: Argument): boolean {
  const { type, fetch } = argument;
  // An address in the event's own record: only text that is there is of use.
  if (fetch.kind === "data-location") return isText(type);
  return isKept(type) && sizeOf(type) <= mostBytes;
}

/** A pointer to characters. */
function isText(type: Type): boolean {
  return type.kind === "pointer" && type.target.kind === "integer" && type.target.bits === 8;
}

const bufferNames = /^u?buf(fer)?$|^list$/;
const lengthNames = /^(count|len|length|size|bufsi[sz]e?|buf_?len|nbytes)$/;

/**
 * Memory that is as long as the argument behind it says, as that of read() and write(): what processes hand each other,
 * without a 0 at its end. Only a script that asks for it has it recorded.
 */
function isBuffer({ args = [] }: Context, name: string): boolean {
  const next = args[args.findIndex((argument) => argument.name === name) + 1];
  return bufferNames.test(name) && next?.type.kind === "integer" && lengthNames.test(next.name);
}

function node<T extends object>(of: T): T & { span: Span; type: Type } {
  return { ...of, span: noSpan, type: unknownType };
}

const builtin = (name: string): Expression => node({ kind: "builtin", name });
const call = (name: string, ...args: readonly Expression[]): Expression => node({ kind: "call", name, args });
/** In 4 bytes. */
const word = (operand: Expression): Expression =>
  node({ kind: "cast", to: { name: "uint32", pointers: 0, dimensions: [], span: noSpan }, operand });
const argument = (name: string): Expression =>
  node({ kind: "member", object: builtin("args"), name, nameSpan: noSpan });

/** The probe's predicate, and that the event is not strobe's own, and of the process that is asked for. */
function notOurs(probe: Probe, span: Span, pid: number | undefined): Expression {
  const own: Expression = node({
    kind: "binary",
    operator: pid === undefined ? "!=" : "==",
    left: builtin("pid"),
    right: node({ kind: "integer", value: BigInt(pid ?? process.pid) }),
  });
  if (probe.predicate === undefined) return { ...own, span };
  return node({ kind: "binary", operator: "&&", left: own, right: probe.predicate });
}

function bodyOf({ context, kept }: Sender, index: number, wish: RecordedWish | undefined, span: Span): Probe["body"] {
  const fields: { name: string; value: Expression }[] = [
    { name: "comm", value: builtin("comm") },
    { name: "uid", value: word(builtin("uid")) },
    { name: "gid", value: word(builtin("gid")) },
    { name: "cgroup", value: builtin("cgroup") },
  ];
  if (context.program.type === "perf_event" || context.program.type === "kprobe")
    fields.push({ name: "usermode", value: builtin("usermode") });
  if (context.stacks && wish?.stacks.kernel === true) fields.push({ name: "kstack", value: framesOf("kstack") });
  if (context.stacks && wish?.stacks.user === true) fields.push({ name: "ustack", value: framesOf("ustack") });
  for (const [i, { name, type, fetch }] of kept.entries()) {
    if (fetch.kind !== "data-location") fields.push({ name: `a${i}`, value: argument(name) });
    if (isText(type) && !isBuffer(context, name)) fields.push({ name: `t${i}`, value: call("str", argument(name)) });
  }
  for (const i of (context.numbered ?? []).keys()) fields.push({ name: `n${i}`, value: builtin(`arg${i}`) });
  if (context.retval !== undefined && isKept(context.retval.type) && sizeOf(context.retval.type) <= mostBytes)
    fields.push({ name: "retval", value: builtin("retval") });
  return sends(String(index), fields, span);
}

/** A body that sends a record of that name. */
function sends(called: string, fields: { name: string; value: Expression }[], span: Span): Probe["body"] {
  const name: Expression = node({ kind: "string", value: called });
  return {
    kind: "block",
    span,
    statements: [
      {
        kind: "expression",
        span: noSpan,
        expression: {
          ...node({ kind: "call", name: "emit", args: [name, node({ kind: "record", fields })] }),
          type: voidType,
        },
      },
    ],
  };
}

/** As many frames as there ever are. */
function framesOf(name: "kstack" | "ustack"): Expression {
  return call(name, node({ kind: "integer", value: 127n }));
}

// ── where it is ──

function described(plan: Plan, senders: readonly Sender[]): Pick<RecordingProgram, "layouts" | "sites"> {
  const schemas: EventSchema[] = [];
  for (const schema of plan.schemas)
    if (schema.action.kind === "data" && schema.action.name !== whenName) schemas[Number(schema.action.name)] = schema;
  const layouts = senders.map((sender, i): RecordedLayout => {
    const schema = schemas[i];
    return {
      size: schema.size,
      time: headerOffset(header.indexOf("time")),
      fields: rowFields(schema),
      data: viewText(viewOf(sender, schema)),
    };
  });
  const layoutOf = new Map(senders.flatMap(({ variant }, i) => variant.sites.map(({ name }) => [name, i] as const)));
  return { layouts, sites: plan.probeNames.map((name) => ({ name, layout: layoutOf.get(name) ?? 0, data: "" })) };
}

function rowFields({ fields }: EventSchema): RowField[] {
  const rows: RowField[] = header.map((name, i) => ({
    kind: "integer",
    offset: headerOffset(i),
    size: 8,
    ...roleOf(name),
  }));
  for (const { name, type, offset } of fields) {
    const size = sizeOf(type);
    const role = roleOf(name);
    if (type.kind === "stack")
      rows.push(
        { kind: "stack", offset },
        { kind: "integer", offset: offset + 8, size: 4 },
        { kind: "integer", offset: offset + 12, size: 4 },
      );
    else if (isNumbers(type))
      // Each number is a column: it compresses, and is quicker to tell from others than their bytes together.
      for (let i = 0; i < type.length; i++)
        rows.push({
          kind: "integer",
          offset: offset + i * sizeOf(type.element),
          size: sizeOf(type.element) as 1 | 2 | 4 | 8,
        });
    else if (isScalar(type) && (size === 1 || size === 2 || size === 4 || size === 8))
      rows.push({ kind: "integer", offset, size, ...role });
    else rows.push({ kind: type.kind === "string" ? "text" : "bytes", offset, size, ...role });
  }
  return rows;
}

/** Few numbers, as the registers of a system call. */
function isNumbers(type: Type): type is Extract<Type, { kind: "array" }> {
  return (
    type.kind === "array" && type.element.kind === "integer" && type.element.bits >= 32 && type.length <= mostNumbers
  );
}
const mostNumbers = 8;

const roles: Readonly<Record<string, FieldRole>> = {
  probe: "site",
  pid: "thread",
  tid: "thread",
  comm: "thread",
  uid: "thread",
  gid: "thread",
  cgroup: "thread",
  cpu: "cpu",
};

/** What events have in common that are alike in what is called so. */
function roleOf(name: string): { readonly role?: FieldRole } {
  const role = roles[name];
  return role === undefined ? {} : { role };
}

function viewOf({ context, kept, absent }: Sender, schema: EventSchema): RecordedView {
  const fields = new Map(schema.fields.map((field) => [field.name, field]));
  const at = (name: string): EventField | undefined => fields.get(name);
  const words: { -readonly [word in RecordedWord]?: { offset: number; size: 1 | 2 | 4 | 8 } } = {};
  for (const word of ["time", "cpu", "pid", "tid"] as const)
    words[word] = { offset: headerOffset(header.indexOf(word)), size: 8 };
  for (const [word, name] of [
    ["uid", "uid"],
    ["gid", "gid"],
    ["cgroup", "cgroup"],
    ["user-mode", "usermode"],
  ] as const) {
    const field = at(name);
    if (field !== undefined) words[word] = { offset: field.offset, size: sizeOf(field.type) as 1 | 2 | 4 | 8 };
  }
  const texts: RecordedText[] = [];
  const args = kept.map(({ name, type, fetch }, i): RecordedValue => {
    const [value, text] = [at(`a${i}`), at(`t${i}`)];
    if (value !== undefined && text !== undefined && type.kind === "pointer")
      texts.push({ pointer: value.offset, space: type.space, offset: text.offset, size: sizeOf(text.type) });
    // Text in the event's own record is an address there: it is in the row, too.
    if (fetch.kind === "data-location") return { name, type, at: "address", offset: text!.offset };
    return { name, type, at: isScalar(type) ? "number" : "bytes", offset: value!.offset };
  });
  const numbered = (context.numbered ?? []).flatMap((_, i) => at(`n${i}`)?.offset ?? []);
  const retval = at("retval");
  const row: RecordedRow = {
    words,
    comm: at("comm")!.offset,
    site: headerOffset(header.indexOf("probe")),
    ...(at("kstack") === undefined ? {} : { kernelStack: at("kstack")!.offset }),
    ...(at("ustack") === undefined ? {} : { userStack: at("ustack")!.offset }),
    texts,
    absent,
  };
  return {
    provider: context.provider,
    programType: context.program.type,
    space: context.defaultSpace,
    ...(context.args === undefined ? {} : { args }),
    ...(numbered.length === 0 ? {} : { numbered }),
    ...(retval === undefined || context.retval === undefined
      ? {}
      : {
          retval: {
            name: "retval",
            type: context.retval.type,
            at: isScalar(context.retval.type) ? "number" : "bytes",
            offset: retval.offset,
          } as const,
        }),
    row,
  };
}
