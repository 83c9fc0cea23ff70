// The one type union, for script values, kernel types (BTF) and user types (DWARF).
import type { Reason } from "../base/failure.ts";

export type IntegerBits = 8 | 16 | 32 | 64;

/** Of an integer of so many bytes, which are 1, 2, 4 or else 8. */
export function bitsOf(bytes: number): IntegerBits {
  switch (bytes) {
    case 1:
      return 8;
    case 2:
      return 16;
    case 4:
      return 32;
    default:
      return 64;
  }
}

/** Where a pointer points: the two need different helpers to read. */
export type AddressSpace = "kernel" | "user";

export interface IntegerType {
  readonly kind: "integer";
  readonly bits: IntegerBits;
  readonly signed: boolean;
  /** C's `char`: an array of it is shown as text. */
  readonly character?: true;
}
export interface BooleanType {
  readonly kind: "boolean";
}
export interface VoidType {
  readonly kind: "void";
}
/** Nothing known yet; only before the checker has run. */
export interface UnknownType {
  readonly kind: "unknown";
}

export interface EnumType {
  readonly kind: "enum";
  readonly name: string;
  readonly bits: IntegerBits;
  readonly signed: boolean;
  /** Value to name. */
  readonly names: ReadonlyMap<bigint, string>;
}

export interface PointerType {
  readonly kind: "pointer";
  readonly target: Type;
  readonly space: AddressSpace;
  /**
   * The kernel's verifier knows what this pointer points to (it came from a BTF-typed context or from
   * `bpf_get_current_task_btf`), so members can be loaded directly, without a probe read.
   */
  readonly typed?: boolean;
  /** What its language shows it as, rather than as an address. */
  readonly shape?: Shape | undefined;
}

/** A member of a struct or union. A bit-field has a bit width; its bits start `bitOffset` bits after `offset` bytes. */
export interface Member {
  readonly name: string;
  readonly type: Type;
  /** Bytes from the start of the struct. */
  readonly offset: number;
  readonly bitOffset?: number;
  readonly bitWidth?: number;
  /** As the kernel's sources declare it, for people: `__be16 sport`. */
  readonly declared?: string | undefined;
  /** Why it is nowhere, where an optimiser kept just a part of the struct. */
  readonly absent?: Reason;
}

export interface StructType {
  readonly kind: "struct";
  readonly union: boolean;
  /** Tag or typedef name; "" when anonymous. */
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  /** Decoded when first read: kernel structs reach thousands of others. Anonymous members have the name "". */
  readonly members: readonly Member[];
  /**
   * One of these, by name, where that takes less than decoding all. Undefined where there is none, or it cannot tell.
   */
  readonly member?: (name: string) => Member | undefined;
  /** In bytes, where it is not that of its most aligned member. */
  readonly alignment?: number | undefined;
  /** What its language shows it as, rather than as its members: text, a list, another value. */
  readonly shape?: Shape | undefined;
  /** Of an enum of Rust: only one of the variants is there. */
  readonly variants?: StructVariants | undefined;
  /** Which members are nowhere. */
  readonly partial?: string | undefined;
  /**
   * It was found in a program's memory: what is in it is the program's, too (check/spaces.ts). Else its pointers say it
   * themselves.
   */
  readonly space?: "user" | undefined;
}

// ── what a struct of a library is to those who use it ──

/**
 * text: bytes and their number. pointer: what it points to, or nothing. value: just what is in it. tuple: its members,
 * without their names.
 */
export const forms = ["text", "list", "set", "mapping", "optional", "pointer", "value", "tuple", "variants"] as const;
export type Form = (typeof forms)[number];

/**
 * The parts are expressions of the tracing language (program.ts). In all of them `$self` is the struct, and the names
 * in `types` are types of its arguments. docs/values.md says what each form has.
 */
export interface Shape {
  readonly form: Form;
  readonly parts: ReadonlyMap<Part, object>;
  readonly types: ReadonlyMap<string, Type>;
  /** Variables of its own, beside `$it`: the name and what it is at first (an expression). */
  readonly variables: readonly { readonly name: string; readonly value: object }[];
  /** What stands for nothing, of optional and pointer; of variants, the name of the one that does. */
  readonly none: string;
  /** A choice of alternatives: which of them is the value as it is, without its name. */
  readonly bare: string;
}

