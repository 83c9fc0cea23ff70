// Debug information of kernel modules: the modules' own files or their debug files, where the kernel has put them.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { hasDebugInfo } from "../../debuginfo/dwarf/input-files.ts";
import { ElfError } from "../../debuginfo/elf.ts";
import { placedElf } from "../../debuginfo/placed-elf.ts";
import { kernelRelease } from "../../linux/kernel/running-kernel.ts";
import { absent } from "../binaries/file-bytes.ts";
import { moduleBuildId } from "./kernel-build.ts";
import { LiveBinary } from "../binaries/live-binary.ts";
import { packedElfAt, packedEnding } from "../binaries/packed-elf.ts";
import type { Surroundings } from "../search-paths.ts";
import type { KernelImage } from "../system.ts";
import { Failure, saidBy, type Reason } from "../../base/failure.ts";
import { kernelImageReasons } from "../../messages/on-demand.ts";

const MODULES = "/sys/module";
/** Sections whose memory the kernel frees when the module has started. */
const initial = /^\.init\b/;

export class ModuleImages {
  readonly #images = new Map<string, KernelImage | Failure>();
  #files: ReadonlyMap<string, readonly string[]> | undefined;
  readonly #around: Surroundings;

  constructor(around: Surroundings) {
    this.#around = around;
  }

  /** Loaded modules. */
  names(): readonly string[] {
    try {
      return readdirSync(MODULES).filter((name) => existsSync(`${MODULES}/${name}/sections`));
    } catch (error) {
      return absent(error) ?? [];
    }
  }

  /** A loaded module, or why nothing is known of its source. Its addresses are those of the running kernel. */
  image(name: string): KernelImage | Failure {
    let image = this.#images.get(name);
    if (image === undefined) this.#images.set(name, (image = this.#open(name)));
    return image;
  }

  #open(name: string): KernelImage | Failure {
    const addresses = sectionAddresses(name);
    if (addresses instanceof Failure) return addresses;
    const running = moduleBuildId(name);
    let other: Reason | undefined;
    for (const path of this.#pathsOf(name, running)) {
      try {
        const elf = packedElfAt(path);
        if (elf === undefined || !hasDebugInfo(elf)) continue;
        if (running !== undefined && elf.buildId !== undefined && elf.buildId !== running) {
          other = kernelImageReasons().moduleOfAnotherBuild(path);
          continue;
        }
        return { binary: new LiveBinary(path, path, "", this.#around, placedElf(elf, addresses)), slide: 0n };
      } catch (error) {
        if (!(error instanceof ElfError)) throw error;
        other = saidBy(error.in(path));
      }
    }
    return new Failure(other ?? kernelImageReasons().moduleNotInstalled(name, kernelRelease()));
  }

  #pathsOf(name: string, buildId: string | undefined): readonly string[] {
    this.#files ??= moduleFiles();
    const byId =
      buildId === undefined ? [] : [`/usr/lib/debug/.build-id/${buildId.slice(0, 2)}/${buildId.slice(2)}.debug`];
    return [...byId, ...(this.#files.get(name) ?? [])];
  }
}

/** Files of modules by the modules' names, debug files first. */
function moduleFiles(): ReadonlyMap<string, readonly string[]> {
  const version = kernelRelease();
  const files = new Map<string, string[]>();
  for (const folder of [
    `/usr/lib/debug/lib/modules/${version}`,
    `/usr/lib/debug/usr/lib/modules/${version}`,
    `/lib/modules/${version}`,
  ]) {
    for (const path of filesIn(folder)) {
      const [, name] = /^(.+)\.ko(?:\.debug)?$/.exec(basename(path).replace(packedEnding, "")) ?? [];
      // The kernel's names of modules have no dashes.
      const known = name?.replaceAll("-", "_");
      if (known !== undefined) files.set(known, [...(files.get(known) ?? []), join(folder, path)]);
    }
  }
  return files;
}

function filesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder, { recursive: true, encoding: "utf8" });
  } catch (error) {
    return absent(error) ?? [];
  }
}

function sectionAddresses(name: string): ReadonlyMap<string, bigint> | Failure {
  const folder = `${MODULES}/${name}/sections`;
  const addresses = new Map<string, bigint>();
  for (const section of filesIn(folder)) {
    const text = textOf(join(folder, section));
    if (text !== undefined && /^0x[0-9a-f]+\s*$/.test(text) && !initial.test(section))
      addresses.set(section, BigInt(text.trim()));
  }
  if (addresses.size === 0) return new Failure(kernelImageReasons().moduleNotLoaded(name));
  return [...addresses.values()].every((address) => address === 0n)
    ? new Failure(kernelImageReasons().moduleHidden(name))
    : addresses;
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, "latin1");
  } catch (error) {
    return absent(error);
  }
}
