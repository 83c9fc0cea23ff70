// What debug information says about one binary: the contract between the DWARF reader and those who probe by it.
// Addresses are the binary's own (ELF virtual addresses, before any load bias). Everything is decoded when asked for.
import type { Reason } from "../../base/failure.ts";

/** `file` is the whole path as the compiler recorded it; line and column count from 1, 0 when unknown. */
export interface SourcePosition {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

export interface AddressRange {
  readonly low: bigint;
  /** Behind the last byte. */ readonly high: bigint;
}

export interface Definition {
  readonly name: string;
  readonly qualifiedName: string;
  readonly declared: SourcePosition;
}

export type SourceLanguage = "c" | "c++" | "rust" | "go" | "other";

export interface DebugInfo {
  /**
   * Functions by what a person calls them: plain name, qualified name (`app::Server::handle`), linkage name. Decodes
   * the units that an index (.debug_names, .gdb_index, the cached one) names, not the file. Declarations without a body
   * are left out.
   */
  functionsNamed(name: string): readonly SourceFunction[];
  /**
   * Where the sources have functions of a name, code or not: what is the same function by another name has none.
   */
  definitionsNamed(name: string): readonly Definition[];
  /** Functions whose bodies begin at an address: several where a linker merged them. */
  bodiesAt(address: bigint): readonly Definition[];
  /** Whether GCC left of the function of a name, whose symbol is at an address, no more than a jump to one of equal code. */
  isLeftAsThunk(address: bigint, name: string): boolean;
  /**
   * Names of functions that no code is left of and that GCC may have merged with the function of a name, since their
   * parameters, locals and results are of the same types.
   */
  maybeMergedWith(name: string): readonly string[];
  /**
   * The function whose code holds an address: the one whose body begins there, else the innermost copy. Decodes one
   * unit: copies of it in others are not told.
   */
  functionAt(address: bigint): { readonly fn: SourceFunction; readonly instance: FunctionInstance } | undefined;
  /**
   * Names of all functions that have a body or an inlined copy, with their declaration; for listings and near misses.
   */
  functionNames(): Iterable<string>;
  /** The innermost function or inlined copy whose code holds an address, then those it is inlined into. */
  framesAt(address: bigint): readonly SourceFrame[];
  /** Files with line information, as recorded. */
  sourceFiles(): Iterable<string>;
  /**
   * The beginnings of statements at lines: one a line and copy, as a line of an inlined function has many. Without the
   * file: none.
   */
  linePlaces(file: SourceFile, wanted: WantedLines): FoundLines;
  /** Every (line, address) that begins a statement, in files that match. */
  lines(file: SourceFile): Iterable<LinePlace>;
  /**
   * Where prologue ends: the address at which arguments have reached their home at -O0. The entry itself when unknown.
   */
  afterPrologue(fn: FunctionInstance): bigint;
  /** The same by the lines alone, whatever is known of variables. */
  prologueEnd(fn: FunctionInstance): bigint;
  /**
   * Parameters and locals at an address, innermost first, parameters of the (inlined) function included; then those of
   * the functions that it is inlined into.
   */
  variablesAt(address: bigint): readonly Variable[];
  /** Locals of the same function, or copy, whose blocks do not hold the address. */
  localsElsewhere(address: bigint): readonly LocalElsewhere[];
  /** Labels that have code, of the function whose body holds an address; none of what is inlined into it. */
  labelsAt(address: bigint): readonly { readonly name: string; readonly address: bigint }[];
  /**
   * Globals, statics and thread-locals, by plain or qualified name, outer scopes left out where nothing has just that
   * name; those of a function by its name: `handle::calls`; constants of a type by the type's.
   */
  globalsNamed(name: string): readonly Variable[];
  /** A type by its name as C, C++ or Rust spells it. */
  typeNamed(name: string, tag?: "struct" | "union" | "enum"): DebugType | undefined;
  /** The value of an enumerator, of any enumeration outside of functions. Looks through all units until it is found. */
  enumerator(name: string): bigint | undefined;
}

/** `ranges`: the code of its block; none where the compiler left none. */
export interface LocalElsewhere {
  readonly variable: Variable;
  readonly ranges: readonly AddressRange[];
}

export interface SourceFunction {
  readonly name: string;
  readonly qualifiedName: string;
  readonly linkageName?: string;
  readonly language: SourceLanguage;
  /** Other units may call it, so that it keeps to the calling convention. */
  readonly external?: boolean;
  /** The compiler inlined it somewhere, if only where nothing is left of it. */
  readonly inlined?: boolean;
  /** All that runs as it is in one unit, as far as the language tells: `instances` has everything. */
  readonly confined?: boolean;
  /** What the compiler says of itself: `GNU C17 12.2.0 -O2`, `clang LLVM (rustc version 1.95.0)`. */
  readonly producer?: string;
  /** The compiler says that it is not called as its type tells (DW_CC_nocall): parameters or the result are gone. */
  readonly altered?: boolean;
  readonly declared: SourcePosition;
  readonly instances: readonly FunctionInstance[];
  /** Parameters in order, with types; where they are at an address is `Variable.location`. */
  readonly parameters: readonly Variable[];
  /** undefined for void. */
  readonly result?: DebugType;
}

/** A body of its own, or a copy inlined into another function. */
export interface FunctionInstance {
  readonly kind: "body" | "inlined";
  readonly entry: bigint;
  /** The compiler says where a copy is entered; else `entry` is where its code begins. */
  readonly entryTold?: boolean;
  readonly ranges: readonly AddressRange[];
  /** Of an inlined copy: the function with a body that it is in, and where it was called. */
  readonly caller?: {
    readonly name: string;
    readonly position: SourcePosition;
    /** Its code. */ readonly entry: bigint;
    readonly ranges: readonly AddressRange[];
  };
  /** This copy's own parameters: an inlined copy has them elsewhere than the body has. */
  readonly parameters: readonly Variable[];
}

export interface SourceFrame {
  readonly function: string;
  readonly position: SourcePosition;
  readonly inlined: boolean;
}

/** A path or the end of one (`src/server.c`, `server.c`); or which paths are meant. */
export type SourceFile = string | ((path: string) => boolean);

/** Both ends count. */
export interface LineRange {
  readonly first: number;
  readonly last: number;
}

export interface WantedLines {
  readonly ranges: readonly LineRange[];
  /** Of the statements of a line those that begin there. */
  readonly column?: number;
  /** More places than these are not looked for; all, unless said. */
  readonly most?: number;
  /** Which code is meant; all, unless said. */
  readonly within?: (address: bigint, line: number) => boolean;
}

export interface FoundLines {
  readonly places: readonly LinePlace[];
  /** Lines without code, and the next that has some, which is meant then. */
  readonly moved: readonly { readonly line: number; readonly to: number }[];
  /** Ranges without code, and lines without any behind them; the nearest lines that have some. */
  readonly empty: readonly (LineRange & { readonly before?: number; readonly behind?: number })[];
}

export interface LinePlace extends SourcePosition {
  readonly address: bigint;
  /** The function with a body that it is in. */
  readonly function?: string | undefined;
}

export interface Variable {
  readonly name: string;
  /** `app::Server::instances` */
  readonly qualifiedName?: string;
  readonly kind: "parameter" | "local" | "global" | "static" | "thread-local";
  readonly type: DebugType;
  readonly declared: SourcePosition;
  /** In what `variablesAt` gives: of a function that the innermost one there is inlined into. */
  readonly outer?: boolean;
  /** Where its value is when the program is about to run the instruction at `address`. */
  location(address: bigint): Location;
}

/**
 * Where a value is. Registers have DWARF's numbers for the machine (x86-64: 0 rax, 1 rdx, 2 rcx, 3 rbx, 4 rsi, 5 rdi, 6
 * rbp, 7 rsp …).
 */
export type Location =
  | { readonly kind: "register"; readonly register: number }
  | { readonly kind: "memory"; readonly address: LocationExpression }
  /** Nowhere, but known: DW_OP_stack_value. */
  | { readonly kind: "value"; readonly value: LocationExpression }
  | { readonly kind: "constant"; readonly bytes: Uint8Array }
  /** In pieces, in order of memory; a piece without a location is optimised out. */
  | {
      readonly kind: "pieces";
      readonly pieces: readonly { readonly bits: number; readonly bitOffset: number; readonly location?: Location }[];
    }
  /** A pointer that was optimised away, to a variable that was not: `*p` is known. */
  | { readonly kind: "implicit-pointer"; readonly target: Variable | undefined; readonly offset: bigint }
  /** `reason`: "optimised out here", or what of the expression cannot be followed. */
  | { readonly kind: "absent"; readonly reason: Reason };

/**
 * A DWARF expression, run symbolically: 64-bit arithmetic over registers and memory. Frame bases and the CFA are
 * already in it.
 */
export type LocationExpression =
  | { readonly kind: "constant"; readonly value: bigint }
  | { readonly kind: "register"; readonly register: number }
  /** An address of the binary: the load bias is to be added. */
  | { readonly kind: "static"; readonly address: bigint }
  /** An offset into the module's thread-local storage. */
  | { readonly kind: "thread-local"; readonly offset: bigint }
  /**
   * What it was when the call began, at `entry`; `cfa`: the call's canonical frame address, seen from here, which tells
   * it from others.
   */
  | {
      readonly kind: "at-entry";
      readonly value: LocationExpression;
      readonly entry: bigint;
      readonly cfa: LocationExpression;
    }
  | { readonly kind: "load"; readonly address: LocationExpression; readonly bytes: 1 | 2 | 4 | 8 }
  | { readonly kind: "unary"; readonly operator: "-" | "~"; readonly operand: LocationExpression }
  | {
      readonly kind: "binary";
      readonly operator: "+" | "-" | "*" | "/" | "%" | "&" | "|" | "^" | "<<" | ">>" | ">>>";
      readonly left: LocationExpression;
      readonly right: LocationExpression;
    };

/**
 * Types as debug information has them, cv-qualifiers looked through. Cycles go through functions, so that a type is
 * decoded when asked.
 */
/** `constant`: as written there, `const`. */
export type DebugType = { readonly constant?: true } & (
  | { readonly kind: "void" }
  | {
      readonly kind: "base";
      readonly name: string;
      readonly bytes: number;
      readonly encoding:
        | "boolean"
        | "signed"
        | "unsigned"
        | "char"
        | "unsigned-char"
        | "utf"
        | "float"
        | "complex"
        | "other";
      /** Of Go: where the runtime has its description, behind `runtime.types`. */
      readonly goType?: number;
    }
  | {
      readonly kind: "pointer";
      readonly flavour: "pointer" | "reference" | "rvalue-reference";
      readonly bytes: number;
      readonly name?: string;
      target(): DebugType;
    }
  | {
      readonly kind: "struct";
      readonly tag: "struct" | "class" | "union";
      readonly name: string;
      readonly bytes: number;
      readonly declaration: boolean;
      /** As of a base type. */
      readonly goType?: number;
      /** Of C++: some function may be its own destructor. */ readonly cpp?: boolean;
      /** It copies or destroys itself, so that it is passed and returned by its address. */ readonly byReference?: boolean;
      members(): readonly DebugMember[];
      variants?(): DebugVariants | undefined;
      /** Types that it is made of, of a template or a generic one: in order. */ parameters?(): readonly DebugType[];
    }
  /** `lengths`: outermost first, 0 when open. */
  | { readonly kind: "array"; readonly lengths: readonly number[]; element(): DebugType }
  | {
      readonly kind: "enum";
      readonly name: string;
      readonly bytes: number;
      readonly signed: boolean;
      values(): readonly { readonly name: string; readonly value: bigint }[];
    }
  | { readonly kind: "typedef"; readonly name: string; target(): DebugType }
  | { readonly kind: "function" }
);

/** `base`: a C++ base class, whose members are members of this too. Static members are left out. */
export interface DebugMember {
  readonly name: string;
  readonly offset: number;
  readonly bitOffset?: number;
  readonly bitWidth?: number;
  readonly base?: true;
  type(): DebugType;
}

/**
 * A Rust enum: which variant it is stands in the discriminant's member; a variant without values is the default one.
 */
export interface DebugVariants {
  readonly discriminant?: DebugMember;
  readonly variants: readonly { readonly values: readonly bigint[]; readonly member: DebugMember }[];
}
