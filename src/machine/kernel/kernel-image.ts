// The running kernel's own binary with its debug information, where one is installed: `vmlinux`, uncompressed, of just
// this build.
import { existsSync } from "node:fs";
import { ElfError } from "../../debuginfo/elf.ts";
import { kernelRelease } from "../../linux/kernel/running-kernel.ts";
import { noteFile } from "../../store/seen-files.ts";
import { runningBuildId } from "./kernel-build.ts";
import { LiveBinary } from "../binaries/live-binary.ts";
import type { Surroundings } from "../search-paths.ts";
import type { KernelImage } from "../system.ts";
import { Failure, saidBy } from "../../base/failure.ts";
import { kernelImageReasons } from "../../messages/on-demand.ts";

/** Where distributions put it, `file` first where it is given. */
function places(file: string | undefined, buildId: string | undefined): string[] {
  if (file !== undefined) return [file];
  const version = kernelRelease();
  return [
    `/usr/lib/debug/boot/vmlinux-${version}`,
    `/usr/lib/debug/lib/modules/${version}/vmlinux`,
    `/usr/lib/debug/usr/lib/modules/${version}/vmlinux`,
    `/lib/modules/${version}/build/vmlinux`,
    `/boot/vmlinux-${version}`,
    ...(buildId === undefined ? [] : [`/usr/lib/debug/.build-id/${buildId.slice(0, 2)}/${buildId.slice(2)}.debug`]),
  ];
}

/**
 * The kernel's binary, or why there is none and what to do. `text`: where the kernel's code begins now (`_text` in
 * /proc/kallsyms), which address space randomisation moves at each boot; asked only where there is a binary, as it
 * takes a while.
 */
export function kernelImage(text: () => bigint | undefined, around: Surroundings): KernelImage | Failure {
  const file = around.paths.vmlinux;
  const buildId = runningBuildId();
  const found = places(file, buildId).find((path) => {
    noteFile(path);
    return existsSync(path);
  });
  if (found === undefined) {
    return file !== undefined
      ? new Failure(kernelImageReasons().noFile(file))
      : new Failure(kernelImageReasons().notInstalled(kernelRelease()));
  }
  try {
    const binary = new LiveBinary(found, found, "", around);
    if (buildId !== undefined && binary.buildId !== undefined && binary.buildId !== buildId) {
      return new Failure(kernelImageReasons().ofAnotherKernel(found, binary.buildId, buildId));
    }
    const linked = binary.codeAddress();
    if (linked === undefined) return new Failure(kernelImageReasons().noCode(found));
    const running = text();
    if (running === undefined) return new Failure(kernelImageReasons().addressHidden());
    return { binary, slide: running - linked };
  } catch (error) {
    if (error instanceof ElfError) return new Failure(saidBy(error.in(found)));
    if (error instanceof Error && "code" in error)
      return new Failure(kernelImageReasons().unreadable(found, error.message));
    throw error;
  }
}
