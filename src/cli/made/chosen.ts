// -p, -c, --comm, --user, --cgroup as a condition in a script: for objects of the kernel, which one process takes and
// any other may give back, so that the choice is of those that take.
import type { Options } from "../options.ts";
import { questions } from "../../messages/questions.ts";
import { UsageError } from "../usage-error.ts";
import { quoted } from "./made-script.ts";

/** `1` where none are chosen. */
export function chosenCondition({ pid, only = {}, command, switches }: Options): string {
  if (switches.follow === true) throw new UsageError(questions.followsOne());
  const parts = [
    pid === undefined ? [] : [`pid == ${pid}`],
    command === undefined ? [] : ["pid == cpid"],
    only.pids?.map((one) => `pid == ${one}`) ?? [],
    only.comms?.map((name) => `comm == ${quoted(name)}`) ?? [],
    only.users?.map((uid) => `uid == ${uid}`) ?? [],
  ].flatMap((any) => (any.length === 0 ? [] : [`(${any.join(" || ")})`]));
  if (only.cgroups !== undefined) throw new UsageError(questions.withoutCgroup());
  // strobe's own doings are nobody's question.
  return [...parts, ...(parts.length === 0 ? [`comm != "strobe"`] : [])].join(" && ");
}
