// What `strobe types` fills in for a machine, by declaration merging, and the types of values inside of handlers:
//
//   declare module "strobe" {
//     interface Tracepoints { "syscalls:sys_enter_openat": { dfd: i32; filename: Pointer<char>; flags: i32; mode: u16 } }
//   }
//
// Each interface is empty as it comes. Then every name is allowed and its arguments are of any type; as soon as one has
// members, a name that is none of them is an error, save for wildcards.

/** Events by name, `category:event`, with their fields. */
export interface Tracepoints {}
/** Raw tracepoints by name, with their arguments. */
export interface RawTracepoints {}
/** Other probes as probe() names them, `kind:part`, with their arguments. */
export interface Probes {}
/**
 * Functions of the kernel: `{ vfs_read: { args: { file: Pointer<file>; … }; retval: i64 } }`, or, as editors read it
 * faster, `{ vfs_read: "file *file, buf *char, count u64, pos *i64 => i64" }`.
 */
export interface KernelFunctions {}
/** Iterators of the kernel, with the members of their context. */
export interface Iterators {}
/** Functions of programs: `{ "/usr/bin/prog": { main: { args: { argc: i32; … }; retval: i32 } } }`. */
export interface UserFunctions {}
/** Static probes of programs: `{ "/usr/bin/prog": { "provider:name": [u64, Pointer<char>] } }`. */
export interface UserProbes {}
/** Structs and unions by tag, for `cast()` and `sizeof()`. */
export interface Structs {}
/** Constants of enums by name, for `enums.TCP_LISTEN`. */
export interface Enums {}

// Integers are numbers to TypeScript; the name says what C makes of them. Arithmetic is C's on 64 bits: it wraps,
// division truncates, and a shift to the right keeps the sign of a signed number.
export type u8 = number;
export type u16 = number;
export type u32 = number;
export type u64 = number;
export type i8 = number;
export type i16 = number;
export type i32 = number;
export type i64 = number;
export type bool = boolean;
/** A byte of text; an array of it is a string. */
export type char = number & { readonly [character]: true };

declare const character: unique symbol;

declare const pointsTo: unique symbol;

/** An address. The members of a struct behind it are its own; `p[0]` is what it points to. In Node it is a bigint. */
export type Pointer<T = unknown> = (T extends object ? T : unknown) & {
  readonly [pointsTo]: T;
  readonly [index: number]: T;
};

/** An array of a fixed length; text when it is of characters. */
export type FixedArray<T> = T extends char ? string : { readonly [index: number]: T };

/** A value of which nothing is known until the probe is compiled: what the machine says about it is checked then. */
// oxlint-disable-next-line typescript/no-explicit-any -- chains of members, arithmetic and calls must all be possible
export type Unchecked = any;

/** What may be named, given what is declared: anything, as long as nothing is. */
export type NameIn<Declared> = keyof Declared extends never ? string : keyof Declared | Wildcard;
/** A function: also in a module, `xfs:xfs_file_open`, or at an offset, `vfs_read+4`. */
export type FunctionNameIn<Declared> = keyof Declared extends never
  ? string
  : keyof Declared | Wildcard | `${string}:${string}` | `${string}+${string}`;
// Each of these is one union: of a kernel's fifty thousand functions, every union of unions takes an editor a tenth of
// a second more.
type Wildcard = `${string}*${string}` | `${string}?${string}`;
/** The declaration of a name; `Unchecked` without one. */
export type DeclaredAs<Declared, Name> = Name extends keyof Declared ? Declared[Name] : Unchecked;
/** The arguments of a function, and what it returns. */
export type ArgumentsOf<Declared, Name> =
  unknown extends DeclaredAs<Declared, Name>
    ? Unchecked
    : DeclaredAs<Declared, Name> extends `${infer Arguments} =>${string}`
      ? { [P in Words<Arguments> as P[0]]: TypeOfWord<P[1]> }
      : DeclaredAs<Declared, Name> extends { args: infer Arguments }
        ? Arguments
        : Unchecked;
export type ReturnOf<Declared, Name> =
  unknown extends DeclaredAs<Declared, Name>
    ? Unchecked
    : DeclaredAs<Declared, Name> extends `${string} => ${infer Word}`
      ? TypeOfWord<Word>
      : DeclaredAs<Declared, Name> extends { retval: infer Value }
        ? Value
        : Unchecked;

/** `count u64, pos *i64` → its pairs of a name and a word. */
type Words<Text extends string> = Text extends `${infer First}, ${infer Rest}`
  ? Words<First> | Words<Rest>
  : Text extends `${infer Name} ${infer Word}`
    ? [name: Name, word: Word]
    : never;
type TypeOfWord<Word extends string> = Word extends "*"
  ? Pointer
  : Word extends `*${infer Target}`
    ? Pointer<TypeOfWord<Target>>
    : Word extends keyof Scalars
      ? Scalars[Word]
      : Word extends keyof Structs
        ? Structs[Word]
        : unknown;
interface Scalars {
  u8: u8;
  u16: u16;
  u32: u32;
  u64: u64;
  i8: i8;
  i16: i16;
  i32: i32;
  i64: i64;
  bool: bool;
  char: char;
}

/** A captured stack, as it is inside of a handler: it can be emitted, printed, or be a key. */
export interface CapturedStack {
  readonly [stackBrand]: true;
}
declare const stackBrand: unique symbol;

/** A pointer to a struct, or a struct in place, by its tag: what `task_struct` is here. */
export type StructNamed<Tag extends string> = DeclaredAs<Structs, Tag>;
