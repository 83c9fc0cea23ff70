import assert from "node:assert/strict";
import { test } from "node:test";
import type { IrMap } from "../compiler/ir/ir.ts";
import { fieldLayout } from "../language/layout.ts";
import type { AggregateType, StackType, Type } from "../language/types.ts";
import type { MapSnapshot } from "../session/events.ts";
import { servicesOf } from "../../test/support/output-fixtures.ts";
import { foldedLines } from "./folded.ts";

const count: AggregateType = { kind: "aggregate", aggregate: "count", signed: false };
const comm: Type = { kind: "string", capacity: 16 };
const user: StackType = { kind: "stack", space: "user", mode: "bpftrace", limit: 127, unwind: true };
const kernel: StackType = { kind: "stack", space: "kernel", mode: "bpftrace", limit: 127 };
const stacks = (unwind: boolean): IrMap => ({
  name: "",
  keys: [],
  value: user,
  stacks: { frames: 127, buildId: false, unwind },
  entries: 1,
});

/** Entries of a key of these types: a command, ids of stacks (negative: none). */
function snapshot(
  types: readonly Type[],
  value: IrMap["value"],
  entries: readonly (readonly [key: readonly (string | bigint)[], value: bigint])[],
): MapSnapshot {
  const { offsets, size } = fieldLayout(types);
  return {
    index: 0,
    map: { name: "m", keys: types, value, entries: 8 },
    entries: entries.map(([key, number]) => {
      const bytes = Buffer.alloc(size);
      key.forEach((part, i) =>
        typeof part === "string" ? bytes.write(part, offsets[i]) : bytes.writeBigInt64LE(part, offsets[i]),
      );
      const words = Buffer.alloc(8);
      words.writeBigInt64LE(number);
      return [bytes, words] as const;
    }),
  };
}

const addresses: Record<string, readonly bigint[]> = {
  1: [0x30n, 0x21n, 0x11n],
  2: [0x38n, 0x29n, 0x11n],
  3: [0x2010n, 0x11n],
};
const names = new Map([
  [1n, "main"],
  [2n, "run"],
  [3n, "operator;"],
]);
const services = servicesOf({ maps: [stacks(true), stacks(false)] });
const symbols = {
  ...services.symbols,
  stack: (id: bigint, map: number) => (map === (id === 3n ? 1 : 0) ? addresses[String(id)] : undefined),
  user: (address: bigint) => {
    const symbol = names.get(address >> 4n);
    return symbol === undefined ? { address } : { address, symbol, offset: Number(address & 15n) };
  },
};

test("the command, then the program's frames from the outermost on, then the kernel's; equal lines are one", () => {
  const entries = snapshot([kernel, user, comm], count, [
    [[3n, 1n, "app"], 2n],
    [[3n, 2n, "app"], 3n],
    [[-14n, 1n, "app"], 4n],
  ]);
  assert.deepEqual(foldedLines(entries, 0, 1, { ...services, symbols })?.sort(), [
    "app;main;run;operator: 4",
    "app;main;run;operator:;[unknown]_[k];vfs_read_[k] 5",
  ]);
});

test("what is no stack is a frame, and what is no number no line", () => {
  assert.deepEqual(
    foldedLines(
      snapshot(
        [comm],
        count,
        [["a b"], ["c"]].map((key) => [key, 7n] as const),
      ),
      0,
      1,
      services,
    ),
    ["a b 7", "c 7"],
  );
  assert.deepEqual(foldedLines(snapshot([], count, [[[], 7n]]), 0, 1, services), ["@m 7"]);
  assert.equal(
    foldedLines(
      snapshot([comm], { kind: "aggregate", aggregate: "hist", signed: false, parameters: [0n] }, []),
      0,
      1,
      services,
    ),
    undefined,
  );
});