/**
 * `data`, `length`: where the elements or bytes begin, and how many there are; `valid`: whether that can be. `begin`,
 * `more`, `next`, of elements that do not lie side by side: `$it` at first, whether there is another, and what it is
 * then; `has`: whether there is an element at `$it`. `item`, or `key` and `value`: what is shown.
 */
export const partNames = ["data", "length", "valid", "begin", "more", "next", "has", "item", "key", "value"] as const;
export type Part = (typeof partNames)[number];

/**
 * The variant whose values hold the discriminant's is there; one without values is when no other is. Their members are
 * in the struct's.
 */
export interface StructVariants {
  readonly discriminant?: Member;
  readonly variants: readonly { readonly values: readonly bigint[]; readonly member: Member }[];
}

export interface ArrayType {
  readonly kind: "array";
  readonly element: Type;
  readonly length: number;
}

/** NUL-terminated text in a zero-padded field of `capacity` bytes (the terminator included). */
export interface StringType {
  readonly kind: "string";
  readonly capacity: number;
  /** Longer text is read as far as it fits: text that fills the field is shown as cut. */
  readonly cut?: true;
  /** Zero bytes may be within, written as text-bytes.ts says. */
  readonly zeros?: true;
}
/** A length (u32) and up to `capacity` bytes: what `buf()` gives. */
export interface BufferType {
  readonly kind: "buffer";
  readonly capacity: number;
}
export interface TupleType {
  readonly kind: "tuple";
  readonly elements: readonly Type[];
}
export interface RecordType {
  readonly kind: "record";
  readonly fields: readonly { readonly name: string; readonly type: Type }[];
}

export type SequenceForm = "list" | "set" | "mapping";
/**
 * Elements that were copied from where a program has them. In memory: how many there are (u64, all ones: an impossible
 * number), u32 whether the way to them broke off, u32 bytes of elements copied, then those, `stride` bytes each. A
 * mapping's are tuples (key, value).
 */
export interface SequenceType {
  readonly kind: "sequence";
  readonly form: SequenceForm;
  readonly element: Type;
  readonly stride: number;
  readonly capacity: number;
}

/** One of several values: a u64 number of the alternative, and behind it the value where it has one. */
export interface ChoiceType {
  readonly kind: "choice";
  readonly alternatives: readonly Alternative[];
}
/** A value with its name around, a name alone, or a value as it is. `none`: it stands for nothing (JSON's null). */
export interface Alternative {
  readonly name?: string;
  readonly type?: Type;
  readonly none?: true;
}

/** How a process's stack is found: "auto" is by tables wherever the kernel allows. */
export const stackUnwindings = ["auto", "fp", "dwarf"] as const;
export type StackUnwinding = (typeof stackUnwindings)[number];

/** Frames of a stack at most: the kernel's limit for those that it walks (kernel.perf_event_max_stack), and ours. */
export const fullStack = 127;

/** As another language writes frames: nobody writes these names. */
export const languageStackModes = [
  "dtrace",
  "systemtap",
  "systemtap_lines",
  "systemtap_brief",
  "systemtap_module",
  "systemtap_addresses",
  "systemtap_callers",
] as const;
export type StackMode = "bpftrace" | "perf" | "raw" | "build_id" | (typeof languageStackModes)[number];
/**
 * A captured stack: in memory, a u64 id of the stack's entry in the stack map, then u32 pid, u32 tid (0 for a kernel
 * stack). `unwind`: found through unwinding tables rather than frame pointers.
 */
export interface StackType {
  readonly kind: "stack";
  readonly space: AddressSpace;
  readonly mode: StackMode;
  readonly limit: number;
  readonly unwind?: true;
}

/** A value that is a number in the kernel and a name for a person. `Layout` says what its bytes are. */
/**
 * What of a probe's name, which has four parts: one of them; function and name together; which probe it is; and for
 * `flow` how deep in calls it is, which the text says that is made of it. That value has the processor in its upper half.
 * `event` is the last word of a name that is spelled in any way, `group` the one before; `mark` is the name without its `.provider("…")`.
 */
