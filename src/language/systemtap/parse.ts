// SystemTap's language: from text to the tree. No I/O; every mistake becomes a diagnostic.
import { lazy } from "../../base/lazy.ts";
import { systemtap } from "../../messages/systemtap.ts";
import type { Message } from "../../messages/message.ts";
import type { Diagnostic, Source, Span } from "../diagnostic.ts";
import type { Given, Parsed } from "../language.ts";
import type { ProbeSpec } from "../probe-spec.ts";
import type {
  Expression,
  FunctionDeclaration,
  MapDeclaration,
  Probe,
  Program,
  Statement,
  TypeName,
} from "../program.ts";
import { expandList, expandPoint, type Expanded } from "./aliases.ts";
import { samplesOf } from "./samples.ts";
import { printing, unread } from "./autoprint.ts";
import { block } from "./bodies.ts";
import { withArguments } from "./command-line.ts";
import { Scope, type FunctionTypes } from "./declared.ts";
import { Types } from "./infer.ts";
import { afterFailing, canFail, entryLimit, errorLimit, failingFunctions, guarded, lastWords } from "./failing.ts";
import { libraryFunction } from "./library.ts";
import { callsOthers, isCompared, namesIn, placeOfName, used } from "./names.ts";
import { recursionOf } from "./recursion.ts";
import type { Inside } from "./inside.ts";
import { functionsOfProbe } from "./of-probe.ts";
import { componentsText, parseScript } from "./parse-script.ts";
import { refuseLoopWrites } from "./loop-writes.ts";
import type { Place, Placed } from "./place.ts";
import { placeOf } from "./points.ts";
import { systemtapRules } from "./rules.ts";
import { stacksAs } from "./stacks-as-texts.ts";
import type { Expr, Global, ProbeDefinition, Script, Stmt, ValueType } from "./syntax.ts";
import type { Taken } from "./tapset.ts";
import * as tree from "./tree.ts";
import { exitsOf, unlessLeft, withExit } from "./leaving.ts";
import { Translation, Unit } from "./unit.ts";
import { condition, storage, value } from "./values.ts";

// Loaded where a script uses something of the library that is written in the language itself.
const tapset = lazy<typeof import("./tapset.ts")>(() => require("./tapset.ts"));

// Loaded for `-I`.
const libraryFiles = lazy<typeof import("./libraries.ts")>(() => require("./libraries.ts"));

// Loaded for points inside of functions.
const inside = lazy<typeof import("./inside.ts")>(() => require("./inside.ts"));
const isInside: ReadonlySet<string> = new Set(["callee", "callees", "label"]);

/** A handler as it runs at some points: prologues, its own body and epilogues. */
interface Handler {
  readonly placed: readonly Placed[];
  readonly body: Stmt;
  /** Without what aliases have around it. */
  readonly own: Stmt;
  readonly scope: Scope;
  readonly conditions: readonly Expr[];
  readonly texts: ReadonlyMap<string, Expr>;
  readonly span: Span;
}

