// What the unwinder in the kernel and the session that feeds it agree on. Numbers of rows are powers of four.

/**
 * Of each process (by pid, u32), its mapped code in the order of addresses: u64 start, u64 end, u32 number of a search tree's
 * root, u32 what to add to the distance from the start for the tree's keys. Unused ones start at `unusedAddress`.
 */
export const mappingsKept = 256;
export const mappingBytes = 24;
export const mappingEnd = 8;
export const mappingTree = 16;
export const mappingShift = 20;
/**
 * Of each file: u64 inode, u64 device (as the kernel writes it: major << 20 | minor) to rows like a process's, but of offsets in
 * the file. A file without rules has none of them used.
 */
export const fileKeyBytes = 16;
export const fileRows = 64;
export const unusedAddress = 0x7fff_ffff_ffff_ffffn;

/**
 * A node of a search tree (by number, u32; 0 is none): rows of two u32, the key in front, ascending. A root's rows lead to
 * other nodes, theirs to rules. Unused keys are `unusedKey`.
 */
export const nodeKeys = 256;
export const nodeRowBytes = 8;
export const unusedKey = 0xffff_ffff;

/** Why a stack ended early. */
export const cutStack = {
  /** Its memory could not be read, or does not look like a stack. */
  broken: 1,
  /** The process's code, or the file that it is in, is not known yet: frame pointers had to do. */
  unknownProcess: 2,
} as const;
