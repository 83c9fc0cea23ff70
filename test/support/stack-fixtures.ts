// Maps with stacks as the tests of several formats share them: a command, a stack of a program and one of the kernel.
import type { IrMap } from "../../src/compiler/ir/ir.ts";
import { fieldLayout } from "../../src/language/layout.ts";
import type { AggregateType, StackType, Type } from "../../src/language/types.ts";
import type { ConsumerServices, MapSnapshot } from "../../src/session/events.ts";
import { servicesOf } from "./output-fixtures.ts";

export const count: AggregateType = { kind: "aggregate", aggregate: "count", signed: false };
export const comm: Type = { kind: "string", capacity: 16 };
export const user: StackType = { kind: "stack", space: "user", mode: "bpftrace", limit: 127, unwind: true };
export const kernel: StackType = { kind: "stack", space: "kernel", mode: "bpftrace", limit: 127 };
const stacks = (unwind: boolean): IrMap => ({
  name: "",
  shown: "",
  keys: [],
  value: user,
  stacks: { frames: 127, buildId: false, unwind, displaced: 0 },
  entries: 1,
});

/** Entries of a key of these types: a command, ids of stacks (negative: none). */
export function snapshot(
  types: readonly Type[],
  value: IrMap["value"],
  entries: readonly (readonly [key: readonly (string | bigint)[], value: bigint])[],
): MapSnapshot {
  const { offsets, size } = fieldLayout(types);
  return {
    index: 0,
    map: { name: "m", shown: "@m", keys: types, value, entries: 8 },
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
/** Stack 1 is main, run, operator;; 2 the same at other places; 3 the kernel's vfs_read under an unknown frame. */
const symbols = {
  ...services.symbols,
  stack: (id: bigint, map: number) => (map === (id === 3n ? 1 : 0) ? addresses[String(id)] : undefined),
  user: (address: bigint) => {
    const symbol = names.get(address >> 4n);
    return symbol === undefined ? { address } : { address, symbol, offset: Number(address & 15n) };
  },
};

export const stackServices: ConsumerServices = { ...services, symbols };

/** Two stacks of a program, which differ in offsets only, one of them with the kernel's above. */
export const sampledMap = (value: IrMap["value"] = count): MapSnapshot =>
  snapshot([kernel, user, comm], value, [
    [[3n, 1n, "app"], 2n],
    [[3n, 2n, "app"], 3n],
    [[-14n, 1n, "app"], 4n],
  ]);
