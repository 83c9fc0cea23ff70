// The checker: passes over every handler and function until the types of maps and variables settle, then one more pass
// that keeps its tree and its diagnostics.
import { declarations } from "../../messages/declarations.ts";
import type { Context } from "../context.ts";
import type { Diagnostic, Span } from "../diagnostic.ts";
import { leastMessage } from "../faults.ts";
import { nearest } from "../nearest.ts";
import type { Block, Expression, Probe, Program, Variable } from "../program.ts";
import { i64, unknownType, voidType, type Type } from "../types.ts";
import type {
  CheckedFunction,
  CheckedHandler,
  CheckedMap,
  CheckedProgram,
  CheckedVariable,
  TypedProgram,
} from "../checked-program.ts";
import type { ResolvedProbe, SiteRef } from "../resolved-probe.ts";
import type { TypeScope } from "../type-scope.ts";
import { rememberMaps } from "./absent-probes.ts";
import { resolveConfig } from "./config.ts";
import { checkExpression } from "./expressions.ts";
import { handlerBody } from "./handler-body.ts";
import { settled } from "./integers.ts";
import { assignVariable, declareVariable, didYouMean, livesInHandler, report, warn, reached } from "./pass.ts";
import type { Body, CheckOptions, FunctionState, KernelNeed, Pass, VariableState } from "./pass.ts";
import { place } from "./placement.ts";
import { mapName, variableName } from "./spelling.ts";
import { checkBlock } from "./statements.ts";
import { TypeNames } from "./type-names.ts";
import { sameType, type widen } from "./unify.ts";
import { namesIn, usedBuiltins } from "./uses.ts";
import { checkCondition } from "./values.ts";

export type { CheckOptions } from "./pass.ts";

/** Types only widen, and there are few steps of widening; this is far beyond what a script can need. */
const mostPasses = 50;

interface Work {
  readonly probe: ResolvedProbe["probe"];
  readonly body: Block;
  readonly context: Context | "host";
  readonly provider: string;
  readonly sites: readonly SiteRef[];
  readonly states: Map<Variable, VariableState>;
}

/**
 * Checks a script against its resolved probes. `checked` is there unless some diagnostic is an error; `typed` is
 * always. The program and the probes are not changed.
 */
export function check(
  program: Program,
  probes: readonly ResolvedProbe[],
  scope: TypeScope,
  options: CheckOptions,
): { checked?: CheckedProgram; typed: TypedProgram; diagnostics: Diagnostic[] } {
  const { config, diagnostics } = resolveConfig(program.config, options.env, program.rules);
  const pass: Pass = {
    program,
    names: new TypeNames(program, scope),
    config,
    options,
    watchNames: watchNamesOf(probes),
    maps: new Map(),
    functions: new Map(),
    expression: checkExpression,
    events: { nodes: new Map(), states: new Map() },
    messageCapacity: leastMessage,
    changed: false,
    final: false,
    diagnostics: [],
  };
  declareMaps(pass, diagnostics);
  declareFunctions(pass, diagnostics);
  let work: readonly Work[] = probes.flatMap(({ probe, variants }) =>
    variants.map((variant) => ({
      probe,
      body: handlerBody(probe, program.rules),
      context: variant.context,
      provider: variant.provider,
      sites: variant.sites,
      states: new Map<Variable, VariableState>(),
    })),
  );
  const functionStates = new Map<string, Map<Variable, VariableState>>(
    program.functions.map((f) => [f.name, new Map()]),
  );

  const allStates = (): Map<Variable, VariableState>[] => [
    ...work.map((w) => w.states),
    ...functionStates.values(),
    pass.events.states,
  ];
  const run = (): { handlers: CheckedHandler[]; functions: CheckedFunction[] } => {
    const functions = [...pass.functions.values()]
      .filter(({ declaration }) => declaration.ofProbe !== true)
      .map((state) => checkFunction(state, functionStates.get(state.declaration.name)!, pass).checked);
    const checked = work.map((item) => checkHandler(item, functionStates, pass));
    if (checked.some(({ apart }) => apart)) {
      work = work.flatMap((item, i) => (checked[i].apart ? eachSite(item) : [item]));
      pass.changed = true;
    }
    return { functions, handlers: checked.map(({ handler }) => handler) };
  };
  for (let i = 0; i < mostPasses; i++) {
    pass.changed = false;
    run();
    if (pass.changed || initializeUnassigned(allStates())) continue;
    break;
  }
  rememberMaps(
    probes.filter((p) => p.variants.length === 0).map((p) => p.probe),
    pass,
  );
  fillFromThemselves(pass, allStates());
  if (program.rules.maps.outsideStores) fillFromOutside(pass);
  for (let i = 0; i < mostPasses && pass.changed; i++) {
    pass.changed = false;
    run();
  }
  pass.final = true;
  pass.changed = false;
  const before = typesOf(pass, allStates());
  const { handlers, functions } = run();
  refuseGrowing(before, pass);
  refuseRecursion(pass);

  if (program.rules.maps.warnsOfUnused && pass.diagnostics.length === 0) sayUnused(pass);
  refuseTooMany(handlers, pass);
  diagnostics.push(...pass.names.problems, ...pass.diagnostics);
  diagnostics.sort((a, b) => a.span.start - b.span.start);
  const maps = [...pass.maps.values()].map((map): CheckedMap => ({
    name: map.name,
    keys: (map.keys ?? []).map(settled),
    value: settled(map.value),
    ...(map.storage === undefined ? {} : { storage: map.storage }),
    ...(map.entries === undefined ? {} : { entries: map.entries }),
  }));
  const typed = { maps, handlers, functions };
  return diagnostics.some((d) => d.severity === "error")
    ? { typed, diagnostics }
    : { checked: { program, config, ...typed }, typed, diagnostics };
}

