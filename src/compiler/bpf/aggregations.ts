// Aggregations: words that this CPU's handlers change in place (language/aggregations/table.ts), and reading them over
// all CPUs. What is done to the words is in parts.ts.
import { Alu, Jump } from "../../bpf/instruction.ts";
import { UpdateFlag } from "../../bpf/kinds.ts";
import { InternalError } from "../../base/internal-error.ts";
import type { Result } from "../../language/aggregations/aggregation.ts";
import { aggregateLayout, resultAt } from "../../language/aggregations/table.ts";
import type { AggregateType } from "../../language/types.ts";
import type { Copies } from "../layouts/copies.ts";
import type { Instruction, Place } from "../ir/ir.ts";
import type { MapStorage } from "./bpf-plan.ts";
import { countRefusal, justMade } from "./trouble-counters.ts";
import { addressOf, at, behind, constant, kernelMap } from "./emitter.ts";
import type { Memory, Register } from "./machine.ts";
import { keyMemory, lookup, resultOfMap } from "./map-operations.ts";
import { addToPart, staying, toRank, type Adding } from "./parts.ts";
import type { FunctionScope } from "./scope.ts";
import { findEntry, makeEntry } from "./shared-tables.ts";

type Of<Op extends Instruction["op"]> = Extract<Instruction, { op: Op }>;

function aggregateType(scope: FunctionScope, map: number): AggregateType {
  const { value, name } = scope.irMap(map);
  if (value.kind !== "aggregate") throw new InternalError(`@${name} is not an aggregation`);
  return value;
}

export function aggregate(scope: FunctionScope, instruction: Of<"aggregate">): void {
  const { emitter } = scope;
  const type = aggregateType(scope, instruction.map);
  const storage = scope.storageOf(instruction.map);
  if (storage.kind === "percpu-slot" || storage.kind === "slot") {
    const shared = storage.kind === "slot";
    const base = shared ? emitter.mapValue(scope.globals, 0) : scope.stripeAddress(true);
    emitter.storeConstant(behind(base, storage.offset), 8, 1n);
    update(scope, type, behind(base, storage.offset + 8), instruction, shared || scope.addsAtomically(instruction.map));
    return;
  }
  const { copies, stride } = copiesIn(storage);
  const missing = emitter.label();
  const found = emitter.label();
  const done = emitter.label();
  const shared = copies < scope.options.capabilities.cpus;
  if (storage.kind === "shared") {
    const key = scope.place(keyOf(scope, instruction));
    const entry = emitter.register();
    emitter.move(entry, findEntry(scope, instruction.map, key, missing));
    emitter.bind(found);
    if (copies > 1) emitter.alu(Alu.ADD, entry, distanceToCopy(scope, storage));
    // Whatever interrupts this may add to the same copy.
    update(scope, type, behind(entry, storage.valueAt), instruction, true, shared ? instruction.map : undefined);
    emitter.bind(done);
    emitter.cold(() => {
      emitter.bind(missing);
      makeEntry(scope, instruction.map, key, entry, found, done);
    });
    return;
  }
  const { index, map } = scope.kernelMapOf(instruction.map);
  const key = keyMemory(scope, instruction.map, instruction.key);
  const entry = lookup(scope, instruction.map, key);
  emitter.branchConstant(Jump.JEQ, entry, 0n, missing);
  emitter.bind(found);
  if (copies > 1) emitter.alu(Alu.ADD, entry, distanceToCopy(scope, { copies, stride }));
  update(
    scope,
    type,
    behind(entry),
    instruction,
    shared || scope.addsAtomically(instruction.map),
    shared ? instruction.map : undefined,
  );
  emitter.bind(done);
  emitter.cold(() => {
    emitter.bind(missing);
    emitter.call(
      "map_update_elem",
      kernelMap(index),
      addressOf(key),
      addressOf(scope.zeroes(map.valueSize)),
      constant(UpdateFlag.NOEXIST),
    );
    const made = emitter.label();
    const refused = resultOfMap(scope);
    emitter.branchConstant(Jump.JEQ, refused, 0n, made);
    emitter.branchConstant(Jump.JEQ, refused, justMade, made);
    countRefusal(scope, instruction.map, refused);
    emitter.jump(done);
    emitter.bind(made);
    emitter.move(entry, lookup(scope, instruction.map, key));
    emitter.branchConstant(Jump.JNE, entry, 0n, found);
    // It is gone already, and what was to be added with it.
    emitter.jump(done);
  });
}

function keyOf(scope: FunctionScope, { map, key }: Of<"aggregate" | "aggregate-read">): Place {
  if (key === undefined) throw new InternalError(`@${scope.irMap(map).name} has keys`);
  return key;
}

/** From an entry's first copy to this CPU's. */
function distanceToCopy(scope: FunctionScope, { copies, stride }: Copies): Register {
  const distance = scope.emitter.callFor("get_smp_processor_id");
  scope.scaleStripes(distance, stride, copies);
  return distance;
}

/** How many copies a keyed map has of an aggregation: one where the script wants no others. */
function copiesIn(storage: MapStorage): Copies {
  return "copies" in storage ? storage : { copies: 1, stride: 0 };
}

