// Scans a large debug file in several threads. Whoever asks waits, as for everything about debug information: the
// threads count what they have done in shared memory, where this one looks.
import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";
import type { ScanResult } from "../../debuginfo/dwarf/scan.ts";
import type { UnitSection } from "../../debuginfo/dwarf/unit-headers.ts";
import { ownFile } from "../../linux/packages.ts";

/** What one thread is told. */
export interface ScanOrder {
  readonly path: string;
  readonly alternate: string | undefined;
  readonly section: UnitSection;
  /** Of `Shared`. */
  readonly shared: SharedArrayBuffer;
}

/**
 * Words that all threads share: the next unit to scan, threads that began and that ended, kilobytes scanned, a bell.
 */
export const Shared = { next: 0, began: 1, ended: 2, kilobytes: 3, bell: 4, words: 5 } as const;

/** Units that a thread takes at a time. */
export const unitsAtOnce = 16;

/** Threads that do not start by then, in milliseconds, never will. */
const startMost = 10_000;
const look = 200;
const threadsMost = 8;

/** The results of all threads; undefined when there can be none. `progress`: megabytes so far. */
export function scanInThreads(
  order: Omit<ScanOrder, "shared">,
  progress: (megabytes: number) => void,
): readonly ScanResult[] | undefined {
  const script = workerScript();
  const count = Math.min(threadsMost, availableParallelism());
  if (script === undefined || count < 2) return undefined;
  const { MessageChannel, receiveMessageOnPort, Worker } = process.getBuiltinModule("node:worker_threads");
  const shared = new SharedArrayBuffer(4 * Shared.words);
  const state = new Int32Array(shared);
  const ports = Array.from({ length: count }, () => {
    const { port1, port2 } = new MessageChannel();
    const worker = new Worker(script, { workerData: { ...order, shared, port: port2 }, transferList: [port2] });
    worker.unref();
    return { port: port1, worker };
  });
  try {
    const began = performance.now();
    while (Atomics.load(state, Shared.ended) < count) {
      const bell = Atomics.load(state, Shared.bell);
      if (Atomics.load(state, Shared.ended) < count) Atomics.wait(state, Shared.bell, bell, look);
      progress(Atomics.load(state, Shared.kilobytes) / 1024);
      if (Atomics.load(state, Shared.began) < count && performance.now() - began > startMost) return undefined;
    }
    const results: ScanResult[] = [];
    for (const { port } of ports) {
      const message = receiveMessageOnPort(port)?.message as ScanResult | undefined;
      // A thread that met damage; the one that asks meets it again, and says so.
      if (message === undefined) return undefined;
      results.push({ ...message, functionNames: Buffer.from(message.functionNames) });
    }
    return results;
  } finally {
    for (const { port, worker } of ports) {
      port.close();
      void worker.terminate();
    }
  }
}

/** Beside the bundle that this is in; tests have none, and scan in their own thread. */
function workerScript(): string | undefined {
  const script = join(dirname(ownFile), "scan-worker.js");
  return existsSync(script) ? script : undefined;
}
