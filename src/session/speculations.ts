// What is printed for the time being: kept until a script commits it, or discards it.
import type { ScriptSpeculations } from "../compiler/runtime.ts";
import { sessions } from "../messages/on-demand.ts";

interface Kept {
  readonly records: (readonly [schema: number, record: Uint8Array])[];
  readonly size: number;
  bytes: number;
}

/** Bytes that are kept at most, where a script says nothing. */
const usualSize = 1 << 22;

export class Speculations implements ScriptSpeculations {
  /** Where what is committed goes: to whom the program that runs prints. */
  emit: (schema: number, record: Uint8Array) => void = () => {};
  readonly #kept = new Map<bigint, Kept>();
  /** What the clause that runs prints is kept under; 0: printed. */
  #current = 0n;
  #failed = 0;
  #dropped = 0;

  /** A number of a speculation that is free, of so many; 0 where there is none, which is counted. */
  speculation(most: bigint, size: bigint): bigint {
    for (let id = 1n; id <= most; id++)
      if (!this.#kept.has(id)) {
        this.#kept.set(id, { records: [], size: size > 0n ? Number(size) : usualSize, bytes: 0 });
        return id;
      }
    this.#failed++;
    return 0n;
  }

  /** What is printed from here on is kept, or lost where there is no such speculation. */
  speculate(id: bigint): bigint {
    this.#current = id;
    if (id === 0n) this.#current = -1n;
    return 0n;
  }

  /** What is printed from here on is printed. */
  speculated(): bigint {
    this.#current = 0n;
    return 0n;
  }

  commit(id: bigint): bigint {
    const kept = this.#kept.get(id);
    this.#kept.delete(id);
    for (const [schema, record] of kept?.records ?? []) this.emit(schema, record);
    return 0n;
  }

  discard(id: bigint): bigint {
    this.#kept.delete(id);
    return 0n;
  }

  /** Takes a record; false: nobody speculates. */
  take(schema: number, record: Uint8Array): boolean {
    if (this.#current === 0n) return false;
    const kept = this.#kept.get(this.#current);
    if (kept === undefined) return true;
    if (kept.bytes + record.length > kept.size) this.#dropped++;
    else {
      kept.bytes += record.length;
      kept.records.push([schema, record.slice()]);
    }
    return true;
  }

  /** What failed since the last call, in DTrace's words. */
  losses(): readonly string[] {
    const said: string[] = [];
    const [failed, dropped] = [this.#failed, this.#dropped];
    this.#failed = this.#dropped = 0;
    if (failed > 0) said.push(sessions().speculationsFailed(failed).message);
    if (dropped > 0) said.push(sessions().speculationsDropped(dropped).message);
    return said;
  }
}
