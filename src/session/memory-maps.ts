// Maps of a script in this process's memory alone: of a session that runs no code in the kernel.
import type { IrMap } from "../compiler/ir/ir.ts";
import { HostMap } from "./host-map.ts";
import type { LiveMap } from "./maps.ts";

/** By their index; stack maps are left out. As many entries as there is memory for. */
export function memoryMaps(maps: readonly IrMap[]): Map<number, LiveMap> {
  return new Map(
    [...maps.entries()]
      .filter(([, map]) => map.stacks === undefined)
      .map(([index, map]) => [index, new HostMap(map, Infinity)]),
  );
}
