// What the kernel refused: the call, the errno, what strobe was doing, and what to try.
import type { Reason } from "../base/failure.ts";
import type { MissingFeature } from "../base/kernel-features.ts";
import { refusalHints } from "../messages/on-demand.ts";

/** errno numbers that callers compare with (the same on every Linux architecture strobe runs on). */
export const EPERM = 1;
export const ENOENT = 2;
export const EINTR = 4;
export const E2BIG = 7;
export const EAGAIN = 11;
export const ENOMEM = 12;
export const EACCES = 13;
export const EFAULT = 14;
export const EBUSY = 16;
export const EEXIST = 17;
export const ENODEV = 19;
export const EINVAL = 22;
export const ENFILE = 23;
export const EMFILE = 24;
export const ENOSPC = 28;
export const EPIPE = 32;
export const EDEADLK = 35;
export const EOPNOTSUPP = 95;
export const ETIMEDOUT = 110;
export const ENOTSUPP = 524;

let errnoNames: ReadonlyMap<number, string> | undefined;

/** `EPERM` of 1; `errno 999` of a number without a name. */
export function errnoName(code: number): string {
  return (errnoNames ??= namesOfErrno()).get(code) ?? `errno ${code}`;
}

function namesOfErrno(): ReadonlyMap<number, string> {
  const names = new Map<number, string>();
  // Loaded only here: most starts meet no error.
  const { errno } = process.getBuiltinModule("node:os").constants;
  for (const [name, code] of Object.entries(errno)) if (!names.has(code)) names.set(code, name);
  // EAGAIN and EWOULDBLOCK share a number, as do ENOTSUP and EOPNOTSUPP; 524 is kernel-internal, but bpf(2) leaks it.
  return names.set(errno.EAGAIN, "EAGAIN").set(errno.EOPNOTSUPP, "EOPNOTSUPP").set(ENOTSUPP, "ENOTSUPP");
}

const words: Readonly<Record<string, string>> = {
  EPERM: "operation not permitted",
  ENOENT: "no such thing",
  EACCES: "permission denied",
  EBUSY: "busy",
  EEXIST: "exists already",
  EINVAL: "invalid argument",
  EMFILE: "too many open files",
  ENFILE: "too many open files in the system",
  ENOMEM: "out of memory",
  ENODEV: "no such device",
  ENOSPC: "no space left",
  ESRCH: "no such process",
  E2BIG: "too big",
  EFBIG: "the file would be larger than is allowed (ulimit -f)",
  EOPNOTSUPP: "not supported here",
  ENOTSUPP: "not supported by this kernel",
  EFAULT: "bad address",
  EILSEQ: "not an instruction's first byte",
  EISDIR: "it is a folder",
  ENOTDIR: "a part of the path is no folder",
  ELOOP: "its links go in circles",
  ENAMETOOLONG: "the name is too long",
  EROFS: "the file system is read-only",
  EIO: "it cannot be read or written",
};

export interface LinuxErrorDetails {
  /** `bpf(BPF_PROG_LOAD)` */
  readonly call: string;
  /** A positive errno. */
  readonly code: number;
  /** Follows "cannot": `load the program "x"`. */
  readonly doing: Reason;
  readonly hint?: Reason;
  /** What the kernel lacks, where that is why: said instead of a hint. */
  readonly missing?: MissingFeature;
  /** The verifier's log. */
  readonly log?: string;
  /** The name of the program that the verifier refused. */
  readonly program?: string;
}

export class LinuxError extends Error {
  override readonly name = "LinuxError";
  readonly call: string;
  /** "EPERM" */
  readonly errno: string;
  readonly code: number;
  readonly doing: Reason;
  readonly hint?: Reason;
  readonly program?: string;
  readonly missing?: MissingFeature;
  declare readonly log?: string;

  constructor(details: LinuxErrorDetails) {
    const errno = errnoName(details.code);
    const meaning = words[errno];
    const hint = details.missing?.reason ?? details.hint ?? defaultHint(errno);
    super(
      `cannot ${details.doing}: ${details.call}: ${meaning ? `${meaning} (${errno})` : errno}${hint ? `; ${hint}` : ""}`,
    );
    this.call = details.call;
    this.errno = errno;
    this.code = details.code;
    this.doing = details.doing;
    if (hint !== undefined) this.hint = hint;
    if (details.program !== undefined) this.program = details.program;
    if (details.missing !== undefined) this.missing = details.missing;
    // Not enumerable: Node prints what is, and this has hundreds of lines.
    if (details.log !== undefined) Object.defineProperty(this, "log", { value: details.log });
  }
}

function defaultHint(errno: string): Reason | undefined {
  switch (errno) {
    case "EPERM":
    case "EACCES":
      return process.geteuid?.() === 0 ? refusalHints().keptFromRoot() : refusalHints().needsRoot();
    case "EMFILE":
      return refusalHints().openFiles();
    case "ENOMEM":
      return refusalHints().memory();
    default:
      return undefined;
  }
}

/** What strobe was doing, behind "cannot"; asked for only where a call fails. */
export type Doing = () => Reason;

/** A system call's result, or a LinuxError. `result` is the call's value, or a negative errno. */
export function check(result: number, call: string, doing: Doing): number {
  if (result >= 0) return result;
  throw new LinuxError({ call, code: -result, doing: doing() });
}
