// Builtin values: who ran, where and when, and what the probe offers.
import { onceAt } from "../../language/context.ts";
import { argumentNumber, findBuiltin } from "../../language/builtins/table.ts";
import type { Builtin } from "../../language/program.ts";
import type { Argument } from "../../language/context.ts";
import type { Type } from "../../language/types.ts";
import { fieldLayout } from "../../language/layout.ts";
import type { BuiltinValue, Place, Value } from "../ir/ir.ts";
import { decide } from "./decision-tree.ts";
import { endedText } from "./equality.ts";
import { argumentPlace, argumentValue, contextOf, contextValue, fetchValue } from "./fetch.ts";
import { at, copy, noteTyped } from "./memory.ts";
import { isRegister, widthOf } from "./registers.ts";
import { stackSource } from "./stacks.ts";
import type { FunctionState, Located } from "./state.ts";
import { Failure } from "../../base/failure.ts";

/** Builtins that are one operation of the IR. */
const direct: Partial<Record<string, BuiltinValue>> = {
  cpu: "cpu",
  cgroup: "cgroup",
  rand: "random",
  nsecs: "nsecs-boot",
  jiffies: "jiffies",
  elapsed: "elapsed",
  cpid: "child-pid",
  usermode: "user-mode",
};

export function plainBuiltin(f: FunctionState, name: BuiltinValue): Value {
  return f.build.give((result) => ({ op: "builtin", result, name }), name);
}

/** Half of what a helper gives. */
export function idValue(f: FunctionState, name: "pid" | "tid" | "uid" | "gid", initial = false): Value {
  const both = plainBuiltin(
    f,
    name === "uid" || name === "gid" ? "gid-and-uid" : initial ? "initial-pid-and-tid" : "pid-and-tid",
  );
  return name === "pid" || name === "gid"
    ? f.build.binary("lshr", both, f.build.constant(32n))
    : f.build.extend(both, 32, false);
}

/**
 * The interrupted code's mode, where there are its registers; tracepoints and functions of the kernel run in the
 * kernel.
 */
function userMode(f: FunctionState): Value {
  const context = contextOf(f);
  if (context === undefined || context.program.type === "kprobe" || context.program.type === "perf_event") {
    return f.fromHandler("user-mode", (handler) => plainBuiltin(handler, "user-mode"));
  }
  // What runs once is a test run: strobe's.
  return f.build.constant(onceAt(context) === undefined ? 0n : 1n);
}

export function builtinValue(f: FunctionState, e: Builtin): Value {
  const { name } = e;
  const same = direct[name];
  if (same === "user-mode") return userMode(f);
  if (same !== undefined) return plainBuiltin(f, same);
  const number = argumentNumber(name);
  const context = contextOf(f);
  if (number !== undefined) {
    const fetch = context?.numbered?.[number];
    return fetch === undefined ? f.fault(e.span, "an argument that the context does not have") : fetchValue(f, fetch);
  }
  switch (name) {
    case "pid":
    case "tid":
    case "uid":
    case "gid":
      return idValue(f, name);
    case "username":
      return idValue(f, "uid");
    case "curtask": {
      const task = plainBuiltin(f, "task");
      noteTyped(f, task, e.type);
      return task;
    }
    case "user_registers": {
      const registers = plainBuiltin(f, "user-registers");
      noteTyped(f, registers, e.type);
      return registers;
    }
    case "ctx":
      return contextValue(f);
    case "retval":
      return context?.retval === undefined
        ? f.fault(e.span, "`retval` where nothing returns")
        : argumentValue(f, context.retval);
    case "goid":
      return context?.goroutine === undefined
        ? f.fault(e.span, "`goid` without a goroutine")
        : fetchValue(f, context.goroutine);
    case "probe":
      return probeIndex(f);
    case "func":
      return functionAddress(f);
    case "ncpus":
      return f.build.constant(BigInt(f.module.options.capabilities.cpus));
    case "has_cpid":
      return f.build.compare("ne", plainBuiltin(f, "child-pid"), f.build.constant(0n));
    case "default_str_length":
      return f.build.constant(BigInt(f.module.checked.config.maxStringLength));
    default: {
      const helper = findBuiltin(name)?.helper;
      return helper === undefined ? f.fault(e.span, "a builtin without code") : plainBuiltin(f, `helper:${helper}`);
    }
  }
}

