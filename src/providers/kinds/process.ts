// process and thread: programs and threads as they begin and end, by the program's file. The kernel has no one event
// for these: a program begins with an exec or as the child of a fork, which is seen by the child as its first return
// from a call.
import { userProbes } from "../../messages/user-probes.ts";
import { closeSync } from "node:fs";
import type { Context, Fetch } from "../../language/context.ts";
import { memberOffset } from "../../language/layout.ts";
import type { ProbeSpec } from "../../language/probe-spec.ts";
import { addressOf, MAP_PRIVATE, mmap, munmap, pageSize, PROT_READ } from "../../linux/ffi.ts";
import { openOthersFile } from "../../linux/others-files.ts";
import { processMaps } from "../../linux/processes/procfs.ts";
import { unquote } from "../../machine/binaries/binaries.ts";
import type { Provider, Resolution, ResolveOptions } from "../provider.ts";
import { rawtracepoint } from "./rawtracepoint.ts";
import { didYouMean, missing, refused, wrongParts } from "../resolution.ts";
import type { System } from "../../machine/system.ts";
import { tracepoint } from "./tracepoint.ts";
import { Failure, saidBy } from "../../base/failure.ts";
import { machineReasons } from "../../messages/on-demand.ts";

const moments = ["begin", "end"] as const;
/** Calls that come back twice, in the child with 0. */
const forks = ["clone", "clone3", "fork", "vfork"];

/** Values of which some must be zero and some not, for the handler to run. */
interface Condition {
  readonly zero: readonly Fetch[];
  readonly nonzero: readonly Fetch[];
}

function life(name: "process" | "thread"): Provider {
  const provider: Provider = {
    name,
    aliases: [],
    inSearches: "never",
    usage: `${name}:BINARY:(begin|end)`,
    doc:
      name === "process"
        ? "Programs as they begin, by exec or as the child of a fork, and as they end."
        : "Threads as they begin and end, but for the first one of a program.",

    *list(parts) {
      for (const moment of moments)
        if (parts.length < 2 || parts[1] === moment)
          yield { probe: `${name}:${parts.length > 1 ? parts[0] : "*"}:${moment}` };
    },

    resolve(spec, system, options) {
      const [target = "", moment = ""] = spec.parts.map(unquote);
      if (spec.parts.length !== 2) return wrongParts(spec, provider.usage);
      if (moment !== "begin" && moment !== "end")
        return refused(spec, userProbes.noMoment(moment, name, didYouMean(moment, moments) ?? "it is begin or end"));
      const anyone = target === "*" || target === "";
      const binary = anyone ? undefined : system.binary(target, options.pid);
      if (!anyone && binary === undefined) return missing(spec, options, userProbes.thereNoProgram(target));
      const task = taskMembers(system);
      if (task === undefined) return refused(spec, userProbes.kernelDoesNotDescribeTasks());
      const file = binary === undefined ? [] : runsFile(binary.path, task);
      if (file instanceof Failure) return refused(spec, userProbes.whichProcessesRunCannotTold(target, file.reason));

      const own = { kind: "binary", operator: "^", left: task.pid, right: task.tgid } as const;
      const first: Condition =
        name === "process" ? { zero: [...file, own], nonzero: [] } : { zero: file, nonzero: [own] };
      const at = (of: Provider, parts: readonly string[], condition: (context: Context) => Condition): Resolution =>
        delegated(
          { of, parts, name: `${name}:${binary?.shownPath ?? "*"}:${moment}`, condition },
          spec,
          system,
          options,
        );
      if (moment === "begin") {
        const born = forks.map((call) =>
          at(tracepoint, ["syscalls", `sys_exit_${call}`], (context) => ({
            zero: [...first.zero, context.args?.find((arg) => arg.name === "ret")?.fetch ?? never],
            nonzero: first.nonzero,
          })),
        );
        const run =
          name === "process" ? [at(rawtracepoint, ["sched_process_exec"], () => ({ zero: file, nonzero: [] }))] : [];
        return joined([...run, ...born]);
      }
      // Before 6.16, a program's memory is gone when the event comes, and with it what file it ran.
      const group =
        system.rawTracepoint("sched_process_exit")?.args.findIndex((arg) => arg.name === "group_dead") ?? -1;
      if (group < 0 && (!anyone || name === "process")) {
        return refused(spec, userProbes.whichEndsToldSinceLinux(name === "process" ? "process" : "thread"));
      }
      const dead: Fetch = { kind: "context", offset: group * 8, size: 1, signed: false };
      return at(rawtracepoint, ["sched_process_exit"], () =>
        name === "process" ? { zero: file, nonzero: [dead] } : first,
      );
    },
  };
  return provider;
}

export const process = life("process");
export const thread = life("thread");

