// What one pass over the script knows. Types of maps and variables only ever widen; passes repeat until none does.
import { maps as mapMessages } from "../../messages/maps.ts";
import type { Message } from "../../messages/message.ts";
import type { Diagnostic, Span } from "../diagnostic.ts";
import type { Context } from "../context.ts";
import type { Call, Expression, FunctionDeclaration, Program, TypeName, Variable } from "../program.ts";
import type { AddressSpace, AskedResult, Type } from "../types.ts";
import { unknownType, voidType } from "../types.ts";
import type { Capabilities } from "../../linux/kernel/capabilities.ts";
import type { Config } from "./config.ts";
import type { SiteRef } from "../resolved-probe.ts";
import { mapName } from "./spelling.ts";
import type { ResolvedTypeName, TypeNames } from "./type-names.ts";
import { withSpacesOf } from "./spaces.ts";
import { describe, isKnown, sameType, unify, widen } from "./unify.ts";
import { literalBits, settled } from "./integers.ts";

export interface CheckOptions {
  readonly capabilities: Capabilities;
  /** `--unsafe` */
  readonly unsafe: boolean;
  readonly env: Record<string, string | undefined>;
  /** `-p` */
  readonly pid?: number;
  /** `-c`, also that of a recording. */
  readonly command?: string;
  /** Handlers run over a recording: there is no command but the one that was recorded. */
  readonly recorded?: boolean;
  /** More sites may come while it runs: what is known of those that are there now need not hold. */
  readonly growing?: boolean;
  /** Options given to the script after `--`, for getopt(): true for a bare `--name`. */
  readonly parameters?: ReadonlyMap<string, string | true>;
  /** Facts of this machine that become constants. Absent: such calls stay calls. */
  readonly facts?: {
    readonly kernelAddress: (symbol: string) => bigint | undefined;
    /** Why no symbol has an address, where that is so. */
    readonly addressesHidden?: () => string | undefined;
    readonly cgroupId: (path: string) => bigint | undefined;
    readonly kernelFunctionExists: (name: string) => boolean;
    /** The number of a system call of this machine. */
    readonly systemCall?: (name: string) => number | undefined;
  };
}

/** A map, over all passes. */
export interface MapState {
  readonly name: string;
  readonly index: number;
  /** Flat; undefined until a use with keys (or an assignment without) told. */
  keys: readonly Type[] | undefined;
  /** The keys are those of look-ups: nothing is stored under a key of a known type yet. */
  lookedUp?: boolean;
  value: Type;
  /** Something is stored in it somewhere, be its type known or not. */
  assigned: boolean;
  /** What is asked of the values of a statistic; undefined where nobody does. */
  asked?: readonly AskedResult[];
  readonly storage?: string;
  readonly entries?: number;
  readonly firstUse: Span;
}

/** A variable of one handler, over all passes. */
export interface VariableState {
  type: Type;
  declared?: Type;
  /** As declared, with pointers into the memory that those assigned point into. */
  placed?: Type;
  assigned: boolean;
  /** `&$x` is somewhere. */
  addressed?: boolean;
}

export interface FunctionState {
  readonly declaration: FunctionDeclaration;
  /** Declared, or found from its calls. */
  readonly parameters: Type[];
  /** Declared, or found from its return statements. */
  result: Type;
  readonly declaredResult: boolean;
  /** Where addresses point that nothing says it of: as in the probe that calls it. */
  space?: AddressSpace;
  /** Which parameters were given pointers. */
  readonly placed: Set<number>;
  /** Names of the functions it calls: to find recursion. */
  readonly calls: Set<string>;
  /** What in it needs the kernel, or strobe's own process; its callers then do. */
  kernelNeeds: readonly KernelNeed[];
  hostNeeds: readonly KernelNeed[];
}

/** The functions that one comes to by calls. */
export function reached(state: FunctionState, { functions }: Pick<Pass, "functions">): ReadonlySet<string> {
  const found = new Set<string>();
  const visit = (from: FunctionState): void => {
    for (const callee of from.calls) {
      if (found.has(callee)) continue;
      found.add(callee);
      const next = functions.get(callee);
      if (next !== undefined) visit(next);
    }
  };
  visit(state);
  return found;
}

