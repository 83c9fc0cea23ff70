// One thread of scan-workers.ts: an entry of the bundle.
import { parentPort, workerData, type MessagePort } from "node:worker_threads";
import { scanFile } from "../../debuginfo/dwarf/scan-file.ts";
import { DwarfSections } from "../../debuginfo/dwarf/sections.ts";
import { DwarfFile } from "../../debuginfo/dwarf/units.ts";
import type { UnitHeader } from "../../debuginfo/dwarf/unit-headers.ts";
import { elfAt } from "./file-bytes.ts";
import { Shared, unitsAtOnce, type ScanOrder } from "./scan-workers.ts";

const { path, alternate, section, shared, port } = workerData as ScanOrder & { readonly port: MessagePort };
const state = new Int32Array(shared);
Atomics.add(state, Shared.began, 1);

function* unitsToDo(headers: readonly UnitHeader[]): Iterable<UnitHeader> {
  for (;;) {
    const from = Atomics.add(state, Shared.next, unitsAtOnce);
    if (from >= headers.length) return;
    for (const header of headers.slice(from, from + unitsAtOnce)) {
      yield header;
      Atomics.add(state, Shared.kilobytes, (header.end - header.offset) >>> 10);
    }
  }
}

try {
  const elf = elfAt(path);
  if (elf !== undefined && parentPort !== null) {
    const other = alternate === undefined ? undefined : elfAt(alternate);
    const file = new DwarfFile(DwarfSections.of(elf), () => other && new DwarfFile(DwarfSections.of(other)));
    const result = scanFile(file, section, unitsToDo(file.headers(section)));
    port.postMessage(result);
  }
} finally {
  // Damage is met again, and told, by whoever waits.
  Atomics.add(state, Shared.ended, 1);
  Atomics.add(state, Shared.bell, 1);
  Atomics.notify(state, Shared.bell);
}
