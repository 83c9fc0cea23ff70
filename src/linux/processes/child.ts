// `-c COMMAND`: a child that exists, with its pid, but runs its command only when told, so that probes attach first.
import { accessSync, closeSync, constants, existsSync, statSync, writeSync } from "node:fs";
import type { ChildProcess, StdioOptions } from "node:child_process";
import { errnoName, check } from "../error.ts";
import { syscall, SYS } from "../ffi.ts";
import { lazy } from "../../base/lazy.ts";
import { attempts, runReasons } from "../../messages/on-demand.ts";
import { RunError } from "../../base/run-error.ts";

const holding = lazy<typeof import("./held-program.ts")>(() => require("./held-program.ts"));

export interface TracedChild {
  readonly pid: number;
  /** The child waits for go(): from here on it does nothing that is not the command's, but for the exec. */
  readonly ready: Promise<void>;
  /** Lets the command begin. */
  go(): void;
  /** Why the command could not be executed, once it has begun or ended; undefined when it could. */
  failure(): Promise<string | undefined>;
  /** The exit code; 128 + the signal when a signal ended it. */
  readonly exited: Promise<number>;
  /** SIGTERM. */
  kill(): void;
}

/** Where the program of its own cannot be executed (vm.memfd_noexec = 2): the same by a shell, without the guard. */
const heldByShell = 'echo >&4; read go <&3 || exit 127; shift; exec "$0" "$@" 3<&- 4>&-';

/**
 * Forks a child that waits on a pipe and then becomes the command (same pid, and its own name from exec on); the system
 * call behind its wait is the exec, so that nothing else is traced. It is killed when strobe dies, whenever that is
 * (held-program.ts), but for a command that becomes another user: the kernel forgets the wish then. The command is
 * split into words like a shell does it, quotes and backslashes honoured, nothing expanded. Throws a RunError when there
 * is no such program. `folders`: of programs that are named without one.
 */
export function spawnTraced(command: string, folders = usualFolders): TracedChild {
  const words = splitWords(command);
  const program = words[0];
  if (program === undefined) throw new RunError(runReasons().emptyCommand());
  const path = findProgram(program, folders);
  if (path === undefined) throw new RunError(runReasons().noSuchCommand(program));
  if (!existsSync("/proc/self/fd")) throw new RunError(runReasons().commandWithoutProc());
  const [gate, writer] = makePipe();
  let open = true;
  const shut = (): void => {
    if (open) closeSync(writer);
    open = false;
  };
  const child = start(path, words, gate);
  closeSync(gate);
  if (child.pid === undefined) {
    shut();
    throw new RunError(runReasons().noProcess());
  }
  const { failure, ready } = told(child);
  const exited = new Promise<number>((resolve, reject) => {
    child.on("error", reject);
    child.on("exit", (code, signal) => {
      shut();
      resolve(code ?? 128 + (signal ? process.getBuiltinModule("node:os").constants.signals[signal] : 0));
    });
  });
  return {
    pid: child.pid,
    ready,
    go: () => {
      try {
        if (open) writeSync(writer, "\n");
      } catch (error) {
        // It was ended while it waited, as by a Ctrl-C that both of us get: `exited` says so.
        if ((error as NodeJS.ErrnoException).code !== "EPIPE") throw error;
      }
      shut();
    },
    exited,
    failure: async () => {
      const errno = await failure;
      return errno === undefined
        ? undefined
        : `cannot run "${program}": ${errno === "ENOENT" ? "what it names in its first line, or as its loader, is not there (ENOENT)" : errno}`;
    },
    kill: () => void child.kill("SIGTERM"),
  };
}

/** `words`: the command's own list, which begins with the name that it was given. */
function start(path: string, words: readonly string[], gate: number): ChildProcess {
  // Loaded only here: it brings twenty modules of Node's with it, which take milliseconds of every start.
  const { spawn } = process.getBuiltinModule("node:child_process");
  const stdio: StdioOptions = ["inherit", "inherit", "inherit", gate, "pipe"];
  const held = holding().heldProgram();
  if (held !== undefined) {
    const child = spawn(`/proc/self/fd/${held}`, [path, ...words], { stdio });
    closeSync(held);
    if (child.pid !== undefined) return child;
    // Why is told only later; when files cannot be opened, the child has no streams either.
    child.on("error", () => {});
  }
  const child = spawn("/bin/sh", ["-c", heldByShell, path, ...words], { stdio });
  if (child.pid === undefined) child.on("error", () => {});
  return child;
}

/** What the child says: a byte when it waits, and an errno when the command cannot be executed. */
function told(child: ChildProcess): { readonly ready: Promise<void>; readonly failure: Promise<string | undefined> } {
  const stream = child.stdio[4] as import("node:stream").Duplex;
  stream.on("error", () => {}); // the child went first
  let said = Buffer.alloc(0);
  const ready = new Promise<void>((resolve) => {
    stream.on("data", (more: Buffer) => {
      said = Buffer.concat([said, more]);
      resolve();
    });
    stream.once("close", () => resolve());
  });
  const failure = new Promise<string | undefined>((resolve) => {
    stream.once("close", () => resolve(said.length >= 5 ? errnoName(said.readInt32LE(1)) : undefined));
  });
  return { ready, failure };
}

/** Where programs are without a $PATH. */
const usualFolders: readonly string[] = ["/usr/local/bin", "/usr/bin", "/bin"];

/** The file that a word would run, like execvp(3). `folders`: those of $PATH; an empty one is the current one. */
export function findProgram(name: string, folders = usualFolders): string | undefined {
  const candidates = name.includes("/") ? [name] : folders.map((folder) => `${folder || "."}/${name}`);
  return candidates.find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return statSync(path).isFile();
    } catch {
      return false;
    }
  });
}

/** The program that a command line runs; undefined where it names none, or where a quote is never closed. */
export function programOf(command: string): string | undefined {
  try {
    return splitWords(command)[0];
  } catch {
    return undefined;
  }
}

/** Words of a command line: 'literal', "with \" and \\", back\ slashes. @throws where a quote is never closed */
export function splitWords(text: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  let quote = "";
  for (let i = 0; i < text.length; i++) {
    const c = text[i] ?? "";
    if (quote === "'") {
      if (c === "'") quote = "";
      else word += c;
    } else if (c === "\\" && i + 1 < text.length && (quote === "" || `"\\$\``.includes(text[i + 1] ?? ""))) {
      word = (word ?? "") + (text[++i] ?? "");
    } else if (quote === '"') {
      if (c === '"') quote = "";
      else word += c;
    } else if (c === "'" || c === '"') {
      quote = c;
      word ??= "";
    } else if (/\s/.test(c)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else {
      word = (word ?? "") + c;
    }
  }
  if (quote !== "") throw new RunError(runReasons().openQuotes(quote === "'" ? "single" : "double", text));
  if (word !== undefined) words.push(word);
  return words;
}

const O_CLOEXEC = 0o2000000;

/** pipe2(2): the end to read, the end to write. The caller owns both. */
export function makePipe(): readonly [read: number, write: number] {
  const ends = new Int32Array(2);
  check(syscall(SYS.pipe2, new Uint8Array(ends.buffer), O_CLOEXEC), "pipe2", () => attempts().makePipe());
  return [ends[0], ends[1]];
}