/** Not zero, whatever happens. */
const never: Fetch = { kind: "constant", value: 1n };

interface Delegated {
  readonly of: Provider;
  readonly parts: readonly string[];
  readonly name: string;
  readonly condition: (context: Context) => Condition;
}

/** Another provider's sites under a name of ours, in a context that leaves at once unless a condition holds. */
function delegated(
  { of, parts, name, condition }: Delegated,
  spec: ProbeSpec,
  system: System,
  options: ResolveOptions,
): Resolution {
  const uses = new Set([...options.uses, "args"]);
  const { variants, diagnostics } = of.resolve({ ...spec, provider: of.name, parts: [...parts] }, system, {
    ...options,
    uses,
    missing: "ignore",
  });
  return {
    diagnostics,
    variants: variants.flatMap(({ context, provider, sites }) => {
      if (context === "host") return [];
      const { args: _args, numbered: _numbered, contextType: _type, ...rest } = context;
      return [
        {
          provider,
          context: { ...rest, requires: holds(condition(context)) },
          sites: sites.map((site) => ({ ...site, name })),
        },
      ];
    }),
  };
}

function joined(resolutions: readonly Resolution[]): Resolution {
  return {
    variants: resolutions.flatMap(({ variants }) => variants),
    diagnostics: resolutions.flatMap(({ diagnostics }) => diagnostics),
  };
}

/** 1 when it does, else 0. */
function holds({ zero, nonzero }: Condition): Fetch {
  const one: Fetch = { kind: "constant", value: 1n };
  const parts = nonzero.map(isSet);
  const any = zero.reduce<Fetch | undefined>(
    (left, right) => (left === undefined ? right : { kind: "binary", operator: "|", left, right }),
    undefined,
  );
  if (any !== undefined) parts.push({ kind: "binary", operator: "^", left: isSet(any), right: one });
  return parts.reduce((left, right) => ({ kind: "binary", operator: "&", left, right }), one);
}

/** 1 for all but 0: the sign of x | -x. */
function isSet(value: Fetch): Fetch {
  const negative: Fetch = { kind: "binary", operator: "-", left: { kind: "constant", value: 0n }, right: value };
  return {
    kind: "binary",
    operator: ">>>",
    left: { kind: "binary", operator: "|", left: value, right: negative },
    right: { kind: "constant", value: 63n },
  };
}

interface TaskMembers {
  readonly pid: Fetch;
  readonly tgid: Fetch;
  /** Of the file that it runs. */ readonly inode: Fetch;
  readonly device: Fetch;
}

function taskMembers({ types }: System): TaskMembers | undefined {
  const offsetOf = (struct: string, member: string): number | undefined =>
    memberOffset(types.find(struct, "struct"), member);
  const pointed = (base: Fetch | undefined, struct: string, member: string, size: 4 | 8): Fetch | undefined => {
    const offset = offsetOf(struct, member);
    return base === undefined || offset === undefined
      ? undefined
      : { kind: "pointed", base, offset, size, signed: false, space: "kernel" };
  };
  const task: Fetch = { kind: "task" };
  const [pid, tgid] = [pointed(task, "task_struct", "pid", 4), pointed(task, "task_struct", "tgid", 4)];
  const file = pointed(
    pointed(pointed(task, "task_struct", "mm", 8), "mm_struct", "exe_file", 8),
    "file",
    "f_inode",
    8,
  );
  const inode = pointed(file, "inode", "i_ino", 8);
  const device = pointed(pointed(file, "inode", "i_sb", 8), "super_block", "s_dev", 4);
  return pid && tgid && inode && device && { pid, tgid, inode, device };
}

/**
 * Zero where the task runs the file. In words why not: the kernel's own numbers of a file are those that its mappings
 * show.
 */
function runsFile(path: string, { inode, device }: TaskMembers): Fetch[] | Failure {
  let fd: number;
  try {
    fd = openOthersFile(path).descriptor;
  } catch (error) {
    return new Failure(saidBy(error));
  }
  try {
    const memory = mmap(fd, pageSize(), PROT_READ, 0, MAP_PRIVATE);
    try {
      const mapping = processMaps(globalThis.process.pid).find(
        ({ start }) => start === BigInt(addressOf(new Uint8Array(memory))),
      );
      if (mapping === undefined) return new Failure(machineReasons().notAmongMappings());
      const [major, minor] = mapping.device.split(":").map((part) => Number.parseInt(part, 16));
      return [
        { kind: "binary", operator: "^", left: inode, right: { kind: "constant", value: mapping.inode } },
        {
          kind: "binary",
          operator: "^",
          left: device,
          right: { kind: "constant", value: (BigInt(major) << 20n) | BigInt(minor) },
        },
      ];
    } finally {
      munmap(memory);
    }
  } finally {
    closeSync(fd);
  }
}
