// Arithmetic, comparisons, builtin values, loads and probe reads.
import { Alu, type AluCode, type Condition, Jump, mirror, Pseudo } from "../../bpf/instruction.ts";
import { InternalError } from "../../base/internal-error.ts";
import type { Fetch } from "../../language/context.ts";
import { helperOf, type BinaryOp, type CompareOp, type Instruction, type Value, type Width } from "../ir/ir.ts";
import type { TaskPath } from "../kernel-structures/task.ts";
import { watchResult } from "./trouble-counters.ts";
import { addressOf, at, behind, constant, inRegister, pieces } from "./emitter.ts";
import type { Memory, Register } from "./machine.ts";
import { negations } from "./straighten.ts";
import type { FunctionScope } from "./scope.ts";

type Of<Op extends Instruction["op"]> = Extract<Instruction, { op: Op }>;

const aluCodes: Record<BinaryOp, AluCode> = {
  add: Alu.ADD,
  sub: Alu.SUB,
  mul: Alu.MUL,
  udiv: Alu.DIV,
  sdiv: Alu.DIV,
  umod: Alu.MOD,
  smod: Alu.MOD,
  and: Alu.AND,
  or: Alu.OR,
  xor: Alu.XOR,
  shl: Alu.LSH,
  lshr: Alu.RSH,
  ashr: Alu.ARSH,
};
const commutative = new Set<BinaryOp>(["add", "mul", "and", "or", "xor"]);

export function generateBinary(scope: FunctionScope, instruction: Of<"binary">): void {
  const { emitter } = scope;
  const { kind } = instruction;
  let { left, right } = instruction;
  if (commutative.has(kind) && scope.constantOf(left) !== undefined) [left, right] = [right, left];
  const result = scope.resultRegister(instruction.result);
  // A pointer and a constant stay a pointer; everything else is done on numbers.
  const keeps = scope.pointers.has(instruction.result);
  const from = keeps ? scope.use(left) : scope.useScalar(left);
  const known = scope.constantOf(right);
  if (known !== undefined) {
    emitter.move(result, from);
    binaryConstant(scope, kind, result, known);
    return;
  }
  const operand = keeps ? scope.use(right) : scope.useScalar(right);
  if ((kind === "sdiv" || kind === "smod") && !scope.options.capabilities.cpuV4) {
    divideSigned(scope, kind, result, from, operand);
    return;
  }
  emitter.move(result, from);
  emitter.alu(aluCodes[kind], result, operand, kind === "sdiv" || kind === "smod");
}

function binaryConstant(scope: FunctionScope, kind: BinaryOp, result: Register, value: bigint): void {
  const { emitter } = scope;
  const unsigned = BigInt.asUintN(64, value);
  const power = unsigned !== 0n && (unsigned & (unsigned - 1n)) === 0n ? unsigned.toString(2).length - 1 : -1;
  switch (kind) {
    case "shl":
    case "lshr":
    case "ashr":
      emitter.aluConstant(aluCodes[kind], result, value & 63n);
      return;
    case "mul":
      if (power >= 0) emitter.aluConstant(Alu.LSH, result, BigInt(power));
      else emitter.aluConstant(Alu.MUL, result, value);
      return;
    case "udiv":
      if (value === 0n) emitter.set(result, 0n);
      else if (power >= 0) emitter.aluConstant(Alu.RSH, result, BigInt(power));
      else emitter.aluConstant(Alu.DIV, result, value);
      return;
    case "umod":
      if (value === 0n) return;
      if (power >= 0) emitter.aluConstant(Alu.AND, result, unsigned - 1n);
      else emitter.aluConstant(Alu.MOD, result, value);
      return;
    case "sdiv":
    case "smod":
      if (value === 0n) {
        if (kind === "sdiv") emitter.set(result, 0n);
      } else if (value === -1n) {
        if (kind === "sdiv") emitter.emit({ kind: "negate", dst: result });
        else emitter.set(result, 0n);
      } else if (scope.options.capabilities.cpuV4) emitter.aluConstant(aluCodes[kind], result, value, true);
      else divideSigned(scope, kind, result, emitter.copy(result), emitter.constant(value));
      return;
    default:
      emitter.aluConstant(aluCodes[kind], result, value);
  }
}

/**
 * Without cpu v4: divide the magnitudes, then give the result its sign (a quotient: of both; a remainder: the
 * dividend's).
 */
