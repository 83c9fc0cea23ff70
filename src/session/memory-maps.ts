// Maps of a script in this process's memory alone: of a session that runs no code in the kernel.
import type { IrMap } from "../compiler/ir/ir.ts";
import { keyLayout, sizeOf } from "../language/layout.ts";
import { copiedValues, HashMap, plainValues, type KernelTable, type LiveMap } from "./maps.ts";

function memoryTable(): KernelTable {
  const entries = new Map<string, readonly [Uint8Array, Uint8Array]>();
  const name = (key: Uint8Array): string => Buffer.from(key.buffer, key.byteOffset, key.byteLength).toString("latin1");
  return {
    lookup: (key) => entries.get(name(key))?.[1].slice(),
    update: (key, value) => {
      const known = entries.get(name(key));
      if (known === undefined) entries.set(name(key), [key.slice(), value.slice()]);
      else known[1].set(value);
    },
    remove: (key) => entries.delete(name(key)),
    batches: () => [...entries.values()].map(([keys, value]) => ({ count: 1, keys, values: value.slice() })),
    clear: () => entries.clear(),
  };
}

/** By their index; stack maps are left out. As many entries as there is memory for. */
export function memoryMaps(maps: readonly IrMap[]): Map<number, LiveMap> {
  const made = new Map<number, LiveMap>();
  for (const [index, map] of maps.entries()) {
    if (map.stacks !== undefined) continue;
    const size = sizeOf(map.value);
    const values =
      map.value.kind === "aggregate" ? copiedValues(map.value, { copies: 1, stride: size }) : plainValues(size);
    made.set(index, new HashMap(map, memoryTable(), keyLayout(map.keys).size, values));
  }
  return made;
}
