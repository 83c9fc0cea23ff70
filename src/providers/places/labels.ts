// Labels of functions, as debug information has them.
import { Failure } from "../../base/failure.ts";
import type { Label } from "../../language/language.ts";
import type { Binary } from "../../machine/system.ts";
import { machineReasons } from "../../messages/on-demand.ts";
import { matches } from "../../machine/wildcard.ts";

/** Those of the functions of a name, or of a wildcard, that code is left of; in the order of their addresses. */
export function labelsIn(binary: Binary, functions: string): readonly Label[] | Failure {
  const info = binary.debugInfo?.() ?? new Failure(machineReasons().noDebugInformation());
  if (info instanceof Failure) return info;
  const found = new Map<bigint, Label>();
  for (const { name, address, kind } of binary.symbols((name) => matches(functions, name)))
    if (kind === "function" && matches(functions, name))
      for (const label of info.labelsAt(address)) found.set(label.address, { function: name, ...label });
  return [...found.values()].toSorted((one, other) => (one.address < other.address ? -1 : 1));
}
