// `--follow`: the traced process and the children it starts, whatever they become. The kernel keeps the set of their
// pids itself, so that a child is traced from its first instruction on.
import { InternalError } from "../../base/internal-error.ts";
import { parse } from "../../language/bpftrace/parse.ts";
import type { Expression, Probe, Program } from "../../language/program.ts";
import { unknownType } from "../../language/types.ts";

/** Nobody can write this name, and whoever prints maps leaves it out. */
export const followedMap = ".followed";
const written = "followed";
/** Processes at a time. */
const most = 1 << 16;

/**
 * What keeps the set: before all other probes, so that it is attached first. A thread that starts names its own process
 * again.
 */
const keeping = (pid: string): string => `
  begin { @${written}[${pid}] = 1; }
  rawtracepoint:sched_process_fork /has_key(@${written}, (uint64)args.parent.tgid)/ { @${written}[(uint64)args.child.tgid] = 1; }
  rawtracepoint:sched_process_free /args.p.pid == args.p.tgid/ { delete(@${written}, (uint64)args.p.tgid); }`;

/** The script with what keeps the set in front. `pid`: of the process; the command's unless given. */
export function followingChildren(
  program: Program,
  pid: number | undefined,
): { readonly program: Program; readonly own: ReadonlySet<Probe> } {
  const text = keeping(pid === undefined ? "cpid" : String(pid));
  const parsed = parse({ name: "--follow", text }, { positional: [], named: new Map() });
  const [problem] = parsed.diagnostics;
  if (problem !== undefined) throw new InternalError(`--follow: ${problem.message}`);
  const probes = renamed(parsed.program.probes) as readonly Probe[];
  const { span } = probes[0];
  return {
    program: {
      ...program,
      maps: [...program.maps, { name: followedMap, storage: "hash", entries: most, span }],
      probes: [...probes, ...program.probes],
    },
    own: new Set(probes),
  };
}

/** A probe whose handler leaves at once in any other process. */
export function ofFollowed(probe: Probe): Probe {
  const { span } = probe;
  const node = { span, type: unknownType };
  const pid: Expression = { kind: "builtin", name: "pid", ...node };
  const own: Expression = {
    kind: "call",
    name: "has_key",
    args: [{ kind: "map", name: followedMap, keys: [], ...node }, pid],
    ...node,
  };
  return { ...probe, guard: own };
}

/** A tree with the map's own name. */
function renamed(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(renamed);
  if (typeof node !== "object" || node === null) return node;
  const copy = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, renamed(value)]));
  return copy["name"] === written ? { ...copy, name: followedMap } : copy;
}
