// syscall.NAME and nd_syscall.NAME: aliases of the kernel's tracepoints of system calls, with the variables that
// SystemTap's library gives there.
import type { Span } from "../diagnostic.ts";
import type { Alias, Component, Expr, Point, Stmt } from "./syntax.ts";

/** Arguments by name: a text of the program (`"`), or a number. The tracepoint's fields have the same names. */
const texts: Readonly<Record<string, readonly string[]>> = {
  open: ["filename"],
  openat: ["filename"],
  openat2: ["filename"],
  creat: ["pathname"],
  stat: ["filename"],
  lstat: ["filename"],
  newstat: ["filename"],
  newlstat: ["filename"],
  newfstatat: ["filename"],
  statx: ["filename"],
  access: ["filename"],
  faccessat: ["filename"],
  execve: ["filename"],
  execveat: ["filename"],
  unlink: ["pathname"],
  unlinkat: ["pathname"],
  mkdir: ["pathname"],
  mkdirat: ["pathname"],
  rmdir: ["pathname"],
  chdir: ["filename"],
  chmod: ["filename"],
  chown: ["filename"],
  truncate: ["path"],
  readlink: ["path"],
  readlinkat: ["pathname"],
  rename: ["oldname", "newname"],
  link: ["oldname", "newname"],
  symlink: ["oldname", "newname"],
};
const numbers: Readonly<Record<string, readonly string[]>> = {
  open: ["flags", "mode"],
  openat: ["dfd", "flags", "mode"],
  creat: ["mode"],
  read: ["fd", "count"],
  write: ["fd", "count"],
  pread64: ["fd", "count", "pos"],
  pwrite64: ["fd", "count", "pos"],
  readv: ["fd", "vlen"],
  writev: ["fd", "vlen"],
  close: ["fd"],
  dup: ["fildes"],
  dup2: ["oldfd", "newfd"],
  lseek: ["fd", "offset", "whence"],
  mmap: ["addr", "len", "prot", "flags", "fd"],
  munmap: ["addr", "len"],
  brk: ["brk"],
  kill: ["pid", "sig"],
  tkill: ["pid", "sig"],
  tgkill: ["tgid", "pid", "sig"],
  socket: ["family", "type", "protocol"],
  connect: ["fd", "addrlen"],
  accept: ["fd"],
  accept4: ["fd", "flags"],
  bind: ["fd", "addrlen"],
  listen: ["fd", "backlog"],
  sendto: ["fd", "len", "flags"],
  recvfrom: ["fd", "size", "flags"],
  ioctl: ["fd", "cmd", "arg"],
  fcntl: ["fd", "cmd", "arg"],
  exit: ["error_code"],
  exit_group: ["error_code"],
  fsync: ["fd"],
  fdatasync: ["fd"],
  ftruncate: ["fd", "length"],
  wait4: ["upid", "options"],
  clone: ["clone_flags"],
  mkdir: ["mode"],
};

/** Calls that return one. */
const addresses = new Set(["brk", "mmap", "mmap2", "mremap", "shmat"]);

/** The alias that a point means; undefined for what is no system call's. */
export function syscallAlias({ components, span }: Point): Alias | undefined {
  const [family, call, suffix] = components;
  if (!["syscall", "nd_syscall", "tp_syscall"].includes(family.name) || call === undefined) return undefined;
  const returns = suffix?.name === "return";
  // The kernel's own names, where the call has another there.
  const own = { stat: "newstat", lstat: "newlstat", fstat: "newfstat", uname: "newuname" }[call.name] ?? call.name;
  const number = (value: bigint): Expr => ({ kind: "number", value, span });
  const called = (name: string, args: readonly Expr[]): Expr => ({ kind: "call", name, args, span });
  const component = (name: string, argument?: string): Component => ({
    name,
    ...(argument === undefined ? {} : { argument }),
    span,
  });
  const statements = [
    assign("name", { kind: "call", name: "syscall_name", args: [target("__syscall_nr", span)], span }, span),
    ...(returns
      ? [
          assign("retval", target("return", span), span),
          // Errors have their names; addresses are in hexadecimal.
          assign(
            "retstr",
            called("return_str", [number(addresses.has(call.name) ? 2n : 1n), target("return", span)]),
            span,
          ),
        ]
      : [
          ...(texts[call.name] ?? []).map((name) =>
            assign(name, { kind: "call", name: "user_string_quoted", args: [target(name, span)], span }, span),
          ),
          ...(numbers[call.name] ?? []).map((name) => assign(name, target(name, span), span)),
        ]),
  ];
  return {
    name: components,
    points: [
      {
        components: [component("kernel"), component("syscall", own), ...(returns ? [component("return")] : [])],
        optional: false,
        sufficient: false,
        text: `${family.name}.${call.name}${returns ? ".return" : ""}`,
        span,
      },
    ],
    body: { kind: "block", statements, span },
    epilogue: false,
    span,
  };
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
