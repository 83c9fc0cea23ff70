// What everything is, a number or a string: found from how it is used, over the whole script, until nothing new is learnt.
import { Failure } from "../../base/failure.ts";
import { systemtap } from "../../messages/systemtap.ts";
import type { Message } from "../../messages/message.ts";
import type { Span } from "../diagnostic.ts";
import { nearest } from "../nearest.ts";
import {
  addTo,
  declaredFunctions,
  declaredGlobals,
  Scope,
  type FunctionTypes,
  type GlobalTypes,
  type Report,
} from "./declared.ts";
import { parseFormat } from "./formats.ts";
import { libraryFunction, libraryNames, printers } from "./library.ts";
import { visit } from "./names.ts";
import { refusedFunction } from "./refused.ts";
import type { Expr, FunctionDefinition, Global, Stmt, ValueType } from "./syntax.ts";

export class Types {
  readonly globals: ReadonlyMap<string, GlobalTypes>;
  readonly functions: ReadonlyMap<string, readonly FunctionTypes[]>;
  /** What is stored in globals, and what functions give (`f()`). */
  readonly sources = new Map<string, Set<Expr>>();
  /** What a regular expression found is asked for somewhere. */
  matches = false;
  #changed = false;
  /** In how many branches what is read stands that may never run. */
  #never = 0;
  readonly #histograms = new Map<string, string>();
  /** Mistakes are said in the last round. */
  #report: Report | undefined;

  constructor(globals: readonly Global[], functions: readonly FunctionDefinition[], report: Report) {
    this.globals = declaredGlobals(globals, report);
    this.functions = declaredFunctions(functions);
  }

  /** `bodies`: handlers with their scopes. */
  infer(
    bodies: readonly { readonly body: Stmt; readonly scope: Scope; readonly conditions: readonly Expr[] }[],
    report: Report,
  ): Map<FunctionTypes, Scope> {
    const scopes = new Map<FunctionTypes, Scope>();
    const round = (): void => {
      this.#changed = false;
      for (const { body, scope, conditions } of bodies) {
        for (const condition of conditions) if (this.#isOfGlobals(condition)) this.of(condition, scope, "long");
        this.#statement(body, scope);
      }
      for (const one of [...this.functions.values()].flat()) {
        if (!one.called) continue;
        let scope = scopes.get(one);
        if (scope === undefined) scopes.set(one, (scope = new Scope(one)));
        one.definition.parameters.forEach(({ name }, i) => this.#merge(scope.locals, name, one.parameters[i]));
        this.#statement(one.definition.body, scope);
        one.definition.parameters.forEach(({ name }, i) => {
          const found = scope.locals.get(name);
          if (found !== undefined && one.parameters[i] === undefined) {
            one.parameters[i] = found;
            this.#changed = true;
          }
        });
      }
    };
    do round();
    while (this.#changed);
    this.#report = report;
    round();
    this.#report = undefined;
    return scopes;
  }

  #isOfGlobals(condition: Expr): boolean {
    let all = true;
    visit(condition, ({ kind, name, span }) => {
      if (kind !== "name" || this.globals.has(name)) return;
      this.#report?.(span, systemtap.conditionAsks(`the local ${name}`));
      all = false;
    });
    return all;
  }

  /** Bodies of the functions that something calls. */
  called(): Stmt[] {
    return [...this.functions.values()].flat().flatMap((one) => (one.called ? [one.definition.body] : []));
  }

  function(name: string, count: number): FunctionTypes | undefined {
    return this.functions.get(name)?.find(({ parameters }) => parameters.length === count);
  }

  // ── expressions ──

  /** `wanted`: what its place makes of it. Gives what is known. */
  of(e: Expr, scope: Scope, wanted?: ValueType): ValueType | undefined {
    const found = this.#expression(e, scope, wanted);
    if (found !== undefined && wanted !== undefined && found !== wanted && !(wanted === "stats" || found === "stats"))
      this.#report?.(e.span, systemtap.typeMismatch(wanted, found));
    return found;
  }

  #expression(e: Expr, scope: Scope, wanted: ValueType | undefined): ValueType | undefined {
    switch (e.kind) {
      case "number":
        return "long";
      case "string":
        return "string";
      case "name":
        return this.#named(e.name, e.span, scope, wanted, "read");
      case "element":
        return this.#element(e, scope, wanted, "read");
      case "call":
        return this.#call(e, scope, wanted);
      case "target":
        for (const step of e.steps) if ("index" in step) this.of(step.index, scope, "long");
        if (e.base.kind === "cast" || e.base.kind === "value") this.of(e.base.of, scope, "long");
        return e.pretty > 0 || (e.base.kind === "name" && e.base.name.startsWith("$")) ? "string" : "long";
      case "operator":
        if (e.name === "entry" && e.args.length === 1) return this.of(e.args[0], scope, wanted);
        if (e.name === "kderef" || e.name === "uderef") for (const arg of e.args) this.of(arg, scope, "long");
        return e.name === "enumname" ? "string" : "long";
      case "statistics":
        this.of(e.of, scope, "stats");
        return "long";
      case "histogram":
        this.of(e.of, scope, "stats");
        this.#histogram(e);
        if (e.index === undefined) return undefined;
        this.of(e.index, scope, "long");
        return "long";
      case "unary":
        this.of(e.operand, scope, "long");
        return "long";
      case "binary":
        return this.#binary(e, scope);
      case "conditional": {
        this.of(e.condition, scope, "long");
        const then = this.of(e.then, scope, wanted);
        const otherwise = this.of(e.otherwise, scope, wanted ?? then);
        if (then === undefined && otherwise !== undefined) this.of(e.then, scope, otherwise);
        return then ?? otherwise;
      }
      case "assign":
        return this.#assign(e, scope, wanted);
      case "increment": {
        this.#target(e.target, scope, "long");
        // What it was, or is now, goes somewhere.
        const changed = this.#readOf(e.target);
        if (changed !== undefined) changed.global.read = true;
        return "long";
      }
      case "in": {
        const array = this.#array(e.array, e.span);
        if (array === undefined) return "long";
        array.read = true;
        this.#keys(array, e.keys, e.span, scope);
        return "long";
      }
    }
  }

  #binary(e: Extract<Expr, { kind: "binary" }>, scope: Scope): ValueType {
    switch (e.operator) {
      case ".":
        this.of(e.left, scope, "string");
        this.of(e.right, scope, "string");
        return "string";
      case "=~":
      case "!~":
        this.of(e.left, scope, "string");
        this.of(e.right, scope, "string");
        return "long";
      case "==":
      case "!=":
      case "<":
      case "<=":
      case ">":
      case ">=": {
        const left = this.of(e.left, scope);
        const right = this.of(e.right, scope, left);
        if (left === undefined && right !== undefined) this.of(e.left, scope, right);
        return "long";
      }
      default:
        this.of(e.left, scope, "long");
        this.of(e.right, scope, "long");
        return "long";
    }
  }

