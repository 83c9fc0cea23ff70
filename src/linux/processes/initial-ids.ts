// The numbers that the kernel itself has for this process. In a namespace of process numbers only a program in the
// kernel can tell.
import { loadProgram, testRun } from "../bpf/bpf.ts";
import { closeFd } from "../ffi.ts";
import { pidNamespace } from "./pid-namespace.ts";

const RAW_TRACEPOINT = 17;
/** bpf_get_current_pid_tgid */
const CURRENT_IDS = 14;

/** Pid in the upper half, that of the main thread in the lower. @throws LinuxError when the program cannot be loaded */
export function initialIds(): bigint {
  const pid = BigInt(pidNamespace() === undefined ? process.pid : askKernel());
  return (pid << 32n) | pid;
}

function askKernel(): number {
  // call; r0 >>= 32; exit
  const code = Uint8Array.of(
    0x85,
    0,
    0,
    0,
    CURRENT_IDS,
    0,
    0,
    0,
    0x77,
    0,
    0,
    0,
    32,
    0,
    0,
    0,
    0x95,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
  );
  const program = loadProgram({ name: "initial_ids", type: RAW_TRACEPOINT, code, license: "Dual MIT/GPL" });
  try {
    return testRun(program, { ctxIn: new Uint8Array(8) }).retval;
  } finally {
    closeFd(program);
  }
}
