// The running kernel's BTF from a file: the one that is named, or an uncompressed kernel image where distributions leave
// one. For kernels that do not offer their own.
import { readFileSync } from "node:fs";
import { Btf, BtfError } from "../../debuginfo/btf.ts";
import { bytesOf, Elf, ElfError } from "../../debuginfo/elf.ts";
import { refusal } from "../../linux/refused-files.ts";
import { kernelRelease } from "../../linux/kernel/running-kernel.ts";
import { noteFile } from "../../store/seen-files.ts";
import { absent } from "../binaries/file-bytes.ts";
import { fileReasons } from "../../messages/on-demand.ts";

/** The first two bytes of BTF, as the machine that wrote it has numbers. */
const BTF_MAGIC = 0xeb9f;

/** `named`: BTF as it is, or in an ELF file; where it has none, that is told as of other files that are not read. */
export function btfOfFile(named: string | undefined): Btf | undefined {
  if (named !== undefined) {
    const btf = btfIn(named);
    if (btf !== undefined) return btf;
    refusal(named, fileReasons().withoutBtf());
  }
  const version = kernelRelease();
  for (const path of [
    `/boot/vmlinux-${version}`,
    `/lib/modules/${version}/vmlinux`,
    `/usr/lib/debug/boot/vmlinux-${version}`,
  ]) {
    const btf = btfIn(path);
    if (btf !== undefined) return btf;
  }
  return undefined;
}

function btfIn(path: string): Btf | undefined {
  noteFile(path);
  try {
    const bytes = readFileSync(path);
    if (bytes.length > 2 && bytes.readUInt16LE(0) === BTF_MAGIC) return new Btf(bytes);
    const elf = new Elf(bytesOf(bytes));
    const section = elf.section(".BTF");
    return section && new Btf(elf.content(section));
  } catch (error) {
    if (!(error instanceof ElfError || error instanceof BtfError)) absent(error);
    return undefined;
  }
}
