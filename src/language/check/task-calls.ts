// Calls of the current task: its stacks, its names and numbers, the clocks by their names.
import { calls } from "../../messages/calls.ts";
import { InternalError } from "../../base/internal-error.ts";
import type { Expression } from "../program.ts";
import { fullStack, languageStackModes, stackUnwindings, u64 } from "../types.ts";
import type { StackMode, StackUnwinding, Type } from "../types.ts";
import { ofTask, stacksAllowed, stackType } from "./builtin-values.ts";
import { constantOf } from "./constants.ts";
import { report, warn } from "./pass.ts";
import type { CallCheck } from "./pass.ts";
import { notHere } from "./place-types.ts";
import { functionName } from "./spelling.ts";
import { checkValue } from "./values.ts";

const stack: CallCheck = (call, body) => {
  if (!stacksAllowed(body)) return { ...call, type: report(body, call.span, notHere(call.name, body)) };
  let mode: StackMode | undefined;
  let limit: number | undefined;
  let unwinding: StackUnwinding | undefined;
  for (const arg of call.args) {
    if (arg.kind === "identifier") {
      const named = call.name === "ustack" ? stackUnwindings.find((way) => way === arg.name) : undefined;
      if (named !== undefined) {
        unwinding = named;
        continue;
      }
      const modes = ["bpftrace", "perf", "raw", ...(call.name === "kstack" ? [] : ["build_id"])];
      if (![...modes, ...languageStackModes].includes(arg.name)) {
        return {
          ...call,
          type: report(
            body,
            arg.span,
            calls.errorParsingStackModeInvalid(
              call.name,
              arg.name,
              [...modes, ...(call.name === "ustack" ? stackUnwindings : [])].join(", "),
            ),
          ),
        };
      }
      mode = arg.name as StackMode;
      continue;
    }
    const value = checkValue(arg, body);
    const constant = constantOf(value);
    if (constant === undefined) {
      if (value.type.kind !== "unknown") report(body, arg.span, calls.invalidLimitValueExpectedConstant(call.name));
    } else if (constant < 1n) {
      report(body, arg.span, calls.takesFrameLeast(functionName(body, call.name)));
    } else if (constant > 1024n) {
      report(body, arg.span, calls.limitShouldnTExceedGiven(functionName(body, call.name), constant));
    } else {
      limit = Math.min(Number(constant), fullStack);
      if (constant > BigInt(fullStack)) {
        warn(body, arg.span, calls.keepsFramesMostAsked(functionName(body, call.name), fullStack, constant));
      }
    }
  }
  return { ...call, args: [], type: stackType(call.name, body, call.span, { mode, limit, unwinding }) };
};

/** A stack in another mode is the same bytes. */
const stackAs: CallCheck = (call, body) => {
  const [stack, word] = call.args;
  const mode = word?.kind === "identifier" ? languageStackModes.find((one) => one === word.name) : undefined;
  if (mode === undefined) throw new InternalError("a stack in a mode without its name");
  const value = checkValue(stack, body);
  return value.type.kind === "stack" ? { ...value, type: { ...value.type, mode } } : value;
};

/** pid(init), nsecs(monotonic): one bare word. */
const worded: (words: readonly string[], type: Type) => CallCheck = (words, type) => (call, body) => {
  const [word] = call.args as [Expression];
  if (word.kind !== "identifier" || !words.includes(word.name)) {
    return {
      ...call,
      type: report(
        body,
        word.span,
        calls.takes(functionName(body, call.name), words.map((w) => `\`${w}\``).join(" or ")),
      ),
    };
  }
  return { ...call, args: [{ ...word, type: { kind: "void" } }], type };
};

const task: (path: readonly string[]) => CallCheck = (names) => (call, body) =>
  ofTask(names, call.args[0], call.span, body);

export const taskCalls: Readonly<Record<string, CallCheck>> = {
  kstack: stack,
  ustack: stack,
  dw_ustack: stack,
  stack_as: stackAs,
  pid: worded(["curr_ns", "init"], { kind: "integer", bits: 32, signed: false }),
  tid: worded(["curr_ns", "init"], { kind: "integer", bits: 32, signed: false }),
  nsecs: worded(["boot", "monotonic", "tai", "sw_tai", "wall"], u64),
  pcomm: task(["real_parent", "comm"]),
  ppid: task(["real_parent", "pid"]),
  leader_comm: task(["group_leader", "comm"]),
  leader_tid: task(["group_leader", "pid"]),
};
