// Perf events that nobody waits for. Whoever drops the last reference to the event of a tracepoint waits until no CPU
// can be in it any more, some 70 ms. A BPF map of perf events holds references as well, and those are dropped by the
// kernel's own thread, some time after the map has gone (bpf_event_entry_free_rcu in kernel/bpf/arraymap.c).
import { createMap, mapUpdate } from "../bpf/bpf.ts";
import { LinuxError } from "../error.ts";
import { closeFd } from "../ffi.ts";

const PERF_EVENT_ARRAY = 4;

/**
 * Makes closing these events return at once; the descriptor that it gives is to be closed after them. A program on them
 * still runs for some time then. Undefined when there are none, or the kernel has no room for this: closing waits.
 */
export function releasedLater(events: readonly number[]): number | undefined {
  if (events.length === 0) return undefined;
  let map: number | undefined;
  try {
    map = createMap({ name: "leaving", type: PERF_EVENT_ARRAY, keySize: 4, valueSize: 4, entries: events.length });
    for (const [i, event] of events.entries()) mapUpdate(map, word(i), word(event));
    return map;
  } catch (error) {
    if (map !== undefined) closeFd(map);
    if (error instanceof LinuxError) return undefined;
    throw error;
  }
}

function word(value: number): Uint8Array {
  return new Uint8Array(Uint32Array.of(value).buffer);
}
