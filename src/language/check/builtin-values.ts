// Builtins without arguments: `pid`, `args`, `retval`, `kstack`.
import { InternalError } from "../../base/internal-error.ts";
import { calls } from "../../messages/calls.ts";
import { recordings } from "../../messages/recordings.ts";
import { onceAt } from "../context.ts";
import { argumentNumber, findBuiltin } from "../builtins/table.ts";
import type { Span } from "../diagnostic.ts";
import type { Expression } from "../program.ts";
import type { StackMode, StackType, StackUnwinding, Type } from "../types.ts";
import { boolType, fullStack, u64, unknownType, voidType } from "../types.ts";
import { kernelFeatures, kernelHas } from "../../base/kernel-features.ts";
import type { Capabilities } from "../../linux/kernel/capabilities.ts";
import { allSettings, checkMember, noArguments } from "./members.ts";
import { notRecorded, placeType, where } from "./place-types.ts";
import { argumentsType, checkVariables } from "./variables.ts";
import { comingNames, nameText } from "./site-names.ts";
import type { Body } from "./pass.ts";
import { needsKernel, report, warn } from "./pass.ts";

/** As many characters as there may be (HOST_NAME_MAX, uname(2)), and a NUL: hosts are told apart as one type. */
const hostnameBytes = 65;

export function checkBuiltin(name: string, span: Span, body: Body): Expression {
  const spec = findBuiltin(name);
  const node = (type: Type): Expression => ({ kind: "builtin", name, span, type });
  if (spec === undefined) throw new InternalError(`${name} is no builtin`);
  const { context, pass } = body;
  const text = (value: string): Expression => ({
    kind: "string",
    value,
    outside: true,
    span,
    type: { kind: "string", capacity: Buffer.byteLength(value) + 1 },
  });

  switch (name) {
    case "ncpus":
      return { kind: "integer", value: BigInt(pass.options.capabilities.cpus), span, type: u64 };
    case "has_cpid":
      return { kind: "boolean", value: pass.options.command !== undefined, span, type: boolType };
    case "any_process":
      return { kind: "boolean", value: true, span, type: boolType };
    case "probe":
      return node({ kind: "named", of: "probe" });
    case "probetype":
      return text(isSpecial(context) ? "special" : body.provider);
    case "hostname": {
      const host = (context === "host" ? undefined : context?.recorded?.host) ?? pass.options.capabilities.hostname;
      if (host === undefined) return node(report(body, span, calls.notAvailable(name, where(body))));
      return { kind: "string", value: host, span, type: { kind: "string", capacity: hostnameBytes } };
    }
    case "config":
      return allSettings(span, body);
    case "pcomm":
      return ofTask(["real_parent", "comm"], undefined, span, body);
    case "ppid":
      return ofTask(["real_parent", "pid"], undefined, span, body);
    case "leader_comm":
      return ofTask(["group_leader", "comm"], undefined, span, body);
    case "leader_tid":
      return ofTask(["group_leader", "pid"], undefined, span, body);
    case "kstack":
    case "ustack":
    case "dw_ustack":
      needsKernel(body, name, span);
      if (!stacksAllowed(body)) return node(report(body, span, calls.notAvailable(name, where(body))));
      return node(stackType(name, body, span));
    default:
  }

  if (spec.placement === "kernel") needsKernel(body, name, span);
  if (context === undefined && ["args", "argN", "vars", "retval", "ctx", "func", "goid"].includes(spec.name)) {
    return node(report(body, span, calls.notAvailableFunction(name)));
  }
  const kernel = context === "host" ? undefined : context;
  switch (spec.name) {
    case "args":
      return kernel?.args === undefined ? node(noArguments(body, span)) : node(argumentsType(kernel.args));
    case "vars":
      return node(checkVariables(span, body));
    case "argN": {
      const number = argumentNumber(name)!;
      const count = kernel?.numbered?.length ?? 0;
      if (number < count) return node(u64);
      if (kernel?.numbered !== undefined && count === 0)
        return node(report(body, span, calls.noArguments(body.sites[0]?.name ?? "the probe")));
      if (count > 0) return node(report(body, span, calls.notAvailableHere(name, count - 1)));
      return node(
        report(
          body,
          span,
          notRecorded(name, body) ?? calls.numberedNotAvailable(name, where(body), kernel?.args === undefined),
        ),
      );
    }
    case "retval":
      if (kernel?.retval === undefined) {
        return node(report(body, span, notRecorded("retval", body) ?? calls.retvalNotAvailable(where(body))));
      }
      if (kernel.retval.absent !== undefined) return node(report(body, span, calls.retval(kernel.retval.absent)));
      return node(placeType(kernel.retval.type));
    case "goid":
      if (kernel?.goroutine === undefined)
        return node(report(body, span, notRecorded("goid", body) ?? calls.goidNotAvailable(where(body))));
      return node(u64);
    case "ctx": {
      if (context === "host") return node(u64);
      const type = kernel?.contextType;
      // The verifier knows the context: its members are plain loads.
      return node(
        type?.kind === "pointer"
          ? { ...type, typed: true }
          : (type ?? { kind: "pointer", target: voidType, space: "kernel" }),
      );
    }
    case "func": {
      const [only] = body.sites;
      if (
        only?.func !== undefined &&
        !(body.pass.options.growing === true && kernel?.func === "user") &&
        body.sites.every((site) => site.func === only.func)
      )
        return nameText(only.func, span, body);
      // In files that are not there yet.
      if (kernel?.func === "site" && body.sites.length === 0) return node({ kind: "string", capacity: comingNames });
      if (kernel?.func === undefined) return node(report(body, span, calls.funcNotAvailable(where(body))));
      return node({ kind: "named", of: kernel.func === "user" ? "usym" : "ksym" });
    }
    case "cpid":
      if (body.pass.options.recorded === true && body.pass.options.command === undefined)
        return node(report(body, span, recordings.valueNotRecorded("cpid", "strobe record -c COMMAND records it")));
      // An editor has no command line to be without one.
      // Who asks whether there is one knows.
      if (
        body.pass.options.command === undefined &&
        body.pass.options.parameters !== undefined &&
        !/\bhas_cpid\b/.test(body.pass.program.source.text)
      ) {
        warn(body, span, calls.cpidThereNoCommand());
      }
      return node(spec.type ?? unknownType);
    case "curtask":
      return node(taskType(body));
    case "user_registers":
      return node(kernelObject(body, "pt_regs"));
    default:
      return node(spec.type ?? unknownType);
  }
}