/** A handler that takes the name of its site as text, once for each of them. */
function eachSite(item: Work): Work[] {
  return item.sites.map((site) => ({ ...item, sites: [site], states: new Map<Variable, VariableState>() }));
}

/** `let $v;` that nothing is ever assigned to is the number 0. True when that settled a type. */
function initializeUnassigned(all: readonly Map<Variable, VariableState>[]): boolean {
  let changed = false;
  for (const states of all) {
    for (const state of states.values()) {
      if (state.type.kind !== "unknown" || state.assigned) continue;
      state.type = i64;
      changed = true;
    }
  }
  return changed;
}

/** `@n = @n + 1`, and nothing else: what is not there reads as the number 0; a variable of a whole handler as well. */
function fillFromThemselves(pass: Pass, all: readonly Map<Variable, VariableState>[]): void {
  if (livesInHandler(pass)) {
    for (const state of all.flatMap((states) => [...states.values()])) {
      if (state.type.kind !== "unknown" || !state.assigned) continue;
      state.type = i64;
      pass.changed = true;
    }
  }
  for (const map of pass.maps.values()) {
    if (map.value.kind !== "unknown" || !map.assigned) continue;
    map.value = i64;
    pass.changed = true;
  }
}

/** Declared maps that the script does nothing with. */
function sayUnused(pass: Pass): void {
  for (const { name, span } of pass.program.maps) {
    const map = pass.maps.get(name);
    if (map?.keys === undefined && map?.value.kind === "unknown" && !map.assigned)
      warn({ pass }, span, declarations.unusedMap(mapName({ pass }, name)));
  }
}

interface Unsettled {
  readonly name: string;
  readonly span: Span;
  readonly now: () => readonly Type[];
  readonly before: readonly Type[];
}

/** What maps and variables hold before a pass. */
function typesOf(pass: Pass, all: readonly Map<Variable, VariableState>[]): Unsettled[] {
  const unsettled = (name: string, span: Span, now: () => readonly Type[]): Unsettled => ({
    name,
    span,
    now,
    before: now(),
  });
  return [
    ...[...pass.maps.values()].map((map) =>
      unsettled(mapName({ pass }, map.name), map.firstUse, () => [...(map.keys ?? []), map.value]),
    ),
    ...all.flatMap((states) =>
      [...states].map(([{ name, span }, state]) => unsettled(variableName({ pass }, name), span, () => [state.type])),
    ),
  ];
}

/** Texts that are made of themselves, and so have no size. */
function refuseGrowing(types: readonly Unsettled[], pass: Pass): void {
  if (!pass.changed) return;
  const growing = types.find(
    ({ now, before }) => !now().every((type, i) => i < before.length && sameType(type, before[i])),
  );
  if (growing === undefined) return;
  report({ pass }, growing.span, declarations.noFixedSizeAssignedText(growing.name));
}

/** Maps of which nothing else tells what they hold. */
function fillFromOutside(pass: Pass): void {
  for (const map of pass.maps.values()) {
    if (map.value.kind !== "unknown" || map.assigned) continue;
    map.assigned = true;
    map.value = i64;
    pass.changed = true;
  }
}