function divideSigned(
  scope: FunctionScope,
  kind: "sdiv" | "smod",
  result: Register,
  left: Register,
  right: Register,
): void {
  const { emitter } = scope;
  const sign = emitter.copy(left);
  if (kind === "sdiv") emitter.alu(Alu.XOR, sign, right);
  emitter.aluConstant(Alu.ARSH, sign, 63n);
  const magnitude = (of: Register): Register => {
    const mask = emitter.copy(of);
    emitter.aluConstant(Alu.ARSH, mask, 63n);
    const positive = emitter.copy(of);
    emitter.alu(Alu.XOR, positive, mask);
    emitter.alu(Alu.SUB, positive, mask);
    return positive;
  };
  const divisor = magnitude(right);
  const quotient = magnitude(left);
  emitter.alu(kind === "sdiv" ? Alu.DIV : Alu.MOD, quotient, divisor);
  emitter.alu(Alu.XOR, quotient, sign);
  emitter.alu(Alu.SUB, quotient, sign);
  emitter.move(result, quotient);
}

const conditions: Record<CompareOp, Condition> = {
  eq: Jump.JEQ,
  ne: Jump.JNE,
  ult: Jump.JLT,
  ule: Jump.JLE,
  ugt: Jump.JGT,
  uge: Jump.JGE,
  slt: Jump.JSLT,
  sle: Jump.JSLE,
  sgt: Jump.JSGT,
  sge: Jump.JSGE,
};

/** Jumps when a comparison holds. `forgotten`: the verifier is not to learn anything of the numbers by it. */
export function branchOnCompare(
  scope: FunctionScope,
  instruction: Of<"compare">,
  to: number,
  negated: boolean,
  forgotten = false,
): void {
  let condition = conditions[instruction.kind];
  let { left, right } = instruction;
  if (scope.constantOf(left) !== undefined && scope.constantOf(right) === undefined) {
    [left, right] = [right, left];
    condition = mirror(condition);
  }
  if (negated) condition = negations[condition] ?? condition;
  const known = scope.constantOf(right);
  // Pointers are only compared with 0 as pointers: for anything else the verifier wants numbers.
  const leftRegister = known === 0n ? scope.use(left) : scope.useScalar(left);
  // What is compared with 0 may be an entry of a map, which is there or not.
  const compared = (register: Register): Register =>
    forgotten && known !== 0n ? unrelated(scope, register) : register;
  if (known !== undefined) scope.emitter.branchConstant(condition, compared(leftRegister), known, to);
  else scope.emitter.branch(condition, compared(leftRegister), compared(scope.useScalar(right)), to);
}

/**
 * The same number. The verifier takes what it learns of a register for its copies, but not for what was computed from
 * it.
 */
function unrelated({ emitter }: FunctionScope, register: Register): Register {
  const same = emitter.copy(register);
  emitter.aluConstant(Alu.XOR, same, 0n);
  return same;
}

export function generateCompare(scope: FunctionScope, instruction: Of<"compare">): void {
  if (scope.fused.has(instruction.result)) return;
  const { emitter } = scope;
  const result = emitter.register();
  const done = emitter.label();
  // The operands may share the result's register: set it only through a fresh one.
  emitter.set(result, 1n);
  branchOnCompare(scope, instruction, done, false);
  emitter.set(result, 0n);
  emitter.bind(done);
  emitter.move(scope.resultRegister(instruction.result), result);
}

export function generateExtend(scope: FunctionScope, instruction: Of<"extend">): void {
  const { emitter } = scope;
  const from = scope.useScalar(instruction.value);
  const result = scope.resultRegister(instruction.result);
  if (instruction.signed) scope.signExtend(result, from, instruction.bits);
  else if (instruction.bits === 32) scope.moveNarrow(result, from);
  else {
    emitter.move(result, from);
    emitter.aluConstant(Alu.AND, result, (1n << BigInt(instruction.bits)) - 1n);
  }
}

export function generateSwapBytes(scope: FunctionScope, instruction: Of<"swap-bytes">): void {
  const result = scope.resultRegister(instruction.result);
  scope.emitter.move(result, scope.useScalar(instruction.value));
  scope.emitter.emit({ kind: "swap", dst: result, bits: instruction.bits });
}

// struct pt_regs of x86-64: cs is the eighteenth register.
const PT_REGS_CS = 17 * 8;

