// Captured stacks: by the kernel, which keeps them in a map of its own kind, or unwound, which we keep in a hash map.
import { StackFlag, UpdateFlag } from "../../bpf/kinds.ts";
import { Alu, Jump } from "../../bpf/instruction.ts";
import { InternalError } from "../../base/internal-error.ts";
import { stackBytes, type Place, type Source } from "../ir/ir.ts";
import { countCut, countFull, countRefusal } from "./trouble-counters.ts";
import { addressOf, at, constant, inRegister, kernelMap } from "./emitter.ts";
import type { Memory, Register } from "./machine.ts";
import { context, currentIds } from "./scalars.ts";
import type { FunctionScope } from "./scope.ts";
import { STACK_HASH } from "../layouts/stack-numbers.ts";
import { UNWINDER, unwoundAddresses, unwoundBytes } from "../layouts/unwind-layout.ts";

type StackSource = Extract<Source, { kind: "stack" }>;

/**
 * A stack has one bucket in the kernel's map, by its hash: where another one is there already (EEXIST), or the map has no
 * more memory (ENOMEM), it is displaced (keepDisplaced).
 */
export function fillStack(scope: FunctionScope, to: Memory, source: StackSource): void {
  const { emitter } = scope;
  const user = source.space === "user";
  if (source.unwind) emitter.store(to, 8, unwound(scope, source));
  else {
    emitter.call(
      "get_stackid",
      inRegister(context(scope)),
      kernelMap(scope.kernelMapOf(source.map).index),
      constant(user ? StackFlag.USER_STACK : 0),
    );
    const id = emitter.copy(0);
    const lost = emitter.label();
    const done = emitter.label();
    emitter.branchConstant(Jump.JSLT, id, 0n, lost);
    emitter.bind(done);
    emitter.store(to, 8, id);
    emitter.cold(() => {
      emitter.bind(lost);
      emitter.branchConstant(Jump.JEQ, id, EFAULT, done);
      keepDisplaced(scope, source, id);
      emitter.jump(done);
    });
  }
  if (!user) {
    emitter.storeConstant(at(to, 8), 8, 0n);
    return;
  }
  // u32 pid, u32 tid: the helper has the thread in the low half.
  const ids = currentIds(scope);
  const pid = emitter.copy(ids);
  emitter.aluConstant(Alu.RSH, pid, 32n);
  emitter.store(at(to, 8), 4, pid);
  emitter.store(at(to, 12), 4, ids);
}

/** Keeps a stack that has no bucket in the kernel's map, by the hash of its addresses: into the register, its number. */
function keepDisplaced(scope: FunctionScope, source: StackSource, id: Register): void {
  const { emitter } = scope;
  const buildId = source.mode === "build_id";
  const bytes = stackBytes({ frames: source.limit, buildId });
  const memory = scope.temporary(bytes);
  const key = emitter.temporary(8);
  const [full, done] = [emitter.label(), emitter.label()];
  const got = getStack(scope, source, memory, bytes, buildId ? StackFlag.USER_BUILD_ID : 0);
  emitter.branchConstant(Jump.JSLE, got, 0n, full);
  emitter.callFunction(STACK_HASH, addressOf(memory), constant(bytes));
  emitter.move(id, 0);
  emitter.store(key, 8, id);
  keep(scope, source.map, scope.displacedOf(source.map), key, memory);
  emitter.jump(done);
  emitter.bind(full);
  countFull(scope, source.map);
  emitter.bind(done);
}

/** Keeps a stack by its number, where it is not kept yet. `table`: the kernel's map; a refusal is counted for `map`. */
function keep(scope: FunctionScope, map: number, table: number, key: Memory, addresses: Memory): void {
  const { emitter } = scope;
  const stacks = kernelMap(table);
  const [full, done] = [emitter.label(), emitter.label()];
  const known = emitter.callFor("map_lookup_elem", stacks, addressOf(key));
  emitter.branchConstant(Jump.JNE, known, 0n, done);
  const refused = emitter.callFor(
    "map_update_elem",
    stacks,
    addressOf(key),
    addressOf(addresses),
    constant(UpdateFlag.NOEXIST),
  );
  emitter.branchConstant(Jump.JNE, refused, 0n, full);
  emitter.bind(done);
  emitter.cold(() => {
    emitter.bind(full);
    // Or another CPU has kept the same stack meanwhile, which is not counted as a refusal.
    countRefusal(scope, map, refused);
    emitter.jump(done);
  });
}