export function parse(written: Source, given: Given): Parsed {
  const libraries = given.library === undefined ? undefined : new (libraryFiles().Libraries)(written, given);
  const parsed = parseScript(written, given.positional, given.machine, libraries?.macros);
  const read = { ...parsed, script: withArguments(parsed.script, given.positional) };
  // Its first pass asks only how a script is written.
  if (given.settings?.get("pass") === "1") return { program: withoutProbes(written), diagnostics: read.diagnostics };
  const source = libraries?.source ?? written;
  const diagnostics: Diagnostic[] = [...read.diagnostics];
  let taken: Taken | undefined;
  const library = (): Taken => (taken ??= new (tapset().Taken)(source, given.machine));
  function report(of: Span, message: Message): void {
    const { start, end } = taken?.told(of) ?? of;
    if (!diagnostics.some((one) => one.span.start === start && one.message === message.message))
      diagnostics.push({ severity: "error", span: { start, end }, ...message });
  }

  function warn({ start, end }: Span, message: Message): void {
    diagnostics.push({ severity: "warning", span: { start, end }, ...message });
  }

  // What prologues store in and call, wherever that stands.
  const known = {
    functions: [...read.script.functions, ...(libraries?.all.functions ?? [])],
    globals: [...read.script.globals, ...(libraries?.all.globals ?? [])],
  };
  const handlersAt = ({ points, body, span }: ProbeDefinition): Handler[] => {
    const asked = [body, read.script.aliases];
    const asks = { arguments: namesIn(asked).has("argstr"), name: isCompared("name", asked) };
    const expanded = expandList(points, (point) =>
      expandPoint(
        point,
        read.script.aliases,
        (one) => {
          const own = libraries?.aliasesOf(one) ?? [];
          return own.length > 0 ? own : library().aliasesOf(one);
        },
        report,
        asks,
      ),
    );
    return handlersOf(expanded.flatMap(withInside), body, span);
  };
  function withInside(one: Expanded): (Expanded & Omit<Inside, "point">)[] {
    if (!one.point.components.some(({ name }) => isInside.has(name))) return [one];
    const found = inside().insideOf(one.point, given) ?? [{ point: one.point }];
    if (!("problem" in found)) return found.map((of) => ({ ...one, ...of }));
    if (!one.point.optional) report(one.point.span, found.problem);
    return [];
  }

  const handlers = read.script.probes.flatMap(handlersAt);
  const bodiesOf = (): unknown => handlers.map(({ body, conditions }) => ({ body, conditions }));
  libraries?.take([read.script.functions, bodiesOf()], read.script.functions);
  handlers.push(...(libraries?.probes ?? []).flatMap(handlersAt));
  diagnostics.push(...(libraries?.diagnostics ?? []));
  const script: Script = {
    ...read.script,
    functions: [...read.script.functions, ...(libraries?.functions(read.script.functions) ?? [])],
    globals: [...read.script.globals, ...(libraries?.globals(read.script.globals) ?? [])],
  };
  const globals = script.globals.map((global) => withGiven(global, given));
  const bodies = bodiesOf();
  if (callsOthers(script.functions, bodies)) {
    library().functionsOf(script, bodies);
    handlers.push(...library().probes.flatMap(handlersAt));
  }
  const types = new Types(
    [...globals, ...(taken?.globals ?? [])],
    [...script.functions, ...(taken?.functions ?? [])],
    report,
  );
  const shared = new Translation(types, given);
  const waits = script.probes.some(({ points }) => points.some(({ components: [first] }) => first.name === "never"));
  if (handlers.length === 0 && !waits && diagnostics.length === 0)
    report({ start: source.text.length, end: source.text.length }, systemtap.neverProbes());
  else if (handlers.length > 0 && diagnostics.length === 0 && handlers.every(({ body }) => isEmpty(body)))
    report(handlers[0].span, systemtap.emptyProbes());
  types.infer(handlers, report);
  for (const { global, read: isRead, written, value, keys } of types.globals.values()) {
    const { name, size, span } = global;
    if (isRead && !written && value === undefined)
      report(placeOfName(name, [script.functions, bodies]) ?? span, systemtap.unresolvedGlobal(name));
    if (size !== undefined && keys?.length === 0) report(span, systemtap.keyCount(name, 1, 0));
  }
  refuseLoopWrites([script.functions, bodies], types, report);
  // Printing reads: what is printed is chosen before it is added.
  const printed = unread(types.globals.values()).map(printing);
  if (printed.length > 0) {
    const span = { start: source.text.length, end: source.text.length };
    const body: Stmt = { kind: "block", statements: printed, span };
    handlers.push({
      placed: [last(span)],
      body,
      own: body,
      scope: new Scope(),
      conditions: [],
      texts: new Map(),
      span,
    });
  }
  const scopes = types.infer(handlers, report);
  shared.ofProbe = functionsOfProbe(types);
  shared.stacks = stacksAs([...handlers.map(({ body }) => body), ...types.called()], types);
  const recursive = recursionOf(types, given.settings);
  const functions = [...scopes].flatMap(([own, scope]) => (shared.ofProbe.has(own) ? [] : [functionOf(own, scope)]));
  const entries = entryLimit(given.settings);
  const isArray = ({ name, size }: Global): boolean =>
    size === undefined ? given.translated !== true && (types.globals.get(name)?.keys?.length ?? 0) > 0 : true;
  const sized = new Set(globals.flatMap((one) => (one.wraps || !isArray(one) ? [] : [one.name])));
  const doubtful = { functions: failingFunctions(functions, sized), sized };
  const limit = errorLimit(given.settings);
  const begins = handlers.filter(({ placed: [{ place }] }) => place.phase === "begin");
  shared.beginsAgain = begins.reduce((sum, { placed }) => sum + placed.length, 0) > 1;
  const translated = handlers.flatMap(probesOf);
  const probes = shared.leavesBegin ? translated.map(unlessLeft) : translated;
  const begin = initial();
  if (begin !== undefined) probes.unshift(begin);
  if (shared.fails) probes.push(lastWords(limit, { start: source.text.length, end: source.text.length }));
  const samples = samplesOf(types.globals.values());
  if (samples !== undefined) functions.push(samples);
  const program: Program = {
    source: taken?.source ?? source,
    rules: systemtapRules,
    config: [],
    structs: [],
    enums: [],
    maps: maps(),
    functions,
    probes: probes.map((probe) => afterFailing(probe, shared.fails, limit)),
    options: globals.slice(0, read.script.globals.length).map(({ name, initial: first }) => ({
      name,
      takes: first?.kind === "string" ? ("text" as const) : ("number" as const),
      fallback: first?.kind === "string" ? first.value : first?.kind === "number" ? String(first.value) : "",
    })),
  };
  return {
    program,
    ...(taken === undefined ? {} : { told: (span: Span) => library().told(span) }),
    diagnostics: [...diagnostics, ...shared.diagnostics].sort((a, b) => a.span.start - b.span.start),
  };

  /** Points whose variables are in the same place, and that run the same around the handler, have one. */
  function handlersOf(expanded: readonly (Expanded & Omit<Inside, "point">)[], body: Stmt, span: Span): Handler[] {
    const made: { handler: Handler; key: string; placed: Placed[] }[] = [];
    for (const { point, before: prologues, behind, conditions, unless, guard: within, label } of expanded) {
      const before = used(prologues, [body, behind, conditions], known, (of) => isLibrary(of, point.span));
      const reading = placeOf(point, given);
      if (reading === "nothing") continue;
      if ("problem" in reading) {
        if (!point.optional) report(point.span, reading.problem);
        continue;
      }
      const place = label === undefined ? reading.place : { ...reading.place, label };
      const entered = place.returns ? within : undefined;
      const guards = [reading.guard, entered === undefined ? within : undefined].filter((one) => one !== undefined);
      const guard = guards.length < 2 ? guards[0] : tree.binary("&&", guards[0], guards[1], point.span);
      const found = withUnless(
        {
          ...reading,
          place,
          ...(guard === undefined ? {} : { guard }),
          ...(entered === undefined ? {} : { entered }),
        },
        unless.map((one) => placeOf(one, given)),
      );
      const key = JSON.stringify([
        place,
        before.map(asWritten),
        behind.map(spanOf),
        conditions.map(spanOf),
        guard === undefined && within === undefined ? "" : componentsText(point.components),
      ]);
      const same = made.find((one) => one.key === key);
      if (same !== undefined) {
        same.placed.push(found);
        continue;
      }
      const placed = [found];
      const whole: Stmt = { kind: "block", statements: [...before, body, ...behind], span };
      const texts = new Map(before.flatMap(textsOf));
      made.push({
        key,
        placed,
        handler: { placed, body: whole, own: body, scope: new Scope(), conditions, texts, span },
      });
    }
    return made.map(({ handler }) => handler);
  }

  /** What the library says: aliases of system calls are made where their point stands. */
  function isLibrary(span: Span, { start, end }: Span): boolean {
    return (span.start === start && span.end === end) || (taken !== undefined && taken.told(span) !== span);
  }

  function probesOf(handler: Handler): Probe[] {
    const { placed, scope, conditions, span } = handler;
    const [{ place, guard, entered }] = placed;
    const all = [...script.functions, ...(taken?.functions ?? [])];
    const unit = new Unit(shared, scope, place, { value, storage }, handler.texts, exitsOf(handler.body, all));
    unit.body = handler.own;
    const wanted = conditions.map((one) => condition(one, unit));
    if (entered !== undefined) wanted.unshift(unit.atEntry(entered));
    const own = block(handler.body, unit);
    const declared = localsOf(scope, unit, handler.body);
    const ofProbe = functionsFor(unit);
    const predicates = [...(guard === undefined ? [] : [guard]), ...wanted];
    const predicate = predicates.reduce<Expression | undefined>(
      (all, one) => (all === undefined ? one : tree.binary("&&", all, one, one.span)),
      undefined,
    );
    const specs = placed.map(({ spec }) => spec);
    let statements: readonly Statement[] = [...declared, ...own.statements];
    const known =
      ofProbe.length === 0
        ? doubtful
        : { ...doubtful, functions: failingFunctions([...functions, ...ofProbe], doubtful.sized) };
    functions.push(...ofProbe);
    if (canFail(statements, known)) {
      shared.fails = true;
      statements = [guarded(statements, limit, place.phase === "end" || place.phase === "error", span)];
    }
    statements = withExit(statements, unit, span);
    if (unit.entries.size === 0)
      return [{ specs, ...(predicate === undefined ? {} : { predicate }), body: tree.block(statements, span), span }];
    return withEntries(unit, placed, predicate, statements, span);
  }

  /** What a `.return` probe has of the function's entry is kept for the thread, and by how deep it is. */
  function withEntries(
    unit: Unit,
    placed: readonly Placed[],
    predicate: Expression | undefined,
    statements: readonly Statement[],
    span: Span,
  ): Probe[] {
    const tid = (): Expression => tree.builtin("tid", span);
    const depth = tree.map(shared.name("depth"), [tid()], span);
    const [level, entered] = [shared.name("level"), shared.name("level")];
    const { result: _, ...place } = unit.where;
    const there = new Unit(shared, unit.scope, { ...place, returns: false }, { value, storage });
    const kept = [...unit.entries.values()].map((one) => ({ ...one, map: shared.name("kept") }));
    const key = (of: string): readonly Expression[] => [tid(), tree.variable(of, span)];
    const entry: Probe = {
      specs: placed.map(({ spec, entry: at }) => at ?? spec),
      body: tree.block(
        [
          tree.declare(entered, tree.binary("+", depth, tree.integer(1, span), span), tree.longType(span)),
          tree.assign(depth, tree.variable(entered, span), span),
          ...kept.map(({ map, value }) => tree.assign(tree.map(map, key(entered), span), value(there), span)),
        ],
        span,
      ),
      span,
    };
    const one = tree.integer(1, span);
    const inner: Statement[] = [
      ...kept.flatMap(({ name, map }) => [
        tree.declare(name, tree.map(map, key(level), span)),
        tree.statement(
          tree.call(
            "delete",
            [tree.map(map, [], span), { kind: "tuple", elements: key(level), span, type: { kind: "unknown" } }],
            span,
          ),
        ),
      ]),
      {
        kind: "if",
        condition: tree.binary(">", tree.variable(level, span), one, span),
        then: tree.block([tree.assign(depth, tree.binary("-", tree.variable(level, span), one, span), span)], span),
        otherwise: tree.block(
          [tree.statement(tree.call("delete", [tree.map(depth.name, [], span), tid()], span))],
          span,
        ),
        span,
      },
      ...(predicate === undefined
        ? statements
        : [{ kind: "if" as const, condition: predicate, then: tree.block(statements, span), span }]),
    ];
    return [
      entry,
      {
        specs: placed.map(({ spec }) => spec),
        // A call that began before tracing did has no entry.
        predicate: tree.call("has_key", [tree.map(depth.name, [], span), tid()], span),
        body: tree.block([tree.declare(level, depth, tree.longType(span)), ...inner], span),
        span,
      },
    ];
  }

  /** Those that a handler calls, and that ask for its probe; what they call is found on the way. */
  function functionsFor(unit: Unit): FunctionDeclaration[] {
    const made: FunctionDeclaration[] = [];
    for (const [own, name] of unit.own) made.push({ ...functionOf(own, scopes.get(own)!, unit), name, ofProbe: true });
    return made;
  }

  /** `calling`: the handler whose probe it asks for. */
  function functionOf(own: FunctionTypes, scope: Scope, calling?: Unit): FunctionDeclaration {
    const { definition } = own;
    const { span } = definition;
    const where = calling?.where ?? { variables: "none", returns: false, space: "kernel" };
    const unit = new Unit(shared, scope, where, { value, storage }, new Map(), undefined, calling?.own);
    const body = block(definition.body, unit);
    const result = own.result === "string" ? tree.text("", span) : tree.integer(0, span);
    const recursion = recursive.get(own);
    // Texts of one that calls itself have all the room that they may need from the first on.
    const textOf = (at: Span): { readonly type?: TypeName } =>
      recursion === undefined ? {} : { type: tree.textType(at) };
    return {
      name: own.name,
      parameters: definition.parameters.map(({ name, span: at }, i) => ({
        name,
        ...(own.parameters[i] === "string" ? textOf(at) : { type: tree.longType(at) }),
        span: at,
      })),
      ...(!own.returns
        ? {}
        : own.result !== "string"
          ? { result: tree.longType(span) }
          : recursion === undefined
            ? {}
            : { result: tree.textType(span) }),
      ...(recursion === undefined ? {} : { recursion }),
      body: tree.block(
        [
          ...localsOf(scope, unit, definition.body),
          ...body.statements,
          ...(own.returns && !leaves(body.statements.at(-1)) ? [{ kind: "return" as const, value: result, span }] : []),
        ],
        span,
      ),
      span,
    };
  }

  /** Numbers are declared, so that whatever is stored is one of 64 bits; texts have what they are given. */
  function localsOf(scope: Scope, unit: Unit, body: Stmt): Statement[] {
    const { span } = body;
    const parameters = scope.function?.definition.parameters.map(({ name }) => name) ?? [];
    return [...scope.locals]
      .filter(([name]) => !parameters.includes(name) && !unit.texts.has(name))
      .flatMap(([name, type]) => {
        if (!scope.assigned.has(name)) {
          if (type === undefined) report(placeOfName(name, body) ?? span, systemtap.unresolvedType(name));
          else warn(span, systemtap.neverAssigned(name));
        }
        if (type !== "string") return [tree.declare(name, tree.integer(0, span), tree.longType(span))];
        const never = scope.grown.has(name) || !scope.assigned.has(name);
        return never ? [tree.declare(name, tree.text("", span), tree.textType(span))] : [];
      });
  }

  /** Globals have their first values before anything begins. */
  function initial(): Probe | undefined {
    const statements = globals.flatMap(({ name, initial: first, span }) => {
      const known = types.globals.get(name);
      // What is 0 is not stored, but where nothing else is: so that there is such a map.
      if (first === undefined || (first.kind === "number" && first.value === 0n))
        return known?.written === false && known.read && known.value !== "stats" && known.keys?.length === 0
          ? [tree.assign(tree.map(name, [], span), nothingOf(known.value, span), span)]
          : [];
      const value =
        first.kind === "number"
          ? tree.integer(first.value, span)
          : first.kind === "string"
            ? tree.text(first.value, span)
            : undefined;
      return value === undefined ? [] : [tree.assign(tree.map(name, [], span), value, span)];
    });
    const [first] = globals;
    if (statements.length === 0 || first === undefined) return undefined;
    const spec: ProbeSpec = { provider: "begin", parts: [], sequence: -(2 ** 64), text: "begin", span: first.span };
    return { specs: [spec], body: tree.block(statements, first.span), span: first.span };
  }

  function maps(): MapDeclaration[] {
    return globals.flatMap((one) => {
      const { name, size = entries, wraps, span } = one;
      return isArray(one) ? [{ name, storage: wraps ? "lruhash" : "hash", entries: size, span }] : [];
    });
  }
}