const storages = ["hash", "lruhash", "percpuhash", "percpulruhash"];

function declareMaps(pass: Pass, diagnostics: Diagnostic[]): void {
  for (const { name, storage, entries, span } of pass.program.maps) {
    if (!storages.includes(storage)) {
      const help = didYouMean(nearest(storage, storages)) ?? `it is one of ${storages.join(", ")}`;
      diagnostics.push({ severity: "error", span, ...declarations.unknownMapType(storage, help) });
    }
    if (entries !== undefined && (entries < 1 || entries > 0xffff_ffff)) {
      diagnostics.push({ severity: "error", span, ...declarations.cannotEntries(mapName({ pass }, name), entries) });
    }
    if (pass.maps.has(name)) {
      diagnostics.push({ severity: "error", span, ...declarations.alreadyDeclared(mapName({ pass }, name)) });
      continue;
    }
    pass.maps.set(name, {
      name,
      index: pass.maps.size,
      keys: undefined,
      value: unknownType,
      assigned: false,
      storage,
      firstUse: span,
      ...(entries === undefined ? {} : { entries }),
    });
  }
}

function declareFunctions(pass: Pass, diagnostics: Diagnostic[]): void {
  for (const declaration of pass.program.functions) {
    const { name, span } = declaration;
    if (pass.functions.has(name)) {
      diagnostics.push({ severity: "error", span, ...declarations.alreadyDefined(name) });
      continue;
    }
    const typeOf = (written: Parameters<TypeNames["resolve"]>[0]): ReturnType<typeof widen> => {
      const resolved = pass.names.resolve(written, "kernel");
      if ("type" in resolved) return resolved.type;
      diagnostics.push({ severity: "error", span: written.span, ...resolved.problem });
      return unknownType;
    };
    pass.functions.set(name, {
      declaration,
      parameters: declaration.parameters.map((p) => (p.type === undefined ? unknownType : typeOf(p.type))),
      result: declaration.result === undefined ? voidType : typeOf(declaration.result),
      declaredResult: declaration.result !== undefined,
      placed: new Set(),
      calls: new Set(),
      kernelNeeds: [],
      hostNeeds: [],
    });
  }
}

function newBody(
  pass: Pass,
  states: Map<Variable, VariableState>,
  rest: Pick<Body, "context" | "provider" | "sites" | "function">,
): Body {
  return {
    pass,
    states,
    slots: [],
    scopes: [new Map()],
    loops: 0,
    callbacks: 0,
    breakable: 0,
    kernelNeeds: [],
    hostNeeds: [],
    apart: false,
    ...rest,
  };
}

function variables(body: Body): CheckedVariable[] {
  const whole = new Set(livesInHandler(body.pass) ? body.scopes[0].values() : []);
  return body.slots.map(({ name, state }, slot) => ({
    name,
    type: settled(state.type),
    ...(whole.has(slot) ? { whole: true as const } : {}),
    ...(state.addressed ? { addressed: true as const } : {}),
  }));
}

/** `at`: the probe that it is called from, where it asks for that. */
function checkFunction(
  state: FunctionState,
  states: Map<Variable, VariableState>,
  pass: Pass,
  at: Pick<Body, "context" | "provider" | "sites"> = { context: undefined, provider: "", sites: [] },
): { readonly checked: CheckedFunction; readonly apart: boolean } {
  const { declaration } = state;
  const { context, provider, sites } = at;
  const body = newBody(pass, states, { context, provider, sites, function: state });
  declaration.parameters.forEach((parameter, i) => {
    // The node only serves as the variable's identity, and must be the same in every pass.
    const node = parameterNode(parameter);
    if (parameter.type === undefined) assignVariable(body, declareVariable(body, node), state.parameters[i]);
    else declareVariable(body, node, state.parameters[i]);
  });
  const block = checkBlock(declaration.body, body);
  const { recursion } = declaration;
  const reaches = recursion === undefined ? undefined : reached(state, pass);
  if (reaches?.has(declaration.name) === true)
    body.hostNeeds.push({ what: "a function that calls itself", span: declaration.span });
  state.kernelNeeds = body.kernelNeeds;
  state.hostNeeds = body.hostNeeds;
  const checked: CheckedFunction = {
    name: declaration.name,
    parameters: declaration.parameters.length,
    variables: variables(body),
    result: settled(state.result),
    ...(recursion === undefined ? {} : { recursion }),
    ...(reaches === undefined ? {} : { reaches }),
    body: block,
  };
  return { checked, apart: body.apart };
}

