// What the running kernel was configured with when it was built.
import { readFileSync } from "node:fs";
import { Failure } from "../../base/failure.ts";
import { kernelRelease } from "./running-kernel.ts";
import { machineReasons } from "../../messages/on-demand.ts";

/** A kernel's configuration is some hundreds of kilobytes. */
const LARGEST = 1 << 24;

let known: ReadonlyMap<string, string> | Failure | undefined;

/**
 * By name, as `CONFIG_HZ`: "y", "m", a number or a text in quotes. What is not set is not there. From the kernel itself
 * (CONFIG_IKCONFIG_PROC), or the file that distributions install with it.
 */
export function kernelConfiguration(): ReadonlyMap<string, string> | Failure {
  known ??= read();
  return known;
}

function read(): ReadonlyMap<string, string> | Failure {
  const own = "/proc/config.gz";
  const installed = `/boot/config-${kernelRelease()}`;
  const text =
    attempt(() => {
      const packed = readFileSync(own);
      return process.getBuiltinModule("node:zlib").gunzipSync(packed, { maxOutputLength: LARGEST }).toString("utf8");
    }) ?? attempt(() => readFileSync(installed, "utf8"));
  if (text === undefined) return new Failure(machineReasons().noConfiguration(own, installed));
  return new Map(Array.from(text.matchAll(/^(CONFIG_\w+)=(.*)$/gm), ([, name, value]) => [name, value]));
}

function attempt(read: () => string): string | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