export function stacksAllowed(body: Body): boolean {
  return body.context === undefined || body.context === "host" || body.context.stacks;
}

/** `unwinding`: of a process's stack; unless said, as the name and the settings have it. */
export function stackType(
  name: string,
  body: Body,
  span: Span,
  {
    mode = body.pass.config.stackMode,
    limit = fullStack,
    unwinding = name === "dw_ustack" ? "dwarf" : body.pass.config.stackUnwinding,
  }: {
    readonly mode?: StackMode | undefined;
    readonly limit?: number | undefined;
    readonly unwinding?: StackUnwinding | undefined;
  } = {},
): StackType {
  const { capabilities } = body.pass.options;
  if (name === "kstack") return { kind: "stack", space: "kernel", mode, limit };
  if (unwinding === "fp" || (unwinding === "auto" && !unwindsEasily(capabilities)))
    return { kind: "stack", space: "user", mode, limit };
  if (!capabilities.taskBtf) report(body, span, calls.unwindingNeedsKernelTypeInformation());
  if (capabilities.arm64 === true) report(body, span, calls.unwindingTablesX());
  return { kind: "stack", space: "user", mode, limit, unwind: true };
}

/** Before Linux 5.17 the verifier walks the unwinder round by round, and may give up on it. */
function unwindsEasily({ kernel, taskBtf, arm64 }: Capabilities): boolean {
  return taskBtf && arm64 !== true && kernelHas(kernel, kernelFeatures.calledLoops);
}

/** `struct task_struct *`, known to the verifier where it can be. */
export function taskType(body: Body): Type {
  return kernelObject(body, "task_struct");
}

function kernelObject(body: Body, name: string): Type {
  const { names, options } = body.pass;
  const task = names.resolve(
    { name, tag: "struct", pointers: 0, dimensions: [], span: { start: 0, end: 0 } },
    "kernel",
  );
  if (!("type" in task)) return u64;
  return options.capabilities.taskBtf
    ? { kind: "pointer", target: task.type, space: "kernel", typed: true }
    : { kind: "pointer", target: task.type, space: "kernel" };
}

/** `task.real_parent.comm` and its kin, of the given task or the current one. */
export function ofTask(path: readonly string[], task: Expression | undefined, span: Span, body: Body): Expression {
  let object: Expression = task ?? { kind: "builtin", name: "curtask", span, type: unknownType };
  for (const name of path) object = { kind: "member", object, name, nameSpan: span, span, type: unknownType };
  return object.kind === "member" ? checkMember(object, body) : object;
}

/** What bpftrace calls probes of strobe itself: nothing else happens there. */
function isSpecial(context: Body["context"]): boolean {
  return context === "host" || (context !== undefined && onceAt(context) !== undefined);
}