/** The functions that a probe's handler calls and that ask for the probe, those that they call before them. */
function functionsOfProbe(probe: Probe, pass: Pass): FunctionState[] {
  const found = new Set<FunctionState>();
  const visit = (names: ReadonlySet<string>, before: readonly FunctionState[]): void => {
    for (const name of names) {
      const state = pass.functions.get(name);
      if (state?.declaration.ofProbe !== true || found.has(state) || before.includes(state)) continue;
      visit(namesIn(state.declaration.body), [...before, state]);
      found.add(state);
    }
  };
  if ([...pass.functions.values()].some(({ declaration }) => declaration.ofProbe === true))
    visit(usedBuiltins(probe, []), []);
  return [...found];
}

const parameterNodes = new WeakMap<object, Variable>();

function parameterNode(parameter: { readonly name: string; readonly span: Variable["span"] }): Variable {
  let node = parameterNodes.get(parameter);
  if (node === undefined) {
    node = { kind: "variable", name: parameter.name, span: parameter.span, type: unknownType };
    parameterNodes.set(parameter, node);
  }
  return node;
}

function checkHandler(
  item: Work,
  functionStates: ReadonlyMap<string, Map<Variable, VariableState>>,
  pass: Pass,
): { readonly handler: CheckedHandler; readonly apart: boolean } {
  const { probe, context, provider, sites } = item;
  const functions = functionsOfProbe(probe, pass).map((state) =>
    checkFunction(state, functionStates.get(state.declaration.name)!, pass, item),
  );
  const body = newBody(pass, item.states, { context, provider, sites });
  const guard: Expression | undefined = probe.guard === undefined ? undefined : checkCondition(probe.guard, body);
  const predicate: Expression | undefined =
    probe.predicate === undefined ? undefined : checkCondition(probe.predicate, body);
  const block: Block = checkBlock(item.body, body);
  const placed = place(context, body.kernelNeeds, body.hostNeeds);
  if ("refused" in placed) refusePlacement(body, placed.refused);
  const handler: CheckedHandler = {
    probe,
    provider,
    context,
    sites,
    ...(guard === undefined ? {} : { guard }),
    ...(predicate === undefined ? {} : { predicate }),
    body: block,
    variables: variables(body),
    ...(functions.length === 0 ? {} : { functions: functions.map(({ checked }) => checked) }),
    placement: "placement" in placed ? placed.placement : "host",
    ...("needsHost" in placed ? { needsHost: placed.needsHost } : {}),
  };
  return { handler, apart: body.apart || functions.some(({ apart }) => apart) };
}

function refusePlacement(body: Body, need: KernelNeed): void {
  // A more exact complaint about the same words comes first.
  const said = body.pass.diagnostics.some(
    (d) => d.severity === "error" && d.span.start <= need.span.start && d.span.end >= need.span.end,
  );
  if (!said) report(body, need.span, declarations.needsKernelProbesRunStrobe(need.what, body.provider));
}

function watchNamesOf(probes: readonly ResolvedProbe[]): string[] {
  return probes.flatMap(({ variants }) =>
    variants.flatMap(({ context }) => (context === "host" ? [] : (context.watchName ?? []))),
  );
}

/** More probes or programs than somebody said there may be, at the first one too many. */
function refuseTooMany(handlers: readonly CheckedHandler[], pass: Pass): void {
  const refuse = (
    what: string,
    setting: string,
    most: number | undefined,
    count: (handler: CheckedHandler) => number,
  ): void => {
    if (most === undefined) return;
    let all = 0;
    let over: CheckedHandler | undefined;
    for (const handler of handlers) {
      all += count(handler);
      if (all > most) over ??= handler;
    }
    if (over === undefined) return;
    report({ pass }, over.probe.span, declarations.canTAttachExceedsCurrent(all, what, most, setting));
  };
  refuse("probes", "max_probes", pass.config.maxProbes, ({ sites }) => sites.length);
  refuse("programs", "max_bpf_progs", pass.config.maxBpfProgs, ({ placement }) => (placement === "host" ? 0 : 1));
}

function refuseRecursion(pass: Pass): void {
  for (const [name, state] of pass.functions) {
    if (state.declaration.recursion === undefined && reached(state, pass).has(name))
      report({ pass }, state.declaration.span, declarations.callsItself(name));
  }
}
