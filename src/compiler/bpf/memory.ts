// Filling memory: zeroes, copies, constants, strings and bytes read from the kernel or a program.
import { Alu, Jump } from "../../bpf/instruction.ts";
import type { Instruction, Place, Source } from "../ir/ir.ts";
import { addressOf, at, behind, constant, inRegister, pieces } from "./emitter.ts";
import type { Memory, Register } from "./machine.ts";
import { countFailed, watchResult } from "./trouble-counters.ts";
import { storeValue } from "./scalars.ts";
import type { FunctionScope } from "./scope.ts";
import { fillStack } from "./stacks.ts";

/** Beyond this many bytes a helper's memset or memcpy beats our own stores. */
const INLINE_BYTES = 256;

export function zero(scope: FunctionScope, to: Memory, size: number): void {
  if (size > INLINE_BYTES) {
    // A read from address 0 fails, and a failed read zeroes its buffer.
    scope.emitter.call("probe_read_kernel", addressOf(to), constant(size), constant(0));
    return;
  }
  for (const { offset, width } of pieces(scope.alignment(to), size))
    scope.emitter.storeConstant(at(to, offset), width, 0n);
}

export function copy(scope: FunctionScope, to: Memory, from: Memory, size: number): void {
  const { emitter } = scope;
  if (size > INLINE_BYTES) {
    emitter.call("probe_read_kernel", addressOf(to), constant(size), addressOf(from));
    return;
  }
  const alignment = Math.min(scope.alignment(to), scope.alignment(from));
  for (const { offset, width } of pieces(alignment, size)) {
    const word = emitter.register();
    emitter.load(word, at(from, offset), width);
    emitter.store(at(to, offset), width, word);
  }
}

/** Constant bytes, then zeroes. */
export function fillConstant(scope: FunctionScope, to: Memory, bytes: Uint8Array, size: number): void {
  const padded = new Uint8Array(Math.ceil(size / 8) * 8);
  padded.set(bytes.subarray(0, size));
  const view = new DataView(padded.buffer);
  const used = bytes.findLastIndex((byte) => byte !== 0) + 1;
  const head = Math.min(size, Math.ceil(used / 8) * 8);
  for (const { offset, width } of pieces(scope.alignment(to), head)) {
    if (width < 8) {
      const value =
        width === 4 ? view.getInt32(offset, true) : width === 2 ? view.getInt16(offset, true) : view.getInt8(offset);
      scope.emitter.storeConstant(at(to, offset), width, BigInt(value));
      continue;
    }
    const word = view.getBigInt64(offset, true);
    if (word === BigInt.asIntN(32, word)) scope.emitter.storeConstant(at(to, offset), 8, word);
    else {
      // Two stores of immediates take no register and no more room than a 64-bit constant.
      scope.emitter.storeConstant(at(to, offset), 4, BigInt.asIntN(32, word));
      scope.emitter.storeConstant(at(to, offset + 4), 4, BigInt.asIntN(32, word >> 32n));
    }
  }
  if (size > head) zero(scope, at(to, head), size - head);
}

/**
 * `wantLength`: gives the number of characters or bytes, where the source has one. `told` receives what the helper says
 * of reading memory: a negative number when it failed.
 */
export function fill(
  scope: FunctionScope,
  to: Memory,
  source: Source,
  wantLength: boolean,
  told?: Register,
): Register | undefined {
  const { emitter } = scope;
  switch (source.kind) {
    case "value":
      storeValue(scope, to, source.width, source.value);
      return undefined;
    case "copy":
      copy(scope, to, scope.place(source.from), source.size);
      return undefined;
    case "constant": {
      fillConstant(scope, to, source.bytes, source.size);
      const end = source.bytes.indexOf(0);
      return wantLength
        ? emitter.constant(BigInt(end < 0 ? Math.min(source.bytes.length, source.size) : end))
        : undefined;
    }
    case "string":
      return fillString(scope, to, source, wantLength, told);
    case "memory":
      // Zeroes when it fails: the helper does that.
      emitter.call(
        source.space === "user" ? "probe_read_user" : "probe_read_kernel",
        addressOf(to),
        constant(source.size),
        inRegister(scope.use(source.address)),
      );
      if (told !== undefined) emitter.move(told, 0);
      watchResult(scope, source.watch, told);
      return undefined;
    case "buffer":
      return fillBuffer(scope, to, source, wantLength, told);
    case "comm":
      fillComm(scope, to);
      return undefined;
    case "stack":
      fillStack(scope, to, source);
      return undefined;
    case "path": {
      zero(scope, to, source.size);
      emitter.call("d_path", inRegister(scope.use(source.address)), addressOf(to), constant(source.size));
      return wantLength ? lengthFromResult(scope) : undefined;
    }
  }
}

