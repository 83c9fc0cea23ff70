// syscall.NAME, nd_syscall.NAME and tp_syscall.NAME: aliases of the kernel's tracepoints of system calls, with the
// variables that SystemTap's library gives there.
import { lazy } from "../../base/lazy.ts";
import type { Span } from "../diagnostic.ts";
import type { SystemCall } from "./syscall-arguments.ts";
import type { Alias, Component, Expr, Point, Stmt } from "./syntax.ts";
import { wildcard } from "./wildcard.ts";

// Loaded where a script asks what a call is given.
const table = lazy<typeof import("./syscall-arguments.ts")>(() => require("./syscall-arguments.ts"));

/** Calls that return one. */
const addresses = new Set(["brk", "mmap", "mmap2", "mremap", "shmat"]);

/** What a handler asks of calls: what all of them are given as text, what they are called as text that is compared. */
export interface Asks {
  readonly arguments: boolean;
  readonly name: boolean;
}

/**
 * The aliases that a point means: one, but of several calls of which the handler asks what each has, one each. undefined
 * for what is no system call's.
 */
export function syscallAliases({ components, span }: Point, asks: Asks): Alias[] | undefined {
  const [family, written, suffix] = components;
  if (family.name === "syscall_any") return aliasesOf(family, [], "*", suffixOf(written), components, asks, span);
  if (!["syscall", "nd_syscall", "tp_syscall"].includes(family.name) || written === undefined) return undefined;
  return aliasesOf(family, [written], written.name, suffixOf(suffix), components, asks, span);
}