export interface KernelNeed {
  readonly what: string;
  readonly span: Span;
}

/** Checks one builtin's call: arguments are unchecked, their number is right. */
export type CallCheck = (call: Call, body: Body) => Expression;

/** The state that all bodies share. */
export interface Pass {
  readonly program: Program;
  readonly names: TypeNames;
  readonly config: Config;
  readonly options: CheckOptions;
  /** Probes that watch() gives addresses to. */
  readonly watchNames: readonly string[];
  readonly maps: Map<string, MapState>;
  readonly functions: Map<string, FunctionState>;
  /** checkExpression of expressions.ts: handed in, since expressions hold statements, which hold expressions. */
  readonly expression: (node: Expression, body: Body) => Expression;
  /** Variables that live as long as the event, in all handlers: each by the node that stands for it (Rules). */
  readonly events: { readonly nodes: Map<string, Variable>; readonly states: Map<Variable, VariableState> };
  /** Bytes of the longest message of an error, its terminator included. */
  messageCapacity: number;
  /** Some type widened: another pass is needed. */
  changed: boolean;
  /** The last pass: types stand, and what is still unknown is a mistake. */
  final: boolean;
  diagnostics: Diagnostic[];
}

/** One handler or function while it is checked. */
export interface Body {
  readonly pass: Pass;
  /** Undefined in a function, which may be called anywhere. */
  readonly context: Context | "host" | undefined;
  readonly provider: string;
  readonly sites: readonly SiteRef[];
  /** Persistent states of the variables, by the node that declares them. */
  readonly states: Map<Variable, VariableState>;
  readonly slots: { readonly name: string; readonly state: VariableState; readonly callbacks: number }[];
  readonly scopes: Map<string, number>[];
  /** Loops around, and how many of them run as map callbacks; what `break` leaves: loops and switches. */
  loops: number;
  callbacks: number;
  breakable: number;
  readonly function?: FunctionState;
  readonly kernelNeeds: KernelNeed[];
  /** What only strobe's own process can do. */
  readonly hostNeeds: KernelNeed[];
  /** It takes the name of its site as text: each of its sites gets a handler of its own. */
  apart: boolean;
}

export function report(body: { readonly pass: Pass }, span: Span, said: Message): Type {
  add(body.pass, { severity: "error", span, ...said });
  return unknownType;
}

export function warn(body: { readonly pass: Pass }, span: Span, said: Message): void {
  add(body.pass, { severity: "warning", span, ...said });
}

function add(pass: Pass, diagnostic: Diagnostic): void {
  if (!pass.final) return;
  // The same body is checked once a variant: one mistake, one message.
  const same = pass.diagnostics.some(
    (d) =>
      d.code === diagnostic.code &&
      d.span.start === diagnostic.span.start &&
      d.span.end === diagnostic.span.end &&
      d.message === diagnostic.message,
  );
  if (!same) pass.diagnostics.push(diagnostic);
}

