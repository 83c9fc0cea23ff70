import type { HostFunction } from "../runtime.ts";

/** The function of a source that generate() made. */
export function evaluate(source: string): HostFunction {
  // Our own generator's output, never a person's text: strings and names in it are numbers by now.
  // oxlint-disable-next-line typescript/no-implied-eval
  return new Function(`"use strict"; return ${source};`)() as HostFunction;
}
