// Functions of the script that call themselves: each is a function of the module, which strobe's own process runs.
import { compiler } from "../../messages/compiler.ts";
import type { CheckedFunction } from "../../language/checked-program.ts";
import { sizeOf } from "../../language/layout.ts";
import type { Call } from "../../language/program.ts";
import { u64, type Type } from "../../language/types.ts";
import type { Place } from "../ir/ir.ts";
import { followLeaves, newCallback } from "./callbacks.ts";
import { leaveHandler } from "./exits.ts";
import { raise } from "./faults.ts";
import { isRegister } from "./registers.ts";
import { convert } from "./scalars.ts";
import { FunctionState, type CalledFunction, type Frame, type Home } from "./state.ts";

/** How a call of a function is built: in place, or as a call where it is under way around here. */
export function recursiveCall(f: FunctionState, e: Call, fn: CheckedFunction): Home | undefined | "in place" {
  const within = new Set<FunctionState>();
  for (let around: FunctionState | undefined = f; around !== undefined; around = around.outer) {
    within.add(around);
    const { called } = around;
    if (called === undefined) continue;
    if (called.fn.name === fn.name) {
      // A try has no way to what fails below, nor a function in between to the frame of this one.
      const others = [...within].some((one) => one !== around && one.called !== undefined);
      if (others || (f.catching !== undefined && within.has(f.catching.owner)))
        return f.refuse(e.span, compiler.recursionWithin(fn.name));
      return callAgain(f, e, called);
    }
    if (fn.reaches?.has(called.fn.name) === true) {
      for (let frame: Frame | undefined = f.frame; frame !== undefined; frame = frame.caller)
        if (frame.of === fn.name) return f.refuse(e.span, compiler.recursionWithin(fn.name));
      return "in place";
    }
  }
  return callFirst(f, e, fn);
}

const depthSize = 8;

function layoutOf(fn: CheckedFunction, callback: number): CalledFunction {
  let size = depthSize;
  const allocate = (type: Type): number => {
    const offset = size;
    size += Math.max(8, Math.ceil((isRegister(type) ? 8 : sizeOf(type)) / 8) * 8);
    return offset;
  };
  const args = fn.variables.slice(0, fn.parameters).map(({ type }) => allocate(type));
  const hasResult = fn.result.kind !== "void" && fn.result.kind !== "unknown";
  const result = hasResult ? allocate(fn.result) : -1;
  return { fn, callback, args, result, size };
}

/** Builds the function, and calls it. */
function callFirst(f: FunctionState, e: Call, fn: CheckedFunction): Home | undefined {
  const { build, module } = f;
  const { callback, finish } = newCallback(f, fn.name);
  const called = layoutOf(fn, callback);
  const inner = new FunctionState(module, f.handler, f.frame, f);
  inner.reserve(called.size);
  inner.called = called;
  pass(f, e, called, inner.captureSlot, build.constant(1n));
  buildBody(inner, e, called, f.frame);
  finish(inner);

  const { takeBack, leaves } = inner.closeCaptures();
  build.emit({ op: "call", callback, frame: inner.captureSlot, first: true });
  takeBack();
  followLeaves(f, inner, leaves, () => leaveHandler(f));
  return resultOf(f, called, inner.captureSlot);
}

function callAgain(f: FunctionState, e: Call, called: CalledFunction): Home | undefined {
  const { build } = f;
  const frame = build.newSlot("frame", called.size);
  const depth = f.loadHome(f.reach(called.depth!));
  const next = build.binary("add", depth, build.constant(1n));
  const { deepest, words } = called.fn.recursion!;
  const edges = build.branch(build.compare("sgt", next, build.constant(BigInt(deepest))));
  build.start(edges.then);
  if (!raise(f, "error", words, e.span)) leaveHandler(f);
  build.start(edges.otherwise);
  pass(f, e, called, frame, next);
  const inLoop = f.called === called ? {} : { inLoop: true as const };
  build.emit({ op: "call", callback: called.callback, frame, first: false, ...inLoop });
  return resultOf(f, called, frame);
}

const inFrame = (offset: number): Place => ({ kind: "callback", of: "frame", offset });

/** Puts depth and arguments into a frame. */
function pass(f: FunctionState, e: Call, { fn, args }: CalledFunction, frame: number, depth: number): void {
  const { build } = f;
  const at = (offset: number): Place => ({ kind: "slot", slot: frame, offset });
  build.emit({ op: "store", to: at(0), value: depth, size: 8 });
  e.args.slice(0, fn.parameters).forEach((argument, i) => {
    const { type } = fn.variables[i];
    if (isRegister(type))
      build.emit({ op: "store", to: at(args[i]), value: convert(f, f.value(argument), argument.type, type), size: 8 });
    else f.into(argument, type, at(args[i]));
  });
}

/** The result, out of the frame. */
function resultOf(f: FunctionState, { fn, result }: CalledFunction, frame: number): Home | undefined {
  if (result < 0) return undefined;
  const from: Place = { kind: "slot", slot: frame, offset: result };
  const home = f.newHome(`${fn.name}()`, fn.result);
  if (home.kind === "register")
    f.storeHome(
      home,
      f.build.give((loaded) => ({ op: "load", result: loaded, from, size: 8, signed: false })),
    );
  else if (home.kind === "memory")
    f.build.emit({ op: "fill", to: home.place, source: { kind: "copy", from, size: sizeOf(fn.result) } });
  return home;
}

function buildBody(inner: FunctionState, e: Call, { fn, args, result }: CalledFunction, caller: Frame): void {
  const { build } = inner;
  const exit = build.newBlock();
  const home: Home | undefined =
    result < 0 ? undefined : { kind: "memory", owner: inner, place: inFrame(result), type: fn.result };
  inner.frame = {
    variables: fn.variables,
    homes: new Map(),
    caller,
    call: e.span,
    of: fn.name,
    inlined: { result: home, exit, owner: inner },
  };
  if (home?.kind === "memory") {
    const size = isRegister(fn.result) ? 8 : sizeOf(fn.result);
    build.emit({ op: "zero", at: home.place, size });
  }
  const depth = inner.newHome("depth", u64);
  inner.storeHome(
    depth,
    build.give((loaded) => ({ op: "load", result: loaded, from: inFrame(0), size: 8, signed: false })),
  );
  inner.called = { ...inner.called!, depth };
  args.forEach((offset, i) => {
    const { name, type } = fn.variables[i];
    const own = inner.newHome(name, type);
    inner.frame.homes.set(i, own);
    const from = inFrame(offset);
    if (own.kind === "register")
      inner.storeHome(
        own,
        build.give((loaded) => ({ op: "load", result: loaded, from, size: 8, signed: false })),
      );
    else if (own.kind === "memory")
      build.emit({ op: "fill", to: own.place, source: { kind: "copy", from, size: sizeOf(type) } });
  });
  inner.beginVariables(fn.parameters);
  inner.run(fn.body);
  build.jump(exit);
  build.seal(exit);
  build.start(exit);
  build.return(false);
}
