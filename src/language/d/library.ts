// D's subroutines: what each is in the tree.
import { checked } from "./raise.ts";
import type { Span } from "../diagnostic.ts";
import type { HostTextName } from "../host-texts.ts";
import * as nodes from "../nodes.ts";
import type { Expression, TypeName } from "../program.ts";
import type { Known } from "./types.ts";
import { constantValue } from "./type-names.ts";
import { named } from "./types.ts";
import { dCalls } from "../../messages/d-calls.ts";
import { unknownType } from "../types.ts";
import type { Unit } from "./unit.ts";
import { framesOf, stack, symbol, symbols } from "./symbols.ts";

export interface LibraryFunction {
  readonly least: number;
  readonly most: number;
  readonly known?: Known;
  /** Types of its parameters, as far as they are looked at: `char *` is text. */
  readonly prototype?: readonly string[];
  readonly doc: string;
  readonly value: (args: readonly Expression[], span: Span, unit: Unit) => Expression;
}

const { call } = nodes;

/** A function of the tree's. */
const plain = (name: string, count: number, known: Known | undefined, doc: string): LibraryFunction => ({
  least: count,
  most: count,
  ...(known === undefined ? {} : { known }),
  doc,
  value(args, span, unit) {
    const made = call(name, args, span);
    return known === undefined || known === "string" ? made : unit.cast(known, made);
  },
});

const host = (
  name: HostTextName,
  [least, most]: readonly [number, number],
  known: Known,
  doc: string,
  more: (args: readonly Expression[], span: Span) => readonly Expression[] = (args) => args,
): LibraryFunction => ({
  least,
  most,
  known,
  doc,
  value: (args, span, unit) => {
    const made = nodes.hostText(name, more(args, span), span);
    return known === "string" ? made : unit.cast(known, made);
  },
});

/** Low bytes in the other order. */
const swapped = (bits: 16 | 32 | 64, doc: string): LibraryFunction => ({
  least: 1,
  most: 1,
  known: `uint${bits}`,
  doc,
  value: ([of], span, unit) => call("bswap", [unit.cast(`uint${bits}`, of)], span),
});

/** Bytes from one address to another. */
export function copied(to: Expression, from: Expression, size: Expression, span: Span, unit: Unit): Expression {
  const bytes = constantValue(size, unit);
  const isText = unit.known(from) === "string";
  if (isText && bytes !== undefined && bytes >= 1n && bytes <= 4096n) {
    const characters = { ...bytesType(Number(bytes), span), name: "char" };
    return call("write_memory", [behind(characters, to, span), from], span);
  }
  if (isText) unit.cursor.fail(dCalls.notYet("a copy of a text whose size is computed"), span);
  if (bytes === undefined || bytes > 4096n || bytes < 1n)
    return nodes.hostText(
      "copiedMemory",
      [to, from, size].map((e) => unit.cast("int64", e)),
      span,
    );
  const all = bytesType(Number(bytes), span);
  return call("write_memory", [behind(all, to, span), behind(all, from, span)], span);
}

/** A pointer to so many bytes. */
function bytesType(count: number, span: Span): TypeName {
  return { ...named("uint8", span), dimensions: [count], behind: [{ pointers: 1, dimensions: [] }] };
}

/** What is at an address, read as what a pointer type points to. */
function behind(pointer: TypeName, of: Expression, span: Span): Expression {
  return { kind: "unary", operator: "*", operand: nodes.cast(pointer, of, span), span, type: unknownType };
}

export const address = (of: Expression, space: "uptr" | "kptr"): Expression => call(space, [of], of.span);

const inet = (count: 4 | 16, at: (of: Expression) => Expression, doc: string): LibraryFunction => ({
  least: 1,
  most: 1,
  known: "string",
  doc,
  value: ([of], span) => nodes.hostText("addressText", [behind(bytesType(count, span), at(of), span)], span),
});

