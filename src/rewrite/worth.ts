// What expressions of a module are worth, as far as its text tells: for looking at probes without running the program
// that makes them. Nothing of the program is called but what `Known.calls` allows.
import type { AnyNode } from "acorn";
import { bindingOf, isFunction, nameOf, type Binding, type FunctionLike, type Placed, type Scope } from "./scopes.ts";

export interface Worth {
  readonly value: unknown;
  /** Only its kind is known: a value of that kind stands for it. */
  readonly guessed?: true;
}

export interface Known {
  /** What a name of another module is; undefined where nobody knows. */
  readonly imported: (from: string, name: string) => Worth | undefined;
  /** What a function is for those who take it. */
  readonly made: (node: FunctionLike, scope: Scope) => unknown;
  /** Whether a function may be called: it only makes something of its arguments. */
  readonly calls: (fn: unknown) => fn is (...given: readonly unknown[]) => unknown;
  /** It threw. */
  readonly threw: (node: AnyNode, error: unknown) => void;
}

type Call = AnyNode & { type: "CallExpression" };

const aNumber: Worth = { value: 1, guessed: true };
const aText: Worth = { value: "text", guessed: true };

/** Globals that give a value of one kind, whatever they are given: `Number(x)`. */
const converters: Readonly<Record<string, { readonly of: (value: never) => unknown; readonly else: Worth }>> = {
  Number: { of: Number, else: aNumber },
  String: { of: String, else: aText },
  BigInt: { of: BigInt, else: { value: 1n, guessed: true } },
  Boolean: { of: Boolean, else: { value: true, guessed: true } },
  parseInt: { of: (text: string) => parseInt(text), else: aNumber },
  parseFloat: { of: (text: string) => parseFloat(text), else: aNumber },
};

/** Members of globals, and what they give, by how they are written. */
const globals: Readonly<Record<string, Worth>> = {
  "process.pid": aNumber,
  "process.ppid": aNumber,
  "process.execPath": aText,
  "Date.now()": aNumber,
  "performance.now()": aNumber,
};

export class Worths {
  readonly #known: Known;
  /** What is being found out, or was. */
  readonly #found = new Map<AnyNode, Worth | undefined>();

  constructor(known: Known) {
    this.#known = known;
  }

  /** Undefined where only the running program knows. */
  of(node: AnyNode, scope: Scope): Worth | undefined {
    if (this.#found.has(node)) return this.#found.get(node);
    this.#found.set(node, undefined);
    const worth = this.#find(node, scope);
    this.#found.set(node, worth);
    return worth;
  }

  #find(node: AnyNode, scope: Scope): Worth | undefined {
    if (isFunction(node)) return { value: this.#known.made(node, scope) };
    switch (node.type) {
      case "Literal":
        return node.value instanceof RegExp ? undefined : { value: node.value };
      case "Identifier":
        return this.named(node.name, scope);
      case "TemplateLiteral":
        return joined(
          node.expressions.map((one) => this.of(one, scope) ?? aText),
          (values) =>
            node.quasis
              .map(({ value }, i) => `${value.cooked ?? ""}${i < values.length ? (values[i] as string) : ""}`)
              .join(""),
        );
      case "ArrayExpression":
        return this.#list(node.elements, scope);
      case "ObjectExpression":
        return this.#object(node, scope);
      case "UnaryExpression":
        return this.#unary(node.operator, this.of(node.argument, scope));
      case "BinaryExpression":
        if (node.left.type === "PrivateIdentifier") return undefined;
        return binary(node.operator, this.of(node.left, scope), this.of(node.right, scope));
      case "LogicalExpression":
        return this.#either(node.operator, this.of(node.left, scope), () => this.of(node.right, scope));
      case "ConditionalExpression": {
        const test = this.of(node.test, scope);
        if (test !== undefined && test.guessed === undefined)
          return this.of(test.value ? node.consequent : node.alternate, scope);
        const one = this.of(node.consequent, scope) ?? this.of(node.alternate, scope);
        return one && { value: one.value, guessed: true };
      }
      case "MemberExpression":
        return this.#member(node, scope);
      case "ChainExpression":
        return this.of(node.expression, scope);
      case "SequenceExpression":
        return this.of(node.expressions[node.expressions.length - 1], scope);
      case "CallExpression":
        return this.#call(node, scope);
      case "NewExpression":
        return this.#made(node, scope);
      case "AwaitExpression":
        return node.argument.type === "ImportExpression" ? this.#loaded(node.argument.source, scope) : undefined;
      default:
        return undefined;
    }
  }

  /** What a name is in a scope. */
  named(name: string, scope: Scope): Worth | undefined {
    const binding = bindingOf(name, scope);
    if (binding !== undefined) return this.#bound(binding);
    const values: Readonly<Record<string, unknown>> = { undefined, NaN, Infinity };
    return Object.hasOwn(values, name) ? { value: values[name] } : undefined;
  }

  #bound({ definition, scope, again }: Binding): Worth | undefined {
    if (again) return undefined;
    switch (definition.kind) {
      case "import":
        return this.#known.imported(definition.from, definition.imported);
      case "function":
        return this.of(definition.node, scope);
      case "variable":
        if (definition.initial === undefined) return undefined;
        return definition.path.reduce<Worth | undefined>(memberOf, this.of(definition.initial, scope));
      default:
        return undefined;
    }
  }

