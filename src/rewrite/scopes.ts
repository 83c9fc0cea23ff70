// Which name means which declaration, in one JavaScript module: scopes, what they declare, and what refers to it.
import type { AnyNode, Function as FunctionNode, Identifier, Pattern, Program } from "acorn";

export interface Scope {
  /** What opens it: a program, a function, its body, a block, a loop, a catch, a class. */
  readonly node: AnyNode;
  readonly parent: Scope | undefined;
  /** `var` lands here. */
  readonly holdsVariables: boolean;
  readonly bindings: Map<string, Binding>;
}

/** What a name stands for, as far as the text tells. */
export type Definition =
  /** `imported` is "*" for the whole module. */
  | { readonly kind: "import"; readonly from: string; readonly imported: string }
  | { readonly kind: "function"; readonly node: FunctionLike }
  /**
   * `path` is what a pattern takes out of the initial value, name by name, of a list by numbers; "..." is some part of it,
   * which cannot be told.
   */
  | { readonly kind: "variable"; readonly initial: AnyNode | undefined; readonly path: readonly string[] }
  | { readonly kind: "parameter"; readonly of: FunctionLike; readonly index: number; readonly whole: boolean }
  | { readonly kind: "other" };

export interface Binding {
  readonly name: string;
  readonly scope: Scope;
  readonly definition: Definition;
  /** Declared more than once: nobody knows what it stands for. */
  again: boolean;
}

export type Reference = Placed<Identifier>;

/** A piece of the program, and the scope in which its names are looked up. */
export interface Placed<N extends AnyNode = AnyNode> {
  readonly node: N;
  readonly scope: Scope;
}

export type FunctionLike = FunctionNode & AnyNode;

export interface Scopes {
  /** Of all names that are read or written, in the order of the text. */
  readonly references: readonly Reference[];
  readonly calls: readonly Placed<AnyNode & { type: "CallExpression" }>[];
  /** What each function gives back: the values of its `return`s. */
  readonly results: ReadonlyMap<AnyNode, readonly Placed[]>;
  /** What is loaded by `require()` and `import()`. */
  readonly loads: ReadonlySet<string>;
  readonly module: Scope;
}

/** The binding that a name means in a scope; undefined for a global. */
export function bindingOf(name: string, scope: Scope): Binding | undefined {
  for (let at: Scope | undefined = scope; at; at = at.parent) {
    const found = at.bindings.get(name);
    if (found) return found;
  }
  return undefined;
}

export function isFunction(node: AnyNode): node is FunctionLike {
  return (
    node.type === "FunctionDeclaration" || node.type === "FunctionExpression" || node.type === "ArrowFunctionExpression"
  );
}

/** The nodes right below a node, in the order of the text. */
export function childrenOf(node: AnyNode): AnyNode[] {
  const children: AnyNode[] = [];
  for (const value of Object.values(node) as unknown[]) {
    if (Array.isArray(value)) children.push(...value.filter(isNode));
    else if (isNode(value)) children.push(value);
  }
  return children.sort((a, b) => a.start - b.start);
}

function isNode(value: unknown): value is AnyNode {
  return (
    typeof value === "object" &&
    value !== null &&
    typeof (value as { type?: unknown }).type === "string" &&
    "start" in value
  );
}

export function analyze(program: Program): Scopes {
  const analysis = new Analysis(program);
  analysis.declareStatements(program.body, analysis.module);
  for (const statement of program.body) analysis.visit(statement, analysis.module);
  analysis.references.sort((a, b) => a.node.start - b.node.start);
  return analysis;
}

class Analysis implements Scopes {
  readonly references: Reference[] = [];
  readonly calls: Placed<AnyNode & { type: "CallExpression" }>[] = [];
  readonly results = new Map<AnyNode, Placed[]>();
  readonly loads = new Set<string>();
  readonly module: Scope;

  constructor(program: Program) {
    this.module = opened(program, undefined, true);
  }

  /**
   * Declares what statements of a block declare before any of them runs: everything but `var` of other blocks, done by
   * `hoist`.
   */
  declareStatements(statements: readonly AnyNode[], scope: Scope): void {
    for (const statement of statements) this.#declareStatement(statement, scope);
    if (scope.holdsVariables) for (const statement of statements) this.#hoist(statement, scope);
  }