const functions: Readonly<Record<string, LibraryFunction>> = {
  // ── memory ──
  copyinstr: {
    least: 1,
    most: 2,
    known: "string",
    doc: "Text at an address of the process, of so many bytes at most.",
    value: ([of, size], span) => call("str", [address(of, "uptr"), ...(size === undefined ? [] : [size])], span),
  },
  alloca: {
    least: 1,
    most: 1,
    doc: "So many bytes of memory for a while, zeroes.",
    value: ([size], span, unit) => {
      const bytes = constantValue(size, unit);
      if (bytes !== undefined && (bytes < 0n || bytes > BigInt(unit.options.scratchSize)))
        unit.cursor.fail(dCalls.scratch(BigInt.asUintN(64, bytes), unit.options.scratchSize), span);
      const most = nodes.integer(unit.options.scratchSize, span);
      const isLarge = (of: Expression): Expression => nodes.binary(">", unit.cast("uint64", of), most, span);
      const given = bytes === undefined ? checked(unit, size, "scratch", isLarge, span) : unit.cast("int64", size);
      return nodes.cast(named("void", span, 1), nodes.hostText("allocatedMemory", [given], span), span);
    },
  },
  copyin: {
    least: 2,
    most: 2,
    doc: "What is at an address of the process.",
    value: ([of], span) => nodes.cast(named("void", span, 1), address(of, "uptr"), span),
  },

  speculation: {
    least: 0,
    most: 0,
    known: "int32",
    doc: "A speculation that is free, or 0.",
    value: (_, span, { options }) =>
      nodes.cast(
        named("int32", span),
        nodes.hostText(
          "speculation",
          [nodes.integer(options.speculations, span), nodes.integer(options.speculationSize, span)],
          span,
        ),
        span,
      ),
  },

  // ── text ──
  strlen: plain("strlen", 1, "uint64", "Bytes of a text."),
  strjoin: plain("str_concat", 2, "string", "Two texts, one behind the other."),
  index: {
    least: 2,
    most: 3,
    known: "int32",
    doc: "Where a text first is in another, from a byte on, or -1.",
    value: ([of, part, from], span, unit) =>
      unit.cast(
        "int32",
        from === undefined ? call("strstr", [of, part], span) : nodes.hostText("indexOfText", [of, part, from], span),
      ),
  },
  rindex: host(
    "lastIndexOfText",
    [2, 3],
    "int32",
    "Where a text last is in another, up to a byte, or -1.",
    (args, span) => (args.length === 3 ? args : [...args, nodes.integer(0x7fff_ffff, span)]),
  ),
  substr: host(
    "subtext",
    [2, 3],
    "string",
    "Bytes of a text, from one on (from its end, where negative), so many.",
    (args, span) => (args.length === 3 ? args : [...args, nodes.integer(0x7fff_ffff, span)]),
  ),
  strchr: host("textFromByte", [2, 2], "string", "A text from a byte's first occurrence on."),
  strrchr: host("textFromLastByte", [2, 2], "string", "A text from a byte's last occurrence on."),
  strstr: host("textFromPart", [2, 2], "string", "A text from another's first occurrence on."),
  strtok: host("nextToken", [2, 2], "string", "A text's next part between delimiters.", ([of, delimiters], span) => [
    of.kind === "integer" && of.value === 0n ? nodes.text("", span) : of,
    delimiters,
  ]),
  basename: host("baseName", [1, 1], "string", "A path's last part."),
  dirname: host("directoryName", [1, 1], "string", "A path without its last part."),
  cleanpath: host("cleanPath", [1, 1], "string", "A path without `.`, `..` and doubled slashes."),
  lltostr: host("numberText", [1, 1], "string", "A number as text.", (args, span) => [
    ...args,
    nodes.integer(10, span),
  ]),
  strtoll: host("parsedNumber", [1, 2], "int64", "The number that a text begins with, to a base.", (args, span) =>
    args.length === 2 ? args : [...args, nodes.integer(10, span)],
  ),
  toupper: host("upperCase", [1, 1], "string", "A text in upper case."),
  tolower: host("lowerCase", [1, 1], "string", "A text in lower case."),

  followed: {
    least: 1,
    most: 1,
    known: "int32",
    doc: "Whether an address is one that follow() was given, and unfollow() not since (strobe's own).",
    value: ([object], span, unit) => unit.cast("int32", nodes.call("followed", [object], span)),
  },

  // ── numbers ──
  rand: {
    least: 0,
    most: 0,
    known: "int64",
    doc: "A pseudo-random number.",
    value: (_, span, unit) => unit.cast("int64", nodes.builtin("rand", span)),
  },
  htons: swapped(16, "A number of 16 bits in the network's byte order."),
  ntohs: swapped(16, "The same."),
  htonl: swapped(32, "A number of 32 bits in the network's byte order."),
  ntohl: swapped(32, "The same."),
  htonll: swapped(64, "A number of 64 bits in the network's byte order."),
  ntohll: swapped(64, "The same."),
  getmajor: {
    least: 1,
    most: 1,
    prototype: ["dev_t"],
    known: "uint32",
    doc: "Major number of a device.",
    value: ([of], span, unit) =>
      unit.cast("uint32", nodes.binary(">>", unit.cast("uint64", of), nodes.integer(20, span), span)),
  },
  getminor: {
    least: 1,
    most: 1,
    prototype: ["dev_t"],
    known: "uint32",
    doc: "Minor number of a device.",
    value: ([of], span, unit) =>
      unit.cast("uint32", nodes.binary("&", unit.cast("uint64", of), nodes.integer(0xfffff, span), span)),
  },

  // ── names ──
  ...Object.fromEntries(
    Object.entries(symbols).map(([name, { doc }]): [string, LibraryFunction] => [
      name,
      { least: 1, most: 1, prototype: ["uintptr_t"], doc, value: ([of], span) => symbol(name, of, span) },
    ]),
  ),
  stack: {
    least: 0,
    most: 1,
    doc: "The kernel's stack, of so many frames at most.",
    value: (args, span, { options }) => stack("kstack", framesOf("kstack", args, span, options), span),
  },
  ustack: {
    least: 0,
    most: 2,
    doc: "The process's stack, of so many frames at most.",
    value: (args, span, { options }) => stack("ustack", framesOf("ustack", args.slice(0, 1), span, options), span),
  },
  inet_ntoa: { ...inet(4, (of) => of, "An IPv4 address behind a pointer, as text."), prototype: ["unsigned int *"] },
  inet_ntoa6: {
    ...inet(16, (of) => of, "An IPv6 address behind a pointer, as text."),
    prototype: ["struct in6_addr *"],
  },
  inet_ntop: { ...plain("ntop", 2, "string", "An address of a family, as text."), prototype: ["int"] },
  link_ntop: {
    prototype: ["int"],
    least: 2,
    most: 2,
    known: "string",
    doc: "A hardware address behind a pointer, as text: ARPHRD_ETHER, ARPHRD_INFINIBAND.",
    value: ([kind, of], span, unit) => {
      const number = constantValue(kind, unit);
      const count = number === 1n ? 6 : number === 32n ? 20 : undefined;
      if (count === undefined) return unit.cursor.fail(dCalls.hardwareType(), kind.span);
      const bytes = Array.from({ length: count }, (_, i) =>
        behind(named("uint8", span, 1), nodes.binary("+", unit.cast("uint64", of), nodes.integer(i, span), span), span),
      );
      const format = bytes.map(() => "%02x").join(":");
      return nodes.hostText("formattedText", [nodes.text(format, span), ...bytes], span);
    },
  },

  // ── what D's own texts are made of ──
  __address4: inet(4, (of) => address(of, "kptr"), "The same, in the kernel."),
  __address6: inet(16, (of) => address(of, "kptr"), "The same, in the kernel."),
  __kernel: plain("kptr", 1, undefined, "An address in the kernel."),
  __name: {
    least: 1,
    most: 1,
    known: "string",
    doc: "A name in a path: of a longer one its first bytes.",
    value: ([of], span) => call("str", [of, nodes.integer(128, span)], span),
  },
  __joined_path: host("joinedPath", [4, 255], "string", "Names of a path, the last one first."),
  __joined_arguments: {
    least: 2,
    most: 2,
    known: "string",
    doc: "Words of memory of the process.",
    value: ([of, size], span) => nodes.hostText("joinedWords", [call("buf", [address(of, "uptr"), size], span)], span),
  },
};