  #list(elements: readonly (AnyNode | null)[], scope: Scope): Worth | undefined {
    const all = elements.map((element) => {
      if (element === null) return undefined;
      const of = this.of(element.type === "SpreadElement" ? element.argument : element, scope);
      if (element.type !== "SpreadElement") return joined([of], (values) => values);
      return joined([of], ([value]) => (isIterable(value) ? [...value] : undefined));
    });
    return joined(all, (lists) => (lists as unknown[][]).flat());
  }

  #object(node: AnyNode & { type: "ObjectExpression" }, scope: Scope): Worth | undefined {
    const members = node.properties.map((property) => {
      if (property.type === "SpreadElement")
        return joined([this.of(property.argument, scope)], ([value]) => ({ ...(value as object) }));
      const key = property.computed ? this.of(property.key, scope) : { value: nameOf(property.key) };
      if (property.kind !== "init") return undefined;
      return joined([key, this.of(property.value, scope)], ([name, value]) => ({ [String(name)]: value }));
    });
    return joined(members, (all) => Object.assign({}, ...(all as object[])) as object);
  }

  #unary(operator: string, of: Worth | undefined): Worth | undefined {
    switch (operator) {
      case "-":
        return joined([of ?? aNumber], ([value]) => (typeof value === "bigint" ? -value : -Number(value)));
      case "+":
        return joined([of ?? aNumber], ([value]) => Number(value));
      case "!":
        return joined([of ?? aNumber], ([value]) => !value);
      default:
        return undefined;
    }
  }

  #either(operator: string, left: Worth | undefined, right: () => Worth | undefined): Worth | undefined {
    if (left === undefined || left.guessed === true) {
      const other = left ?? right();
      return other && { value: other.value, guessed: true };
    }
    const takesLeft =
      operator === "&&"
        ? !left.value
        : operator === "||"
          ? Boolean(left.value)
          : left.value !== undefined && left.value !== null;
    return takesLeft ? left : right();
  }

  #member(node: AnyNode & { type: "MemberExpression" }, scope: Scope): Worth | undefined {
    if (node.object.type === "Super" || node.property.type === "PrivateIdentifier") return undefined;
    const global = written(node, scope);
    if (global !== undefined && Object.hasOwn(globals, global)) return globals[global];
    const object = this.of(node.object, scope);
    const name = node.computed ? this.of(node.property, scope)?.value : nameOf(node.property);
    if (object === undefined) return name === "length" ? aNumber : undefined;
    return typeof name === "string" || typeof name === "number" ? memberOf(object, String(name)) : undefined;
  }

  #call(node: Call, scope: Scope): Worth | undefined {
    const { callee } = node;
    if (callee.type === "Super") return undefined;
    const global = written(callee, scope);
    if (global !== undefined && Object.hasOwn(globals, `${global}()`)) return globals[`${global}()`];
    if (global !== undefined && Object.hasOwn(converters, global)) {
      const { of, else: other } = converters[global];
      const [first] = node.arguments;
      const given = first === undefined ? undefined : this.of(first, scope);
      return joined([given], ([value]) => of(value as never)) ?? other;
    }
    if (global === "require") return this.#loaded(node.arguments[0], scope);
    const fn = this.of(callee, scope);
    const given = this.#list(node.arguments, scope);
    if (fn === undefined || given === undefined || !this.#known.calls(fn.value)) return undefined;
    try {
      const value = fn.value(...(given.value as readonly unknown[]));
      return given.guessed === true ? { value, guessed: true } : { value };
    } catch (error) {
      if (given.guessed === undefined) this.#known.threw(node, error);
      return undefined;
    }
  }

  /** A module as a whole. */
  #loaded(specifier: AnyNode | undefined, scope: Scope): Worth | undefined {
    const from = specifier && this.of(specifier, scope)?.value;
    return typeof from === "string" ? this.#known.imported(from, "*") : undefined;
  }

  /** `new Set([…])`, `new Map([…])` */
  #made({ callee, arguments: given }: AnyNode & { type: "NewExpression" }, scope: Scope): Worth | undefined {
    const name = written(callee, scope);
    if (name !== "Set" && name !== "Map") return undefined;
    return joined([this.#list(given, scope)], ([values]) => {
      const [all = []] = values as readonly (readonly never[])[];
      return name === "Set" ? new Set(all) : new Map(all);
    });
  }
}

