// What an unwound stack is to those who count and show it.

/**
 * A frame of an interpreter among a stack's addresses: `tag` in its highest 4 bits, where no address has it, then a
 * number of 43 bits made of the process and the function, and in the lowest 17 where in its code it is, in
 * instructions.
 */
export const interpreted = {
  tag: 0xan,
  tagShift: 60n,
  numberBits: 43,
  placeBits: 17,
  /** Before the first instruction; too far to be told. */
  before: 0x1ffff,
  beyond: 0x1fffe,
} as const;
/** Whether an address of a stack is none, but stands for an interpreted frame. */
export function isInterpreted(address: bigint): boolean {
  return address >> interpreted.tagShift === interpreted.tag;
}

/** Why a stack ended early. */
export const cutStack = {
  /** Its memory could not be read, or does not look like a stack. */
  broken: 1,
  /** The process's code, or the file that it is in, is not known yet: frame pointers had to do. */
  unknownProcess: 2,
  /** It lacks frames of interpreted functions: there is no room for what names more of them. */
  functions: 3,
} as const;
