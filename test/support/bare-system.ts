// A machine with nothing on it: tests say what is there beside that.
import { plainTypes } from "../../src/machine/kernel/kernel-types.ts";
import type { System } from "../../src/machine/system.ts";

const none = (): undefined => undefined;

export const bareSystem: System = {
  types: plainTypes,
  capabilities: { kernel: [6, 12], btf: true, mayGoto: true, ringBuffer: true, cpuV4: true, cpus: 2, taskBtf: true },
  kernelFunction: none,
  kernelFunctions: () => [],
  functionModule: none,
  symbolAddress: none,
  cgroupId: none,
  tracepoint: none,
  tracepoints: () => [],
  rawTracepoint: none,
  hasRawTracepoint: () => false,
  rawTracepoints: () => [],
  iterators: () => [],
  binary: none,
  mappedBinaries: () => [],
};
