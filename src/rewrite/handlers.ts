// Which functions of a module are compiled from their source: those that reach a constructor of probes, and what they
// name.
import { firstIndex } from "../base/first-index.ts";
import type { AnyNode, Program } from "acorn";
import {
  bindingOf,
  isFunction,
  nameOf,
  type Binding,
  type FunctionLike,
  type Placed,
  type Reference,
  type Scope,
  type Scopes,
} from "./scopes.ts";

/** Which names of a module are the library's: all ("*") or some; undefined for a module that has none of them. */
export type LibraryNames = (specifier: string) => "*" | ReadonlySet<string> | undefined;

/** Which of a module's exports are the library's, or hand functions on to its constructors. */
export function libraryExports(program: Program, scopes: Scopes, names: LibraryNames): ReturnType<LibraryNames> {
  return new Search(program, scopes, names).exports();
}

export interface Handler {
  readonly node: FunctionLike;
  /** Names that it takes from around it, in the order in which it first uses them. */
  readonly captures: readonly string[];
}

/** The functions to wrap, in the order of the text. */
export function findHandlers(program: Program, scopes: Scopes, names: LibraryNames): Handler[] {
  return new Search(program, scopes, names).run();
}

/** Functions that TypeScript, Babel, SWC, esbuild, webpack and Rollup put around `require()`. */
const interop =
  /^_*(import(Star|Default)|interop_?[Rr]equire_?([Ww]ildcard|[Dd]efault)|interop(Namespace|Default)\w*|toESM|toCommonJS)$/;

function calledName(callee: AnyNode): string {
  switch (callee.type) {
    case "Identifier":
      return callee.name;
    case "MemberExpression":
      return nameOf(callee.property) ?? "";
    case "SequenceExpression":
      return calledName(callee.expressions[callee.expressions.length - 1]);
    default:
      return "";
  }
}

class Search {
  readonly #program: Program;
  readonly #scopes: Scopes;
  readonly #names: LibraryNames;
  readonly #found = new Set<FunctionLike>();
  /** Parameters of the module's own functions that are passed on to a constructor of probes. */
  readonly #sinks = new Set<Binding>();
  readonly #isCommonJS: boolean;
  /** Expressions that were followed already: they may lead in circles. */
  readonly #followed = new Set<AnyNode>();

  constructor(program: Program, scopes: Scopes, names: LibraryNames) {
    this.#program = program;
    this.#scopes = scopes;
    this.#names = names;
    this.#isCommonJS = !program.body.some(({ type }) => type === "ImportDeclaration" || type.startsWith("Export"));
  }

