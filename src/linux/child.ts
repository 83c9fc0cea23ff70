// `-c COMMAND`: a child that exists, with its pid, but runs its command only when told, so that probes attach first.
import { accessSync, closeSync, constants, existsSync, statSync, writeSync } from "node:fs";
import { check } from "./error.ts";
import { syscall, SYS } from "./ffi.ts";

export interface TracedChild {
  readonly pid: number;
  /** The child waits for go(): from here on it does nothing that is not the command's, but for the exec. */
  readonly ready: Promise<void>;
  /** Lets the command begin. */
  go(): void;
  /** The exit code; 128 + the signal when a signal ended it. */
  readonly exited: Promise<number>;
  /** SIGTERM. */
  kill(): void;
}

/**
 * Forks a child that waits on a pipe and then becomes the command (same pid, and its own name from exec on). The pipe is the
 * shell's script: it waits in its read of the next line, and the system call behind that is the exec, so that nothing of the
 * shell's is traced. If strobe goes away first, the script ends and so does the child. The command is split into words like a shell does it, quotes
 * and backslashes honoured, nothing expanded. Throws an Error when there is no such program.
 */
export function spawnTraced(command: string): TracedChild {
  const words = splitWords(command);
  const program = words[0];
  if (program === undefined) throw new Error("the command is empty");
  const path = findProgram(program);
  if (path === undefined) throw new Error(`cannot run "${program}": there is no such program, or it is not executable`);
  if (!existsSync("/proc/self/fd")) throw new Error("cannot run a command without /proc: mount -t proc proc /proc");
  const [script, writer] = pipe();
  let open = true;
  const write = (line: string): void => {
    if (open) writeSync(writer, line);
  };
  const shut = (): void => {
    if (open) closeSync(writer);
    open = false;
  };
  write("exec 3<&- 4>&-\n");
  // Loaded only here: it brings twenty modules of Node's with it, which take milliseconds of every start.
  const { spawn } = process.getBuiltinModule("node:child_process");
  const child = spawn("/bin/sh", ["/proc/self/fd/3", path, ...words.slice(1)], { stdio: ["inherit", "inherit", "inherit", script, "pipe"] });
  closeSync(script);
  if (child.pid === undefined) {
    // Why is told only later; when files cannot be opened, the child has no streams either.
    child.on("error", () => {});
    shut();
    throw new Error("cannot start /bin/sh to run the command; too many files or processes may be open here (ulimit -n, ulimit -u)");
  }
  // The shell closes its end when it has come to its second line.
  const gate = child.stdio[4] as import("node:stream").Duplex;
  gate.on("error", () => {}); // the child went first
  const exited = new Promise<number>((resolve, reject) => {
    child.on("error", reject);
    child.on("exit", (code, signal) => {
      shut();
      resolve(code ?? 128 + (signal ? process.getBuiltinModule("node:os").constants.signals[signal] : 0));
    });
  });
  const ready = new Promise<void>((resolve) => {
    gate.once("close", () => resolve());
    gate.resume();
  });
  return {
    pid: child.pid,
    ready,
    go: () => {
      write('exec "$@"\n');
      shut();
    },
    exited,
    kill: () => void child.kill("SIGTERM"),
  };
}

/** pipe2(2), closed on exec: the end to read, the end to write. */
function pipe(): readonly [number, number] {
  const ends = new Int32Array(2);
  check(syscall(SYS.pipe2, new Uint8Array(ends.buffer), 0o2000000), "pipe2", "make a pipe for the command to wait on");
  return [ends[0], ends[1]];
}

/** The file that a word would run, like execvp(3). */
export function findProgram(name: string): string | undefined {
  const candidates = name.includes("/") ? [name] : (process.env["PATH"] ?? "/usr/local/bin:/usr/bin:/bin").split(":").map((dir) => `${dir || "."}/${name}`);
  return candidates.find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return statSync(path).isFile();
    } catch {
      return false;
    }
  });
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
  if (quote !== "") throw new Error(`the command ends within ${quote === "'" ? "single" : "double"} quotes: ${text}`);
  if (word !== undefined) words.push(word);
  return words;
}
