// How a function ends: its return instructions, and jumps out of it, behind which another function returns in its
// place.
import { decode, type Instruction } from "./instructions.ts";

/** What compilers call the rarely executed part of a function, which they put apart. */
export const coldPart = /\.cold(\.\d+)?$/;

/** A piece of a function's code: its body, or a cold part that the compiler put elsewhere. */
export interface CodeRange {
  /** Of its first byte. */
  readonly address: bigint;
  readonly bytes: Uint8Array;
}

export interface FunctionEnds {
  /** Addresses of the return instructions. */
  readonly returns: readonly bigint[];
  /** Jumps out of the function; without `to` through a pointer. */
  readonly tailCalls: readonly { readonly at: bigint; readonly to?: bigint; readonly conditional: boolean }[];
  /** Where decoding stopped: bytes that are no instruction. Nothing behind it is known. */
  readonly brokenAt?: bigint;
}

/**
 * `isReturn` says which jumps out of the function are returns all the same: kernels return by a jump to a thunk where
 * the processor's own returns are not safe.
 */
export function functionEnds(
  ranges: readonly CodeRange[],
  isReturn: (target: bigint) => boolean = () => false,
): FunctionEnds {
  const inside = (address: bigint): boolean =>
    ranges.some((range) => address >= range.address && address < range.address + BigInt(range.bytes.length));
  const returns: bigint[] = [];
  const tailCalls: { at: bigint; to?: bigint; conditional: boolean }[] = [];
  let brokenAt: bigint | undefined;
  for (const range of ranges) {
    const { instructions, brokenAt: broken } = decode(range.bytes);
    if (broken !== undefined) brokenAt ??= range.address + BigInt(broken);
    for (const instruction of instructions) {
      const at = range.address + BigInt(instruction.offset);
      const to = targetOf(instruction, range);
      switch (instruction.flow) {
        case "return":
          returns.push(at);
          break;
        case "jump":
          if (to === undefined || inside(to)) break;
          if (isReturn(to)) returns.push(at);
          else tailCalls.push({ at, to, conditional: false });
          break;
        case "branch":
          // Whether it is taken is not known before it is.
          if (to !== undefined && !inside(to)) tailCalls.push({ at, to, conditional: true });
          break;
        case "indirect-jump":
          if (instruction.table !== true) tailCalls.push({ at, conditional: false });
          break;
        case "next":
        case "call":
        case "indirect-call":
        case "trap":
          break;
      }
    }
  }
  return { returns, tailCalls, ...(brokenAt === undefined ? {} : { brokenAt }) };
}

/** Whether something else runs before the function has returned: what it calls, or jumps to in its place. */
export function callsOthers(ranges: readonly CodeRange[]): boolean {
  return (
    ranges.some(({ bytes }) =>
      decode(bytes).instructions.some(({ flow }) => flow === "call" || flow === "indirect-call"),
    ) || functionEnds(ranges).tailCalls.length > 0
  );
}

/** Of pieces that go by the name of its cold part, those that a function jumps to: names are not unique. */
export function partsOf(body: CodeRange, candidates: readonly CodeRange[]): CodeRange[] {
  if (candidates.length === 0) return [];
  const targets = decode(body.bytes).instructions.flatMap((instruction) => targetOf(instruction, body) ?? []);
  return candidates.filter(({ address, bytes }) =>
    targets.some((target) => target >= address && target < address + BigInt(bytes.length)),
  );
}

function targetOf({ target }: Instruction, range: CodeRange): bigint | undefined {
  return target === undefined ? undefined : range.address + BigInt(target);
}

const INT3 = 0xcc;

/**
 * How much of the bytes up to the next function is this one's: without the padding that linkers and compilers put
 * between functions (breakpoints, and nops that nothing flows into).
 */
export function withoutPadding(code: Uint8Array): number {
  const { instructions } = decode(code);
  let end = instructions.length;
  while (end > 1 && isPadding(code, instructions[end - 1]) && !flowsOn(code, instructions, end - 1)) end--;
  const last = instructions[end - 1];
  return last === undefined ? 0 : last.offset + last.length;
}

/** Whether control can come to an instruction from the one in front of it, over nops. */
function flowsOn(code: Uint8Array, instructions: readonly Instruction[], index: number): boolean {
  for (let i = index - 1; i >= 0; i--) {
    const { flow } = instructions[i];
    if (flow === "jump" || flow === "return" || flow === "indirect-jump" || flow === "trap") return false;
    if (!isPadding(code, instructions[i])) return code[instructions[index].offset] !== INT3;
  }
  return false;
}

function isPadding(code: Uint8Array, { offset, length }: Instruction): boolean {
  if (length === 1 && code[offset] === INT3) return true;
  let at = offset;
  while (at < offset + length - 1 && (code[at] === 0x66 || code[at] === 0x2e)) at++;
  return code[at] === 0x90 || (code[at] === 0x0f && code[at + 1] === 0x1f);
}