export function didYouMean(names: readonly string[]): string | undefined {
  return names.length === 0 ? undefined : `did you mean ${names.map((name) => `\`${name}\``).join(" or ")}?`;
}

/** Where bare pointers of this body point. */
export function defaultSpace(body: Body): AddressSpace {
  if (body.function !== undefined) return body.function.space ?? "kernel";
  return body.context === undefined || body.context === "host" ? "kernel" : body.context.defaultSpace;
}

/** A written type, as it is meant in this body: a program's own types are known where it is probed. */
export function resolveType(written: TypeName, space: AddressSpace, body: Body): ResolvedTypeName {
  if (written.is !== undefined) return { type: body.pass.names.derived(written.is, written, space) };
  if (written.of !== undefined) {
    const { type } = body.pass.expression(written.of, body);
    return { type: body.pass.names.derived(settled(type), written, space) };
  }
  return body.pass.names.resolve(
    written,
    space,
    body.context === undefined || body.context === "host" ? undefined : body.context.typeNamed,
  );
}

export function needsKernel(body: Body, what: string, span: Span): void {
  body.kernelNeeds.push({ what, span });
}

// ── variables ────────────────────────────────────────────────────────────────────────────────────────────────────────

export function findVariable(body: Body, name: string): number | undefined {
  for (let i = body.scopes.length - 1; i >= 0; i--) {
    const slot = body.scopes[i].get(name);
    if (slot !== undefined) return slot;
  }
  return undefined;
}

function livesInEvent({ pass, scopes, function: within }: Body, scope: Map<string, number> | undefined): boolean {
  return scope === scopes[0] && within === undefined && pass.program.rules.variables.scope === "event";
}

/** Whether a variable that is assigned without a declaration lives in all of the handler, and is 0 or "" before. */
export function livesInHandler({ program: { rules } }: Pass): boolean {
  return rules.variables.scope !== "block";
}

/** A new variable in a scope, the innermost unless given; `node` tells it apart from its namesakes over the passes. */
export function declareVariable(body: Body, node: Variable, declared?: Type, scope = body.scopes.at(-1)): number {
  const { nodes, states: ofEvents } = body.pass.events;
  const [states, identity] = livesInEvent(body, scope) ? [ofEvents, nodes.get(node.name) ?? node] : [body.states, node];
  if (states === ofEvents) nodes.set(node.name, identity);
  let state = states.get(identity);
  if (state === undefined) states.set(identity, (state = { type: declared ?? unknownType, assigned: false }));
  if (declared !== undefined) {
    state.declared = declared;
    state.type = state.placed ?? declared;
  }
  const slot =
    body.slots.push({ name: node.name, state, callbacks: scope === body.scopes[0] ? 0 : body.callbacks }) - 1;
  scope!.set(node.name, slot);
  return slot;
}

/** The type a read of a variable has. */
export function variableType(body: Body, slot: number): Type {
  const { state, callbacks } = body.slots[slot];
  const type = settled(state.type);
  // A map callback reads its caller's variables from memory, where the verifier forgets what a pointer points to.
  if (type.kind === "pointer" && type.typed === true && callbacks !== body.callbacks)
    return { kind: "pointer", target: type.target, space: type.space };
  return type;
}

/** Takes a value's type into a variable's. False when they do not go together. */
export function assignVariable(body: Body, slot: number, type: Type): boolean {
  const { state } = body.slots[slot];
  if (!state.assigned) {
    state.assigned = true;
    body.pass.changed = true;
  }
  if (type.kind === "unknown" || type.kind === "void") return true;
  if (state.declared !== undefined) return placeDeclared(body, state, state.declared, type);
  const unified = unify(state.type, type);
  if (unified === undefined) return false;
  if (!sameType(unified, state.type) || literalBits(unified) !== literalBits(state.type)) {
    state.type = unified;
    body.pass.changed = true;
  }
  return true;
}

/**
 * Makes a variable stand for a value in place, which nothing else is assigned to: its type is that value's, also where a
 * text of it became shorter (a map's key that was looked up before its first store was seen, see mergeKeys()).
 */
export function bindVariable(body: Body, slot: number, type: Type): void {
  const { state } = body.slots[slot];
  if (state.assigned && sameType(type, state.type)) return;
  state.assigned = true;
  state.type = type;
  body.pass.changed = true;
}

function placeDeclared(body: Body, state: VariableState, declared: Type, value: Type): boolean {
  if (!fitsInto(value, declared)) return false;
  const own = withSpacesOf(declared, value);
  const placed = state.placed === undefined ? own : (unify(state.placed, own) ?? own);
  if (!sameType(placed, state.type)) {
    state.type = placed;
    body.pass.changed = true;
  }
  if (placed !== declared || state.placed !== undefined) state.placed = placed;
  return true;
}

/** May a value of this type go where `target` is declared, by an implicit conversion? */
export function fitsInto(type: Type, target: Type): boolean {
  if (target.kind === "integer") return type.kind === "integer" || type.kind === "enum" || type.kind === "boolean";
  if (target.kind === "boolean") return type.kind === "boolean" || type.kind === "integer";
  return unify(target, type) !== undefined;
}

// ── maps ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

export function mapState(body: { readonly pass: Pass }, name: string, span: Span): MapState {
  const { maps } = body.pass;
  let state = maps.get(name);
  if (state === undefined) {
    state = { name, index: maps.size, keys: undefined, value: unknownType, assigned: false, firstUse: span };
    maps.set(name, state);
  }
  return state;
}

/**
 * Takes a use's key types into a map's. Complains when they do not go together. A look-up makes no text of a key
 * longer: a text that no key has room for is not found (compiler/lower/map-access.ts), and two maps whose keys are
 * looked up in one another keep their sizes.
 */
export function mergeKeys(
  body: Body,
  map: MapState,
  types: readonly Type[],
  span: Span,
  use: "store" | "look-up",
): void {
  if (types.some((t) => !isKnown(t))) return;
  const flat =
    types.length === 1 && types[0].kind === "tuple" && types[0].elements.length > 1 ? types[0].elements : types;
  const widened = body.pass.program.rules.maps.integerKeys === "as typed" ? flat : flat.map(widen);
  const first = use === "store" && map.lookedUp !== false;
  map.lookedUp = use === "look-up" && map.lookedUp !== false;
  if (map.keys === undefined) {
    map.keys = widened;
    body.pass.changed = true;
    return;
  }
  const known = map.keys;
  const both = known.length === widened.length ? known.map((key, i) => unify(key, widened[i])) : [undefined];
  if (!both.every((t) => t !== undefined)) {
    report(
      body,
      span,
      mapMessages.keyMismatch(
        mapName(body, map.name),
        describeKeys(widened.map(settled)),
        describeKeys(known.map(settled)),
      ),
    );
    return;
  }
  const unified = first
    ? both.map((key, i) => withCapacities(key, widened[i]))
    : map.lookedUp || use === "store"
      ? both
      : both.map((key, i) => withCapacities(key, known[i]));
  if (unified.some((t, i) => !sameType(t, known[i]) || literalBits(t) !== literalBits(known[i]))) {
    map.keys = unified;
    body.pass.changed = true;
  }
}

/** A type with its texts as long as in `of`. */
function withCapacities(type: Type, of: Type): Type {
  if (type.kind === "string") return of.kind === "string" ? of : type;
  if (type.kind === "tuple" && of.kind === "tuple")
    return { kind: "tuple", elements: type.elements.map((element, i) => withCapacities(element, of.elements[i])) };
  if (type.kind === "record" && of.kind === "record") {
    const fields = type.fields.map(({ name, type: field }) => {
      const other = of.fields.find((f) => f.name === name);
      return { name, type: other === undefined ? field : withCapacities(field, other.type) };
    });
    return { kind: "record", fields };
  }
  return type;
}

function describeKeys(keys: readonly Type[]): string | undefined {
  if (keys.length === 0) return undefined;
  return `'${describe(keys.length === 1 ? keys[0] : { kind: "tuple", elements: keys })}'`;
}

/** Takes an assigned value's type into a map's. False when they do not go together. */
export function mergeValue(body: Body, map: MapState, type: Type): boolean {
  map.assigned = true;
  if (!isKnown(type) || type.kind === "void") return true;
  const unified = unify(map.value, type.kind === "aggregate" ? type : widen(type));
  if (unified === undefined) return false;
  if (!sameType(unified, map.value) || literalBits(unified) !== literalBits(map.value)) {
    map.value = unified;
    body.pass.changed = true;
  }
  return true;
}

// ── nodes ────────────────────────────────────────────────────────────────────────────────────────────────────────────

export function integerLiteral(value: bigint, type: Type, span: Span): Expression {
  return { kind: "integer", value, span, type };
}

export function statementCall(name: string, args: readonly Expression[], span: Span): Expression {
  return { kind: "call", name, args, span, type: voidType };
}