/**
 * pid << 32 | tid, as strobe's namespace numbers them; 0 for a process that it does not see. `keepsTask`: what is written here
 * runs as FunctionScope.currentTask() wants it.
 */
export function currentIds(scope: FunctionScope, keepsTask = false): Register {
  const { emitter, options } = scope;
  const { pidNamespace } = options.capabilities;
  if (pidNamespace === undefined) return initialIds(scope, keepsTask);
  // struct bpf_pidns_info: the thread, the process; zero when the helper refuses.
  const info = emitter.temporary(8);
  emitter.call(
    "get_ns_current_pid_tgid",
    constant(pidNamespace.device),
    constant(pidNamespace.inode),
    addressOf(info),
    constant(8),
  );
  const ids = emitter.register();
  emitter.load(ids, info, 8);
  return ids;
}

/** The same as the machine's first namespace numbers them: read of the current task where that is asked for anyway. */
function initialIds(scope: FunctionScope, keepsTask: boolean): Register {
  const { emitter, options } = scope;
  const where = keepsTask && scope.asksForTask ? options.taskIds?.() : undefined;
  if (where === undefined) return emitter.callFor("get_current_pid_tgid");
  const task = scope.currentTask();
  const [ids, thread] = [emitter.register(), emitter.register()];
  emitter.load(ids, behind(task, where.tgid), 4);
  emitter.aluConstant(Alu.LSH, ids, 32n);
  emitter.load(thread, behind(task, where.pid), 4);
  emitter.alu(Alu.OR, ids, thread);
  return ids;
}

/** gid << 32 | uid, read where the current task is asked for anyway: its helper costs more than four reads. */
function currentUser(scope: FunctionScope): Register {
  const { emitter, options } = scope;
  const where = scope.asksForTask ? options.taskUser?.() : undefined;
  if (where === undefined) return emitter.callFor("get_current_uid_gid");
  const ids = readOfTask(scope, where.gid, 4);
  emitter.aluConstant(Alu.LSH, ids, 32n);
  emitter.alu(Alu.OR, ids, readOfTask(scope, where.uid, 4));
  return ids;
}

function currentCgroup(scope: FunctionScope): Register {
  const where = scope.asksForTask ? scope.options.taskCgroup?.() : undefined;
  return where === undefined ? scope.emitter.callFor("get_current_cgroup_id") : readOfTask(scope, where, 8);
}

function readOfTask(scope: FunctionScope, { pointers, at: offset }: TaskPath, size: 4 | 8): Register {
  const { emitter } = scope;
  let from = scope.currentTask();
  for (const pointer of pointers) {
    const next = emitter.register();
    emitter.load(next, behind(from, pointer), 8);
    from = next;
  }
  const value = emitter.register();
  emitter.load(value, behind(from, offset), size);
  return value;
}

