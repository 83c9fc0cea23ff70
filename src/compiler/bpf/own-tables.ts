// Which maps by key are in tables of strobe's own (layouts/shared-table.ts, layouts/bucket-table.ts), and why the others are
// not.
import type { Config } from "../../language/check/config.ts";
import type { Capabilities } from "../../linux/kernel/capabilities.ts";
import { keyLayout, roundUp, sizeOf } from "../../language/layout.ts";
import type { Instruction, IrMap, IrModule } from "../ir/ir.ts";
import { type BucketTable, bucketTable } from "../layouts/bucket-table.ts";
import { loopsOf } from "../optimize/graph.ts";
import type { SharedTable } from "../layouts/shared-table.ts";
import type { EventSchema } from "../plan.ts";

export interface OwnTables {
  /** Why an aggregation by key is in a hash table of the kernel's; undefined when it is not. Asked once of each map. */
  notFor(map: number, table: SharedTable): string | undefined;
  /** The table of a map of other values, or why it is in one of the kernel's. Asked once of each map. */
  bucketsFor(map: number, of: IrMap): BucketTable | string;
  /** Whether the script clears a map. */
  isCleared(map: number): boolean;
}

/** Bytes of all tables of a script: they are there from the start. */
const mostBytes = 32 << 20;
/** Of a key: its words are compared one by one. */
const mostKeyBytes = 64;
/** Of a value. */
const mostValueBytes = 64;
/** Of a map that whoever wrote the script holds to a few entries: a table of buckets has room for more. */
const fewEntries = 256;
/** Places in handlers: each has the code that finds an entry, and that makes it. */
const mostPlaces = 8;

interface Asked {
  readonly hashTables: Config["hashTables"];
  readonly schemas: readonly EventSchema[];
  readonly growing: boolean;
  readonly easyToVerify: boolean;
  /** The program that traces may delete entries. */
  readonly held: boolean;
  readonly capabilities: Pick<Capabilities, "mayGoto" | "arm64">;
}

export function ownTables(
  module: IrModule,
  { hashTables, schemas, growing, easyToVerify, held, capabilities }: Asked,
): OwnTables {
  const cleared = new Set(schemas.flatMap(({ action }) => (action.kind === "clear-map" ? [action.map] : [])));
  let total = 0;
  const notFor = (
    map: number,
    bytes: number,
    keySize: number,
    done: readonly Instruction["op"][],
  ): string | undefined => {
    if (hashTables === "kernel") return "hash_tables is kernel";
    if (!capabilities.mayGoto) return "this kernel has no may_goto (Linux 6.9)";
    if (growing) return "programs may come while it runs";
    if (easyToVerify) return "the verifier gave up on the handlers";
    if (bytes > mostBytes) return `it would take ${Math.round(bytes / 1e6)} MB`;
    if (keySize > mostKeyBytes) return `its keys have ${keySize} bytes`;
    const why = whatHandlersDo(module, map, done);
    if (why !== undefined) return why;
    if (total + bytes > mostBytes) return `it and the others would take ${Math.round((total + bytes) / 1e6)} MB`;
    total += bytes;
    return undefined;
  };
  return {
    isCleared: (map) => cleared.has(map),
    notFor: (map, { bytes, keySize }) =>
      held
        ? "the program that traces may delete entries"
        : notFor(map, bytes, keySize, ["aggregate", "aggregate-read"]),
    bucketsFor: (map, { name, keys, value, entries }) => {
      // What the session does with strobe's own maps is done with tables of the kernel's.
      if (name.startsWith(".")) return "it is strobe's own";
      if (entries < fewEntries) return `it has room for ${entries} entries`;
      // The order of two loads would have to be asked for.
      if (capabilities.arm64) return "loads are not in order on this processor";
      const valueSize = sizeOf(value);
      if (valueSize > mostValueBytes) return `its values have ${valueSize} bytes`;
      const stays = !held && !cleared.has(map) && changesWords(module, map, roundUp(valueSize, 8));
      const table = bucketTable(keyLayout(keys).size, valueSize, entries, stays);
      return notFor(map, table.bytes, table.keySize, ["map-lookup", "entry-load", "entry-copy", ...changes]) ?? table;
    },
  };
}

const changes = ["map-store", "map-add", "map-delete"] as const;

/** Whether all that is done to a map is that whole words are stored or added to. */
function changesWords({ functions }: IrModule, map: number, valueSize: number): boolean {
  return (
    valueSize === 8 &&
    functions.every(({ blocks }) =>
      blocks.every(({ instructions }) =>
        instructions.every(
          (one) =>
            !("map" in one && one.map === map) ||
            (one.op !== "map-delete" &&
              (one.op !== "map-store" || (one.source.kind === "value" && one.source.width === 8))),
        ),
      ),
    )
  );
}

function whatHandlersDo({ functions }: IrModule, map: number, done: readonly Instruction["op"][]): string | undefined {
  let places = 0;
  for (const { kind, placement, blocks } of functions) {
    let loops: ReturnType<typeof loopsOf> | undefined;
    for (const [block, { instructions }] of blocks.entries()) {
      for (const instruction of instructions) {
        if (!("map" in instruction) || instruction.map !== map) continue;
        const { op } = instruction;
        if (op === "map-delete" && !done.includes(op)) return "entries of it are deleted";
        if (placement === "host") continue;
        if (!done.includes(op))
          return `handlers do more than ${done.includes("aggregate") ? "add to it and read it" : "read, store, add and delete"}`;
        // The verifier walks the search of the slots anew in every round.
        if (kind !== "handler" || (loops ??= loopsOf(blocks))[block] !== undefined) return "it is used within a loop";
        if (op !== "entry-load" && op !== "entry-copy") places++;
      }
    }
  }
  return places > mostPlaces ? `it is used at ${places} places` : undefined;
}
