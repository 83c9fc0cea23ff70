// Programs of call frame information (DWARF 5, section 6.4.2): each makes the rows of one function.
import { ElfError } from "./elf.ts";
import { FrameReader } from "./frame-reader.ts";
import { FrameState, registersKept, Saved } from "./frame-state.ts";
import { damagedFrames } from "../messages/on-demand.ts";

/** The section that programs are in. */
export interface FrameSection {
  readonly view: DataView;
  /** Where it is loaded. */
  readonly address: number;
  readonly arm: boolean;
}

/** What functions of a compiler's unit share (CIE). */
export interface CommonEntry {
  readonly codeAlign: number;
  readonly dataAlign: number;
  readonly returnRegister: number;
  readonly encoding: number;
  readonly augmented: boolean;
  /** How entries point at their language's data; undefined where there is none. */
  readonly languageData: number | undefined;
  readonly signal: boolean;
  readonly wordBytes: number;
  readonly start: number;
  readonly end: number;
}

/** A function's own (FDE). */
export interface FunctionEntry {
  readonly common: CommonEntry;
  readonly low: number;
  readonly size: number;
  /** Where its augmentation data is. */
  readonly augmentation: number;
  readonly start: number;
  readonly end: number;
}

/** Room to run programs in, used again for each function. */
export interface FrameStates {
  readonly state: FrameState;
  readonly initial: FrameState;
  readonly remembered: FrameState[];
}

/** Of remembered states in one function. GCC needs one or two. */
const rememberedMost = 64;

/**
 * Runs a function's program: `each` is handed its rows, with a state that is only valid during the call. @throws
 * ElfError when it is damaged
 */
export function runFrameProgram(
  section: FrameSection,
  { common, low, size, start, end }: FunctionEntry,
  states: FrameStates,
  each: (low: number, high: number, state: FrameState) => void,
): void {
  const { state, initial: afterCommon, remembered } = states;
  state.reset();
  state.returnRegister = common.returnRegister;
  state.signal = common.signal;
  // The common entry's program makes the state that restoring goes back to; the function's own makes rows.
  const run = (from: number, to: number, initial: FrameState | undefined, at: number): number => {
    let depth = 0;
    const reader = new FrameReader(section.view, from, to);
    const high = low + size;
    const advance = (delta: number): void => {
      const next = at + delta * common.codeAlign;
      if (initial === undefined || !(next >= at)) throw new ElfError(damagedFrames().movesBackwards());
      if (next > at && at < high) each(at, Math.min(next, high), state);
      at = next;
    };
    const set = (register: number, kind: number, value: number, length = 0): void => {
      if (register >= registersKept) return;
      state.kinds[register] = kind;
      state.values[register] = value;
      state.lengths[register] = length;
    };
    const restore = (register: number): void => {
      if (register < registersKept)
        set(
          register,
          initial?.kinds[register] ?? Saved.same,
          initial?.values[register] ?? 0,
          initial?.lengths[register] ?? 0,
        );
    };
    const setCfa = (register: number, offset: number): void => {
      state.cfaRegister = register;
      state.cfaOffset = offset;
    };
    while (reader.at < to) {
      const code = reader.u8();
      const low6 = code & 0x3f;
      switch (code >> 6) {
        case 1:
          advance(low6);
          continue;
        case 2:
          set(low6, Saved.saved, reader.uleb() * common.dataAlign);
          continue;
        case 3:
          restore(low6);
          continue;
        default:
      }
      switch (code) {
        case 0x00:
          break; // nop
        case 0x01: {
          // set_loc
          const next = reader.pointer(common.encoding, common.wordBytes, section.address);
          advance((next - at) / common.codeAlign);
          break;
        }
        case 0x02:
          advance(reader.u8());
          break;
        case 0x03:
          advance(reader.u16());
          break;
        case 0x04:
          advance(reader.u32());
          break;
        case 0x05:
          set(reader.uleb(), Saved.saved, reader.uleb() * common.dataAlign);
          break;
        case 0x06:
          restore(reader.uleb());
          break;
        case 0x07:
          set(reader.uleb(), Saved.undefined, 0);
          break;
        case 0x08:
          set(reader.uleb(), Saved.same, 0);
          break;
        case 0x09:
          set(reader.uleb(), Saved.register, reader.uleb());
          break;
        case 0x0a: {
          if (depth >= rememberedMost) throw new ElfError(damagedFrames().tooManyStates());
          (remembered[depth++] ??= new FrameState()).copy(state);
          break;
        }
        case 0x0b: {
          if (depth === 0) throw new ElfError(damagedFrames().restoresNothing());
          state.copy(remembered[--depth]);
          break;
        }
        case 0x0c:
          setCfa(reader.uleb(), reader.uleb());
          break;
        case 0x0d:
          state.cfaRegister = reader.uleb();
          break;
        case 0x0e:
          state.cfaOffset = reader.uleb();
          break;
        case 0x0f: {
          // def_cfa_expression
          const length = reader.uleb();
          setCfa(-1, reader.at);
          state.cfaLength = length;
          reader.skip(length);
          break;
        }
        case 0x10:
        case 0x16: {
          // expression, val_expression
          const register = reader.uleb();
          const length = reader.uleb();
          set(register, code === 0x10 ? Saved.savedAt : Saved.computed, reader.at, length);
          reader.skip(length);
          break;
        }
        case 0x11:
          set(reader.uleb(), Saved.saved, reader.sleb() * common.dataAlign);
          break;
        case 0x12:
          setCfa(reader.uleb(), reader.sleb() * common.dataAlign);
          break;
        case 0x13:
          state.cfaOffset = reader.sleb() * common.dataAlign;
          break;
        case 0x14:
          set(reader.uleb(), Saved.value, reader.uleb() * common.dataAlign);
          break;
        case 0x15:
          set(reader.uleb(), Saved.value, reader.sleb() * common.dataAlign);
          break;
        case 0x2d: // AArch64: the return address is signed from here on, or no more. Its bits say so as well.
          if (section.arm) break;
          throw new ElfError(damagedFrames().registerWindows());
        case 0x2e:
          reader.uleb();
          break; // GNU_args_size: what a call pushed, part of the CFA's offset already
        case 0x2f:
          set(reader.uleb(), Saved.saved, -reader.uleb() * common.dataAlign);
          break;
        default:
          throw new ElfError(damagedFrames().unknownInstruction(code));
      }
    }
    return at;
  };
  run(common.start, common.end, undefined, low);
  afterCommon.copy(state);
  const at = run(start, end, afterCommon, low);
  if (at < low + size) each(at, low + size, state);
}