export function generateBuiltin(scope: FunctionScope, instruction: Of<"builtin">): void {
  const { emitter } = scope;
  const result = scope.resultRegister(instruction.result);
  const shifted = (clock: "boot-to-wall" | "boot-to-tai"): void => {
    emitter.move(result, emitter.callFor("ktime_get_boot_ns"));
    const delta = emitter.register();
    emitter.patched(delta, { kind: clock, map: -1, offset: 0 });
    emitter.alu(Alu.ADD, result, delta);
  };
  switch (instruction.name) {
    case "pid-and-tid":
      return emitter.move(result, currentIds(scope, true));
    case "initial-pid-and-tid":
      return emitter.move(result, initialIds(scope, true));
    case "gid-and-uid":
      return emitter.move(result, currentUser(scope));
    case "cpu":
      return emitter.move(result, emitter.callFor("get_smp_processor_id"));
    case "cgroup":
      return emitter.move(result, currentCgroup(scope));
    case "random":
      return emitter.move(result, emitter.callFor("get_prandom_u32"));
    case "nsecs-boot":
      return emitter.move(result, emitter.callFor("ktime_get_boot_ns"));
    case "nsecs-monotonic":
      return emitter.move(result, emitter.callFor("ktime_get_ns"));
    case "nsecs-tai":
      return emitter.move(result, emitter.callFor("ktime_get_tai_ns"));
    case "nsecs-wall":
      return shifted("boot-to-wall");
    case "nsecs-sw-tai":
      return shifted("boot-to-tai");
    case "jiffies":
      return emitter.move(result, emitter.callFor("jiffies64"));
    case "elapsed": {
      emitter.move(result, emitter.callFor("ktime_get_boot_ns"));
      const start = emitter.register();
      emitter.patched(start, { kind: "session-start", map: -1, offset: 0 });
      return emitter.alu(Alu.SUB, result, start);
    }
    case "task":
      return emitter.move(
        result,
        scope.options.capabilities.taskBtf ? scope.currentTask() : emitter.callFor("get_current_task"),
      );
    case "user-registers":
      return emitter.move(result, emitter.callFor("task_pt_regs", inRegister(emitter.callFor("get_current_task_btf"))));
    case "func-ip":
      return emitter.move(result, emitter.callFor("get_func_ip", inRegister(context(scope))));
    case "attach-cookie":
      return emitter.move(result, emitter.callFor("get_attach_cookie", inRegister(context(scope))));
    case "context":
      return emitter.move(result, context(scope));
    case "child-pid":
      return emitter.patched(result, { kind: "child-pid", map: -1, offset: 0 });
    case "user-mode": {
      const segment = emitter.register();
      emitter.load(segment, behind(context(scope), PT_REGS_CS), 8);
      // The two low bits are the privilege level: 3 in user mode, 0 in the kernel.
      emitter.move(result, segment);
      emitter.aluConstant(Alu.AND, result, 3n);
      return emitter.aluConstant(Alu.RSH, result, 1n);
    }
    default: {
      const [, level] = /^cgroup-at:(\d+)$/.exec(instruction.name) ?? [];
      if (level !== undefined)
        return emitter.move(result, emitter.callFor("get_current_ancestor_cgroup_id", constant(Number(level))));
      const helper = helperOf(instruction.name);
      if (helper === undefined) throw new InternalError(`no code for the builtin ${instruction.name}`);
      return emitter.move(result, emitter.callFor(helper));
    }
  }
}

/** The context pointer: only a handler has it. */
export function context(scope: FunctionScope): Register {
  if (scope.context < 0) throw new InternalError(`${scope.fn.name}: a map callback has no context`);
  return scope.context;
}

export function generateRead(scope: FunctionScope, instruction: Of<"read">): void {
  const result = scope.resultRegister(instruction.result);
  if (instruction.space === "typed" && scope.options.directLoads) {
    scope.loadExtended(
      result,
      behind(scope.use(instruction.address), instruction.offset),
      instruction.size,
      instruction.signed,
    );
    return;
  }
  probeRead(
    scope,
    result,
    scope.use(instruction.address),
    instruction.offset,
    instruction.size,
    instruction.signed,
    instruction.space === "user",
    instruction.watch,
  );
}

/** The helper zeroes its buffer when it fails, so the load needs no check. */
function probeRead(
  scope: FunctionScope,
  result: Register,
  address: Register,
  offset: number,
  size: Width,
  signed: boolean,
  user: boolean,
  watch?: number,
): void {
  const { emitter } = scope;
  const buffer = scope.untracked ?? emitter.temporary(8);
  const from = offset === 0 ? inRegister(address) : addressOf(behind(address, offset));
  emitter.call(user ? "probe_read_user" : "probe_read_kernel", addressOf(buffer), constant(size), from);
  watchResult(scope, watch);
  scope.loadExtended(result, buffer, size, signed);
}

/** The value that a provider says how to fetch (the compiler's own use: what a program dispatches on). */
export function generateFetch(scope: FunctionScope, fetch: Fetch): Register {
  const { emitter } = scope;
  const result = emitter.register();
  switch (fetch.kind) {
    case "kept":
      throw new InternalError("what was kept of a call tells no handlers apart");
    case "constant":
      emitter.set(result, fetch.value);
      return result;
    case "context":
      scope.loadExtended(result, behind(context(scope), fetch.offset), fetch.size, fetch.signed, true);
      return result;
    case "address":
      emitter.move(result, fetch.base === "context" ? context(scope) : generateFetch(scope, fetch.base));
      emitter.add(result, fetch.offset);
      return result;
    case "narrow":
      emitter.move(result, generateFetch(scope, fetch.of));
      if (fetch.signed) scope.signExtend(result, result, (fetch.size * 8) as 8 | 16 | 32);
      else if (fetch.size === 4) scope.moveNarrow(result, result);
      else emitter.aluConstant(Alu.AND, result, (1n << BigInt(fetch.size * 8)) - 1n);
      return result;
    case "data-location": {
      scope.loadExtended(result, behind(context(scope), fetch.offset), 4, false, true);
      emitter.aluConstant(Alu.AND, result, 0xffffn);
      const base = emitter.copy(context(scope));
      emitter.alu(Alu.ADD, base, result);
      if (fetch.relative) emitter.add(base, fetch.offset + 4);
      return base;
    }
    case "pointed": {
      const base = emitter.copy(generateFetch(scope, fetch.base));
      if (fetch.index !== undefined) {
        const index = emitter.copy(generateFetch(scope, fetch.index));
        emitter.aluConstant(Alu.MUL, index, BigInt(fetch.scale ?? 1));
        emitter.alu(Alu.ADD, base, index);
      }
      if (fetch.space === "typed" && scope.options.directLoads)
        scope.loadExtended(result, behind(base, fetch.offset), fetch.size, fetch.signed);
      else probeRead(scope, result, base, fetch.offset, fetch.size, fetch.signed, fetch.space === "user");
      return result;
    }
    // Of variables: the lowering takes these apart.
    case "binary":
    case "task":
    case "function":
      throw new InternalError(`nothing dispatches on a ${fetch.kind}`);
  }
}