/** The lowest bits are flags (MUTEX_FLAGS, kernel/locking/mutex.h). */
const mutexOwner = "(uint64_t)((struct mutex *)__kernel((uint64_t)(M)))->owner.counter & ~7ULL";
/** The writer's byte, one bit for a writer that waits, readers (asm-generic/qrwlock.h). */
const lockCounts = "(uint32_t)((rwlock_t *)__kernel((uint64_t)(L)))->raw_lock.cnts.counter";

/** Subroutines in D itself: names of parameters, and an expression. */
export const libraryTexts: Readonly<
  Record<
    string,
    {
      readonly parameters: readonly string[];
      readonly prototype?: readonly string[];
      readonly known: Known;
      readonly text: string;
    }
  >
> = {
  /** The process itself, or one above it; 32 generations up. */
  mutex_owner: { parameters: ["M"], known: "uint64", text: mutexOwner },
  mutex_owned: { parameters: ["M"], known: "int32", text: `(${mutexOwner}) == (uint64_t)curthread` },
  mutex_type_adaptive: { parameters: ["M"], known: "int32", text: `(${mutexOwner}, 1)` },
  mutex_type_spin: { parameters: ["M"], known: "int32", text: `(${mutexOwner}, 0)` },
  rw_read_held: { parameters: ["L"], known: "int32", text: `(${lockCounts} >> 9) != 0` },
  rw_write_held: { parameters: ["L"], known: "int32", text: `(${lockCounts} & 0xff) == 0xff` },
  rw_iswriter: { parameters: ["L"], known: "int32", text: `(${lockCounts} & 0x1ff) != 0` },
  progenyof: { parameters: ["P"], prototype: ["pid_t"], known: "int32", text: ancestryText(32) },
  d_path: { parameters: ["P"], known: "string", text: pathText() },
  /**
   * Of a task whose memory is the current one's, or a copy of it that was not replaced yet (PF_FORKNOEXEC); of any other
   * it cannot be read.
   */
  __arguments: {
    parameters: ["T"],
    known: "string",
    text: `T->mm == 0 ? "" : T->mm == curthread->mm || ((T->flags & 0x40) != 0 && T->real_parent->tgid == pid)
      ? __joined_arguments(T->mm->arg_start, T->mm->arg_end - T->mm->arg_start) : ""`,
  },
};

