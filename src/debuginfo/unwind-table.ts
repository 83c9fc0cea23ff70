// Call frame information boiled down to what walking a stack needs: at an address, where the caller's frame begins and
// where the caller's rbp is. Two words a row, sorted, so that a program in the kernel can search them. x86-64 only.
import { firstIndex } from "../base/first-index.ts";
import type { CallFrames } from "./call-frames.ts";
import { type FrameState, Saved } from "./frame-state.ts";

/**
 * A rule: bits 0 to 2 its kind, bits 3 to 8 where the caller's rbp is, bits 9 to 31 a signed offset in bytes.
 * The return address is 8 bytes below the caller's frame, except in a signal frame.
 */
export const UnwindKind = {
  /** Nothing is known, or it cannot be told in a word: the frame pointer may do. */
  none: 0,
  /** The frame begins at rsp + offset. */
  rsp: 1,
  rbp: 2,
  /**
   * Of a procedure linkage table's entry: at rsp + 8, and 8 more once the entry pushed its number, `offset` bytes into
   * it.
   */
  linkage: 3,
  /**
   * What Linux pushed for a signal handler: rbp at rsp + 120, rsp at rsp + 160, rip at rsp + 168 (struct rt_sigframe).
   */
  signal: 4,
  /** Where the word at rbp + offset says: GCC's realigned stacks. */
  atRbp: 5,
  /** The outermost frame. */
  end: 6,
  /** 8 bytes above where the word at rsp + offset says: OpenSSL's assembly. */
  atRsp: 7,
} as const;
export type UnwindKind = (typeof UnwindKind)[keyof typeof UnwindKind];

/** Where the caller's rbp is: 0 in its register still; n: 8 * n bytes below the frame; or one of these. */
export const SavedRbp = { same: 0, mostBelow: 61, atRbp: 62, lost: 63 } as const;

const offsetShift = 9;
const offsetMost = 2 ** 22 - 1;
/** Between functions there is padding, which is never run: what holds before it may hold in it. */
const padding = 32;

const RBP = 6;
const RSP = 7;

export interface UnwindTable {
  /** ELF virtual address that `starts` count from. */
  readonly base: bigint;
  /** First byte that each rule holds for, ascending; the last row is the end of the code. */
  readonly starts: Uint32Array;
  readonly rules: Uint32Array;
}

export function unwindRule(kind: UnwindKind, rbp: number, offset: number): number {
  return ((offset << offsetShift) | (rbp << 3) | kind) >>> 0;
}

