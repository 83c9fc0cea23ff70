// Guests are two at a time on a machine, whoever starts them: emulation takes a CPU each, and a guest that gets too
// little of one misses its deadlines.
import { closeSync, existsSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const slots = [0, 1].map((i) => join(tmpdir(), `strobe-guest-slot-${i}`));
const retryMilliseconds = 250;

/** Waits for a free slot; disposing frees it. */
export async function guestSlot(): Promise<Disposable> {
  for (;;) {
    for (const path of slots) {
      if (take(path)) return { [Symbol.dispose]: () => rmSync(path, { force: true }) };
    }
    await new Promise((resolve) => setTimeout(resolve, retryMilliseconds));
  }
}

function take(path: string): boolean {
  try {
    const file = openSync(path, "wx");
    writeSync(file, `${process.pid}\n`);
    closeSync(file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  // Of one that was killed? The next round takes it then.
  try {
    const owner = readFileSync(path, "utf8").trim();
    if (owner !== "" && !existsSync(`/proc/${owner}`)) rmSync(path, { force: true });
  } catch {
    // Freed just now.
  }
  return false;
}