/** A program that has been read, and of which nothing is asked. */
function withoutProbes(source: Source): Program {
  const span = { start: 0, end: 0 };
  const begin: ProbeSpec = { provider: "begin", parts: [], text: "begin", span };
  return {
    source,
    rules: systemtapRules,
    config: [],
    structs: [],
    enums: [],
    maps: [],
    functions: [],
    probes: [{ specs: [begin], body: tree.block([], span), span }],
  };
}

function isEmpty(s: Stmt): boolean {
  return s.kind === "block" && s.statements.every(isEmpty);
}

/** Prologues that say the same are one. */
const asWritten = (one: Stmt): string =>
  JSON.stringify(one, (_, part: unknown) => (typeof part === "bigint" ? String(part) : part));

const spanOf = ({ span }: { readonly span: Span }): number => span.start;

/** A first value that the command line gives, `-G name=value`. */
function withGiven(global: Global, { named }: Given): Global {
  const text = named?.get(global.name);
  if (typeof text !== "string") return global;
  const { span } = global;
  const number = /^(-?)(0[xX][0-9a-fA-F]+|\d+)$/.exec(text);
  return {
    ...global,
    initial:
      number === null || global.initial?.kind === "string"
        ? { kind: "string", value: text, span }
        : { kind: "number", value: BigInt(number[2]) * (number[1] === "" ? 1n : -1n), span },
  };
}

