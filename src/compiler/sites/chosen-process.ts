// `chosen_process`: what -p, --comm, --user, --cgroup and --follow choose among, as a condition that a handler asks for
// by itself, of the current process or of a task.
import { usedBuiltins } from "../../language/check/uses.ts";
import type { Expression, Program } from "../../language/program.ts";
import { unknownType } from "../../language/types.ts";
import { isFollowed } from "./follow-children.ts";
import { currentPid, joined, isOneOf, taskMember, type ProcessFilter } from "./process-filter.ts";

const name = "chosen_process";

interface Chosen {
  readonly pid?: number | undefined;
  readonly only?: ProcessFilter | undefined;
  readonly follow?: boolean | undefined;
}

/** The script with the condition wherever it asks for it: true where nothing chooses. */
export function withChosenProcesses(program: Program, chosen: Chosen): Program {
  if (!program.probes.some((probe) => usedBuiltins(probe, program.functions).has(name))) return program;
  const replaced = <T>(node: T): T => {
    if (typeof node !== "object" || node === null) return node;
    if (Array.isArray(node)) {
      const made = node.map(replaced);
      return made.some((part, i) => part !== node[i]) ? (made as T) : node;
    }
    const { kind, name: called, args, span } = node as Partial<Extract<Expression, { kind: "call" }>>;
    if (called === name && span !== undefined) {
      if ((kind as string) === "builtin") return { ...condition(chosen), span } as T;
      if (kind === "call" && args?.length === 1) return { ...condition(chosen, replaced(args[0])), span } as T;
    }
    const parts = Object.entries(node);
    const made = parts.map(([key, part]) => [key, key === "type" ? part : replaced(part)] as const);
    return made.some(([, part], i) => part !== parts[i][1]) ? (Object.fromEntries(made) as T) : node;
  };
  return { ...program, probes: replaced(program.probes), functions: replaced(program.functions) };
}

function condition({ pid, only, follow }: Chosen, task?: Expression): Expression {
  const processId = task === undefined ? currentPid : taskMember(task, "tgid");
  const all = [
    ...(follow === true ? [isFollowed(processId)] : pid === undefined ? [] : isOneOf({ pids: [pid] }, task)),
    ...isOneOf(only, task),
  ];
  return all.length === 0
    ? { kind: "boolean", value: true, span: { start: 0, end: 0 }, type: unknownType }
    : joined("&&", all);
}
