// Which aggregations by key are in tables of strobe's own (layouts/shared-table.ts), and why the others are not.
import type { Config } from "../../language/check/config.ts";
import type { Capabilities } from "../../linux/kernel/capabilities.ts";
import type { IrModule } from "../ir/ir.ts";
import { loopsOf } from "../optimize/graph.ts";
import type { SharedTable } from "../layouts/shared-table.ts";
import type { EventSchema } from "../plan.ts";

export interface OwnTables {
  /** Why an aggregation by key is in a hash table of the kernel's; undefined when it is not. Asked once of each map. */
  notFor(map: number, table: SharedTable): string | undefined;
  /** Whether the script clears a map. */
  isCleared(map: number): boolean;
}

/** Bytes of all tables of a script: they are there from the start. */
const mostBytes = 32 << 20;
/** Of a key: its words are compared one by one. */
const mostKeyBytes = 64;
/** Places in handlers: each has the code that finds an entry, and that makes it. */
const mostPlaces = 8;

interface Asked {
  readonly hashTables: Config["hashTables"];
  readonly schemas: readonly EventSchema[];
  readonly growing: boolean;
  readonly easyToVerify: boolean;
  /** The program that traces may delete entries. */
  readonly held: boolean;
  readonly capabilities: Pick<Capabilities, "mayGoto">;
}

export function ownTables(
  module: IrModule,
  { hashTables, schemas, growing, easyToVerify, held, capabilities }: Asked,
): OwnTables {
  const cleared = new Set(schemas.flatMap(({ action }) => (action.kind === "clear-map" ? [action.map] : [])));
  let total = 0;
  return {
    isCleared: (map) => cleared.has(map),
    notFor: (map, { bytes, keySize }) => {
      if (hashTables === "kernel") return "hash_tables is kernel";
      if (!capabilities.mayGoto) return "this kernel has no may_goto (Linux 6.9)";
      if (growing) return "programs may come while it runs";
      if (easyToVerify) return "the verifier gave up on the handlers";
      if (held) return "the program that traces may delete entries";
      if (bytes > mostBytes) return `it would take ${Math.round(bytes / 1e6)} MB`;
      if (keySize > mostKeyBytes) return `its keys have ${keySize} bytes`;
      const why = whatHandlersDo(module, map);
      if (why !== undefined) return why;
      if (total + bytes > mostBytes) return `it and the others would take ${Math.round((total + bytes) / 1e6)} MB`;
      total += bytes;
      return undefined;
    },
  };
}

function whatHandlersDo({ functions }: IrModule, map: number): string | undefined {
  let places = 0;
  for (const { kind, placement, blocks } of functions) {
    let loops: ReturnType<typeof loopsOf> | undefined;
    for (const [block, { instructions }] of blocks.entries()) {
      for (const instruction of instructions) {
        if (!("map" in instruction) || instruction.map !== map) continue;
        const { op } = instruction;
        if (op === "map-delete") return "entries of it are deleted";
        if (placement === "host") continue;
        if (op !== "aggregate" && op !== "aggregate-read") return "handlers do more than add to it and read it";
        // The verifier walks the search of the slots anew in every round.
        if (kind !== "handler" || (loops ??= loopsOf(blocks))[block] !== undefined) return "it is used within a loop";
        places++;
      }
    }
  }
  return places > mostPlaces ? `it is used at ${places} places` : undefined;
}