/** What a prologue says that a text is, of what the event has. */
function textsOf(prologue: Stmt): (readonly [string, Expr])[] {
  return (prologue.kind === "block" ? prologue.statements : []).flatMap((one) => {
    if (one.kind !== "expression" || one.expression.kind !== "assign") return [];
    const { target, value: text } = one.expression;
    return target.kind === "name" && text.kind === "call" && isText(text) ? [[target.name, text] as const] : [];
  });
}

function isText({ name, args }: Extract<Expr, { kind: "call" }>): boolean {
  const made = name === "sprintf" || libraryFunction(name)?.text !== undefined;
  return made && args.every(({ kind }) => kind === "target" || kind === "string" || kind === "number");
}

/** A place that is wanted where none of the others exists. */
function withUnless(placed: Placed, others: readonly ReturnType<typeof placeOf>[]): Placed {
  const unless = others.flatMap((one) => (one === "nothing" || "problem" in one ? [] : [one.spec]));
  if (unless.length === 0) return placed;
  const { spec, entry } = placed;
  return { ...placed, spec: { ...spec, unless }, ...(entry === undefined ? {} : { entry: { ...entry, unless } }) };
}

/** What a variable has that nothing was stored in. */
function nothingOf(type: ValueType | undefined, span: Span): Expression {
  return type === "string" ? tree.text("", span) : tree.integer(0, span);
}

/** Whether what stands behind it never runs. */
function leaves(one: Statement | undefined): boolean {
  switch (one?.kind) {
    case "return":
    case "throw":
      return true;
    case "block":
      return leaves(one.statements.at(-1));
    case "if":
      return leaves(one.then) && leaves(one.otherwise);
    default:
      return false;
  }
}

/** Behind all other `end` probes. */
function last(span: Span): Placed {
  const place: Place = { variables: "none", returns: false, space: "kernel" };
  return { spec: { provider: "end", parts: [], sequence: 2 ** 64, text: "", span }, place };
}