  run(): Handler[] {
    if (!this.#usesLibrary()) return [];
    this.#followExports();
    for (let known = -1; known !== this.#sinks.size + this.#found.size;) {
      known = this.#sinks.size + this.#found.size;
      for (const { node, scope } of this.#scopes.calls) this.#followCall(node, scope);
      // What a handler names is compiled with it.
      for (const fn of this.#found) {
        for (const { node, scope } of this.#namesFromOutside(fn)) this.#follow(node, scope);
      }
    }
    return [...this.#found]
      .sort((a, b) => a.start - b.start || b.end - a.end)
      .map((node) => ({
        node,
        captures: [...new Set(this.#namesFromOutside(node).map(({ node: { name } }) => name))],
      }));
  }

  exports(): ReturnType<LibraryNames> {
    this.run();
    const makers = new Set(
      [...this.#sinks].flatMap(({ definition }) => (definition.kind === "parameter" ? [definition.of] : [])),
    );
    const scope = this.#scopes.module;
    const isMaker = (node: AnyNode): boolean => {
      const fn = isFunction(node) ? node : this.#functionOf(node, scope);
      return (fn !== undefined && makers.has(fn)) || this.#libraryName(node, scope) !== undefined;
    };
    if (this.#exportsLibrary()) return "*";
    const found = new Set(
      this.#commonExports()
        .filter(({ value }) => isMaker(value))
        .map(({ name }) => name),
    );
    for (const statement of this.#program.body) {
      switch (statement.type) {
        case "ExportAllDeclaration": {
          const from = this.#names(String(statement.source.value));
          if (from === undefined || statement.exported) break;
          if (from === "*") return "*";
          for (const name of from) found.add(name);
          break;
        }
        case "ExportDefaultDeclaration":
          if (isMaker(statement.declaration)) found.add("default");
          break;
        case "ExportNamedDeclaration": {
          const { declaration, source } = statement;
          const from = source ? this.#names(String(source.value)) : undefined;
          for (const { local, exported } of statement.specifiers) {
            const name = nameOf(local);
            const own = source ? name !== undefined && (from === "*" || from?.has(name) === true) : isMaker(local);
            const given = nameOf(exported);
            if (own && given !== undefined) found.add(given);
          }
          if (declaration?.type === "FunctionDeclaration" && isMaker(declaration)) found.add(declaration.id.name);
          if (declaration?.type === "VariableDeclaration") {
            for (const { id } of declaration.declarations)
              if (id.type === "Identifier" && isMaker(id)) found.add(id.name);
          }
          break;
        }
        default:
      }
    }
    return found.size === 0 ? undefined : found;
  }

  #usesLibrary(): boolean {
    return (
      this.#program.body.some(
        (statement) =>
          statement.type === "ImportDeclaration" && this.#names(String(statement.source.value)) !== undefined,
      ) || [...this.#scopes.loads].some((specifier) => this.#names(specifier) !== undefined)
    );
  }

  #followCall(node: AnyNode & { type: "CallExpression" }, scope: Scope): void {
    const name = this.#libraryName(node.callee, scope);
    // Whoever calls it by hand has said what is captured.
    if (name === "withCaptures") return;
    if (name !== undefined) {
      for (const argument of node.arguments) this.#follow(argument, scope);
      return;
    }
    const callee = this.#functionOf(node.callee, scope);
    if (!callee) return;
    for (const sink of this.#sinks) {
      const { definition } = sink;
      if (definition.kind !== "parameter" || definition.of !== callee) continue;
      const isRest = callee.params[definition.index].type === "RestElement";
      const passed = isRest
        ? node.arguments.slice(definition.index)
        : node.arguments.slice(definition.index, definition.index + 1);
      for (const argument of passed) this.#follow(argument, scope);
    }
  }

  /** Takes down what functions the value of an expression may be, or holds. */
  #follow(node: AnyNode, scope: Scope): void {
    if (this.#followed.has(node)) return;
    this.#followed.add(node);
    if (isFunction(node)) {
      this.#found.add(node);
      return;
    }
    switch (node.type) {
      case "Identifier": {
        const binding = bindingOf(node.name, scope);
        if (binding) this.#followBinding(binding);
        return;
      }
      case "ObjectExpression":
        for (const property of node.properties) {
          if (property.type === "SpreadElement") this.#follow(property.argument, scope);
          // A method needs a name that can be repeated.
          else if (property.kind === "init" && !(property.method && property.computed))
            this.#follow(property.value, scope);
        }
        return;
      case "ArrayExpression":
        for (const element of node.elements) if (element) this.#follow(element, scope);
        return;
      case "SpreadElement":
      case "AwaitExpression":
        return this.#follow(node.argument, scope);
      case "ConditionalExpression":
        this.#follow(node.consequent, scope);
        return this.#follow(node.alternate, scope);
      case "LogicalExpression":
        this.#follow(node.left, scope);
        return this.#follow(node.right, scope);
      case "SequenceExpression":
        return this.#follow(node.expressions[node.expressions.length - 1], scope);
      case "AssignmentExpression":
        return this.#follow(node.right, scope);
      case "MemberExpression":
      case "ChainExpression": {
        const value = this.#valueOf(node, scope);
        if (value && value.node !== node) this.#follow(value.node, value.scope);
        return;
      }
      case "CallExpression": {
        // How esbuild keeps the names of functions.
        if (node.callee.type === "Identifier" && node.callee.name === "__name" && node.arguments.length === 2)
          this.#follow(node.arguments[0], scope);
        // A function that makes handlers; a call of the library was looked at as such.
        const callee = this.#functionOf(node.callee, scope);
        for (const result of (callee && this.#scopes.results.get(callee)) ?? [])
          this.#follow(result.node, result.scope);
        return;
      }
      default:
    }
  }

  #followBinding(binding: Binding): void {
    const { definition, scope } = binding;
    switch (definition.kind) {
      case "function":
        if (!binding.again) this.#follow(definition.node, scope);
        return;
      case "variable": {
        const value = this.#initialValue(binding);
        if (value) this.#follow(value.node, value.scope);
        return;
      }
      case "parameter":
        if (definition.whole || definition.of.params[definition.index].type === "RestElement") this.#sinks.add(binding);
        return;
      case "import":
      case "other":
    }
  }

  /** Other modules' handlers may call what this one exports. */
  #followExports(): void {
    for (const statement of this.#program.body) {
      if (statement.type === "ExportDefaultDeclaration") this.#followExport(statement.declaration);
      if (statement.type !== "ExportNamedDeclaration" || statement.source) continue;
      const { declaration } = statement;
      if (declaration?.type === "FunctionDeclaration") this.#followExport(declaration);
      if (declaration?.type === "VariableDeclaration") {
        for (const { id, init } of declaration.declarations)
          if (id.type === "Identifier" && init) this.#followExport(init);
      }
      for (const { local } of statement.specifiers) if (local.type === "Identifier") this.#followExport(local);
    }
    for (const { value } of this.#commonExports()) this.#followExport(value);
  }

  /** What CommonJS exports: `exports.name = …`, `module.exports = { name }`. */
  #commonExports(): { readonly name: string; readonly value: AnyNode }[] {
    if (!this.#isCommonJS) return [];
    return this.#program.body.flatMap((statement) =>
      statement.type === "ExpressionStatement" ? this.#commonExport(statement.expression) : [],
    );
  }

  /** Whether CommonJS exports all that the library has: `__exportStar(require("strobe"), exports)`. */
  #exportsLibrary(): boolean {
    return this.#program.body.some(
      (statement) =>
        statement.type === "ExpressionStatement" &&
        statement.expression.type === "CallExpression" &&
        /^_*(export_?[sS]tar|reExport)$/.test(calledName(statement.expression.callee)) &&
        statement.expression.arguments.some(
          (argument) => this.#libraryPath(argument, this.#scopes.module, new Set())?.length === 0,
        ),
    );
  }

  #commonExport(node: AnyNode): { readonly name: string; readonly value: AnyNode }[] {
    // `__export(all, { name: () => local })`, `Object.defineProperty(exports, "name", { get: function () { return
    // local; } })`
    if (node.type === "CallExpression") {
      const called = calledName(node.callee);
      const given = node.arguments.at(-1);
      if (given?.type !== "ObjectExpression") return [];
      const getters = given.properties.flatMap((each) => {
        const value =
          each.type === "Property" && !each.computed && isFunction(each.value)
            ? this.#scopes.results.get(each.value)?.[0]?.node
            : undefined;
        return value === undefined ? [] : [{ name: nameOf((each as { key: AnyNode }).key) ?? "", value }];
      });
      if (/^_*export$/.test(called)) return getters;
      const name =
        called === "defineProperty" && node.arguments.length === 3 ? constantName(node.arguments[1]) : undefined;
      return name === undefined
        ? []
        : getters.filter((each) => each.name === "get").map(({ value }) => ({ name, value }));
    }
    if (
      node.type !== "AssignmentExpression" ||
      node.operator !== "=" ||
      node.left.type !== "MemberExpression" ||
      node.left.computed
    )
      return [];
    const { object, property } = node.left;
    const isExports = (of: AnyNode): boolean =>
      of.type === "Identifier"
        ? of.name === "exports"
        : of.type === "MemberExpression" &&
          of.object.type === "Identifier" &&
          of.object.name === "module" &&
          nameOf(of.property) === "exports";
    // `exports.a = exports.b = a`
    const value = node.right.type === "AssignmentExpression" ? node.right.right : node.right;
    if (isExports(node.left) && value.type === "ObjectExpression") {
      return value.properties.flatMap((each) =>
        each.type === "Property" && !each.computed && each.kind === "init"
          ? [{ name: nameOf(each.key) ?? "", value: each.value }]
          : [],
      );
    }
    const name = nameOf(property);
    return isExports(object) && name !== undefined ? [{ name, value }, ...this.#commonExport(node.right)] : [];
  }

  #followExport(node: AnyNode): void {
    const fn = isFunction(node)
      ? node
      : node.type === "Identifier"
        ? this.#functionOf(node, this.#scopes.module)
        : undefined;
    if (fn && !fn.async && !fn.generator) this.#follow(fn, this.#scopes.module);
  }

  /** The name under which the library exports what an expression stands for. */
  #libraryName(node: AnyNode, scope: Scope): string | undefined {
    const path = this.#libraryPath(node, scope, new Set());
    return path?.length === 1 ? path[0] : undefined;
  }

  /** [] for the library as a whole, [name] for one of its exports; undefined for anything else. */
  #libraryPath(node: AnyNode, scope: Scope, seen: Set<AnyNode>): readonly string[] | undefined {
    if (seen.has(node)) return undefined;
    seen.add(node);
    switch (node.type) {
      case "Identifier": {
        const binding = bindingOf(node.name, scope);
        if (!binding) return undefined;
        const { definition } = binding;
        if (definition.kind === "import") return this.#imported(definition.from, definition.imported);
        if (/^strobe__WEBPACK_IMPORTED_MODULE_\d+__$/.test(node.name)) return [];
        if (definition.kind !== "variable" || !definition.initial || binding.again) return undefined;
        const path = this.#libraryPath(definition.initial, binding.scope, seen);
        return path ? [...path, ...definition.path] : undefined;
      }
      case "MemberExpression": {
        const name = node.computed ? constantName(node.property) : nameOf(node.property);
        const path = this.#libraryPath(node.object, scope, seen);
        // What a module of CommonJS is imported as: strobe_1.default.map.
        if (path?.length === 0 && name === "default") return path;
        return path && name !== undefined ? [...path, name] : undefined;
      }
      case "ChainExpression":
        return this.#libraryPath(node.expression, scope, seen);
      // `(0, strobe_1.map)`: how compilers and bundlers write what they imported.
      case "SequenceExpression":
        return this.#libraryPath(node.expressions[node.expressions.length - 1], scope, seen);
      // CommonJS, and modules that load the library late.
      case "CallExpression": {
        const { callee, arguments: args } = node;
        // What they load goes through a function of theirs, which gives the same names.
        if (args.length > 0 && interop.test(calledName(callee))) return this.#libraryPath(args[0], scope, seen);
        if (callee.type !== "Identifier" || callee.name !== "require" || bindingOf("require", scope)) return undefined;
        const specifier = args.length === 1 ? constantName(args[0]) : undefined;
        return specifier === undefined ? undefined : this.#imported(specifier, "*");
      }
      case "AwaitExpression": {
        const { argument } = node;
        const specifier = argument.type === "ImportExpression" ? constantName(argument.source) : undefined;
        return specifier === undefined ? undefined : this.#imported(specifier, "*");
      }
      default:
        return undefined;
    }
  }

  #imported(from: string, name: string): readonly string[] | undefined {
    const names = this.#names(from);
    if (names === undefined) return undefined;
    // What is not the library's in a module of both is not compiled, whatever it is given.
    if (name === "*") return [];
    return names === "*" || names.has(name) ? [name] : undefined;
  }