  visit(node: AnyNode, scope: Scope): void {
    if (isFunction(node)) return this.#visitFunction(node, scope);
    switch (node.type) {
      case "Identifier":
        this.references.push({ node, scope });
        return;
      case "CallExpression":
        this.calls.push({ node, scope });
        if (node.callee.type === "Identifier" && node.callee.name === "require" && node.arguments.length === 1)
          this.#addLoad(node.arguments[0]);
        break;
      case "ImportExpression":
        this.#addLoad(node.source);
        break;
      case "ReturnStatement":
        if (node.argument) this.#resultsAround(scope).push({ node: node.argument, scope });
        break;
      case "BlockStatement":
      case "StaticBlock": {
        const inner = opened(node, scope, node.type === "StaticBlock");
        this.declareStatements(node.body, inner);
        return this.#visitAll(node.body, inner);
      }
      case "ForStatement":
      case "ForInStatement":
      case "ForOfStatement": {
        const inner = opened(node, scope, false);
        const head = node.type === "ForStatement" ? node.init : node.left;
        if (head?.type === "VariableDeclaration" && head.kind !== "var") this.#declareVariables(head, inner);
        return this.#visitAll(childrenOf(node), inner);
      }
      case "SwitchStatement": {
        this.visit(node.discriminant, scope);
        const inner = opened(node, scope, false);
        this.declareStatements(
          node.cases.flatMap((one) => one.consequent),
          inner,
        );
        return this.#visitAll(node.cases, inner);
      }
      case "CatchClause": {
        const inner = opened(node, scope, false);
        if (node.param) {
          this.#declarePattern(node.param, inner, () => ({ kind: "other" }));
          this.#visitPattern(node.param, inner);
        }
        return this.visit(node.body, inner);
      }
      case "ClassDeclaration":
      case "ClassExpression": {
        const inner = opened(node, scope, false);
        if (node.id) declare(node.id.name, inner, { kind: "other" });
        if (node.superClass) this.visit(node.superClass, inner);
        return this.visit(node.body, inner);
      }
      case "VariableDeclarator":
        this.#visitPattern(node.id, scope);
        if (node.init) this.visit(node.init, scope);
        return;
      case "MemberExpression":
        this.visit(node.object, scope);
        if (node.computed) this.visit(node.property, scope);
        return;
      case "Property":
      case "MethodDefinition":
      case "PropertyDefinition":
        if (node.computed) this.visit(node.key, scope);
        if (node.value) this.visit(node.value, scope);
        return;
      case "LabeledStatement":
        return this.visit(node.body, scope);
      case "ExportNamedDeclaration":
        if (node.declaration) this.visit(node.declaration, scope);
        if (!node.source) for (const { local } of node.specifiers) this.visit(local, scope);
        return;
      case "BreakStatement":
      case "ContinueStatement":
      case "MetaProperty":
      case "ImportDeclaration":
      case "ExportAllDeclaration":
        return;
      default:
    }
    this.#visitAll(childrenOf(node), scope);
  }

