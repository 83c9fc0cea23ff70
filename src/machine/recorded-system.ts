// The machine of a recording, as scripts over it are compiled: its probes are known (providers/recorded.ts), and what
// else a live machine tells is not there.
import { plainTypes } from "./kernel/kernel-types.ts";
import type { TypeScope } from "../language/type-scope.ts";
import type { System } from "./system.ts";

const none = (): undefined => undefined;

/** `hostname`: of its only host. `types`: what it says of types and constants. */
export function recordedSystem(cpus: number, hostname?: string, types: TypeScope = plainTypes): System {
  return {
    types,
    // No kernel runs the code.
    capabilities: {
      kernel: [6, 12],
      btf: false,
      mayGoto: true,
      ringBuffer: true,
      cpuV4: true,
      cpus,
      taskBtf: false,
      ...(hostname === undefined ? {} : { hostname }),
    },
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
}
