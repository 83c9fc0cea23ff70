// What the tests of this room share: a schema of fields, a record in memory, and services without a machine.
import type { ConsumerAction, EventField, EventSchema, Plan } from "../../src/compiler/plan.ts";
import { fieldLayout } from "../../src/language/layout.ts";
import type { Type } from "../../src/language/types.ts";
import type { ConsumerServices, RecordMemory } from "../../src/session/events.ts";

export function recordMemory(size = 4096): RecordMemory {
  const bytes = new Uint8Array(size);
  return { bytes, view: new DataView(bytes.buffer), words: new Uint32Array(bytes.buffer) };
}

export function schemaOf(action: ConsumerAction, types: readonly Type[]): EventSchema<ConsumerAction> {
  const { offsets, size } = fieldLayout(types);
  const fields: EventField[] = types.map((type, i) => ({ name: `f${i}`, type, offset: 8 + offsets[i] }));
  return { action, fields, size: 8 + size, probe: "begin" };
}

export function servicesOf(plan: Partial<Plan> = {}): ConsumerServices {
  return {
    plan: {
      maps: [],
      probeNames: ["begin"],
      timeFormats: [],
      config: { maxStringLength: 1024, stringTrailer: ".." },
      ...plan,
    } as unknown as Plan,
    bootToWall: 0n,
    symbols: {
      kernel: (address) =>
        address < 0x1000n ? { address } : { address, symbol: "vfs_read", offset: Number(address - 0x1000n) },
      user: (address) => ({ address, symbol: "main", offset: 4 }),
      stack: () => [0x1004n, 0x10n],
      buildIdStack: () => undefined,
      code: () => undefined,
      userName: (uid) => (uid === 0 ? "root" : String(uid)),
      cgroupPath: (id) => `/cgroup/${id}`,
      systemCallName: (number) => (number === 0 ? "read" : String(number)),
    },
  };
}