/** Adds a value to the words at a place. `shared`: the map, where other CPUs change the same words. */
function update(
  scope: FunctionScope,
  type: AggregateType,
  words: Memory,
  { value, time, weight }: Of<"aggregate">,
  atomic: boolean,
  shared?: number,
): void {
  const adding: Adding = {
    value,
    time,
    weight,
    signed: type.signed,
    atomic,
    ...(shared === undefined ? {} : { shared }),
  };
  for (const { part, at: place } of aggregateLayout(type).parts) addToPart(scope, part, at(words, place * 8), adding);
}

/** Reads an aggregation over all CPUs. */
export function aggregateRead(scope: FunctionScope, instruction: Of<"aggregate-read">): void {
  const { emitter } = scope;
  const type = aggregateType(scope, instruction.map);
  const storage = scope.storageOf(instruction.map);
  // total, and: the number of values (avg), or whether there is one (min, max).
  const total = emitter.constant(0n);
  const second = emitter.constant(0n);
  const read = resultAt(type, instruction.of);
  if (read === undefined) {
    emitter.set(scope.resultRegister(instruction.result), 0n);
    return;
  }
  if (!("part" in read))
    throw new InternalError(`${type.aggregate}() in @${scope.irMap(instruction.map).name} is read`);
  if (storage.kind === "slot") {
    const next = emitter.label();
    accumulate(scope, type, read, behind(emitter.mapValue(scope.globals, storage.offset), 8), total, second, next);
    emitter.bind(next);
  } else if (storage.kind === "percpu-slot") {
    const { map, stripe, count } = scope.stripe;
    eachCopy(scope, count, (cpu, next) => {
      const base = scope.addStripes(map, emitter.copy(cpu), stripe, count);
      accumulate(scope, type, read, behind(base, storage.offset + 8), total, second, next);
    });
  } else {
    const { copies, stride } = copiesIn(storage);
    const missing = emitter.label();
    let entry: Register;
    if (storage.kind === "shared") {
      entry = emitter.copy(findEntry(scope, instruction.map, scope.place(keyOf(scope, instruction)), missing));
      emitter.add(entry, storage.valueAt);
    } else {
      entry = lookup(scope, instruction.map, keyMemory(scope, instruction.map, instruction.key));
      emitter.branchConstant(Jump.JEQ, entry, 0n, missing);
    }
    eachCopy(scope, copies, (copy, next) => {
      if (copies > 1) {
        const distance = emitter.copy(copy);
        scope.scaleStripes(distance, stride, copies);
        emitter.alu(Alu.ADD, distance, entry);
        accumulate(scope, type, read, behind(distance), total, second, next);
      } else accumulate(scope, type, read, behind(entry), total, second, next);
    });
    emitter.bind(missing);
  }
  const result = scope.resultRegister(instruction.result);
  if (read.averaged) averageOf(scope, result, total, second, instruction.signed);
  else emitter.move(result, total);
}

function eachCopy(scope: FunctionScope, copies: number, body: (copy: Register, next: number) => void): void {
  const { emitter } = scope;
  const copy = emitter.constant(0n);
  const again = emitter.label();
  const next = emitter.label();
  emitter.bind(again);
  body(copy, next);
  emitter.bind(next);
  emitter.add(copy, 1);
  if (copies > 1) emitter.branchConstant(Jump.JLT, copy, BigInt(copies), again);
}

/** Adds one CPU's words; `next` is where to go without adding. */
function accumulate(
  scope: FunctionScope,
  type: AggregateType,
  { part: index, averaged }: Extract<Result, { part: number }>,
  words: Memory,
  total: Register,
  second: Register,
  next: number,
): void {
  const { emitter } = scope;
  const { part, at: place } = aggregateLayout(type).parts[index];
  const own = at(words, place * 8);
  const word = emitter.register();
  if (part.kind === "extreme") {
    const set = emitter.register();
    const take = emitter.label();
    emitter.load(set, at(own, 8), 8);
    emitter.branchConstant(Jump.JEQ, set, 0n, next);
    emitter.load(word, own, 8);
    toRank(scope, word, part.which, type.signed);
    emitter.branchConstant(Jump.JEQ, second, 0n, take);
    emitter.branch(staying(part.which, type.signed), word, total, next);
    emitter.bind(take);
    emitter.move(total, word);
    emitter.set(second, 1n);
    return;
  }
  const values = averaged ? emitter.register() : undefined;
  emitter.load(word, own, 8);
  if (values !== undefined) emitter.load(values, at(own, 8), 8);
  emitter.alu(Alu.ADD, total, word);
  if (values !== undefined) emitter.alu(Alu.ADD, second, values);
}

function averageOf(scope: FunctionScope, result: Register, total: Register, values: Register, signed: boolean): void {
  const { emitter } = scope;
  if (!signed) {
    emitter.move(result, total);
    emitter.alu(Alu.DIV, result, values);
    return;
  }
  // Counts are positive: only the total's sign matters, on every cpu version.
  const sign = emitter.copy(total);
  emitter.aluConstant(Alu.ARSH, sign, 63n);
  const quotient = emitter.copy(total);
  emitter.alu(Alu.XOR, quotient, sign);
  emitter.alu(Alu.SUB, quotient, sign);
  emitter.alu(Alu.DIV, quotient, values);
  emitter.alu(Alu.XOR, quotient, sign);
  emitter.alu(Alu.SUB, quotient, sign);
  emitter.move(result, quotient);
}