/** Fills, and gives 1 when the memory could not be read, else 0: the sign of what the helper said. */
export function fillOrFail(
  scope: FunctionScope,
  { to, source }: Extract<Instruction, { op: "fill" }>,
  failed: Register,
): void {
  const { emitter } = scope;
  const result = emitter.register();
  fill(scope, scope.place(to), source, false, result);
  emitter.aluConstant(Alu.RSH, result, 63n);
  emitter.move(failed, result);
}

/** One of several elements: the verifier is told that it is one of them. */
export function fillElement(
  scope: FunctionScope,
  { to, index, count, stride, source }: Extract<Instruction, { op: "fill-element" }>,
): void {
  const { emitter } = scope;
  const first = scope.place(to);
  const at = emitter.bounded(scope.useScalar(index));
  const beyond = emitter.label();
  emitter.branchConstant(Jump.JGE, at, BigInt(count), beyond);
  emitter.aluConstant(Alu.MUL, at, BigInt(stride));
  const element = emitter.register();
  emitter.address(element, first);
  emitter.alu(Alu.ADD, element, at);
  fill(scope, behind(element), source, false);
  emitter.bind(beyond);
  emitter.touch(first);
}

/**
 * Two words through the task's typed pointer cost a third of the helper, which looks for the end of the name. `keepsTask`:
 * what is written here runs as FunctionScope.currentTask() wants it.
 */
export function fillComm(scope: FunctionScope, to: Memory, keepsTask = false): void {
  const { emitter, options } = scope;
  const taskComm = options.taskComm?.();
  if (taskComm === undefined) {
    emitter.call("get_current_comm", addressOf(to), constant(16));
    return;
  }
  const task = keepsTask ? scope.currentTask() : emitter.callFor("get_current_task_btf");
  for (const offset of [0, 8]) {
    const word = emitter.register();
    emitter.load(word, behind(task, taskComm + offset), 8);
    emitter.store(at(to, offset), 8, word);
  }
}

function fillString(
  scope: FunctionScope,
  to: Memory,
  source: Extract<Source, { kind: "string" }>,
  wantLength: boolean,
  told?: Register,
): Register | undefined {
  const { emitter } = scope;
  const address = scope.use(source.address);
  if (source.padded) zero(scope, to, source.size);
  const helper = source.space === "user" ? "probe_read_user_str" : "probe_read_kernel_str";
  const known = source.limit === undefined ? undefined : scope.constantOf(source.limit);
  if (source.limit === undefined || known !== undefined) {
    const limit = known === undefined ? BigInt(source.size) : BigInt.asUintN(64, known) + 1n;
    emitter.call(
      helper,
      addressOf(to),
      constant(limit < BigInt(source.size) ? limit : BigInt(source.size)),
      inRegister(address),
    );
  } else {
    const size = bounded(scope, scope.useScalar(source.limit), source.size - 1);
    emitter.add(size, 1);
    emitter.call(helper, addressOf(to), inRegister(size), inRegister(address));
  }
  if (told !== undefined) emitter.move(told, 0);
  const result = told ?? (wantLength || source.watch !== undefined ? emitter.copy(0) : undefined);
  if (result !== undefined) countFailed(scope, source.watch, result);
  // A failed read leaves zeroes, so the terminator is there in any case.
  return wantLength && result !== undefined ? lengthFrom(scope, result) : undefined;
}

