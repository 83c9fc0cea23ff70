// The running kernel's BTF from an uncompressed kernel image, where distributions leave one: for kernels that do not
// offer their own.
import { readFileSync } from "node:fs";
import { Btf, BtfError } from "../../debuginfo/btf.ts";
import { bytesOf, Elf, ElfError } from "../../debuginfo/elf.ts";
import { kernelRelease } from "../../linux/kernel/running-kernel.ts";
import { noteFile } from "../../store/seen-files.ts";
import { absent } from "../binaries/file-bytes.ts";

export function btfOfImage(): Btf | undefined {
  const version = kernelRelease();
  for (const path of [
    `/boot/vmlinux-${version}`,
    `/lib/modules/${version}/vmlinux`,
    `/usr/lib/debug/boot/vmlinux-${version}`,
  ]) {
    noteFile(path);
    try {
      const elf = new Elf(bytesOf(readFileSync(path)));
      const section = elf.section(".BTF");
      if (section !== undefined) return new Btf(elf.content(section));
    } catch (error) {
      if (!(error instanceof ElfError || error instanceof BtfError)) absent(error);
    }
  }
  return undefined;
}
