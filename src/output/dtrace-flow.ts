// Calls as DTrace draws them with flowindent: what is called is indented below what calls it.
import type { Plan } from "../compiler/plan.ts";
import { partOfName } from "../language/resolved-probe.ts";

interface Flow {
  /** Columns. */
  indent: number;
  /** The probe that was shown last. */
  last: number;
}

/** Of each processor. */
const flows = new WeakMap<Plan, Map<number, Flow>>();

/**
 * `-> f` of an entry, `<- f` of its return (`=>` and `<=` of a system call), `| f:name` of all else, indented, but
 * for DTrace's own probes. What follows in the same probe is `|` as well: its call is shown already.
 *
 * @param index of the name, among those of the plan
 */
export function flowText(plan: Plan, name: string, index: number, cpu: number): string {
  let all = flows.get(plan);
  if (all === undefined) flows.set(plan, (all = new Map<number, Flow>()));
  let flow = all.get(cpu);
  if (flow === undefined) all.set(cpu, (flow = { indent: 0, last: -1 }));
  const again = flow.last === index;
  flow.last = index;
  const line = name.startsWith("syscall:") ? "=" : "-";
  const of = partOfName(name, "function", index);
  const kind = partOfName(name, "name", index);
  if (!again && kind === "entry") {
    flow.indent += 2;
    return `${" ".repeat(flow.indent - 1)}${line}> ${of}`;
  }
  if (!again && kind === "return") {
    flow.indent = Math.max(0, flow.indent - 2);
    return `${" ".repeat(flow.indent + 1)}<${line} ${of}`;
  }
  return `${" ".repeat(name.startsWith("dtrace:") ? 0 : flow.indent)}| ${of}:${kind}`;
}
