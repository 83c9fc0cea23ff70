// What differs between the languages beyond syntax: the one object that the checker, the lowering and the messages ask,
// so that nothing behind a front-end asks which language it was.

import type { FaultKind } from "./faults.ts";
import type { MistakeShape } from "./render-diagnostic.ts";
import type { Message } from "../messages/message.ts";
import type { ProbeSpec, SourcePlace } from "./probe-spec.ts";

export interface Rules {
  /** The name of the language: the builtin table has a column of spellings by it. */
  readonly language: string;
  readonly spelling: Spelling;
  readonly advice: Advice;
  readonly integers: IntegerRules;
  readonly texts: TextRules;
  readonly maps: MapRules;
  readonly variables: VariableRules;
  readonly formats: FormatRules;
  /** Maps that hold anything are printed, by name, when the session ends, unless the script's settings say otherwise. */
  readonly printsMapsAtEnd: boolean;
  /** A condition may be an object (a record, an array, a stack …), which is true. Else it is refused. */
  readonly objectsAreTrue: boolean;
  /** An array of the program's that is taken for a number is its address. */
  readonly arraysAreAddresses?: true;
  /** What a read of memory that fails gives: 0 and "", or the end of the handler with a message. */
  readonly failedRead: "zero" | "fault";
  /** What scripts are told of something that failed; without them, strobe's own words. */
  readonly faults?: FaultWords;
  /** How errors in a script are shown; without it, in strobe's own way. */
  readonly mistakes?: MistakeShape;
  /** Errors and warnings that a script writes stand without their place in it. */
  readonly bareMessages?: true;
  /** Scripts have memory of their own: what has an address there, handlers that run in strobe know. */
  readonly writesMemory: boolean;
  /** Builtins that change what is traced, and that scripts may call without `--unsafe`. */
  readonly trusted?: readonly string[];
  /** What a handler without statements does: a call of a builtin with these texts. Nothing where it is absent. */
  readonly defaultAction?: { readonly call: string; readonly texts: readonly string[] };
}

/** In all texts `%x` is the address that could not be read. */
export interface FaultWords {
  /** For those who catch it. `word`: what stands there in the script; `most`: entries of the map that is full. */
  words(fault: {
    readonly kind: FaultKind;
    readonly word: string;
    readonly most: number;
    readonly otherwise: string;
  }): string;
  /** As an error that nobody caught. `places`: where it failed, and the calls of functions that led there. */
  told(words: string, places: readonly FaultPlace[], probe: string): string;
}

/** `word`: what stands there. Lines and columns count from 1. */
export interface FaultPlace {
  readonly source: string;
  readonly line: number;
  readonly column: number;
  readonly word: string;
}

/** How names are spelled back to the author. Names are as the tree has them. */
export interface Spelling {
  /** A map as a whole: `@m`, `m`. */
  map(name: string): string;
  /** A declaration of a map that holds so many entries: `let @m = hash(5000)`; absent where there is none. */
  sizedMap?(name: string, entries: number): string;
  /** A local variable: `$x`, `x`, `this->x`. */
  variable(name: string): string;
  /** A value as a number of another type (`uint8`, `int64`, `double`): `(uint8)x`, `u8(x)`; undefined without a way. */
  cast(type: string, value: string): string | undefined;
  /** A builtin or function by its canonical name, where the table's column has nothing else: `strLength`. */
  builtin(name: string): string;
  /**
   * A probe that was found, by its kind's name and parts (`kprobe:vfs_read`, probe-spelling.ts); `asked`: the spec that
   * it was found for, absent in a listing; `source`: where it is, if that is known. Without this, probes are named as they
   * come.
   */
  probe?(name: string, asked?: ProbeSpec, source?: SourcePlace): string;
  /** Probes are named by where they are in the source, as far as that is known: probe() is given it. */
  readonly sources?: true;
  /** What is written in front of a builtin's name to mean it whatever else has the name: `__builtin_`. */
  readonly builtinPrefix?: string;
}

/** What to do about complaints that have an answer of the language's own. */
export interface Advice {
  /** Two texts with `+` between, where that does not join them. */
  readonly joinTexts?: string;
  /** Something else where text is expected. */
  readonly wantsText?: string;
  /** A struct that has no such member, in the language's own words. */
  readonly noMember?: (type: string, name: string) => Message;
  /** A pointer compared with text. */
  readonly textBehindPointer?: string;
}

/** How integers are computed, which wrap. */
export interface IntegerRules {
  /** With 64 bits, whatever they have; or as C converts them: with int's 32 unless one of them is wider. */
  readonly widths: "64" | "C";
  /** Which operations and comparisons are signed: all, or all but those whose operands are both unsigned. */
  readonly signed: "all" | "unless unsigned";
  /** Which way a quotient is rounded: toward zero, or down. The remainder follows: `a == a / b * b + a % b`. */
  readonly division: "truncates" | "floors";
  /** What dividing by 0 gives: 1 with a warning, or the end of the handler with a message. */
  readonly byZero: "one" | "fault";
  /** What two written numbers give that 64 bits do not hold: it wraps as well, or is refused. */
  readonly literals: "wrap" | "refused";
}

export interface TextRules {
  /** `+` puts texts together. */
  readonly plusJoins: boolean;
  /** `<` and its kin compare texts, by their bytes. Else they are refused. */
  readonly ordered: boolean;
  /** Names and stacks, which are found where they are printed, are texts like any other: the host finds them. */
  readonly named?: true;
}

export interface MapRules {
  /** Integers in keys: of 64 bits, or as wide as the widest that the script stores or looks for. */
  readonly integerKeys: "64 bits" | "as typed";
  /** What reading an entry that is not there gives: 0 and "", or the end of the handler with a message. */
  readonly missing: "zero" | "fault";
  /** What storing the number 0 under a key does: it is kept, or the entry goes. */
  readonly storingZero: "keeps" | "deletes";
  /** What zeroing leaves of a least or greatest value: none, or the one that any other replaces, which is printed. */
  readonly zeroedExtreme: "none" | "farthest";
  /** The program around the script stores in maps as well: one that no handler stores in holds integers. */
  readonly outsideStores: boolean;
  /** A declared map that is not used is warned of. */
  readonly warnsOfUnused: boolean;
}

export interface VariableRules {
  /**
   * Where a variable lives that is assigned without a declaration: in the block of its first assignment; in the whole
   * handler, in which it is 0 or "" before; or as long as the event: the clauses of an event run as one handler, one
   * after the other, and a name has one type in all of the script.
   */
  readonly scope: "block" | "handler" | "event";
}

export interface FormatRules {
  /** A format may say `%v`: the value as its type is written. */
  readonly anyValue: boolean;
  /** `%d` and `%i` of a number without a sign have none. */
  readonly signsByType: boolean;
  /** `%d` takes an untyped register for the C `int` that functions leave there. */
  readonly registersAsInt: boolean;
}
