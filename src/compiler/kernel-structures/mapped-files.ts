// Which file the code at an address is mapped from, asked of the kernel's own description of a process's memory: where
// in its structures that stands, by its types (struct vm_area_struct, include/linux/mm_types.h).
import type { Capabilities } from "../../linux/kernel/capabilities.ts";
import type { TypeScope } from "../../language/type-scope.ts";
import { kernelFeatures, kernelHas } from "../../base/kernel-features.ts";
import { memberOffset } from "../../language/layout.ts";

/** Offsets of members. */
export interface MappedFiles {
  readonly area: { readonly start: number; readonly end: number; readonly page: number; readonly file: number };
  /** In struct file. */
  readonly inode: number;
  /** In struct inode. */
  readonly number: number;
  readonly superBlock: number;
  /** In struct super_block. */
  readonly device: number;
}

/** Whether programs can ask: bpf_find_vma came with Linux 5.17. */
export function findsMappings({ kernel }: Capabilities): boolean {
  return kernelHas(kernel, kernelFeatures.findMapping);
}

/** undefined where the kernel's types lack something. */
export function mappedFiles(types: TypeScope): MappedFiles | undefined {
  const offset = (struct: string, member: string): number | undefined =>
    memberOffset(types.find(struct, "struct"), member);
  const [start, end] = [offset("vm_area_struct", "vm_start"), offset("vm_area_struct", "vm_end")];
  const [page, file] = [offset("vm_area_struct", "vm_pgoff"), offset("vm_area_struct", "vm_file")];
  const inode = offset("file", "f_inode");
  const [number, superBlock] = [offset("inode", "i_ino"), offset("inode", "i_sb")];
  const device = offset("super_block", "s_dev");
  if (start === undefined || end === undefined || page === undefined || file === undefined) return undefined;
  if (inode === undefined || number === undefined || superBlock === undefined || device === undefined) return undefined;
  return { area: { start, end, page, file }, inode, number, superBlock, device };
}