function aliasesOf(
  family: Component,
  written: readonly Component[],
  name: string,
  returns: boolean,
  components: readonly Component[],
  asks: Asks,
  span: Span,
): Alias[] {
  const several = /[*?[]/.test(name);
  const whole = (): Alias[] => [aliasOf(family, written, name, undefined, { returns, named: false }, components, span)];
  if (several && !asks.name && (returns || !asks.arguments)) return whole();
  const { systemCalls } = table();
  const found = several
    ? systemCalls.filter((call) => wildcard(name).test(call.name))
    : systemCalls.filter((call) => call.name === name || call.kernel === name).slice(0, 1);
  if (found.length === 0) return whole();
  return found.map((call) => {
    const how = { returns, named: !several || asks.name };
    const alias = aliasOf(family, written, call.kernel, call, how, components, span);
    // Not every kernel has all of them.
    return several ? { ...alias, points: alias.points.map((one) => ({ ...one, optional: true })) } : alias;
  });
}

const suffixOf = (suffix: Component | undefined): boolean => suffix?.name === "return";

function aliasOf(
  family: Component,
  written: readonly Component[],
  kernel: string,
  call: SystemCall | undefined,
  { returns, named }: { readonly returns: boolean; readonly named: boolean },
  components: readonly Component[],
  span: Span,
): Alias {
  const component = (name: string, argument?: string): Component => ({
    name,
    ...(argument === undefined ? {} : { argument }),
    span,
  });
  const name =
    named && call !== undefined
      ? text(call.kernel, span)
      : called("syscall_name", [target("__syscall_nr", span)], span);
  const statements = [
    assign("name", name, span),
    ...(returns ? results(call, span) : call === undefined ? [] : given(call, span)),
  ];
  return {
    name: components,
    points: [
      {
        components: [component("kernel"), component("syscall", kernel), ...(returns ? [component("return")] : [])],
        optional: false,
        sufficient: false,
        text: `${[family, ...written].map(({ name }) => name).join(".")}${returns ? ".return" : ""}`,
        span,
      },
    ],
    body: { kind: "block", statements, span },
    epilogue: false,
    span,
  };
}

/** Errors have their names; addresses are in hexadecimal. */
function results(call: SystemCall | undefined, span: Span): Stmt[] {
  const format = number(addresses.has(call?.kernel ?? "") ? 2n : 1n, span);
  return [
    assign("retval", target("return", span), span),
    assign("retstr", called("return_str", [format, target("return", span)], span), span),
  ];
}

/** What a call is given, each by its name, and all of it as one text. */
function given({ arguments: all }: SystemCall, span: Span): Stmt[] {
  const parts: Shown[] = [];
  const statements: Stmt[] = [];
  all.forEach(({ name, kind }, i) => {
    if (name === "_") return;
    // Later calls of the kind have it.
    if (kind === "0") {
      statements.push(assign(name, number(0n, span), span), assign(`${name}_str`, text("0x0", span), span));
      return;
    }
    const made = argument(name, kind, i, span, all[i + 1] === undefined ? undefined : register("ulong", i + 1, span));
    parts.push(made.shown);
    // An argument that is called so is there as name_uaddr and name_str alone: `name` is the call's.
    for (const [variable, value] of made.variables)
      if (variable !== "name") statements.push(assign(variable, value, span));
  });
  const format = parts.map(({ format }) => format).join(", ");
  const args = parts.flatMap((one) => one.args);
  // A mode is there where a file may be made.
  const last = parts.at(-1);
  const whole = called("sprintf", [text(format, span), ...args], span);
  const without = called(
    "sprintf",
    [
      text(
        parts
          .slice(0, -1)
          .map((one) => one.format)
          .join(", "),
        span,
      ),
      ...args.slice(0, -1),
    ],
    span,
  );
  const argstr: Expr =
    all.at(-1)?.kind === "c" && last !== undefined
      ? { kind: "conditional", condition: makes(all.length - 2, span), then: whole, otherwise: without, span }
      : whole;
  return [...statements, assign("argstr", argstr, span)];
}

interface Shown {
  readonly format: string;
  readonly args: readonly Expr[];
}

interface Made {
  readonly shown: Shown;
  readonly variables: readonly (readonly [string, Expr])[];
}

/**
 * `i u d` numbers, `x` in hexadecimal, `o` to base 8, `c` such a mode of a file that may be made; `p` an address, `s` a
 * text there, `b` bytes, as many as the next argument says, `a` an address of a socket, `t` a time, `v` words; `D` a
 * folder's descriptor, `S` a signal, `O` an option of a socket, `F/WORDS` flags, `0` what this call has not and later ones of its kind have.
 */
function argument(name: string, kind: string, index: number, span: Span, next: Expr | undefined): Made {
  const long = register("long", index, span);
  const address = register("ulong", index, span);
  const int = register("int", index, span);
  const plain = (format: string, value: Expr, ...more: readonly (readonly [string, Expr])[]): Made => ({
    shown: { format, args: [value] },
    variables: [[name, value], ...more],
  });
  const decoded = (value: Expr, words: Expr): Made => ({
    shown: { format: "%s", args: [words] },
    variables: [
      [name, value],
      [`${name}_str`, words],
    ],
  });
  const behind = (words: Expr, ...more: readonly (readonly [string, Expr])[]): Made => ({
    shown: { format: "%s", args: [words] },
    variables: [[`${name}_uaddr`, address], ...more],
  });
  switch (kind) {
    case "i":
      return plain("%d", int);
    case "u":
      return plain("%u", address);
    case "d":
      return plain("%d", long);
    case "x":
      return plain("%#x", address);
    case "o":
    case "c":
      return plain("%#o", register("uint", index, span));
    case "p":
      return plain("%#x", address, [`${name}_uaddr`, address]);
    case "s": {
      const words = called("user_string_quoted", [address], span);
      // Of `name_str` the name alone is there too.
      const short = name.endsWith("_str") ? name.slice(0, -"_str".length) : undefined;
      const more: (readonly [string, Expr])[] =
        short === undefined
          ? []
          : [
              [short, words],
              [`${short}_uaddr`, address],
            ];
      return behind(
        words,
        ...more,
        [name, words],
        [`${name}_unquoted`, called("user_string_nofault", [address], span)],
      );
    }
    case "b": {
      const words = called("__bytes_text", [address, next ?? number(0n, span)], span);
      return behind(words, [`${name}_str`, words]);
    }
    case "a": {
      const words = called("__address_text", [address], span);
      const port = called(
        "sprint",
        [called("ntohs", [called("user_ushort", [plus(address, 2n, span)], span)], span)],
        span,
      );
      return behind(
        words,
        ["uaddr_af", called("__family_text", [address], span)],
        ["uaddr_ip", called("__ip_text", [called("user_uint32", [plus(address, 4n, span)], span)], span)],
        ["uaddr_ip_port", port],
      );
    }
    case "t": {
      const words = called("__time_text", [address], span);
      return behind(words, [name, address], [`${name}_str`, words]);
    }
    case "v": {
      const words = called("__words_text", [address], span);
      return behind(words, [name, words]);
    }
    case "D":
      return decoded(int, called("__folder_text", [int], span));
    case "S": {
      const words = flags(int, "signal", span);
      return {
        shown: { format: "%s", args: [words] },
        variables: [
          [name, int],
          ["sig_name", words],
          ["sig_str", words],
        ],
      };
    }
    case "O":
      return decoded(int, optionWords(int, register("int", index - 1, span), span));
    default:
      return decoded(long, flags(int, kind.slice("F/".length), span));
  }
}

function flags(value: Expr, words: string, span: Span): Expr {
  return called("__flags", [value, text(table().flagWords[words] ?? "0:", span)], span);
}

/** Names of a socket's options are those of their level (asm-generic/socket.h, linux/in.h, linux/tcp.h, linux/in6.h). */
function optionWords(option: Expr, level: Expr, span: Span): Expr {
  const levels: readonly (readonly [bigint, string])[] = [
    [1n, "option"],
    [6n, "tcpoption"],
    [0n, "ipoption"],
    [41n, "ipv6option"],
  ];
  return levels.reduceRight<Expr>(
    (otherwise, [of, words]) => ({
      kind: "conditional",
      condition: { kind: "binary", operator: "==", left: level, right: number(of, span), span },
      then: flags(option, words, span),
      otherwise,
      span,
    }),
    called("sprint", [option], span),
  );
}

/** O_CREAT, or O_TMPFILE. */
function makes(index: number, span: Span): Expr {
  const bits: Expr = {
    kind: "binary",
    operator: "&",
    left: register("int", index, span),
    right: number(0x40n | 0x400000n, span),
    span,
  };
  return { kind: "binary", operator: "!=", left: bits, right: number(0n, span), span };
}

function plus(left: Expr, right: bigint, span: Span): Expr {
  return { kind: "binary", operator: "+", left, right: number(right, span), span };
}

function register(type: "int" | "uint" | "long" | "ulong", index: number, span: Span): Expr {
  return called(`${type}_arg`, [number(BigInt(index + 1), span)], span);
}

function number(value: bigint, span: Span): Expr {
  return { kind: "number", value, span };
}

function text(value: string, span: Span): Expr {
  return { kind: "string", value, span };
}

function called(name: string, args: readonly Expr[], span: Span): Expr {
  return { kind: "call", name, args, span };
}

function target(name: string, span: Span): Expr {
  return { kind: "target", base: { kind: "name", name }, steps: [], address: false, pretty: 0, span };
}

function assign(name: string, value: Expr, span: Span): Stmt {
  return {
    kind: "expression",
    expression: { kind: "assign", operator: "=", target: { kind: "name", name, span }, value, span },
    span,
  };
}
