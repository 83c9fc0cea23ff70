// How much the script's maps hold, for someone who looks once a second: nothing that costs handlers, and nothing that
// grows with the maps. The kernel counts the keys of its hash tables itself (bpf_map_sum_elem_count, since 6.6); a
// program that asks for them is loaded when they are first looked at. What is lone is looked up.
import { bucketCount } from "../../language/aggregations/buckets.ts";
import { partOf, readResult } from "../../language/aggregations/table.ts";
import { resultOf } from "../../language/aggregations/value.ts";
import { readFileSync } from "node:fs";
import {
  Alu,
  type BpfInstruction,
  Class,
  encode,
  Jump,
  LD_IMM64,
  Mode,
  Pseudo,
  widthCode,
} from "../../bpf/instruction.ts";
import { programTypes } from "../../bpf/kinds.ts";
import { Btf } from "../../debuginfo/btf.ts";
import { loadProgram, mapNextKey, testRun } from "../../linux/bpf/bpf.ts";
import { LinuxError } from "../../linux/error.ts";
import { closeFd } from "../../linux/ffi.ts";
import { decoder } from "../decode.ts";
import type { KeyedTable } from "./kernel-objects.ts";
import type { LiveMap } from "../maps.ts";
import { BucketTableMap } from "../bucket-table-map.ts";
import { SharedTableMap } from "../shared-table-map.ts";
import type { MapSize } from "../source.ts";

export class MapSizes implements Disposable {
  readonly #tables: readonly KeyedTable[];
  readonly #lone: readonly LiveMap[];
  /** By key, in mapped memory. */
  readonly #mapped: readonly LiveMap[];
  readonly #counter: number | undefined;

  constructor(tables: readonly KeyedTable[], maps: Iterable<LiveMap>) {
    this.#tables = tables;
    const all = [...maps];
    this.#lone = all.filter(({ map }) => map.keys.length === 0);
    this.#mapped = all.filter(
      (live) => (live instanceof SharedTableMap || live instanceof BucketTableMap) && !live.map.name.startsWith("."),
    );
    this.#counter = tables.length === 0 ? undefined : loadCounter(tables);
  }

  /**
   * Of the maps without keys the one that has seen most, and of the others the one of most keys; none that are empty.
   */
  largest(): MapSize[] {
    let lone: ReturnType<typeof loneSize>;
    for (const live of this.#lone) {
      const one = loneSize(live);
      if (one !== undefined && (lone === undefined || one.seen > lone.seen)) lone = one;
    }
    let keyed: { readonly name: string; readonly kind: "keys"; readonly keys: number | undefined } | undefined;
    for (const [i, table] of this.#tables.entries()) {
      const keys = this.#keysOf(table, i);
      if (keys !== 0 && (keyed === undefined || (keys ?? 0) > (keyed.keys ?? 0)))
        keyed = { name: table.name, kind: "keys", keys };
    }
    for (const live of this.#mapped) {
      const keys = live.length();
      if (keys > 0 && (keyed === undefined || keys > (keyed.keys ?? 0)))
        keyed = { name: live.map.shown, kind: "keys", keys };
    }
    return [lone?.size, keyed].filter((size) => size !== undefined);
  }

  /** Undefined: some. */
  #keysOf({ keySize, descriptor }: KeyedTable, index: number): number | undefined {
    if (this.#counter === undefined) return mapNextKey(descriptor, null, keySize) === undefined ? 0 : undefined;
    const context = new Uint8Array(new BigUint64Array([BigInt(index)]).buffer);
    // A sum over CPUs while they count: of a key that one adds and another removes the latter alone may be seen.
    return Math.max(0, testRun(this.#counter, { ctxIn: context }).retval | 0);
  }

  [Symbol.dispose](): void {
    if (this.#counter !== undefined) closeFd(this.#counter);
  }
}

/**
 * A program that gives the number of keys of the table whose index is its argument; undefined where the kernel has none
 * such.
 */
function loadCounter(tables: readonly KeyedTable[]): number | undefined {
  try {
    const count = new Btf(readFileSync("/sys/kernel/btf/vmlinux")).find("bpf_map_sum_elem_count", "function");
    if (count === undefined) return undefined;
    const one = (fields: Partial<BpfInstruction> & Pick<BpfInstruction, "code">): BpfInstruction => ({
      dst: 0,
      src: 0,
      offset: 0,
      imm: 0,
      ...fields,
    });
    const exit = one({ code: Class.JMP | Jump.EXIT });
    const code = encode([
      one({ code: Class.LDX | Mode.MEM | widthCode(8), dst: 6, src: 1 }),
      ...tables.flatMap(({ descriptor }, i) => [
        one({ code: Class.JMP | Jump.JNE, dst: 6, imm: i, offset: 4 }),
        one({ code: LD_IMM64, dst: 1, src: Pseudo.MAP_FD, imm: descriptor }),
        one({ code: 0 }),
        one({ code: Class.JMP | Jump.CALL, src: Pseudo.KERNEL_FUNCTION, imm: count }),
        exit,
      ]),
      one({ code: Class.ALU64 | Alu.MOV }),
      exit,
    ]);
    return loadProgram({ name: "map_sizes", type: programTypes.raw_tracepoint, code, license: "Dual MIT/GPL" });
  } catch (error) {
    if (error instanceof LinuxError || (error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** What a map without keys has, and how many values went into it as far as it tells; undefined when it is empty. */
function loneSize(live: LiveMap): { readonly size: MapSize; readonly seen: bigint } | undefined {
  const { shown: name, value: type } = live.map;
  const bytes = live.lookup(null);
  if (bytes === undefined) return undefined;
  if (type.kind === "integer") {
    const value = decoder(type)(new DataView(bytes.buffer, bytes.byteOffset, bytes.length), bytes, 0);
    return { size: { name, kind: "value", value: value as number | bigint }, seen: 1n };
  }
  if (type.kind !== "aggregate") return { size: { name, kind: "set" }, seen: 1n };
  const words = [...new BigUint64Array(bytes.buffer, bytes.byteOffset, bytes.length / 8)];
  const result = readResult(type);
  const counted = partOf(type, "count");
  if (result !== undefined && "part" in result && result.averaged !== true && type.float !== true) {
    const value = BigInt(resultOf(type, result, words));
    return { size: { name, kind: "value", value }, seen: counted === undefined ? 1n : value };
  }
  const values = (seen: bigint) => ({ size: { name, kind: "values", values: seen } as const, seen });
  if (counted !== undefined) return values(words[counted.at]);
  const buckets = partOf(type, "buckets");
  if (buckets !== undefined) {
    const counts = words.slice(buckets.at, buckets.at + bucketCount(buckets.part.of));
    return values(counts.reduce((sum, count) => sum + count, 0n));
  }
  return { size: { name, kind: "set" }, seen: 1n };
}