export const probeParts = [
  "provider",
  "module",
  "function",
  "name",
  "place",
  "id",
  "flow",
  "event",
  "group",
  "mark",
] as const;
export type ProbePart = (typeof probeParts)[number];

/**
 * How a symbol is written: `module`\`function`, with the offset in it as well, or the module alone; and as SystemTap
 * writes it: `function+0xOFFSET [module]`; the module, which is `kernel` for the kernel itself; where it is in the source.
 */
export const symbolParts = [
  "function",
  "place",
  "module",
  "name",
  "data",
  "owner",
  "file",
  "line",
  "file and line",
] as const;
export type SymbolPart = (typeof symbolParts)[number];

export interface NamedType {
  readonly kind: "named";
  /** Of a symbol; without it the function's name alone. */
  readonly symbol?: SymbolPart;
  /** Of a probe. */
  readonly part?: ProbePart;
  readonly of:
    | "ksym" // u64 address
    | "usym" // u64 address, u32 pid, u32 zero
    | "inet" // u32 family, u32 zero, 16 address bytes (IPv4 uses the first four)
    | "macaddr" // 6 bytes, 2 zero
    | "username" // u32 uid (in 8 bytes)
    | "cgroup_path" // u64 cgroup id
    | "strerror" // u64 errno
    | "signal_name" // u64 signal
    | "process_name" // u64 process id
    | "syscall_name" // u64 number
    | "probe" // u64 index into the plan's probe names
    | "float32" // a float's 4 bytes
    | "float64" // a double's 8 bytes
    | "float80" // a long double's 10 bytes of x86 (an integer of 64 bits, and exponent and sign), 6 unused
    | "timestamp"; // u64 nanoseconds, u32 index of the plan's time format, u32 clock (0 boot, 1 real time, 2 real time in UTC)
}

/** The name of an aggregation: a row of aggregations/table.ts. */
export type AggregateKind = string;
/** What an aggregation map holds under each key. Never a value in an expression: reading one gives a number. */
export interface AggregateType {
  readonly kind: "aggregate";
  readonly aggregate: AggregateKind;
  /** Whether the values aggregated are signed: how min, max, sum, avg are read. */
  readonly signed: boolean;
  /** The values are doubles (floating.ts). */
  readonly float?: true;
  /** The constants of its calls, those that were left out included; the aggregation's row names them. */
  readonly parameters?: readonly (bigint | string)[];
  /** Of a statistic: what the script asks of the values. */
  readonly asked?: readonly AskedResult[];
}
/** One of several results of the same values: the aggregation that it would be by itself. */
export interface AskedResult {
  readonly aggregate: AggregateKind;
  readonly parameters?: readonly (bigint | string)[];
}

export type Type =
  | UnknownType
  | VoidType
  | BooleanType
  | IntegerType
  | EnumType
  | PointerType
  | StructType
  | ArrayType
  | StringType
  | BufferType
  | TupleType
  | RecordType
  | SequenceType
  | ChoiceType
  | StackType
  | NamedType
  | AggregateType;

/** Types whose value fits a register; everything else is a block of memory. */
export function isScalar(type: Type): type is BooleanType | IntegerType | EnumType | PointerType {
  return type.kind === "integer" || type.kind === "boolean" || type.kind === "enum" || type.kind === "pointer";
}

export interface FloatType extends NamedType {
  readonly of: "float32" | "float64";
}

/** C's float and double. What is computed of them is a double, as in C. */
export function isFloat(type: Type): type is FloatType {
  return type.kind === "named" && (type.of === "float32" || type.of === "float64");
}

export function integer(bits: IntegerBits, signed: boolean): IntegerType {
  return { kind: "integer", bits, signed };
}

export const unknownType: UnknownType = { kind: "unknown" };
export const voidType: VoidType = { kind: "void" };
export const boolType: BooleanType = { kind: "boolean" };
export const u8 = integer(8, false);
export const u16 = integer(16, false);
export const u32 = integer(32, false);
export const u64 = integer(64, false);
export const i8 = integer(8, true);
export const float64: FloatType = { kind: "named", of: "float64" };
export const char: IntegerType = { kind: "integer", bits: 8, signed: true, character: true };
export const i16 = integer(16, true);
export const i32 = integer(32, true);
export const i64 = integer(64, true);
