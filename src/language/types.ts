// The one type union, for script values, kernel types (BTF) and user types (DWARF).

export type IntegerBits = 8 | 16 | 32 | 64;

/** Where a pointer points: the two need different helpers to read. */
export type AddressSpace = "kernel" | "user";

export interface IntegerType {
  readonly kind: "integer";
  readonly bits: IntegerBits;
  readonly signed: boolean;
  /** C's `char`: an array of it is shown as text. */
  readonly character?: true;
}
export interface BooleanType { readonly kind: "boolean" }
export interface VoidType { readonly kind: "void" }
/** Nothing known yet; only before the checker has run. */
export interface UnknownType { readonly kind: "unknown" }

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
  readonly absent?: string;
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
  /** One of these, by name, where that takes less than decoding all. Undefined where there is none, or it cannot tell. */
  readonly member?: (name: string) => Member | undefined;
  /** In bytes, where it is not that of its most aligned member. */
  readonly alignment?: number;
  /** A pointer and a length that its language shows as one thing: text, or a list of elements. */
  readonly view?: StructView;
  /** Of an enum of Rust: only one of the variants is there. */
  readonly variants?: StructVariants;
  /** Which members are nowhere. */
  readonly partial?: string;
  /** It was found in a program's memory: what is in it is the program's, too (check/spaces.ts). Else its pointers say it themselves. */
  readonly space?: "user";
}

/** Where in a struct the address and the length (8 bytes each) are. */
export interface StructView {
  readonly text: boolean;
  readonly data: number;
  readonly length: number;
  readonly element: Type;
}

/** The variant whose values hold the discriminant's is there; one without values is when no other is. Their members are in the struct's. */
export interface StructVariants {
  readonly discriminant?: Member;
  readonly variants: readonly { readonly values: readonly bigint[]; readonly member: Member }[];
}

export interface ArrayType { readonly kind: "array"; readonly element: Type; readonly length: number }

/** NUL-terminated text in a zero-padded field of `capacity` bytes (the terminator included). */
export interface StringType { readonly kind: "string"; readonly capacity: number }
/** A length (u32) and up to `capacity` bytes: what `buf()` gives. */
export interface BufferType { readonly kind: "buffer"; readonly capacity: number }
export interface TupleType { readonly kind: "tuple"; readonly elements: readonly Type[] }
export interface RecordType { readonly kind: "record"; readonly fields: readonly { readonly name: string; readonly type: Type }[] }

/** How a process's stack is found: "auto" is by tables wherever the kernel allows. */
export const stackUnwindings = ["auto", "fp", "dwarf"] as const;
export type StackUnwinding = (typeof stackUnwindings)[number];

/** Frames of a stack at most: the kernel's limit for those that it walks (kernel.perf_event_max_stack), and ours. */
export const fullStack = 127;

export type StackMode = "bpftrace" | "perf" | "raw" | "build_id";
/**
 * A captured stack: in memory, a u64 id of the stack's entry in the stack map, then u32 pid, u32 tid (0 for a kernel stack).
 * `unwind`: found through unwinding tables rather than frame pointers.
 */
export interface StackType { readonly kind: "stack"; readonly space: AddressSpace; readonly mode: StackMode; readonly limit: number; readonly unwind?: true }

/** A value that is a number in the kernel and a name for a person. `Layout` says what its bytes are. */
export interface NamedType {
  readonly kind: "named";
  readonly of:
    | "ksym"        // u64 address
    | "usym"        // u64 address, u32 pid, u32 zero
    | "inet"        // u32 family, u32 zero, 16 address bytes (IPv4 uses the first four)
    | "macaddr"     // 6 bytes, 2 zero
    | "username"    // u32 uid (in 8 bytes)
    | "cgroup_path" // u64 cgroup id
    | "strerror"    // u64 errno
    | "signal_name" // u64 signal
    | "process_name" // u64 process id
    | "syscall_name" // u64 number
    | "probe"       // u64 index into the plan's probe names
    | "float32"     // a float's 4 bytes: shown, never computed with
    | "float64"     // a double's 8 bytes
    | "timestamp";  // u64 nanoseconds, u32 index of the plan's time format, u32 clock (0 boot, 1 real time)
}

export type AggregateKind = "count" | "sum" | "avg" | "min" | "max" | "stats" | "hist" | "lhist" | "tseries";
/** What tseries keeps of the values of one interval. */
export type SeriesKind = "last" | "avg" | "max" | "min" | "sum";
/** What an aggregation map holds under each key. Never a value in an expression: reading one gives an integer. */
export interface AggregateType {
  readonly kind: "aggregate";
  readonly aggregate: AggregateKind;
  /** Whether the values aggregated are signed: how min, max, sum, avg are read. */
  readonly signed: boolean;
  /** hist: log2 of the buckets between two powers of two (0 to 5). */
  readonly bits?: number;
  /** lhist: the range and the width of a bucket. */
  readonly min?: bigint;
  readonly max?: bigint;
  readonly step?: bigint;
  /** tseries: how long an interval is (nanoseconds), how many are kept, and what of each. */
  readonly series?: { readonly interval: bigint; readonly intervals: number; readonly kind: SeriesKind };
}

export type Type =
  | UnknownType | VoidType | BooleanType | IntegerType | EnumType | PointerType | StructType | ArrayType
  | StringType | BufferType | TupleType | RecordType | StackType | NamedType | AggregateType;

/** Types whose value fits a register; everything else is a block of memory. */
export function isScalar(type: Type): type is BooleanType | IntegerType | EnumType | PointerType {
  return type.kind === "integer" || type.kind === "boolean" || type.kind === "enum" || type.kind === "pointer";
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
export const char: IntegerType = { kind: "integer", bits: 8, signed: true, character: true };
export const i16 = integer(16, true);
export const i32 = integer(32, true);
export const i64 = integer(64, true);