/** The current stack into memory: its bytes, negative where there is none. */
function getStack(
  scope: FunctionScope,
  { space }: StackSource,
  memory: Memory,
  bytes: number,
  flags: number,
): Register {
  return scope.emitter.callFor(
    "get_stack",
    inRegister(context(scope)),
    addressOf(memory),
    constant(bytes),
    constant(flags | (space === "user" ? StackFlag.USER_STACK : 0)),
  );
}

/** Unwinds the stack and keeps its addresses: gives its number, negative when there is none. */
function unwound(scope: FunctionScope, source: StackSource): Register {
  const { emitter } = scope;
  const memory = scope.temporary(unwoundBytes(source.limit));
  const key = emitter.temporary(8);
  const id = unwind(scope, memory, source.limit);
  const [done, empty, cut, whole] = [emitter.label(), emitter.label(), emitter.label(), emitter.label()];
  emitter.branchConstant(Jump.JEQ, id, 0n, empty);
  const why = emitter.register();
  emitter.load(why, at(memory, 4), 4);
  emitter.branchConstant(Jump.JNE, why, 0n, cut);
  emitter.bind(whole);
  emitter.store(key, 8, id);
  keep(scope, source.map, scope.kernelMapOf(source.map).index, key, at(memory, unwoundAddresses));
  emitter.bind(done);
  emitter.cold(() => {
    emitter.bind(empty);
    emitter.set(id, EFAULT);
    emitter.jump(done);
  });
  emitter.cold(() => {
    emitter.bind(cut);
    countCut(scope, why);
    emitter.jump(whole);
  });
  return id;
}
/** There is no such stack: a kernel thread has none of a user's. */
const EFAULT = -14n;

function unwind(scope: FunctionScope, memory: Memory, frames: number): Register {
  scope.emitter.callFunction(UNWINDER, addressOf(memory), constant(frames));
  return scope.emitter.copy(0);
}

/**
 * Length of a stack that a slot was filled with, or the address of a frame of it: captured again, into scratch memory.
 */
export function stackLength(scope: FunctionScope, result: Register, stack: Place, frame?: number): void {
  const { emitter } = scope;
  const source = scope.fn.blocks
    .flatMap((block) => block.instructions)
    .find((i) => i.op === "fill" && i.source.kind === "stack" && samePlace(i.to, stack));
  if (source?.op !== "fill" || source.source.kind !== "stack")
    throw new InternalError("the length of a stack that this handler did not capture");
  if (source.source.unwind) {
    const memory = scope.temporary(unwoundBytes(source.source.limit));
    const id = unwind(scope, memory, source.source.limit);
    if (frame === undefined) return emitter.load(result, memory, 4);
    emitter.set(id, 0n);
    const short = emitter.label();
    const frames = emitter.register();
    emitter.load(frames, memory, 4);
    emitter.branchConstant(Jump.JLE, frames, BigInt(frame), short);
    emitter.load(id, at(memory, unwoundAddresses + frame * 8), 8);
    emitter.bind(short);
    return emitter.move(result, id);
  }
  const bytes = Math.max(8, source.source.limit * 8);
  const buffer = scope.temporary(bytes);
  const got = getStack(scope, source.source, buffer, bytes, 0);
  const fine = emitter.label();
  emitter.branchConstant(Jump.JSGE, got, 0n, fine);
  emitter.set(got, 0n);
  emitter.bind(fine);
  emitter.aluConstant(Alu.RSH, got, 3n);
  if (frame === undefined) return emitter.move(result, got);
  const [short, done] = [emitter.label(), emitter.label()];
  emitter.branchConstant(Jump.JLE, got, BigInt(frame), short);
  emitter.load(got, at(buffer, frame * 8), 8);
  emitter.jump(done);
  emitter.bind(short);
  emitter.set(got, 0n);
  emitter.bind(done);
  emitter.move(result, got);
}
function samePlace(a: Place, b: Place): boolean {
  return a.kind === "slot" && b.kind === "slot" && a.slot === b.slot && a.offset === b.offset;
}
