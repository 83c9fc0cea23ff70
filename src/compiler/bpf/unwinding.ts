// What the code around the unwinder knows of it: few scripts have one, and only those load it (unwinder.ts).
import { functionBytes } from "../unwind-layout.ts";

/** Stands for the unwinder among the functions that a handler calls. */
export const UNWINDER = -2;
/** Bytes of its frame, with what may_goto keeps there, and of that of what it calls. */
export const UNWINDER_STACK = 96;

/** Of a capture's memory: where it keeps what it reads of an interpreted function. */
export const interpretedAt = 264;
/**
 * What a capture needs of memory: u32 frames, u32 why it ended early, what the walk keeps, then return addresses and a
 * zero.
 */
export const unwoundBytes = (frames: number): number => unwoundAddresses + frames * 8 + 8;
export const unwoundAddresses = interpretedAt + functionBytes;