interface Text {
  readonly memory: Memory;
  readonly capacity: number;
}

/**
 * Two texts, one after the other. The helper tells where the first ends, within bounds that the verifier takes from it.
 */
export function concatStrings(scope: FunctionScope, to: Text, left: Text, right: Text): void {
  const { emitter } = scope;
  zero(scope, to.memory, to.capacity);
  const length = emitter.bounded(
    emitter.callFor("probe_read_kernel_str", addressOf(to.memory), constant(left.capacity), addressOf(left.memory)),
  );
  toLength(scope, length);
  const end = emitter.register();
  emitter.address(end, to.memory);
  emitter.alu(Alu.ADD, end, length);
  emitter.call("probe_read_kernel_str", inRegister(end), constant(right.capacity), addressOf(right.memory));
  emitter.touch(to.memory);
}

export function cutString(scope: FunctionScope, to: Text, text: Memory, length: Register): void {
  zero(scope, to.memory, to.capacity);
  const size = bounded(scope, length, to.capacity - 1);
  scope.emitter.add(size, 1);
  scope.emitter.call("probe_read_kernel_str", addressOf(to.memory), inRegister(size), addressOf(text));
}

/** min(value, most), as a number that the verifier knows to be so. */
export function bounded(scope: FunctionScope, value: Register, most: number): Register {
  const { emitter } = scope;
  const result = emitter.bounded(value);
  const fine = emitter.label();
  emitter.branchConstant(Jump.JLE, result, BigInt(most), fine);
  emitter.set(result, BigInt(most));
  emitter.bind(fine);
  return result;
}

/** Of a string helper, in r0: it counts the terminator, and is negative when it failed. */
function lengthFromResult(scope: FunctionScope): Register {
  return lengthFrom(scope, scope.emitter.copy(0));
}

function lengthFrom(scope: FunctionScope, length: Register): Register {
  toLength(scope, length);
  return length;
}

function toLength({ emitter }: FunctionScope, length: Register): void {
  const fine = emitter.label();
  emitter.branchConstant(Jump.JSGT, length, 0n, fine);
  emitter.set(length, 1n);
  emitter.bind(fine);
  emitter.add(length, -1);
}

function fillBuffer(
  scope: FunctionScope,
  to: Memory,
  source: Extract<Source, { kind: "buffer" }>,
  wantLength: boolean,
  result?: Register,
): Register | undefined {
  const { emitter } = scope;
  const address = scope.use(source.address);
  if (source.padded) zero(scope, at(to, 4), source.capacity);
  const known = scope.constantOf(source.length);
  const length =
    known === undefined
      ? bounded(scope, scope.useScalar(source.length), source.capacity)
      : emitter.constant(BigInt.asUintN(64, known) > BigInt(source.capacity) ? BigInt(source.capacity) : known);
  emitter.store(to, 4, length);
  const told = wantLength ? emitter.copy(length) : undefined;
  emitter.call(
    source.space === "user" ? "probe_read_user" : "probe_read_kernel",
    addressOf(at(to, 4)),
    inRegister(length),
    inRegister(address),
  );
  const failure = told === undefined ? undefined : emitter.copy(0);
  if (result !== undefined) emitter.move(result, 0);
  watchResult(scope, source.watch, result);
  if (told !== undefined && failure !== undefined) {
    const read = emitter.label();
    emitter.branchConstant(Jump.JEQ, failure, 0n, read);
    emitter.set(told, 0n);
    emitter.bind(read);
  }
  return told;
}

/** The place where a source's bytes already are, if they lie somewhere whole. */
export function inPlace(scope: FunctionScope, source: Source, size: number): Memory | undefined {
  if (source.kind !== "copy" || source.size !== size) return undefined;
  return isOwnMemory(source.from) ? scope.place(source.from) : undefined;
}
function isOwnMemory(place: Place): boolean {
  return place.kind === "slot" || place.of === "value" || place.of === "key";
}
