// A machine with nothing on it: tests say what is there beside that.
import { recordedSystem } from "../../src/machine/recorded-system.ts";
import type { System } from "../../src/machine/system.ts";

export const bareSystem: System = {
  ...recordedSystem(2),
  capabilities: { kernel: [6, 12], btf: true, mayGoto: true, ringBuffer: true, cpuV4: true, cpus: 2, taskBtf: true },
};