function functionAddress(f: FunctionState): Value {
  // Which function was hit is told by the registers that the handler's context holds.
  return f.fromHandler("func-ip", (handler) => plainBuiltin(handler, "func-ip"));
}

/** Index of the probe that fired among the plan's probe names. */
export function probeIndex(f: FunctionState): Value {
  const { sites } = f.handler;
  const { probeNames } = f.module;
  // A wildcard may have ten thousand.
  const known = new Map(sites.length > 1 ? probeNames.map((name, i) => [name, i]) : []);
  const indices = sites.map((site) => known.get(site.name) ?? probeNames.indexOf(site.name));
  if (new Set(indices).size <= 1) return f.build.constant(BigInt(indices[0] ?? 0));
  const context = contextOf(f);
  if (context?.program.cookie)
    return f.fromHandler("attach-cookie", (handler) => plainBuiltin(handler, "attach-cookie"));
  const dispatch = context?.program.dispatch;
  if (dispatch === undefined) return f.build.constant(BigInt(indices[0]));
  return f.fromHandler("probe", (handler) => {
    const subject = fetchValue(handler, dispatch);
    const cases = sites
      .map((site, i) => ({ key: site.match ?? 0n, index: BigInt(indices[i]) }))
      .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
    // Sites in a row of numbers need no decisions.
    const shift = cases[0].index - cases[0].key;
    if (cases.every((c) => c.index - c.key === shift)) {
      return handler.build.binary("add", subject, handler.build.constant(shift));
    }
    return decide(
      handler,
      subject,
      cases.map(({ key, index }) => ({ key, value: () => handler.build.constant(index) })),
    );
  });
}

export function builtinLocated(f: FunctionState, e: Builtin): Located {
  const { name, type } = e;
  switch (name) {
    case "comm":
      return { at: "source", source: { kind: "comm" } };
    case "kstack":
    case "ustack":
    case "dw_ustack":
      return { at: "source", source: stackSource(f, e) };
    case "func":
      return functionName(f, e);
    case "probetype":
      return text(f.handler.provider);
    case "probe":
      return text(f.handler.sites[0]?.name ?? "");
    case "args":
      return { at: "place", place: allArguments(f, e, contextOf(f)?.args ?? []) };
    case "vars": {
      const variables = contextOf(f)?.variables;
      return {
        at: "place",
        place: allArguments(f, e, variables === undefined || variables instanceof Failure ? [] : variables.inScope),
      };
    }
    case "retval": {
      const { retval } = contextOf(f) ?? {};
      if (retval === undefined) break;
      return argumentPlace(f, retval);
    }
    default:
  }
  if (isRegister(type))
    return { at: "source", source: { kind: "value", value: builtinValue(f, e), width: widthOf(type) } };
  return f.fault(e.span, "a builtin without code");
}

function text(characters: string): Located {
  const bytes = endedText(characters);
  return { at: "source", source: { kind: "constant", bytes, size: bytes.length } };
}

function functionName(f: FunctionState, e: Builtin): Located {
  const { type } = e;
  if (type.kind === "string") return text(f.handler.sites[0]?.func ?? "");
  return { at: "place", place: userSymbol(f, type, functionAddress(f)) };
}

/** A `usym`: the address and the process it means something in. */
export function userSymbol(f: FunctionState, type: Type, address: Value): Place {
  const place = f.slot("usym", type);
  f.build.emit({ op: "store", to: place, value: address, size: 8 });
  f.build.emit({ op: "store", to: at(place, 8), value: idValue(f, "pid"), size: 8 });
  return place;
}

/** `args` or `vars` as a whole: a record of every one. */
function allArguments(f: FunctionState, e: Builtin, args: readonly Argument[]): Place {
  const { type } = e;
  if (type.kind !== "record") return f.fault(e.span, "`args` that is not a record");
  const place = f.slot(e.name, type);
  const { offsets, size } = fieldLayout(type.fields.map((field) => field.type));
  f.build.emit({ op: "zero", at: place, size });
  type.fields.forEach((field, i) => {
    const argument = args[i];
    const to = at(place, offsets[i]);
    if (argument.absent !== undefined) {
      copy(f, argumentPlace(f, argument), field.type, field.type, to);
    } else if (isRegister(field.type)) {
      f.build.emit({ op: "store", to, value: argumentValue(f, argument), size: widthOf(field.type) });
    } else {
      copy(f, argumentPlace(f, argument), argument.type, field.type, to);
    }
  });
  return place;
}
