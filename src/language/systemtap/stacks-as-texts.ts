// Whether a script does more with stacks than to print them and to have them as keys and values. If not, the kernel tells
// stacks apart by themselves, and they are named where they are printed; else each is a text from the beginning.
import type { Types } from "./infer.ts";
import { libraryFunction, printers } from "./library.ts";
import type { Expr, Stmt } from "./syntax.ts";

const shows: ReadonlySet<string> = new Set(["print_stack", "print_syms", "print_ustack", "print_usyms"]);
const asTheyAre: ReadonlySet<string> = new Set(["sprint_stack", "sprint_syms", "sprint_ustack", "sprint_usyms"]);

/** What a place holds that is no stack. */
const text = "text";

/**
 * Kept as they are: addresses, which are named where the script asks for names. Or texts from the beginning: of addresses,
 * or of names where the script also prints the names of a text's addresses.
 */
export type StacksAs = "kept" | "addresses" | "names";

/** `bodies`: handlers and functions. */
export function stacksAs(bodies: readonly Stmt[], types: Types): StacksAs {
  const stacks = new Stacks(types);
  do {
    stacks.changed = false;
    bodies.forEach((body, i) => stacks.statement(body, `${i}`));
  } while (stacks.changed && !stacks.wantTexts);
  if (!stacks.wantTexts) return "kept";
  bodies.forEach((body, i) => stacks.statement(body, `${i}`));
  return stacks.namesText ? "names" : "addresses";
}

class Stacks {
  wantTexts = false;
  /** Names are wanted of something that is not taken there, which may be a text. */
  namesText = false;
  changed = false;
  readonly #types: Types;
  /** What variables, keys and values of arrays hold: a stack of one kind, or texts. */
  readonly #places = new Map<string, string>();

  constructor(types: Types) {
    this.#types = types;
  }

  statement(s: Stmt, scope: string): void {
    switch (s.kind) {
      case "expression":
        this.#expression(s.expression, scope, true);
        return;
      case "delete":
        this.#expression(s.target, scope, true);
        return;
      case "foreach":
        s.keys.forEach((name, i) => this.#both(this.#variable(name, scope), `${s.array}[${i}]`));
        if (s.value !== undefined) this.#both(this.#variable(s.value, scope), `${s.array}=`);
        if (s.slice !== undefined) this.#keys(s.array, s.slice, scope);
        if (s.limit !== undefined) this.#expression(s.limit, scope, false);
        this.statement(s.body, scope);
        return;
      default:
        this.#within(s, scope);
    }
  }

  /** `kept`: it may be a stack there. */
  #expression(e: Expr, scope: string, kept: boolean): void {
    if (!kept && this.#isStack(e, scope)) this.wantTexts = true;
    switch (e.kind) {
      case "element":
        this.#keys(e.name, e.keys, scope);
        return;
      case "in":
        this.#keys(e.array, e.keys, scope);
        return;
      case "call": {
        const prints = printers.has(e.name) && !e.name.startsWith("s") && e.name !== "error";
        const names = shows.has(e.name) || asTheyAre.has(e.name);
        if (names && e.args.some((arg) => arg.kind !== "call" || libraryFunction(arg.name)?.stack !== true))
          this.namesText = true;
        const isOwn = this.#types.function(e.name, e.args.length) !== undefined;
        for (const arg of e.args) this.#expression(arg, scope, !isOwn && (prints || names));
        return;
      }
      case "assign": {
        const target = this.#placeOf(e.target, scope);
        const keeps = e.operator === "=" && target !== undefined;
        if (keeps) this.#put(target, this.#kindOf(e.value, scope));
        this.#expression(e.value, scope, keeps);
        this.#expression(e.target, scope, keeps);
        return;
      }
      default:
        this.#within(e, scope);
    }
  }

  #within(node: object, scope: string): void {
    for (const value of Object.values(node) as unknown[]) {
      for (const one of Array.isArray(value) ? (value as unknown[]) : [value]) {
        if (typeof one !== "object" || one === null) continue;
        if (!("kind" in one) || !("span" in one)) this.#within(one, scope);
        else if (isStatement(one as Expr | Stmt)) this.statement(one as Stmt, scope);
        else this.#expression(one as Expr, scope, false);
      }
    }
  }

  #keys(array: string, keys: readonly (Expr | undefined)[], scope: string): void {
    keys.forEach((key, i) => {
      if (key === undefined) return;
      this.#put(`${array}[${i}]`, this.#kindOf(key, scope));
      this.#expression(key, scope, true);
    });
  }

  #isStack(e: Expr, scope: string): boolean {
    const kind = this.#kindOf(e, scope);
    return kind !== undefined && kind !== text;
  }

  /** Undefined where nothing is known yet. */
  #kindOf(e: Expr, scope: string): string | undefined {
    const place = this.#placeOf(e, scope);
    if (place !== undefined) return this.#places.get(place);
    if (e.kind !== "call" || this.#types.function(e.name, e.args.length) !== undefined) return text;
    if (asTheyAre.has(e.name) && e.args.length === 1) return this.#kindOf(e.args[0], scope);
    if (libraryFunction(e.name)?.stack !== true) return text;
    const [frames] = e.args;
    const space = /(?:^|_)u/.test(e.name) ? "user" : "kernel";
    return `${space} ${e.name.startsWith("sprint_") ? "names " : ""}${frames?.kind === "number" ? frames.value : ""}`;
  }

  #placeOf(e: Expr, scope: string): string | undefined {
    if (e.kind === "name") return this.#variable(e.name, scope);
    return e.kind === "element" ? `${e.name}=` : undefined;
  }

  #variable(name: string, scope: string): string {
    return this.#types.globals.has(name) ? name : `${scope} ${name}`;
  }

  /** Two places hold the same. */
  #both(one: string, other: string): void {
    this.#put(one, this.#places.get(other));
    this.#put(other, this.#places.get(one));
  }

  /** A place that holds stacks of several kinds, or other texts too, holds texts. */
  #put(place: string, kind: string | undefined): void {
    const before = this.#places.get(place);
    if (kind === undefined || kind === before) return;
    if (before !== undefined) {
      this.wantTexts = true;
      return;
    }
    this.#places.set(place, kind);
    this.changed = true;
  }
}

const statements: ReadonlySet<string> = new Set(
  "block expression if while for foreach break continue next return delete try".split(" "),
);

function isStatement({ kind }: Expr | Stmt): boolean {
  return statements.has(kind);
}
