// What a captured value means to the compiler. Objects of the library (builtins, maps, events) are known by identity,
// so that they may be renamed and re-exported.
import { library as libraryMessages } from "../messages/on-demand.ts";
import { builtinsFor } from "../language/builtins/table.ts";
import { typescriptRules } from "../language/typescript/rules.ts";
import type { Binding, FunctionSource } from "../language/typescript/binding.ts";
import { casts, specialNames, type SpecialName } from "../language/typescript/specials.ts";
import { carriedBy, type SourceFunction } from "./captures.ts";

const bindings = new WeakMap<object, Binding>();

/** Makes an object mean something in handlers. */
export function bind<T extends object>(object: T, binding: Binding): T {
  bindings.set(object, binding);
  return object;
}

/** What an object means in handlers, if anything. */
export function bindingOf(object: object | null): Binding | undefined {
  return object === null ? undefined : bindings.get(object);
}

/** Something that has a value in handlers only. Used outside of one, it says so. */
export function marker(name: string, binding: Binding): unknown {
  const outside = (): never => {
    throw new TypeError(libraryMessages().valueInHandlers(name).message);
  };
  const object = Object.defineProperties(outside, {
    name: { value: name },
    [Symbol.toPrimitive]: { value: outside },
    toJSON: { value: outside },
  });
  return bind(object, binding);
}

const builtins = builtinsFor(typescriptRules);
const specials: ReadonlySet<string> = new Set([...specialNames, ...Object.keys(casts)]);

/** What the library exports under a name: for handlers whose captures nobody told. */
function exported(name: string): Binding | undefined {
  if (specials.has(name)) return { kind: "special", name: name as SpecialName };
  if (builtins.isValue(name) || builtins.isFunction(name)) return { kind: "builtin", name: builtins.canonical(name) };
  return undefined;
}

const library: Binding = {
  kind: "module",
  what: "the library",
  member: (name) => (name === "default" ? library : exported(name)),
};

/**
 * What TypeScript, Babel, SWC, esbuild, webpack and Rollup call `import … from "strobe"` where they write something
 * else for it.
 */
const importNames =
  /^(strobe|_strobe\d*|strobe_\d+|import_strobe\d*|strobe\$\d+|strobe__WEBPACK_IMPORTED_MODULE_\d+__|__WEBPACK_EXTERNAL_MODULE_strobe\w*__)$/;

/**
 * Whether a name in a function's text stands for the library as a whole. Vite numbers its imports: where there is one,
 * of which nothing is used but what the library has, it is that.
 */
function isImportOfLibrary(name: string, text: string): boolean {
  if (importNames.test(name)) return true;
  if (!/^__vite_ssr_import_\d+__$/.test(name)) return false;
  const uses = [...text.matchAll(/\b(__vite_ssr_import_\d+__)\.(\w+)/g)];
  return uses.every(([, of, member]) => of === name && exported(member) !== undefined);
}

export type Captures = Readonly<Record<string, unknown>>;

/**
 * A function as its source. `captures` are those that a person gave to the probe: they hold for what it calls as well.
 * What a rewriter told comes first.
 */
export function functionSource(fn: SourceFunction, captures: Captures | undefined): FunctionSource {
  const carried = carriedBy(fn);
  const told = carried?.captures() ?? captures ?? {};
  return {
    identity: fn,
    name: fn.name,
    text: carried?.place?.code ?? Function.prototype.toString.call(fn),
    complete: carried !== undefined,
    ...(carried?.place === undefined ? {} : { place: carried.place }),
    resolve: (name) => {
      if (Object.hasOwn(told, name)) return meaningOf(told[name], captures);
      if (carried !== undefined) return undefined;
      return exported(name) ?? (isImportOfLibrary(name, Function.prototype.toString.call(fn)) ? library : undefined);
    },
  };
}

function meaningOf(value: unknown, captures: Captures | undefined): Binding {
  switch (typeof value) {
    case "number":
    case "bigint":
    case "string":
    case "boolean":
      return { kind: "constant", value };
    case "undefined":
      return { kind: "nothing", what: "undefined" };
    case "symbol":
      return { kind: "unusable", what: "a symbol" };
    case "function":
      return bindings.get(value) ?? { kind: "function", source: functionSource(value, captures) };
    case "object":
      break;
  }
  if (value === null) return { kind: "nothing", what: "null" };
  const known = bindings.get(value);
  if (known !== undefined) return known;
  if (isModule(value)) {
    const members = value as Captures;
    return {
      kind: "module",
      what: "a module",
      member: (name) => (name in members ? meaningOf(members[name], captures) : undefined),
    };
  }
  if (Array.isArray(value) || isPlain(value)) {
    const members = value as Captures;
    const meaning = (of: unknown): Binding => meaningOf(of, captures);
    return {
      kind: "module",
      what: described(value),
      ...(Array.isArray(value) ? { length: value.length } : {}),
      member: (name) => (Object.hasOwn(members, name) ? meaning(members[name]) : undefined),
      table: Array.isArray(value)
        ? { form: "list", entries: () => value.map((of, i) => [meaning(i), meaning(of)]) }
        : {
            form: "object",
            entries: () =>
              Object.entries(members).map(([key, of]) => [
                meaning(/^(0|[1-9]\d{0,14})$/.test(key) ? Number(key) : key),
                meaning(of),
              ]),
          },
    };
  }
  if (value instanceof Set || value instanceof Map) {
    const form = value instanceof Set ? "set" : "map";
    return {
      kind: "module",
      what: described(value),
      member: () => undefined,
      table: {
        form,
        entries: () => [...value.entries()].map(([key, of]) => [meaningOf(key, captures), meaningOf(of, captures)]),
      },
    };
  }
  return { kind: "unusable", what: described(value) };
}

/** What `{ … }` makes, and an enum of TypeScript's. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** A namespace object, or what a bundler makes of one. */
function isModule(value: object): boolean {
  return (
    (Symbol.toStringTag in value && value[Symbol.toStringTag] === "Module") ||
    ("__esModule" in value && value.__esModule === true)
  );
}

function described(value: object): string {
  if (Array.isArray(value)) return "an array";
  const { constructor } = value;
  const name = typeof constructor === "function" ? constructor.name : "";
  if (name === "" || name === "Object") return "an object";
  return `${/^[AEIOU]/.test(name) ? "an" : "a"} ${name}`;
}
