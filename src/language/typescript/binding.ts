// What a program hands to this front-end: functions as text, and what the names in them stand for. Objects of the
// running program (maps, events, functions) are known by identity; this room never looks into them.
import type { ParameterMeaning } from "../probe-spelling.ts";
import type { SpecOptions } from "../probe-spec.ts";
import type { LayoutAttributes } from "../program.ts";
import type { Word } from "./probe-words.ts";
import type { SpecialName } from "./specials.ts";

/** What a name outside of a handler stands for. */
export type Binding =
  /** A number, bigint, string or boolean at the moment of attaching. */
  | { readonly kind: "constant"; readonly value: number | bigint | string | boolean }
  /** A value or function of the builtin table, by its canonical name. */
  | { readonly kind: "builtin"; readonly name: string }
  /** What the library has for handlers beyond the table: print(), range(), casts. */
  | { readonly kind: "special"; readonly name: SpecialName }
  | { readonly kind: "map"; readonly map: MapBinding }
  | { readonly kind: "event"; readonly event: EventBinding }
  | { readonly kind: "function"; readonly source: FunctionSource }
  | { readonly kind: "type"; readonly type: TypeBinding }
  /**
   * An imported module as a whole, or an object or a list (with its length), whose members may be used: `what` says
   * which it is.
   */
  | {
      readonly kind: "module";
      readonly what: string;
      readonly length?: number;
      readonly member: (name: string) => Binding | undefined;
      /** What is looked through for a key that only the handler knows; not of modules. */
      readonly table?: Table;
    }
  /** undefined and null, which can be asked for. */
  | { readonly kind: "nothing"; readonly what: "undefined" | "null" }
  /** Nothing a handler can use; `what` says what it is: "an array", "a Date". */
  | { readonly kind: "unusable"; readonly what: string };

/**
 * A list, an object, a Set or a Map around a handler: its keys (of a list its numbers) and what they lead to (in a Set,
 * themselves).
 */
export interface Table {
  readonly form: "list" | "object" | "set" | "map";
  /** Read when it is asked for. */
  readonly entries: () => readonly (readonly [key: Binding, value: Binding])[];
}

/** A map of the program. Its name in the script is the one it was captured by, unless it has one. */
export interface MapBinding {
  readonly identity: object;
  readonly name?: string;
  /** `lruhash` and its kin. */
  readonly storage?: string;
  readonly entries?: number;
  /** Each thread has its own entry. */
  readonly threadLocal?: boolean;
}

export interface EventBinding {
  readonly identity: object;
  readonly name?: string;
}

/** A type that the program has described: struct(), enumeration(), and what is made of them. */
export type TypeBinding =
  /** As C writes it: "u32", "struct sock *", "char[16]". */
  | { readonly kind: "written"; readonly text: string }
  | StructBinding
  | {
      readonly kind: "enum";
      readonly identity: object;
      readonly name?: string;
      readonly constants: ReadonlyMap<string, bigint>;
    }
  | { readonly kind: "pointer"; readonly to: TypeBinding }
  | { readonly kind: "array"; readonly of: TypeBinding; readonly length: number };

export interface StructBinding {
  readonly kind: "struct";
  readonly identity: object;
  readonly union: boolean;
  readonly name?: string;
  /**
   * Asked for when the type is used: a struct may point to itself. The name "" has members that are the struct's own.
   */
  readonly members: () => readonly {
    readonly name: string;
    readonly type: TypeBinding;
    readonly bits?: number;
    readonly attributes?: LayoutAttributes;
  }[];
  readonly attributes?: LayoutAttributes;
}

/** A function of the program, compiled from its source. */
export interface FunctionSource {
  /** The function itself: each is compiled once. */
  readonly identity: object;
  readonly name: string;
  /** What `Function.prototype.toString()` gives: JavaScript. */
  readonly text: string;
  readonly place?: { readonly file: string; readonly text: string; readonly offset: number };
  /** What a name that the function does not declare stands for; undefined when nobody told. */
  readonly resolve: (name: string) => Binding | undefined;
  /** Whether somebody told all names (a rewriter did): for the message about one that is missing. */
  readonly complete: boolean;
}

export interface ProbeSource {
  /** `tracepoint`, and the parts behind it. */
  readonly provider: string;
  readonly parts: readonly string[];
  readonly options?: SpecOptions;
  /** Probes with the same handler. */
  readonly also?: readonly Pick<ProbeSource, "provider" | "parts" | "options">[];
  /** The call as messages show it when the file is not known: `tracepoint("sched:sched_switch", …)`. */
  readonly constructorName: string;
  /** What stands before the handler there. */
  readonly words: readonly Word[];
  readonly parameters: readonly ParameterMeaning[];
  readonly handler: FunctionSource;
  readonly filter?: FunctionSource;
}

/** What the parser named: to find the program's objects again in the plan. */
export interface Names {
  readonly maps: ReadonlyMap<object, string>;
  readonly events: ReadonlyMap<object, string>;
  /** Fields of events that were emitted as `BigInt(…)`: they arrive as bigints, by event name. */
  readonly exact: ReadonlyMap<string, ReadonlySet<string>>;
}