  #functionOf(node: AnyNode, scope: Scope): FunctionLike | undefined {
    const value = this.#valueOf(node, scope);
    return value && isFunction(value.node) ? value.node : undefined;
  }

  /** What an expression was defined as, as far as the text tells. */
  #valueOf(node: AnyNode, scope: Scope, depth = 0): Placed | undefined {
    if (depth > 20) return undefined;
    switch (node.type) {
      case "Identifier": {
        const binding = bindingOf(node.name, scope);
        if (!binding || binding.again) return undefined;
        if (binding.definition.kind === "function") return { node: binding.definition.node, scope: binding.scope };
        if (binding.definition.kind !== "variable") return undefined;
        const value = this.#initialValue(binding);
        return value && this.#valueOf(value.node, value.scope, depth + 1);
      }
      case "MemberExpression": {
        const object = this.#valueOf(node.object, scope, depth + 1);
        const name = node.computed ? constantName(node.property) : nameOf(node.property);
        return object && name !== undefined ? memberOf(object, name) : undefined;
      }
      case "ChainExpression":
        return this.#valueOf(node.expression, scope, depth + 1);
      case "SequenceExpression":
        return this.#valueOf(node.expressions[node.expressions.length - 1], scope, depth + 1);
      default:
        return { node, scope };
    }
  }

  #initialValue({ definition, scope }: Binding): Placed | undefined {
    if (definition.kind !== "variable" || !definition.initial) return undefined;
    let value: Placed = { node: definition.initial, scope };
    for (const name of definition.path) {
      const object = this.#valueOf(value.node, value.scope);
      const member = object && memberOf(object, name);
      if (member) value = member;
      // Which part of a list it is need not be known: all of them may be handlers.
      else if (!/^(?:\d+|\.\.\.)$/.test(name)) return undefined;
    }
    return value;
  }

  /** References within a function to what is declared around it, or, in CommonJS, given to the file. */
  #namesFromOutside(fn: FunctionLike): Reference[] {
    const { references } = this.#scopes;
    const names: Reference[] = [];
    for (let at = firstFrom(references, fn.start); at < references.length && references[at].node.start < fn.end; at++) {
      const binding = bindingOf(references[at].node.name, references[at].scope);
      const given = !binding && this.#isCommonJS && references[at].node.name === "exports";
      if (given || (binding && !contains(fn, binding.scope.node))) names.push(references[at]);
    }
    return names;
  }
}

/** Index of the first reference that does not start before an offset. */
function firstFrom(references: readonly Reference[], offset: number): number {
  return firstIndex(references.length, (i) => references[i].node.start >= offset);
}

function contains(outer: AnyNode, inner: AnyNode): boolean {
  return inner.start >= outer.start && inner.end <= outer.end;
}

function memberOf(object: Placed, name: string): Placed | undefined {
  if (object.node.type === "ArrayExpression" && /^\d+$/.test(name)) {
    const before = object.node.elements.slice(0, Number(name) + 1);
    const element = before[Number(name)];
    return element && before.every((one) => one?.type !== "SpreadElement")
      ? { node: element, scope: object.scope }
      : undefined;
  }
  if (object.node.type !== "ObjectExpression") return undefined;
  for (const property of object.node.properties) {
    if (
      property.type === "Property" &&
      !property.computed &&
      property.kind === "init" &&
      nameOf(property.key) === name
    ) {
      return { node: property.value, scope: object.scope };
    }
  }
  return undefined;
}

function constantName(node: AnyNode): string | undefined {
  return node.type === "Literal" && typeof node.value === "string" ? node.value : undefined;
}
