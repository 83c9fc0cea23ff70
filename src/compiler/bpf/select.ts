// Instruction selection: IR to machine instructions over virtual registers.
import { InternalError } from "../../base/internal-error.ts";
import { Jump } from "../../bpf/instruction.ts";
import type { Instruction, IrBlock, Value } from "../ir/ir.ts";
import { aggregate, aggregateRead } from "./aggregations.ts";
import { writeMatch } from "./dispatch.ts";
import { behind } from "./emitter.ts";
import { forgetChoices, storeInHalves } from "./opaque-values.ts";
import { writeEnd, writeGate } from "./gate.ts";
import {
  entryCopy,
  entryLoad,
  forEachEntry,
  mapAdd,
  mapCopy,
  mapDelete,
  mapHas,
  mapLength,
  mapLoad,
  mapLookup,
  mapMake,
  mapStore,
} from "./map-operations.ts";
import { concatStrings, cutString, fill, fillComm, fillElement, fillOrFail, zero } from "./memory.ts";
import {
  emitEvent,
  emitPacket,
  overrideReturn,
  printInKernel,
  sendSignal,
  socketCookie,
  storeAddress,
  writeUser,
} from "./output.ts";
import { countCutLoop } from "./trouble-counters.ts";
import { callRounds, handedAt, handedOver, writeGuard } from "./rounds.ts";
import {
  branchOnCompare,
  context,
  generateAddressOf,
  generateBinary,
  generateBuiltin,
  generateCompare,
  generateExtend,
  generatePercpuAddress,
  generateRead,
  generateSwapBytes,
  loadValue,
  storeValue,
} from "./scalars.ts";
import type { FunctionScope } from "./scope.ts";
import { findScratch, isPooled, releaseScratch } from "./scratch.ts";
import { stackLength } from "./stacks.ts";
import { differ, findString, orderStrings, stringLength } from "./strings.ts";

/** Writes the whole function down; what its registers and its frame are is not known yet. */
export function select(scope: FunctionScope): void {
  const { emitter, fn } = scope;
  const body = emitter.code;
  if (fn.kind === "handler") {
    scope.context = emitter.register();
    const { dispatch, leavesLate } = fn.context?.program ?? {};
    const { gate } = scope.options;
    if (dispatch !== undefined || gate !== undefined || leavesLate) {
      const out = emitter.label();
      if (leavesLate) writeEnd(scope, out);
      if (dispatch !== undefined) writeMatch(scope, dispatch, fn.matches, out);
      if (gate !== undefined) writeGate(scope, gate, out);
      emitter.cold(() => {
        emitter.bind(out);
        end(scope, undefined);
      });
    }
  } else if (fn.kind === "round" && fn.within !== "map-callback") scope.context = emitter.register();
  else {
    scope.key = emitter.register();
    scope.value = emitter.register();
    scope.captures = emitter.register();
  }
  if (fn.kind === "round") scope.frame = emitter.register();
  scope.writeLate = (instruction) => generateInstruction(scope, instruction);
  const gate = body.length;
  fn.blocks.forEach((block, index) => {
    scope.enterBlock(index);
    emitter.bind(scope.blockLabels[index] ?? 0);
    if (scope.options.easyToVerify || scope.untracked !== undefined) forgetChoices(scope, index);
    for (const instruction of block.instructions)
      if (!isLate(scope, instruction)) generateInstruction(scope, instruction);
    generateTerminator(scope, block);
  });
  emitter.flushCold();

  // What comes before everything: known only now.
  emitter.code = [];
  enter(scope);
  emitter.code.push(...body.slice(0, gate));
  for (const counter of scope.roundCounters) emitter.storeConstant(counter, 8, 0n);
  if (scope.scratchRegister >= 0) findScratch(scope, scope.scratchRegister, () => end(scope, undefined));
  for (const instruction of body.slice(gate)) emitter.code.push(instruction);
}

/** Takes what the kernel calls each kind of function with. */
function enter(scope: FunctionScope): void {
  const { emitter, fn } = scope;
  switch (fn.kind) {
    case "handler":
      emitter.emit({ kind: "enter", parameters: 1 });
      return emitter.move(scope.context, 1);
    case "map-callback":
      emitter.emit({ kind: "enter", parameters: 4 });
      emitter.move(scope.key, 2);
      emitter.move(scope.value, 3);
      emitter.move(scope.captures, 4);
      if (scope.options.sharesByPointer) emitter.load(scope.captures, behind(scope.captures, 0), 8);
      return;
    case "round":
      emitter.emit({ kind: "enter", parameters: 2 });
      emitter.move(scope.frame, 2);
      handedOver(scope).forEach((register, i) => emitter.load(register, behind(scope.frame, handedAt + i * 8), 8));
  }
}

