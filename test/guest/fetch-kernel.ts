// A kernel's files, in the cache folder: Debian's, which are fetched when they are first asked for, and our own, which
// build-kernel.ts puts there.
import { existsSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { unpackPackages, type Apt } from "./debian-packages.ts";
import type { DebianKernel, Kernel } from "./kernels.ts";

export const cache = resolve(".cache/kernels");

/** Where build-kernel.ts puts `bootconfig` and `scripts/bconf2ftrace.sh` of the source that it builds. */
export const bootConfigTools = join(cache, "bootconfig");

export interface KernelFiles {
  /** `6.12.9+deb13-cloud-amd64` */
  readonly release: string;
  readonly image: string;
  /** The folder of its modules. */
  readonly modules: string;
  /** The kernel with its debug information. */
  readonly vmlinux?: string;
}

/** The kernel's files, fetched where they are not in the cache yet. @throws Error where it cannot be had. */
export function kernelFiles(kernel: Kernel): KernelFiles {
  const folder = join(cache, kernel.name);
  if (kernel.source === "own") {
    if (!existsSync(folder)) throw new Error("our own kernel is not built: npm run guest:kernel");
    const release = readdirSync(folder)
      .find((name) => name.startsWith("vmlinux-"))
      ?.slice("vmlinux-".length);
    if (!release) throw new Error(`${folder} has no kernel: remove the folder, and npm run guest:kernel`);
    const modules = join(folder, "modules");
    if (!existsSync(modules)) throw new Error("our own kernel was built without modules: npm run guest:kernel");
    return { release, image: join(folder, `vmlinuz-${release}`), vmlinux: join(folder, `vmlinux-${release}`), modules };
  }
  if (!existsSync(folder)) fetchKernel(kernel, folder);
  const modules = ["usr/lib/modules", "lib/modules"].map((path) => join(folder, path)).find((path) => existsSync(path));
  const release = modules && readdirSync(modules)[0];
  if (!release) throw new Error(`${folder} has no kernel: remove the folder to fetch it anew`);
  // Newer suites keep the image with the modules.
  const image = [join(folder, "boot", `vmlinuz-${release}`), join(modules, release, "vmlinuz")].find((path) =>
    existsSync(path),
  );
  if (!image) throw new Error(`${folder} has no kernel image: remove the folder to fetch it anew`);
  return { release, image, modules: join(modules, release) };
}

function fetchKernel({ name, suite, package: first }: DebianKernel, folder: string): void {
  try {
    unpackPackages(suite, folder, (apt) => imagePackages(first, apt));
  } catch (error) {
    throw new Error(`the ${name} kernel of Debian ${suite} cannot be fetched: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

/**
 * The packages that the image is in, with `first` where it is none that stands for another: newer suites keep the
 * kernel and its modules apart.
 */
function imagePackages(first: string, apt: Apt): readonly string[] {
  const found = new Set(/-\d/.test(first) ? [first] : []);
  const visit = (name: string): void => {
    const depends = apt("apt-cache", "depends", "--important", name);
    for (const [, next = ""] of depends.matchAll(
      /^ +(?:Pre)?Depends: (linux-(?:image|binary|modules|base)-\d\S*)$/gm,
    )) {
      if (found.has(next)) continue;
      found.add(next);
      visit(next);
    }
  };
  visit(first);
  return [...found];
}
