// Which functions of its own file a function calls, by its code, and where the calls return to.
import { Failure } from "../../base/failure.ts";
import { decode } from "../../debuginfo/instructions.ts";
import type { CalledFunction } from "../../language/language.ts";
import type { Binary } from "../../machine/system.ts";
import { machineReasons } from "../../messages/on-demand.ts";
import { matches } from "../../machine/wildcard.ts";
import { UserCode } from "./function-code.ts";

/**
 * Those that the functions of a name, or of a wildcard, call directly: not by pointers, not as the last thing that they do
 * (a jump), and none of other files. In the order of their names.
 */
export function calledFunctions(binary: Binary, callers: string): readonly CalledFunction[] | Failure {
  if (binary.machine !== "x86-64") return new Failure(machineReasons().callsElsewhere());
  const code = new UserCode(binary);
  const found = new Map<string, bigint[]>();
  let known = false;
  for (const { name, fileOffset, kind } of binary.symbols((name) => matches(callers, name))) {
    const body = kind === "function" && matches(callers, name) ? code.at({ name, offset: fileOffset }) : undefined;
    if (body === undefined) continue;
    known = true;
    for (const { address, bytes } of body.ranges)
      for (const { offset, length, flow, target } of decode(bytes).instructions) {
        if (flow !== "call" || target === undefined) continue;
        const begins = address + BigInt(target);
        const place = binary.fileOffset(begins);
        const called = place === undefined ? undefined : binary.functionAt(place);
        if (called === undefined || called.offset !== 0) continue;
        const returns = found.get(called.name) ?? [];
        found.set(called.name, returns);
        const behind = address + BigInt(offset + length) - begins;
        if (!returns.includes(behind)) returns.push(behind);
      }
  }
  if (!known) return new Failure(machineReasons().noFunctionIn(callers, binary.shownPath));
  return [...found]
    .map(([name, returns]) => ({ name, returns }))
    .toSorted((one, other) => (one.name < other.name ? -1 : 1));
}