  #visitAll(nodes: readonly AnyNode[], scope: Scope): void {
    for (const node of nodes) this.visit(node, scope);
  }

  #visitFunction(node: FunctionLike, around: Scope): void {
    // Defaults of parameters do not see what the body declares: parameters and body have a scope each. A function
    // expression's own name is around both.
    const named = node.type === "FunctionExpression" && node.id ? opened(node, around, false) : around;
    if (node.type === "FunctionExpression" && node.id) declare(node.id.name, named, { kind: "function", node });
    const outside = opened(node, named, node.body.type !== "BlockStatement");
    node.params.forEach((parameter, index) => {
      const whole =
        parameter.type === "Identifier"
          ? parameter
          : parameter.type === "AssignmentPattern"
            ? parameter.left
            : undefined;
      this.#declarePattern(parameter, outside, (name) => ({
        kind: "parameter",
        of: node,
        index,
        whole: whole === name,
      }));
    });
    for (const parameter of node.params) this.#visitPattern(parameter, outside);
    this.results.set(node, []);
    if (node.body.type !== "BlockStatement") {
      this.results.set(node, [{ node: node.body, scope: outside }]);
      return this.visit(node.body, outside);
    }
    const inside = opened(node.body, outside, true);
    this.declareStatements(node.body.body, inside);
    this.#visitAll(node.body.body, inside);
  }

  #addLoad(specifier: AnyNode): void {
    if (specifier.type === "Literal" && typeof specifier.value === "string") this.loads.add(specifier.value);
  }

  #resultsAround(scope: Scope): Placed[] {
    for (let at: Scope | undefined = scope; at; at = at.parent) {
      const results = this.results.get(at.node);
      if (results) return results;
    }
    return [];
  }

  /** What a pattern computes while it is taken apart: defaults and computed keys. The names are declared already. */
  #visitPattern(pattern: Pattern | AnyNode, scope: Scope): void {
    switch (pattern.type) {
      case "Identifier":
        return;
      case "ObjectPattern":
        for (const property of pattern.properties) {
          if (property.type === "RestElement") this.#visitPattern(property.argument, scope);
          else {
            if (property.computed) this.visit(property.key, scope);
            this.#visitPattern(property.value, scope);
          }
        }
        return;
      case "ArrayPattern":
        for (const element of pattern.elements) if (element) this.#visitPattern(element, scope);
        return;
      case "RestElement":
        return this.#visitPattern(pattern.argument, scope);
      case "AssignmentPattern":
        this.#visitPattern(pattern.left, scope);
        return this.visit(pattern.right, scope);
      default:
        return this.visit(pattern, scope);
    }
  }

  #declareStatement(statement: AnyNode, scope: Scope): void {
    switch (statement.type) {
      case "ImportDeclaration": {
        const from = String(statement.source.value);
        for (const specifier of statement.specifiers) {
          const imported =
            specifier.type === "ImportNamespaceSpecifier"
              ? "*"
              : specifier.type === "ImportDefaultSpecifier"
                ? "default"
                : nameOf(specifier.imported);
          declare(specifier.local.name, scope, { kind: "import", from, imported });
        }
        return;
      }
      case "ExportNamedDeclaration":
        if (statement.declaration) this.#declareStatement(statement.declaration, scope);
        return;
      case "ExportDefaultDeclaration":
        if (statement.declaration.type === "FunctionDeclaration" || statement.declaration.type === "ClassDeclaration") {
          this.#declareStatement(statement.declaration, scope);
        }
        return;
      case "FunctionDeclaration":
        if (statement.id) declare(statement.id.name, scope, { kind: "function", node: statement });
        return;
      case "ClassDeclaration":
        if (statement.id) declare(statement.id.name, scope, { kind: "other" });
        return;
      case "VariableDeclaration":
        if (statement.kind !== "var") this.#declareVariables(statement, scope);
        return;
      case "LabeledStatement":
        return this.#declareStatement(statement.body, scope);
      default:
    }
  }

  #declareVariables(declaration: AnyNode & { type: "VariableDeclaration" }, scope: Scope): void {
    for (const { id, init } of declaration.declarations) {
      this.#declarePattern(id, scope, (_, path) => ({ kind: "variable", initial: init ?? undefined, path }));
    }
  }

  /** Declares the `var`s of a function's statements, however deep in blocks. */
  #hoist(node: AnyNode, scope: Scope): void {
    if (isFunction(node) || node.type === "ClassDeclaration" || node.type === "ClassExpression") return;
    if (node.type === "VariableDeclaration" && node.kind === "var") this.#declareVariables(node, scope);
    for (const child of childrenOf(node)) this.#hoist(child, scope);
  }

  #declarePattern(
    pattern: Pattern,
    scope: Scope,
    define: (name: Identifier, path: readonly string[]) => Definition,
    path: readonly string[] = [],
  ): void {
    switch (pattern.type) {
      case "Identifier":
        return declare(pattern.name, scope, define(pattern, path));
      case "ObjectPattern":
        for (const property of pattern.properties) {
          if (property.type === "RestElement") this.#declarePattern(property, scope, define, path);
          else {
            const key = (property.computed ? undefined : nameOf(property.key)) ?? "...";
            this.#declarePattern(property.value, scope, define, [...path, key]);
          }
        }
        return;
      case "ArrayPattern":
        for (const [i, element] of pattern.elements.entries()) {
          const of = element?.type === "RestElement" ? path : [...path, String(i)];
          if (element) this.#declarePattern(element, scope, define, of);
        }
        return;
      case "RestElement":
        return this.#declarePattern(pattern.argument, scope, define, [...path, "..."]);
      case "AssignmentPattern":
        return this.#declarePattern(pattern.left, scope, define, undefined);
      case "MemberExpression":
        return;
    }
  }
}

function opened(node: AnyNode, parent: Scope | undefined, holdsVariables: boolean): Scope {
  return { node, parent, holdsVariables, bindings: new Map() };
}

function declare(name: string, scope: Scope, definition: Definition): void {
  const before = scope.bindings.get(name);
  if (before) before.again = true;
  else scope.bindings.set(name, { name, scope, definition, again: false });
}

/** The text of a name that may be written as a string, as in `{ "a": 1 }`. */
export function nameOf(node: Identifier | (AnyNode & { type: "Literal" })): string;
export function nameOf(node: AnyNode): string | undefined;
export function nameOf(node: AnyNode): string | undefined {
  if (node.type === "Identifier") return node.name;
  return node.type === "Literal" ? String(node.value) : undefined;
}