/** Every call of a module, and what it calls. */
export function callees(
  worths: Worths,
  calls: readonly Placed<Call>[],
): readonly (Placed<Call> & { callee: unknown })[] {
  return calls.map(({ node, scope }) => ({ node, scope, callee: worths.of(node.callee, scope)?.value }));
}

/** Unknown where one of them is; a guess where one of them is, or where it cannot be computed of a guess. */
function joined(all: readonly (Worth | undefined)[], of: (values: readonly unknown[]) => unknown): Worth | undefined {
  if (all.includes(undefined)) return undefined;
  try {
    const value = of(all.map((one) => one?.value));
    return all.some((one) => one?.guessed === true) ? { value, guessed: true } : { value };
  } catch {
    return undefined;
  }
}

function memberOf(object: Worth | undefined, name: string): Worth | undefined {
  const { value } = object ?? {};
  if (value === undefined || value === null) return undefined;
  const of: unknown = typeof value === "object" || typeof value === "string" ? value : undefined;
  if (of === undefined || !Object.hasOwn(Object(of) as object, name)) return undefined;
  const member = (Object(of) as Readonly<Record<string, unknown>>)[name];
  return object?.guessed === true ? { value: member, guessed: true } : { value: member };
}

/** A global and its members as they are written: `process.pid`. */
function written(node: AnyNode, scope: Scope): string | undefined {
  if (node.type === "Identifier") return bindingOf(node.name, scope) === undefined ? node.name : undefined;
  if (node.type !== "MemberExpression" || node.computed) return undefined;
  const object = written(node.object, scope);
  return object === undefined ? undefined : `${object}.${nameOf(node.property)}`;
}

function isIterable(value: unknown): value is Iterable<unknown> {
  return value !== null && value !== undefined && typeof (value as Iterable<unknown>)[Symbol.iterator] === "function";
}

type Computed = (a: never, b: never) => unknown;
const binaries: Readonly<Record<string, Computed>> = {
  "+": (a: number, b: number) => a + b,
  "-": (a: number, b: number) => a - b,
  "*": (a: number, b: number) => a * b,
  "/": (a: number, b: number) => a / b,
  "%": (a: number, b: number) => a % b,
  "**": (a: number, b: number) => a ** b,
  "<<": (a: number, b: number) => a << b,
  ">>": (a: number, b: number) => a >> b,
  ">>>": (a: number, b: number) => a >>> b,
  "&": (a: number, b: number) => a & b,
  "|": (a: number, b: number) => a | b,
  "^": (a: number, b: number) => a ^ b,
  "===": (a: unknown, b: unknown) => a === b,
  "!==": (a: unknown, b: unknown) => a !== b,
  "<": (a: number, b: number) => a < b,
  "<=": (a: number, b: number) => a <= b,
  ">": (a: number, b: number) => a > b,
  ">=": (a: number, b: number) => a >= b,
};

/** Where one side is known, the other is of its kind. */
function binary(operator: string, left: Worth | undefined, right: Worth | undefined): Worth | undefined {
  const other = left ?? right;
  if (other === undefined || !Object.hasOwn(binaries, operator)) return undefined;
  const guess: Worth = { value: other.value, guessed: true };
  return joined([left ?? guess, right ?? guess], ([a, b]) => {
    // A number with millions of digits takes as long as its author likes.
    if (typeof a === "bigint" && (operator === "**" || operator === "<<")) throw new RangeError();
    return binaries[operator](a as never, b as never);
  });
}
