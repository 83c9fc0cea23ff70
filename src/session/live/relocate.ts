// Fills what only this session knows into a program's code: map descriptors (include/uapi/linux/bpf.h,
// BPF_PSEUDO_MAP_FD and its kin) and constants of this run.
import type { KernelProgram } from "../../compiler/bpf/bpf-plan.ts";
import { InternalError } from "../../base/internal-error.ts";
import { RunError } from "../../base/run-error.ts";
import { runReasons } from "../../messages/on-demand.ts";

/** The first byte of the two-slot load of a 64-bit constant: BPF_LD | BPF_IMM | BPF_DW. */
const LD_IMM64 = 0x18;
const PSEUDO_NONE = 0;
const PSEUDO_MAP_FD = 1;
const PSEUDO_MAP_VALUE = 2;
const PSEUDO_BTF_ID = 3;

export interface Targets {
  /** Descriptors of the plan's kernel maps, in order. */
  readonly maps: readonly number[];
  /** pid of the -c command, 0 without one. */
  readonly childPid: number;
  /** Nanoseconds to add to the boot clock. */
  readonly bootToWall: bigint;
  readonly bootToTai: bigint;
  /** The boot clock when the session began. */
  readonly start: bigint;
  /** BTF id of a kernel variable. */
  kernelVariable(symbol: string): number | undefined;
  kernelFunction(symbol: string): number | undefined;
}

/** A copy of the program's code, ready to load. */
export function relocated(program: Pick<KernelProgram, "name" | "code" | "relocations">, targets: Targets): Uint8Array {
  const code = program.code.slice();
  const view = new DataView(code.buffer);
  for (const relocation of program.relocations) {
    const at = relocation.instruction * 8;
    if (relocation.kind === "kernel-function") {
      const symbol = relocation.symbol ?? "";
      const id = targets.kernelFunction(symbol);
      if (id === undefined) throw new RunError(runReasons().noFunctionInTypes(symbol));
      view.setInt32(at + 4, id, true);
      continue;
    }
    if (code[at] !== LD_IMM64) {
      throw new InternalError(
        `${program.name}: the relocation at instruction ${relocation.instruction} is not on a 64-bit load`,
      );
    }
    const write = (pseudo: number, low: number, high: number): void => {
      // The registers share a byte: destination in the low half, source in the high one.
      view.setUint8(at + 1, (code[at + 1] & 0x0f) | (pseudo << 4));
      view.setInt32(at + 4, low, true);
      view.setInt32(at + 12, high, true);
    };
    const constant = (value: bigint): void =>
      write(PSEUDO_NONE, Number(BigInt.asIntN(32, value)), Number(BigInt.asIntN(32, value >> 32n)));
    switch (relocation.kind) {
      case "map":
        write(PSEUDO_MAP_FD, descriptor(relocation.map, targets, program.name), 0);
        break;
      case "map-value":
        write(PSEUDO_MAP_VALUE, descriptor(relocation.map, targets, program.name), relocation.offset);
        break;
      case "kernel-variable": {
        const { symbol = "", id = targets.kernelVariable(symbol) } = relocation;
        if (id === undefined) throw new RunError(runReasons().noVariableInTypes(symbol));
        write(PSEUDO_BTF_ID, id, 0);
        break;
      }
      case "child-pid":
        constant(BigInt(targets.childPid));
        break;
      case "boot-to-wall":
        constant(targets.bootToWall);
        break;
      case "boot-to-tai":
        constant(targets.bootToTai);
        break;
      case "session-start":
        constant(targets.start);
        break;
    }
  }
  return code;
}

function descriptor(map: number, targets: Targets, program: string): number {
  const fd = targets.maps[map];
  if (fd === undefined)
    throw new InternalError(`${program}: relocation to kernel map ${map}, of ${targets.maps.length}`);
  return fd;
}