/** The table of a whole binary. Code beyond 4 GB from its beginning is left out. */
export function unwindTable(frames: CallFrames): UnwindTable {
  const steps = unwindTableSteps(frames);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** `unwindTable` in steps of about a millisecond. */
export function* unwindTableSteps(frames: CallFrames): Generator<void, UnwindTable> {
  let lows = new Float64Array(4096);
  let highs = new Float64Array(4096);
  let rules = new Uint32Array(4096);
  let count = 0;
  yield* frames.rowSteps((low, high, state) => {
    if (count === lows.length) {
      lows = grown(lows, new Float64Array(count * 2));
      highs = grown(highs, new Float64Array(count * 2));
      rules = grown(rules, new Uint32Array(count * 2));
    }
    lows[count] = low;
    highs[count] = high;
    rules[count++] = ruleOf(frames, state);
  });
  // They come in order, where the file has a search table.
  const order = Uint32Array.from({ length: count }, (_, i) => i);
  let sorted = true;
  for (let i = 1; i < count && sorted; i++) sorted = lows[i - 1] <= lows[i];
  if (!sorted) order.sort((a, b) => lows[a] - lows[b]);
  const base = count === 0 ? 0 : lows[order[0]];
  const outStarts = new Uint32Array(count * 2 + 1);
  const outRules = new Uint32Array(count * 2 + 1);
  let written = 0;
  let covered = base;
  const add = (at: number, rule: number): void => {
    if (written > 0 && outRules[written - 1] === rule) return;
    outStarts[written] = at - base;
    outRules[written++] = rule;
  };
  for (const i of order) {
    const low = Math.max(lows[i], covered);
    const high = highs[i];
    if (high <= low || high - base > 0xffff_fffe) continue;
    if (low - covered > padding) add(covered, UnwindKind.none);
    add(low, rules[i]);
    covered = high;
  }
  if (written > 0) add(covered, UnwindKind.none);
  return { base: BigInt(base), starts: outStarts.slice(0, written), rules: outRules.slice(0, written) };
}

/** The rule at an ELF virtual address; `UnwindKind.none` outside. */
export function ruleAt({ base, starts, rules }: UnwindTable, address: bigint): number {
  const at = Number(address - base);
  const low = firstIndex(starts.length, (i) => starts[i] > at);
  return low === 0 ? UnwindKind.none : rules[low - 1];
}

function grown<T extends Float64Array | Uint32Array>(from: T, to: T): T {
  to.set(from);
  return to;
}

function ruleOf(frames: CallFrames, state: FrameState): number {
  const returned = state.returnRegister;
  if (state.kinds[returned] === Saved.undefined) return UnwindKind.end;
  if (state.cfaRegister < 0) return expressionRule(frames, state);
  if (state.cfaRegister !== RSP && state.cfaRegister !== RBP) return UnwindKind.none;
  if (state.kinds[returned] !== Saved.saved || state.values[returned] !== -8 || Math.abs(state.cfaOffset) > offsetMost)
    return UnwindKind.none;
  return unwindRule(
    state.cfaRegister === RSP ? UnwindKind.rsp : UnwindKind.rbp,
    savedRbp(frames, state),
    state.cfaOffset,
  );
}

function savedRbp(frames: CallFrames, state: FrameState): number {
  const value = state.values[RBP];
  switch (state.kinds[RBP]) {
    case Saved.same:
      return SavedRbp.same;
    case Saved.saved: {
      const words = -value / 8;
      return Number.isInteger(words) && words >= 1 && words <= SavedRbp.mostBelow ? words : SavedRbp.lost;
    }
    case Saved.savedAt: {
      const expression = frames.expression(value, state.lengths[RBP]);
      return expression.length === 2 && expression[0] === BREG_RBP && expression[1] === 0
        ? SavedRbp.atRbp
        : SavedRbp.lost;
    }
    default:
      return SavedRbp.lost;
  }
}

const BREG_RBP = 0x76;
const BREG_RSP = 0x77;
const DEREF = 0x06;

/** The few expressions that compilers, linkers and assembly of note write. */
function expressionRule(frames: CallFrames, state: FrameState): number {
  const bytes = frames.expression(state.cfaOffset, state.cfaLength);
  // rsp + 8 + ((rip & 15) >= n) * 8
  const linkage = /^770880003f1a(3.|4.)2a332422$/.exec(bytes.toString("hex"));
  if (linkage) return unwindRule(UnwindKind.linkage, savedRbp(frames, state), Number.parseInt(linkage[1], 16) - 0x30);
  const [register] = bytes;
  if (register !== BREG_RBP && register !== BREG_RSP) return UnwindKind.none;
  const number = signedNumber(bytes, 1);
  if (number === undefined || Math.abs(number.value) > offsetMost || bytes[number.end] !== DEREF)
    return UnwindKind.none;
  const rest = bytes.subarray(number.end + 1);
  if (state.signal)
    return register === BREG_RSP && number.value === 160 && rest.length === 0
      ? unwindRule(UnwindKind.signal, 0, 0)
      : UnwindKind.none;
  if (state.kinds[state.returnRegister] !== Saved.saved || state.values[state.returnRegister] !== -8)
    return UnwindKind.none;
  if (register === BREG_RBP && rest.length === 0)
    return unwindRule(UnwindKind.atRbp, savedRbp(frames, state), number.value);
  // plus_uconst 8
  if (register === BREG_RSP && rest.length === 2 && rest[0] === 0x23 && rest[1] === 8) {
    return unwindRule(UnwindKind.atRsp, savedRbp(frames, state), number.value);
  }
  return UnwindKind.none;
}

function signedNumber(bytes: Buffer, at: number): { readonly value: number; readonly end: number } | undefined {
  let value = 0;
  for (let scale = 1; at < bytes.length && scale < 2 ** 35; scale *= 128) {
    const byte = bytes[at++];
    value += (byte & 0x7f) * scale;
    if (byte < 0x80) return { value: (byte & 0x40) === 0 ? value : value - scale * 128, end: at };
  }
  return undefined;
}
