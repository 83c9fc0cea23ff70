// `-p 1,nginx`, `--comm`, `--user`, `--cgroup`: what they mean on this machine, now.
import type { CgroupRef, ProcessFilter } from "../compiler/sites/process-filter.ts";
import { cgroupId, cgroupPath } from "../linux/kernel/cgroups.ts";
import { comm, processIds } from "../linux/processes/procfs.ts";
import { userId } from "../linux/processes/user-names.ts";
import { commandLine } from "../messages/on-demand.ts";
import { readPid, UsageError } from "./usage-error.ts";

export interface ChosenProcesses {
  /** Where -p means one process, which is then attached to; several are told apart in the handlers. */
  readonly pid?: number;
  readonly only?: ProcessFilter;
}

type Words = { readonly [Flag in "pid" | "comm" | "user" | "cgroup"]: string | undefined };

/** @throws UsageError */
export function readFilter(words: Words, follow: boolean): ChosenProcesses {
  const all = [...new Set(listed("-p", words.pid)?.flatMap(pidsOf))];
  if (all.length > 1 && follow) throw new UsageError(commandLine().followTakesOne(words.pid, all.length));
  const [pid, ...others] = all;
  const only: ProcessFilter = {
    ...(others.length === 0 ? {} : { pids: all }),
    ...(words.comm === undefined ? {} : { comms: listed("--comm", words.comm)?.map(commOf) }),
    ...(words.user === undefined ? {} : { users: listed("--user", words.user)?.map(userOf) }),
    ...(words.cgroup === undefined ? {} : { cgroups: listed("--cgroup", words.cgroup)?.map(cgroupOf) }),
  };
  return {
    ...(pid === undefined || others.length > 0 ? {} : { pid }),
    ...(Object.keys(only).length === 0 ? {} : { only }),
  };
}

function listed(flag: string, text: string | undefined): readonly string[] | undefined {
  const words = text?.split(",").map((word) => word.trim());
  if (words?.includes("")) throw new UsageError(commandLine().noList(flag, words.join(",")));
  return words;
}

/** A number, or the processes of a program's name that run now. */
function pidsOf(word: string): readonly number[] {
  if (/^-?\d/.test(word)) return [readPid("-p", word)];
  const found = processIds().filter((pid) => pid !== process.pid && comm(pid) === word.slice(0, 15));
  if (found.length === 0) throw new UsageError(commandLine().noProcess(word));
  return found;
}

/** The kernel keeps 15 bytes of a name (TASK_COMM_LEN). */
function commOf(word: string): string {
  if (Buffer.byteLength(word) > 15) throw new UsageError(commandLine().commTooLong(word));
  return word;
}

function userOf(word: string): number {
  if (/^\d+$/.test(word) && Number(word) < 2 ** 32) return Number(word);
  const id = userId(word);
  if (id === undefined) throw new UsageError(commandLine().noUser(word));
  return id;
}

function cgroupOf(word: string): CgroupRef {
  const id = cgroupId(word);
  const path = id === undefined ? undefined : cgroupPath(id);
  if (id === undefined || path === undefined) throw new UsageError(commandLine().noCgroup(word));
  return { id: String(id), level: path.split("/").filter((part) => part !== "").length };
}
