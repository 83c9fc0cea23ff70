// Lines of scripts: V8 tells where a function begins in characters of its source, which is on disk. A file that was
// written after its process began need not be what the process runs: then there is no line.
import { firstIndex } from "../../../base/first-index.ts";
import { fileURLToPath } from "node:url";
import { closeSync } from "node:fs";
import { openOthersFile, readOthersFile } from "../../../linux/others-files.ts";
import { startedAt } from "../../../linux/processes/procfs.ts";
import { rootOf } from "../../../machine/binaries/live-binary.ts";

interface Began {
  readonly milliseconds: number;
  readonly root: string;
}

const largestScript = 16 << 20;
const processesKept = 4096;
const scriptsKept = 256;

export class ScriptLines {
  readonly #began = new Map<number, Began>();
  readonly #ends = new Map<string, Float64Array | undefined>();

  /** A process runs scripts: what has to be known of it once it has gone. */
  notice(pid: number): void {
    const milliseconds = startedAt(pid);
    if (milliseconds === undefined) return;
    if (this.#began.size >= processesKept) this.#began.clear();
    this.#began.set(pid, { milliseconds, root: rootOf(pid) });
  }

  /** Counted from 1; 0 where it cannot be told. `script`: a path, or a file: URL. */
  lineOf(pid: number, script: string, character: number): number {
    const path = pathOf(script);
    if (path === undefined) return 0;
    const key = `${pid} ${path}`;
    if (!this.#ends.has(key)) {
      if (this.#ends.size >= scriptsKept) this.#ends.clear();
      this.#ends.set(key, this.#read(pid, path));
    }
    const ends = this.#ends.get(key);
    if (ends === undefined) return 0;
    const line = firstIndex(ends.length, (i) => ends[i] >= character);
    return line + 1;
  }

  /** Where lines end, in characters; undefined when the file is not there, or another by now. */
  #read(pid: number, path: string): Float64Array | undefined {
    const began = this.#began.get(pid);
    if (began === undefined) return undefined;
    const place = `${began.root}${path}`;
    try {
      const { descriptor, stat } = openOthersFile(place);
      closeSync(descriptor);
      if (Number(stat.mtimeMs) > began.milliseconds + clockTick) return undefined;
      const text = readOthersFile(place, { limit: largestScript })
        .toString("utf8")
        .replace(/^\ufeff/, "");
      const ends: number[] = [];
      for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) ends.push(at);
      return Float64Array.from(ends);
    } catch {
      return undefined;
    }
  }
}
/** The kernel tells when processes began in hundredths of a second. */
const clockTick = 10;

function pathOf(script: string): string | undefined {
  if (script.startsWith("/")) return script;
  try {
    return script.startsWith("file:///") ? fileURLToPath(script) : undefined;
  } catch {
    return undefined;
  }
}