function isLate({ late }: FunctionScope, instruction: Instruction): boolean {
  return "result" in instruction && instruction.result !== undefined && late.get(instruction.result) === instruction;
}

function generateInstruction(scope: FunctionScope, instruction: Instruction): void {
  const { emitter } = scope;
  switch (instruction.op) {
    case "constant":
      return;
    case "binary":
      return generateBinary(scope, instruction);
    case "compare":
      return generateCompare(scope, instruction);
    case "extend":
      return generateExtend(scope, instruction);
    case "swap-bytes":
      return generateSwapBytes(scope, instruction);
    case "builtin":
      return generateBuiltin(scope, instruction);
    case "load-context":
      return scope.loadExtended(
        scope.resultRegister(instruction.result),
        behind(context(scope), instruction.offset),
        instruction.size,
        instruction.signed,
        true,
      );
    case "load":
      return loadValue(
        scope,
        scope.resultRegister(instruction.result),
        scope.place(instruction.from),
        instruction.size,
        instruction.signed,
      );
    case "store": {
      const to = scope.place(instruction.to);
      const captured = instruction.to.kind === "callback" && instruction.to.of === "captures" && instruction.size === 8;
      if (captured && scope.constantOf(instruction.value) === undefined && !scope.pointers.has(instruction.value)) {
        return storeInHalves(scope, to, scope.use(instruction.value));
      }
      return storeValue(scope, to, instruction.size, instruction.value);
    }
    case "zero":
      return zero(scope, scope.place(instruction.at), instruction.size);
    case "read":
      return generateRead(scope, instruction);
    case "fill": {
      const { failed, source } = instruction;
      if (source.kind === "comm" && instruction.length === undefined)
        return fillComm(scope, scope.place(instruction.to), true);
      if (failed !== undefined) return fillOrFail(scope, instruction, scope.resultRegister(failed));
      const length = fill(scope, scope.place(instruction.to), source, instruction.length !== undefined);
      if (instruction.length !== undefined)
        emitter.move(scope.resultRegister(instruction.length), length ?? emitter.constant(0n));
      return;
    }
    case "fill-element":
      return fillElement(scope, instruction);
    case "compare-strings": {
      const left = scope.place(instruction.left);
      const { right, length } = instruction;
      const second = right instanceof Uint8Array ? right : scope.place(right);
      const compare = instruction.ordered ? orderStrings : differ;
      return emitter.move(scope.resultRegister(instruction.result), compare(scope, left, second, length));
    }
    case "compare-bytes":
      return emitter.move(
        scope.resultRegister(instruction.result),
        differ(scope, scope.place(instruction.left), scope.place(instruction.right), instruction.length),
      );
    case "find-string":
      return emitter.move(
        scope.resultRegister(instruction.result),
        findString(
          scope,
          scope.place(instruction.text),
          instruction.capacity,
          instruction.needle,
          instruction.needleCapacity,
        ),
      );
    case "concat-strings": {
      const { to, capacity, left, leftCapacity, right, rightCapacity } = instruction;
      return concatStrings(
        scope,
        { memory: scope.place(to), capacity },
        { memory: scope.place(left), capacity: leftCapacity },
        { memory: scope.place(right), capacity: rightCapacity },
      );
    }
    case "cut-string":
      return cutString(
        scope,
        { memory: scope.place(instruction.to), capacity: instruction.capacity },
        scope.place(instruction.text),
        scope.useScalar(instruction.length),
      );
    case "string-length":
      return emitter.move(
        scope.resultRegister(instruction.result),
        stringLength(scope, scope.place(instruction.text), instruction.capacity),
      );
    case "map-lookup":
      return mapLookup(scope, instruction);
    case "entry-load":
      return entryLoad(scope, instruction);
    case "entry-copy":
      return entryCopy(scope, instruction);
    case "map-load":
      return mapLoad(scope, instruction);
    case "map-copy":
      return mapCopy(scope, instruction);
    case "map-has":
      return mapHas(scope, instruction);
    case "map-store":
      return mapStore(scope, instruction);
    case "map-make":
      return mapMake(scope, instruction);
    case "map-add":
      return mapAdd(scope, instruction);
    case "map-delete":
      return mapDelete(scope, instruction);
    case "map-length":
      return mapLength(scope, instruction);
    case "aggregate":
      return aggregate(scope, instruction);
    case "aggregate-read":
      return aggregateRead(scope, instruction);
    case "for-each":
      return forEachEntry(scope, instruction);
    case "call":
      throw new InternalError("a function that calls itself, in the kernel");
    case "host-text":
      throw new InternalError(`${instruction.name}() in the kernel`);
    case "loop-cut":
      return countCutLoop(scope, instruction.loop);
    case "rounds":
      return callRounds(scope, instruction);
    case "emit":
      return emitEvent(scope, instruction);
    case "stack-length":
      return stackLength(scope, scope.resultRegister(instruction.result), instruction.stack, instruction.frame);
    case "signal":
      return sendSignal(scope, instruction);
    case "override":
      return overrideReturn(scope, instruction);
    case "write-user":
      return writeUser(scope, instruction);
    case "percpu-address":
      return generatePercpuAddress(scope, instruction);
    case "address-of":
      return generateAddressOf(scope, instruction);
    case "socket-cookie":
      return socketCookie(scope, instruction);
    case "kernel-print":
      return printInKernel(scope, instruction);
    case "packet":
      return emitPacket(scope, instruction);
    case "parse-address":
      return storeAddress(scope, instruction);
  }
}