function ancestryText(generations: number): string {
  const task = "((struct task_struct *)__kernel(this->__t))";
  const round = `
    this->__k = this->__k == 1 || ${task}->tgid == (pid_t)(P) ? 1 : 0,
    this->__t = (uint64_t)${task}->real_parent,`;
  return `(this->__t = (uint64_t)curthread, this->__k = 0, ${round.repeat(generations)} this->__k)`;
}

/**
 * The way from a dentry up to the process's root, over the mounts between (as d_path() of the kernel goes, fs/d_path.c):
 * each round is a name (2), a mount (1), or the end (0).
 */
function pathText(): string {
  const rounds = 16;
  const mount = "((struct mount *)__kernel(this->__m))";
  const dentry = "((struct dentry *)__kernel(this->__d))";
  const round = (i: number): string => `
    this->__u = this->__d == 0 || (this->__d == this->__rd && this->__m == this->__rm) ? 0
      : this->__d == (uint64_t)${mount}->mnt.mnt_root ? (this->__m == (uint64_t)${mount}->mnt_parent ? 0 : 1)
      : 2,
    this->__n${i} = this->__u == 2 ? __name(${dentry}->d_name.name) : "",
    this->__p = this->__u == 0 ? 0 : this->__u == 1 ? (uint64_t)${mount}->mnt_mountpoint : (uint64_t)${dentry}->d_parent,
    this->__m = this->__u == 1 ? (uint64_t)${mount}->mnt_parent : this->__m,
    this->__d = this->__p == this->__d && this->__u == 2 ? 0 : this->__p,`;
  const all = Array.from({ length: rounds }, (_, i) => i);
  return `(
    this->__d = (uint64_t)(P)->dentry,
    this->__m = (uint64_t)(P)->mnt - offsetof(struct mount, mnt),
    this->__rd = (uint64_t)curthread->fs->root.dentry,
    this->__rm = (uint64_t)curthread->fs->root.mnt - offsetof(struct mount, mnt),
    this->__gone = (uint64_t)((P)->dentry->d_hash.pprev == 0 && (P)->dentry != (P)->mnt->mnt_root),
    ${all.map(round).join("")}
    __joined_path(
      (uint64_t)(P)->mnt->mnt_sb->s_magic, (uint64_t)(P)->dentry->d_inode->i_ino, this->__gone,
      (uint64_t)(this->__d != 0 && (this->__d != this->__rd || this->__m != this->__rm)),
      ${all.map((i) => `this->__n${i}`).join(", ")}))`;
}

const prototypes: Readonly<Record<string, string>> = {
  alloca: "size_t",
  basename: "char *",
  cleanpath: "char *",
  copyin: "uintptr_t, size_t",
  copyinstr: "uintptr_t, size_t",
  dirname: "char *",
  htonl: "uint32_t",
  htonll: "uint64_t",
  htons: "uint16_t",
  index: "char *, char *, int",
  lltostr: "int64_t, int",
  ntohl: "uint32_t",
  ntohll: "uint64_t",
  ntohs: "uint16_t",
  rindex: "char *, char *, int",
  strchr: "char *, char",
  strjoin: "char *, char *",
  strlen: "char *",
  strrchr: "char *, char",
  strstr: "char *, char *",
  strtok: "char *, char *",
  strtoll: "char *, int",
  substr: "char *, int, int",
  tolower: "char *",
  toupper: "char *",
};

export function libraryFunction(name: string): LibraryFunction | undefined {
  if (!Object.hasOwn(functions, name)) return undefined;
  return Object.hasOwn(prototypes, name)
    ? { ...functions[name], prototype: prototypes[name].split(", ") }
    : functions[name];
}

export function libraryNames(): readonly string[] {
  return [...Object.keys(functions), ...Object.keys(libraryTexts)].filter((name) => !name.startsWith("__"));
}
