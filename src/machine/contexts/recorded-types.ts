// Names of types and constants that scripts over a recording know: those of its probes' arguments, and those that the
// script asked the kernel for that said what to record.
import type { Context } from "../../language/context.ts";
import type { EnumConstant, TypeScope } from "../../language/type-scope.ts";
import type { Type } from "../../language/types.ts";
import { nearest } from "../../language/nearest.ts";
import { plainTypes } from "../kernel/kernel-types.ts";
import { typeOf, written } from "./recorded-context.ts";

type Tag = "struct" | "union" | "enum";

/** Characters of a type: a struct of more is kept by its size alone. */
const longest = 1 << 14;
/** Names of one recording. */
const most = 4096;

/** A scope that notes what was asked of it, and found. */
export class NotedTypes implements TypeScope {
  readonly #scope: TypeScope;
  readonly #types = new Map<string, unknown>();
  readonly #constants = new Map<string, EnumConstant>();

  constructor(scope: TypeScope) {
    this.#scope = scope;
  }

  find(name: string, tag?: Tag): Type | undefined {
    const found = this.#scope.find(name, tag);
    if (found !== undefined && plainTypes.find(name, tag) === undefined)
      this.#types.set(`${tag ?? ""} ${name}`, [tag ?? "", name, inShort(found)]);
    return found;
  }

  enumConstant(name: string): EnumConstant | undefined {
    const found = this.#scope.enumConstant(name);
    if (found !== undefined) this.#constants.set(name, found);
    return found;
  }

  similar(name: string, tag?: Tag): string[] {
    return this.#scope.similar(name, tag);
  }

  /** What a recording says of them, as JSON; undefined where nothing was asked. */
  get said(): object | undefined {
    if (this.#types.size === 0 && this.#constants.size === 0) return undefined;
    return {
      types: [...this.#types.values()].slice(0, most),
      constants: [...this.#constants]
        .slice(0, most)
        .map(([name, { value, type }]) => [name, String(value), ...(type === undefined ? [] : [inShort(type)])]),
    };
  }
}

function inShort(type: Type): unknown {
  const whole = written(type);
  if (type.kind !== "struct" || JSON.stringify(whole).length <= longest) return whole;
  return { ...(whole as object), members: [] };
}

/**
 * The scope of a recording: `said` is what it says of each of its hosts. A name that means different things there means
 * nothing. @throws RecordingError
 */
export function recordedTypes(said: readonly unknown[], contexts: readonly Context[]): TypeScope {
  const types = new Map<string, Type | undefined>();
  const constants = new Map<string, EnumConstant | undefined>();
  const add = <T>(to: Map<string, T | undefined>, name: string, value: T): void => {
    const known = to.get(name);
    if (!to.has(name)) to.set(name, value);
    else if (known !== undefined && textOf(known) !== textOf(value)) to.set(name, undefined);
  };
  // A program's constants are unknown to live traces too.
  const addWhole = (type: Type, ofKernel: boolean): void => {
    if (type.kind === "enum") {
      if (type.name !== "") add<Type>(types, `enum ${type.name}`, type);
      if (ofKernel) for (const [value, name] of type.names) add(constants, name, { value, type });
    } else if (type.kind === "array") addWhole(type.element, ofKernel);
    else if (type.kind === "struct") {
      if (type.name !== "") add<Type>(types, `${type.union ? "union" : "struct"} ${type.name}`, type);
      for (const member of type.members) addWhole(member.type, ofKernel);
    }
  };
  for (const one of said) {
    const { types: named, constants: valued } = (one ?? {}) as { types?: unknown; constants?: unknown };
    for (const entry of entries(named)) {
      const [tag, name, type] = entry;
      if (typeof tag === "string" && typeof name === "string") add<Type>(types, `${tag} ${name}`, typeOf(type));
    }
    for (const [name, value, type] of entries(valued)) {
      if (typeof name !== "string" || typeof value !== "string" || !/^-?\d{1,20}$/.test(value)) continue;
      const of = type === undefined ? undefined : typeOf(type);
      add(constants, name, { value: BigInt(value), ...(of?.kind === "enum" ? { type: of } : {}) });
    }
  }
  for (const { args = [], retval, defaultSpace } of contexts)
    for (const { type } of [...args, ...(retval === undefined ? [] : [retval])])
      addWhole(type, defaultSpace === "kernel");
  const keyed = (name: string, tag?: Tag): string => `${tag ?? ""} ${name}`;
  return {
    find: (name, tag) => plainTypes.find(name, tag) ?? types.get(keyed(name, tag)),
    enumConstant: (name) => constants.get(name),
    similar: (name, tag) => {
      const own = [...types.keys()]
        .filter((key) => key.startsWith(`${tag ?? ""} `))
        .map((key) => key.slice(key.indexOf(" ") + 1));
      return [...nearest(name, own), ...plainTypes.similar(name, tag)].slice(0, 3);
    },
  };
}

function entries(value: unknown): readonly (readonly unknown[])[] {
  return Array.isArray(value) ? value.slice(0, most).filter((one): one is unknown[] => Array.isArray(one)) : [];
}

const textOf = (value: unknown): string =>
  JSON.stringify(value, (_, one: unknown) =>
    typeof one === "bigint" ? String(one) : one instanceof Map ? [...one] : one,
  );
