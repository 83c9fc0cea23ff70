// This machine, as scripts are compiled for it.
import { liveSystem, type LiveSystem } from "../machine/live-system.ts";
import { searchPaths, type MachineOptions } from "./search-paths.ts";

/** By their search paths: a machine keeps what it read, and scripts that look in the same places share it. */
const machines = new Map<string, LiveSystem>();

/** This machine, as compiling sees it: reads facts when they are asked for. */
export function thisMachine(options: MachineOptions = {}): LiveSystem {
  const paths = searchPaths(options);
  const key = JSON.stringify(paths);
  let machine = machines.get(key);
  if (machine === undefined) machines.set(key, (machine = liveSystem(paths)));
  return machine;
}