function generateTerminator(scope: FunctionScope, block: IrBlock): void {
  const { emitter } = scope;
  const { terminator } = block;
  const label = (target: number): number => scope.blockLabels[target] ?? 0;
  switch (terminator.op) {
    case "jump":
      moveArguments(scope, scope.fn.blocks[terminator.to]?.parameters ?? [], terminator.args);
      return emitter.jump(label(terminator.to));
    case "branch": {
      const known = scope.constantOf(terminator.condition);
      if (known !== undefined) return emitter.jump(label(known !== 0n ? terminator.then : terminator.otherwise));
      const compare = scope.fused.has(terminator.condition) ? scope.definitions.get(terminator.condition) : undefined;
      // The branch not taken falls through when its block is written next (jumps to the next instruction are dropped).
      if (compare?.op === "compare")
        branchOnCompare(scope, compare, label(terminator.otherwise), true, scope.forgetsCompared);
      else emitter.branchConstant(Jump.JEQ, scope.use(terminator.condition), 0n, label(terminator.otherwise));
      return emitter.jump(label(terminator.then));
    }
    case "guard":
      writeGuard(scope, block.parameters, label(terminator.exit));
      return emitter.jump(label(terminator.body));
    case "return":
      return leave(scope, terminator.stop);
  }
}

/** All at once: a parameter may be another one's argument. */
function moveArguments(scope: FunctionScope, parameters: readonly Value[], args: readonly Value[]): void {
  const { emitter } = scope;
  let pending = parameters.flatMap((parameter, i) => {
    const argument = args[i];
    return argument === undefined || argument === parameter ? [] : [{ to: scope.resultRegister(parameter), argument }];
  });
  const sourceOf = (argument: Value): number =>
    scope.constantOf(argument) === undefined ? scope.resultRegister(argument) : -1;
  let moves = pending.map(({ to, argument }) => ({ to, from: sourceOf(argument), argument }));
  pending = [];
  while (moves.length > 0) {
    const ready = moves.find(({ to }) => !moves.some((other) => other.from === to && other.to !== to));
    if (ready === undefined) {
      // A ring: one of them steps aside.
      const first = moves[0];
      if (first === undefined) return;
      const aside = emitter.copy(first.from);
      moves = moves.map((move) => (move.from === first.from ? { ...move, from: aside } : move));
      continue;
    }
    const known = scope.constantOf(ready.argument);
    if (known === undefined) emitter.move(ready.to, ready.from);
    else emitter.set(ready.to, known);
    moves = moves.filter((move) => move !== ready);
  }
}

/** The way out of a function that has what it needs: `end`, and what was taken is released. */
function leave(scope: FunctionScope, stop: boolean | undefined): void {
  if (scope.fn.kind === "handler" && isPooled(scope.options)) releaseScratch(scope, scope.needScratch());
  end(scope, stop);
}

function end(scope: FunctionScope, stop: boolean | undefined): void {
  // What has an address is in use to the end.
  for (const slot of scope.addressed) scope.emitter.touch(scope.slot(slot));
  const result = scope.fn.kind !== "handler" ? (stop === true ? 1 : 0) : (scope.fn.context?.program.result ?? 0);
  scope.emitter.set(0, BigInt(result));
  scope.emitter.emit({ kind: "exit" });
}