  #assign(e: Extract<Expr, { kind: "assign" }>, scope: Scope, wanted: ValueType | undefined): ValueType | undefined {
    if (e.operator === "<<<") {
      this.of(e.value, scope, "long");
      return this.#target(e.target, scope, "stats");
    }
    if (e.operator !== "=") {
      const type = e.operator === ".=" ? "string" : "long";
      if (e.operator === ".=" && e.target.kind === "name") scope.grown.add(e.target.name);
      this.of(e.value, scope, type);
      this.#target(e.target, scope, type);
      return type;
    }
    if (e.target.kind === "name" && joins(e.value, e.target.name)) scope.grown.add(e.target.name);
    if (e.target.kind === "name" || e.target.kind === "element") {
      const local = e.target.kind === "name" && !this.globals.has(e.target.name);
      addTo((local ? scope : this).sources, e.target.name, e.value);
    }
    const value = this.of(e.value, scope, wanted);
    const target = this.#target(e.target, scope, value ?? wanted);
    if (value === undefined && target !== undefined) this.of(e.value, scope, target);
    if (value !== undefined && target !== undefined && value !== target && target !== "stats")
      this.#report?.(e.value.span, systemtap.typeMismatch(target, value));
    return value ?? target;
  }

  #target(e: Expr, scope: Scope, type: ValueType | undefined): ValueType | undefined {
    switch (e.kind) {
      case "name":
        return this.#named(e.name, e.span, scope, type, "write");
      case "element":
        return this.#element(e, scope, type, "write");
      default:
        return this.of(e, scope, type);
    }
  }

  #named(
    name: string,
    span: Span,
    scope: Scope,
    type: ValueType | undefined,
    use: "read" | "write",
  ): ValueType | undefined {
    const global = this.globals.get(name);
    if (global === undefined || scope.function?.definition.parameters.some((one) => one.name === name) === true) {
      if (use === "write") scope.assigned.add(name);
      this.#merge(scope.locals, name, type === "stats" ? undefined : type);
      return scope.locals.get(name);
    }
    this.#use(global, use);
    if (global.keys !== undefined && global.keys.length > 0)
      this.#report?.(span, systemtap.keyCount(name, global.keys.length, 0));
    else if (global.keys === undefined) {
      global.keys = [];
      this.#changed = true;
    }
    return this.#valueOf(global, span, type);
  }

  #use(global: GlobalTypes, use: "read" | "write"): void {
    if (use === "read") global.read = true;
    else {
      global.written = true;
      if (this.#never === 0) global.stored = true;
    }
  }

  #valueOf(global: GlobalTypes, span: Span, type: ValueType | undefined): ValueType | undefined {
    if (type !== undefined && global.value === undefined) {
      global.value = type;
      this.#changed = true;
    } else if (type === "stats" && global.value !== "stats")
      this.#report?.(span, systemtap.typeMismatch("statistics", global.value ?? "long"));
    return global.value;
  }

  #array(name: string, span: Span): GlobalTypes | undefined {
    const found = this.globals.get(name);
    if (found === undefined) {
      const [near] = nearest(name, this.globals.keys());
      this.#report?.(
        span,
        systemtap.unresolvedArray(
          name,
          near === undefined ? `declare it: global ${name}` : `did you mean \`${near}\`?`,
        ),
      );
    }
    return found;
  }

  #keys(array: GlobalTypes, keys: readonly (Expr | undefined)[], span: Span, scope: Scope): void {
    if (array.keys === undefined) {
      array.keys = keys.map(() => undefined);
      this.#changed = true;
    }
    const known = array.keys;
    if (known.length !== keys.length) {
      this.#report?.(span, systemtap.keyCount(array.global.name, known.length, keys.length));
      return;
    }
    keys.forEach((key, i) => {
      if (key === undefined) return;
      const found = this.of(key, scope, known[i]);
      if (found !== undefined && known[i] === undefined) {
        known[i] = found;
        this.#changed = true;
      }
    });
  }

  #element(
    e: Extract<Expr, { kind: "element" }>,
    scope: Scope,
    type: ValueType | undefined,
    use: "read" | "write",
  ): ValueType | undefined {
    const array = this.#array(e.name, e.span);
    if (array === undefined) {
      for (const key of e.keys) if (key !== undefined) this.of(key, scope);
      return type;
    }
    this.#use(array, use);
    this.#keys(array, e.keys, e.span, scope);
    return this.#valueOf(array, e.span, type);
  }

  #merge(locals: Map<string, ValueType | undefined>, name: string, type: ValueType | undefined): void {
    const before = locals.get(name);
    if (!locals.has(name) || (before === undefined && type !== undefined)) {
      locals.set(name, type);
      this.#changed = true;
    }
  }

  #call(e: Extract<Expr, { kind: "call" }>, scope: Scope, wanted: ValueType | undefined): ValueType | undefined {
    const own = this.function(e.name, e.args.length);
    if (own !== undefined) {
      if (!own.called) {
        own.called = true;
        this.#changed = true;
      }
      e.args.forEach((arg, i) => {
        const found = this.of(arg, scope, own.parameters[i]);
        if (found !== undefined && own.parameters[i] === undefined) {
          own.parameters[i] = found;
          this.#changed = true;
        }
      });
      if (own.returns && own.result === undefined && wanted !== undefined && wanted !== "stats") {
        own.result = wanted;
        this.#changed = true;
      }
      return own.result;
    }
    if (printers.has(e.name)) return this.#printer(e, scope);
    const known = libraryFunction(e.name);
    if (e.name === "matched" || e.name === "ngroups") this.matches = true;
    if (known === undefined) {
      this.#report?.(e.span, this.#unknownFunction(e));
      for (const arg of e.args) this.of(arg, scope);
      return wanted;
    }
    const { parameters, least = parameters.length, result } = known;
    if (e.args.length < least || e.args.length > parameters.length)
      this.#report?.(
        e.span,
        systemtap.argumentCount(
          e.name,
          least === parameters.length
            ? `${least} argument${least === 1 ? "" : "s"}`
            : `${least} to ${parameters.length} arguments`,
          e.args.length,
        ),
      );
    e.args.forEach((arg, i) => this.of(arg, scope, parameters[i]));
    return result;
  }

  /** There is none of that name, or none that takes so many. */
  #unknownFunction({ name, args }: Extract<Expr, { kind: "call" }>): Message {
    const overloads = this.functions.get(name);
    if (overloads !== undefined)
      return systemtap.argumentCount(
        name,
        overloads.map(({ parameters }) => parameters.length).join(" or "),
        args.length,
      );
    const refused = refusedFunction(name);
    if (refused !== undefined) return systemtap.refusedFunction(name, refused.why, refused.instead);
    const [near] = nearest(name, [...this.functions.keys(), ...printers, ...libraryNames()]);
    return systemtap.unresolvedFunction(name, near === undefined ? undefined : `did you mean \`${near}()\`?`);
  }

  /** Statistics have buckets of one kind. */
  #histogram(e: Extract<Expr, { kind: "histogram" }>): void {
    if (this.#report === undefined || (e.of.kind !== "name" && e.of.kind !== "element")) return;
    const kind = e.linear ? `linear ${e.parameters.join(" ")}` : "log";
    const before = this.#histograms.get(e.of.name);
    if (before !== undefined && before !== kind) this.#report(e.span, systemtap.secondHistogram(e.of.name));
    else this.#histograms.set(e.of.name, kind);
  }

  /** printf() and its kin: what a format says of its arguments. */
  #printer(e: Extract<Expr, { kind: "call" }>, scope: Scope): ValueType | undefined {
    const [first, ...rest] = e.args;
    if (/^s?printf$/.test(e.name)) {
      if (first?.kind !== "string") {
        this.#report?.(e.span, systemtap.formatLiteral(e.name));
        return e.name.startsWith("s") ? "string" : undefined;
      }
      const pieces = parseFormat(first.value);
      if (pieces instanceof Failure) {
        this.#report?.(first.span, systemtap.conversion(pieces.reason));
        return e.name.startsWith("s") ? "string" : undefined;
      }
      const wanted = pieces.flatMap((piece) => (typeof piece === "string" ? [] : piece.takes));
      if (wanted.length !== rest.length) this.#report?.(e.span, systemtap.formatCount(wanted.length, rest.length));
      rest.forEach((arg, i) => this.of(arg, scope, wanted[i]));
    } else if (["log", "warn", "error"].includes(e.name)) {
      if (e.args.length !== 1) this.#report?.(e.span, systemtap.argumentCount(e.name, "1 argument", e.args.length));
      if (first !== undefined) this.of(first, scope, "string");
      return undefined;
    } else {
      const least = /printd/.test(e.name) ? 3 : /^s?print$/.test(e.name) ? 1 : 0;
      if (e.args.length < least) this.#report?.(e.span, systemtap.tooFewPrinted(e.name, least));
      else if (/printd/.test(e.name) && first.kind !== "string")
        this.#report?.(first.span, systemtap.delimiter(e.name));
      e.args.forEach((arg, i) => this.of(arg, scope, i === 0 && /printd/.test(e.name) ? "string" : undefined));
    }
    return e.name.startsWith("s") ? "string" : undefined;
  }

  // ── statements ──

  #statement(s: Stmt, scope: Scope): void {
    switch (s.kind) {
      case "block":
        for (const one of s.statements) this.#statement(one, scope);
        return;
      case "expression": {
        // Of `x++` alone nobody reads x.
        const { expression } = s;
        const before =
          expression.kind === "increment" || expression.kind === "assign" ? this.#readOf(expression.target) : undefined;
        this.of(expression, scope);
        if (before !== undefined) before.global.read = before.read;
        return;
      }
      case "if":
        this.of(s.condition, scope, "long");
        if (s.condition.kind === "number") this.#never++;
        this.#statement(s.then, scope);
        if (s.condition.kind === "number") this.#never--;
        if (s.otherwise !== undefined) this.#statement(s.otherwise, scope);
        return;
      case "while":
        this.of(s.condition, scope, "long");
        this.#statement(s.body, scope);
        return;
      case "for":
        if (s.before !== undefined) this.of(s.before, scope);
        if (s.condition !== undefined) this.of(s.condition, scope, "long");
        if (s.step !== undefined) this.of(s.step, scope);
        this.#statement(s.body, scope);
        return;
      case "foreach": {
        if (s.buckets !== undefined) {
          this.of(s.buckets, scope);
          if (s.limit !== undefined) this.of(s.limit, scope, "long");
          for (const name of [s.keys[0], ...(s.value === undefined ? [] : [s.value])]) {
            scope.assigned.add(name);
            this.#merge(scope.locals, name, "long");
          }
          this.#statement(s.body, scope);
          return;
        }
        const array = this.#array(s.array, s.arraySpan);
        if (s.limit !== undefined) this.of(s.limit, scope, "long");
        if (array !== undefined) {
          // A loop that has no round reads nothing.
          if (s.limit?.kind !== "number" || s.limit.value !== 0n) array.read = true;
          if (s.slice !== undefined) this.#keys(array, s.slice, s.arraySpan, scope);
          if (array.keys === undefined) {
            array.keys = s.keys.map(() => undefined);
            this.#changed = true;
          }
          if (array.keys.length !== s.keys.length)
            this.#report?.(s.span, systemtap.keyCount(s.array, array.keys.length, s.keys.length));
          for (const key of [...s.keys, s.value ?? s.keys[0]]) scope.assigned.add(key);
          s.keys.forEach((key, i) => {
            this.#merge(scope.locals, key, array.keys![i]);
            const found = scope.locals.get(key);
            if (found !== undefined && array.keys![i] === undefined && i < array.keys!.length) {
              array.keys![i] = found;
              this.#changed = true;
            }
          });
          if (s.value !== undefined) this.#merge(scope.locals, s.value, array.value === "stats" ? "long" : array.value);
        }
        this.#statement(s.body, scope);
        return;
      }
      case "return": {
        const { function: own } = scope;
        if (own === undefined) {
          this.#report?.(s.span, systemtap.notHere("return", "in a probe: `next` ends it"));
          return;
        }
        if (s.value === undefined) return;
        own.returns = true;
        addTo(this.sources, `${own.definition.name}()`, s.value);
        const found = this.of(s.value, scope, own.result);
        if (found !== undefined && found !== "stats" && own.result === undefined) {
          own.result = found;
          this.#changed = true;
        }
        return;
      }
      case "delete": {
        const { target } = s;
        if (target.kind === "name") {
          const global = this.globals.get(target.name);
          if (global !== undefined) global.written = true;
          else if (scope.assigned.has(target.name)) this.#named(target.name, target.span, scope, undefined, "write");
          else this.#array(target.name, target.span);
        } else if (target.kind === "element") {
          const array = this.#array(target.name, target.span);
          if (array !== undefined) {
            array.written = true;
            this.#keys(array, target.keys, target.span, scope);
          }
        }
        return;
      }
      case "try":
        this.#statement(s.body, scope);
        if (s.message !== undefined) {
          scope.assigned.add(s.message);
          this.#merge(scope.locals, s.message, "string");
        }
        this.#statement(s.handler, scope);
        return;
      case "next": {
        const { function: own } = scope;
        if (own?.next !== undefined) this.#goesOn(own, own.next);
        return;
      }
      case "break":
      case "continue":
        return;
    }
  }

  /** A function that another goes on with takes and gives the same. */
  #goesOn(own: FunctionTypes, next: FunctionTypes): void {
    const before = JSON.stringify([own.parameters, own.result, own.returns, next.called, next.parameters, next.result]);
    next.called = true;
    own.parameters.forEach((type, i) => {
      const known = type ?? next.parameters[i];
      own.parameters[i] = known;
      next.parameters[i] ??= known;
    });
    const result = own.result ?? next.result;
    if (result !== undefined) {
      own.result = result;
      next.result ??= result;
    }
    own.returns = next.returns = own.returns || next.returns;
    if (before !== JSON.stringify([own.parameters, own.result, own.returns, next.called, next.parameters, next.result]))
      this.#changed = true;
  }

  #readOf(e: Expr): { readonly global: GlobalTypes; readonly read: boolean } | undefined {
    const global = e.kind === "name" || e.kind === "element" ? this.globals.get(e.name) : undefined;
    return global === undefined ? undefined : { global, read: global.read };
  }
}

/** `s . "x"`, of which s is a part. */
function joins(e: Expr, name: string): boolean {
  return (
    (e.kind === "name" && e.name === name) ||
    (e.kind === "binary" && e.operator === "." && (joins(e.left, name) || joins(e.right, name)))
  );
}
