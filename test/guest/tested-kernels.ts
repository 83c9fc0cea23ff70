// The kernels that a suite runs on: those that strobe supports, or with STROBE_KERNEL the one of that name.
import { kernelFiles, type KernelFiles } from "./fetch-kernel.ts";
import { missingForGuests } from "./initramfs.ts";
import { kernels, type Kernel } from "./kernels.ts";

/** The one kernel that was asked for, when one was. */
export const only = process.env["STROBE_KERNEL"];

export interface TestedKernel {
  readonly name: string;
  /** Or why it is not run. */
  readonly files: KernelFiles | string;
}

/** `own`: ours as well. */
export function testedKernels({ own }: { readonly own: boolean }): readonly TestedKernel[] {
  return kernels
    .filter(
      ({ name, belowFloor, faulty, source }) =>
        !belowFloor && !faulty && (own || source !== "own") && (only === undefined || only === name),
    )
    .map((kernel) => ({ name: kernel.name, files: filesToRun(kernel) }));
}

/** A kernel's files, or why no guest can run it here. */
export function filesToRun(kernel: Kernel): KernelFiles | string {
  const missing = missingForGuests();
  if (missing !== undefined) return missing;
  try {
    return kernelFiles(kernel);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
