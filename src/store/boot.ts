// What tells this boot and the modules that are loaded from all others.
import { existsSync, readFileSync, statSync } from "node:fs";

/**
 * Another text at every boot, and whenever a module is loaded or taken out: both decide which symbols, types and probes
 * there are, and where. Undefined where /proc and /sys do not tell.
 */
export function runningKernel(): string | undefined {
  try {
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "latin1");
    // Each time that a module is loaded, its folder has another number (kernfs gives none twice).
    return (
      boot +
      loadedModules()
        .map((name) => `${name} ${statSync(`/sys/module/${name}`).ino}\n`)
        .join("")
    );
  } catch {
    return undefined;
  }
}

function loadedModules(): string[] {
  // A kernel that is built without modules has none. (A file that is not there takes Node long to complain about.)
  if (!existsSync("/proc/modules")) return [];
  const lines = readFileSync("/proc/modules", "latin1").split("\n");
  return lines.filter((line) => line !== "").map((line) => line.slice(0, line.indexOf(" ")));
}
