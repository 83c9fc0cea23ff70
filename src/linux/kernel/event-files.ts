// Dynamic events that outlive their process: what is defined in tracefs, by whomever, and definitions for others to use
// (Documentation/trace/kprobetrace.rst, uprobetracer.rst; `dynamic_events` lists them all).
import { closeSync, openSync, readFileSync, writeSync } from "node:fs";
import { LinuxError, type Doing } from "../error.ts";
import { tracefsRoot } from "./tracefs.ts";
import { refusalHints, attempts } from "../../messages/on-demand.ts";
import type { Reason } from "../../base/failure.ts";

export interface ListedEvent {
  readonly group: string;
  readonly name: string;
  /** `kprobe`, `uprobe`, … */
  readonly kind: string;
  /** Where it is, and what it carries, as the kernel shows it. A line a place where it is at several. */
  readonly text: string;
}

/** By the letters that the kernel's lines begin with. */
const kinds: Readonly<Record<string, string>> = {
  e: "eprobe",
  f: "fprobe",
  t: "tprobe",
  s: "synthetic",
  u: "user",
};

/** @throws LinuxError without tracefs */
export function dynamicEvents(): ListedEvent[] {
  const root = tracefsRoot();
  const uprobes = new Set(linesOf(`${root}/uprobe_events`));
  return linesOf(`${root}/dynamic_events`).flatMap((line) => {
    const [, letter, group = "", name, text] = /^([a-z])\d*:(?:([^/\s]+)\/)?(\S+)\s*(.*)$/.exec(line) ?? [];
    if (name === undefined) return [];
    const probe = `${uprobes.has(line) ? "u" : "k"}${letter === "r" ? "ret" : ""}probe`;
    return [{ group: group || groupless[letter] || "", name, kind: kinds[letter] ?? probe, text }];
  });
}

/** Groups that the lines of some kinds leave out. */
const groupless: Readonly<Record<string, string>> = { s: "synthetic", u: "user_events" };

function linesOf(path: string): string[] {
  try {
    return readFileSync(path, "latin1")
      .split("\n")
      .filter((line) => line !== "");
  } catch (error) {
    const { code, errno = 0 } = error as NodeJS.ErrnoException;
    // A kernel without events of this kind.
    if (code === "ENOENT") return [];
    throw new LinuxError({ call: "open", code: -errno, doing: attempts().readFile(path) });
  }
}

/** Gives one line to a file of tracefs. @throws LinuxError with what the kernel says is wrong with it */
export function writeDefinition(file: string, line: string, doing: Doing): void {
  const path = `${tracefsRoot()}/${file}`;
  const failed = (call: string, error: unknown): LinuxError => {
    const { errno = 0, code } = error as NodeJS.ErrnoException;
    const why =
      call === "write"
        ? code === "EBUSY"
          ? refusalHints().inUse()
          : (lastComplaint(line) ?? lacking(line))
        : code === "ENOENT"
          ? refusalHints().noEventFile(file)
          : undefined;
    return new LinuxError({ call, code: -errno, doing: doing(), ...(why === undefined ? {} : { hint: why }) });
  };
  let descriptor: number;
  try {
    // Appended: otherwise everybody's definitions are removed. Not created: tracefs has its files.
    descriptor = openSync(path, O_WRONLY | O_APPEND);
  } catch (error) {
    throw failed("open", error);
  }
  try {
    writeSync(descriptor, `${line}\n`);
  } catch (error) {
    throw failed("write", error);
  } finally {
    closeSync(descriptor);
  }
}

/** Whether the top-level buffer has an event's records. @throws LinuxError */
export function enableEvent(group: string, name: string, on: boolean): void {
  try {
    // Not by `events/GROUP/NAME/enable`: an event of a kernel's command line may have no folder. Opened without
    // truncation, which would disable all others.
    const descriptor = openSync(`${tracefsRoot()}/set_event`, O_WRONLY);
    try {
      writeSync(descriptor, `${on ? "" : "!"}${group}:${name}\n`);
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    const { errno = 0 } = error as NodeJS.ErrnoException;
    const event = `${group}:${name}`;
    const doing = on ? attempts().enableEvent(event) : attempts().disableEvent(event);
    throw new LinuxError({ call: "write", code: -errno, doing });
  }
}

const O_WRONLY = 1;
const O_APPEND = 0o2000;

/** Why lines of a kind may not be taken at all. */
function lacking(line: string): Reason | undefined {
  if (line.startsWith("e")) return refusalHints().noEventsOnEvents();
  return line.startsWith("f") ? refusalHints().noEventsOnEntries() : undefined;
}

/** What the kernel last said of such a command (`error_log`). */
function lastComplaint(line: string): Reason | undefined {
  try {
    const text = readFileSync(`${tracefsRoot()}/error_log`, "latin1");
    const last = [...text.matchAll(/^\[[^\]]*\] \w+: error: (.*)(?:\n +Command: (\S+))?/gm)].at(-1);
    // Lines of these kinds are not looked at where the kernel does not know them.
    if (last === undefined || (lacking(line) !== undefined && last[2] !== line.split(" ", 1)[0])) return undefined;
    return refusalHints().complaint(last[1]);
  } catch {
    return undefined;
  }
}