export function generatePercpuAddress(scope: FunctionScope, instruction: Of<"percpu-address">): void {
  const { emitter } = scope;
  const variable = emitter.register();
  const result = scope.resultRegister(instruction.result);
  emitter.patched(variable, { kind: "kernel-variable", map: -1, offset: 0, symbol: instruction.symbol }, Pseudo.BTF_ID);
  if (instruction.cpu === undefined) {
    emitter.move(result, emitter.callFor("this_cpu_ptr", inRegister(variable)));
    return;
  }
  const found = emitter.callFor("per_cpu_ptr", inRegister(variable), inRegister(scope.useScalar(instruction.cpu)));
  const done = emitter.label();
  const address = emitter.constant(0n);
  emitter.branchConstant(Jump.JEQ, found, 0n, done);
  emitter.move(address, found);
  emitter.bind(done);
  emitter.move(result, address);
}

/** Two negations make the verifier forget what it points to: it is a number to compute with, and to read at. */
export function generateAddressOf(scope: FunctionScope, instruction: Of<"address-of">): void {
  const { emitter } = scope;
  const { what } = instruction;
  const result = scope.resultRegister(instruction.result);
  if (what.kind !== "map") emitter.address(result, scope.place(what));
  else {
    const storage = scope.storageOf(what.map);
    if (storage.kind === "slot") emitter.move(result, emitter.mapValue(scope.globals, storage.offset + 8));
    else emitter.map(result, scope.kernelMapOf(what.map).index);
  }
  emitter.emit({ kind: "negate", dst: result });
  emitter.emit({ kind: "negate", dst: result });
}

/**
 * Into our own memory. The verifier wants the stack's accesses aligned, and an array in a tuple may begin at any byte.
 */
export function storeValue(scope: FunctionScope, to: Memory, width: Width, value: Value): void {
  const { emitter } = scope;
  const known = scope.constantOf(value);
  const parts = [...pieces(scope.alignment(to), width)];
  if (known !== undefined) {
    for (const { offset, width: bytes } of parts)
      emitter.storeConstant(at(to, offset), bytes, known >> BigInt(offset * 8));
    return;
  }
  const whole = scope.use(value);
  if (parts.length === 1) return emitter.store(to, width, whole);
  const rest = emitter.copy(scope.pointers.has(value) ? scope.useScalar(value) : whole);
  for (const { offset, width: bytes } of parts) {
    emitter.store(at(to, offset), bytes, rest);
    emitter.aluConstant(Alu.RSH, rest, BigInt(bytes * 8));
  }
}

/** The same way back. */
export function loadValue(scope: FunctionScope, result: Register, from: Memory, width: Width, signed: boolean): void {
  const { emitter } = scope;
  const parts = [...pieces(scope.alignment(from), width)];
  if (parts.length === 1) return scope.loadExtended(result, from, width, signed);
  const whole = emitter.constant(0n);
  for (const { offset, width: bytes } of parts.reverse()) {
    const part = emitter.register();
    emitter.load(part, at(from, offset), bytes);
    emitter.aluConstant(Alu.LSH, whole, BigInt(bytes * 8));
    emitter.alu(Alu.OR, whole, part);
  }
  if (signed && width < 8) scope.signExtend(result, whole, (width * 8) as 8 | 16 | 32);
  else emitter.move(result, whole);
}
