// Call frame information: at every instruction, where the caller's frame begins (the canonical frame address, CFA) and
// where its registers were saved. The rows of .eh_frame, found through .eh_frame_hdr, or of .debug_frame where that is
// all there is (Go). DWARF 5, section 6.4; LSB Core, "Exception Frames"; registers have DWARF's numbers for the
// machine.
import { firstIndex } from "../base/first-index.ts";
import { Elf, ElfError, type Section } from "./elf.ts";
import { frameExpression } from "./frame-expression.ts";
import {
  runFrameProgram,
  type CommonEntry,
  type FrameSection,
  type FrameStates,
  type FunctionEntry,
} from "./frame-program.ts";
import { FrameReader } from "./frame-reader.ts";
import { FrameState, registersKept, Saved, type CfaRule, type FrameRow, type RegisterRule } from "./frame-state.ts";
import type { LocationExpression } from "./dwarf/facts.ts";
import { damagedFrames } from "../messages/on-demand.ts";

/** DW_EH_PE_omit */
const OMITTED = 0xff;
/** A step takes about a millisecond. */
const functionsPerStep = 256;
/** .eh_frame_hdr: `count` pairs at `table`, distances from `address`. */
interface SearchTable {
  readonly bytes: Buffer;
  readonly address: number;
  readonly table: number;
  readonly count: number;
}

/** Beginnings of functions, in order, and where their entries are. */
interface Index {
  readonly lows: Float64Array;
  readonly at: Float64Array;
}

export class CallFrames {
  readonly #bytes: Buffer;
  readonly #section: FrameSection;
  readonly #eh: boolean;
  readonly #wide: boolean;
  readonly #header: SearchTable | undefined;
  readonly #commons = new Map<number, CommonEntry>();
  readonly #states: FrameStates = { state: new FrameState(), initial: new FrameState(), remembered: [] };
  /** Only for files without a header's table. */
  #index: Index | undefined;

  /**
   * The call frames of a binary: of .eh_frame, else of .debug_frame. undefined when it has neither. @throws ElfError
   */
  static of(elf: Elf): CallFrames | undefined {
    for (const name of [".eh_frame", ".debug_frame"]) {
      const section = elf.section(name);
      if (section === undefined) continue;
      const bytes = elf.content(section);
      if (bytes.length > 0) return new CallFrames(elf, section, bytes);
    }
    return undefined;
  }

  private constructor(elf: Elf, section: Section, bytes: Buffer) {
    this.#bytes = bytes;
    this.#section = {
      view: new DataView(bytes.buffer, bytes.byteOffset, bytes.length),
      address: Number(BigInt.asIntN(64, section.address)),
      arm: elf.machine === "arm64",
    };
    this.#eh = section.name === ".eh_frame";
    this.#wide = elf.wide;
    this.#header = this.#eh ? searchTable(elf) : undefined;
  }

  /**
   * What holds at an address; undefined where no function is described. @throws ElfError when the description is
   * damaged
   */
  rowAt(address: bigint): FrameRow | undefined {
    const wanted = Number(BigInt.asIntN(64, address));
    const entry = this.#find(wanted);
    if (entry === undefined) return undefined;
    let found: FrameRow | undefined;
    runFrameProgram(this.#section, entry, this.#states, (low, high, state) => {
      if (found === undefined && wanted >= low && wanted < high) found = this.row(low, high, state);
    });
    return found;
  }

  /** The function, or the part of one, that is described where an address is. @throws ElfError */
  rangeAt(address: bigint): { readonly low: bigint; readonly size: bigint } | undefined {
    const entry = this.#find(Number(BigInt.asIntN(64, address)));
    return entry && { low: BigInt.asUintN(64, BigInt(entry.low)), size: BigInt(entry.size) };
  }

  /**
   * Where the frame begins of the function that holds an address: what DW_OP_call_frame_cfa means there. @throws
   * ElfError
   */
  cfaAt(address: bigint): CfaRule | undefined {
    return this.rowAt(address)?.cfa;
  }

  /**
   * Every row of every function, in the order of addresses where the file has a search table, else of the file. A
   * function whose description is damaged or unknown has none. `state` is used again for the next row.
   */
  rows(each: (low: number, high: number, state: FrameState) => void): void {
    for (const _ of this.rowSteps(each));
  }

  /** `rows` in steps of some functions each, for whoever has other things to do meanwhile. */
  *rowSteps(each: (low: number, high: number, state: FrameState) => void): Generator<void, void> {
    let functions = 0;
    for (const at of this.#header === undefined ? this.#entries() : this.#tableEntries(this.#header)) {
      try {
        const entry = this.#functionAt(at);
        if (entry !== undefined) runFrameProgram(this.#section, entry, this.#states, each);
      } catch (error) {
        if (!(error instanceof ElfError)) throw error;
      }
      if (++functions % functionsPerStep === 0) yield;
    }
  }

  /** A state as a row of its own. */
  row(low: number, high: number, state: FrameState): FrameRow {
    const registers = new Map<number, RegisterRule>();
    for (let register = 0; register < registersKept; register++) {
      if (state.kinds[register] !== Saved.same) registers.set(register, this.#rule(state, register));
    }
    const cfa: CfaRule =
      state.cfaRegister >= 0
        ? { kind: "register", register: state.cfaRegister, offset: state.cfaOffset }
        : expressionRule(frameExpression(this.expression(state.cfaOffset, state.cfaLength), undefined));
    return {
      low: BigInt.asUintN(64, BigInt(low)),
      high: BigInt.asUintN(64, BigInt(high)),
      cfa,
      registers,
      signal: state.signal,
      returnAddress: registers.get(state.returnRegister) ?? { kind: "same" },
    };
  }

  /** The bytes of an expression that a state points at. */
  expression(start: number, length: number): Buffer {
    return this.#bytes.subarray(start, start + length);
  }

  /**
   * Where the data is that a function's language left for its exceptions (LSDA), and where the function begins: GCC's
   * parts of a function have their own. undefined where it has none. @throws ElfError
   */
  languageDataAt(address: bigint): { readonly address: bigint; readonly low: bigint } | undefined {
    const entry = this.#find(Number(BigInt.asIntN(64, address)));
    if (entry?.common.languageData === undefined || entry.common.languageData === OMITTED) return undefined;
    const { common, augmentation, end, low } = entry;
    const reader = new FrameReader(this.#section.view, augmentation, end);
    const { languageData = OMITTED } = common;
    const place = reader.pointer(languageData & 0x7f, common.wordBytes, this.#section.address);
    // Relative to itself, none is 0.
    const none = (languageData & 0x70) === 0x10 ? this.#section.address + augmentation : 0;
    return place === none
      ? undefined
      : { address: BigInt.asUintN(64, BigInt(place)), low: BigInt.asUintN(64, BigInt(low)) };
  }

  #rule(state: FrameState, register: number): RegisterRule {
    const value = state.values[register];
    switch (state.kinds[register]) {
      case Saved.undefined:
        return { kind: "undefined" };
      case Saved.saved:
        return { kind: "saved", offset: value };
      case Saved.value:
        return { kind: "value", offset: value };
      case Saved.register:
        return { kind: "register", register: value };
      case Saved.savedAt:
      case Saved.computed: {
        if (state.cfaRegister < 0) {
          // Seen only where the CFA is not what the expression builds on.
          const alone = frameExpression(this.expression(value, state.lengths[register]), undefined);
          if (alone === undefined) return { kind: "unknown" };
          return state.kinds[register] === Saved.computed
            ? { kind: "computed", value: alone }
            : { kind: "saved-at", address: alone };
        }
        const cfa = registerPlus(state.cfaRegister, state.cfaOffset);
        const expression = frameExpression(this.expression(value, state.lengths[register]), cfa);
        if (expression === undefined) return { kind: "unknown" };
        return state.kinds[register] === Saved.computed
          ? { kind: "computed", value: expression }
          : { kind: "saved-at", address: expression };
      }
      default:
        return { kind: "same" };
    }
  }

  /** Where entries begin, in order; ends at damage, since where the next would begin is not known then. */
  *#entries(): Iterable<number> {
    let at = 0;
    while (at + 4 <= this.#bytes.length) {
      const { end, idAt } = this.#extent(at);
      if (end > this.#bytes.length || end <= at || idAt > end) return;
      // A length of zero ends the section's part of one object file; more may follow.
      if (idAt < end) yield at;
      at = end;
    }
  }

  *#tableEntries({ bytes, address, table, count }: SearchTable): Iterable<number> {
    for (let i = 0; i < count; i++) {
      const at = address + bytes.readInt32LE(table + i * 8 + 4) - this.#section.address;
      if (at >= 0 && at + 8 <= this.#bytes.length) yield at;
    }
  }

  #extent(at: number): { readonly idAt: number; readonly end: number; readonly long: boolean } {
    const short = this.#u32(at);
    if (short !== 0xffffffff) return { idAt: at + 4, end: at + 4 + short, long: false };
    const length = this.#u32(at + 4) + this.#u32(at + 8) * 2 ** 32;
    return { idAt: at + 12, end: at + 12 + length, long: true };
  }

  #functionAt(at: number): FunctionEntry | undefined {
    const { idAt, end, long } = this.#extent(at);
    if (end > this.#bytes.length) throw new ElfError(damagedFrames().longerThanSection());
    // .eh_frame keeps 32-bit ids even in long entries (LSB), and counts back from them; .debug_frame has offsets.
    const idBytes = long && !this.#eh ? 8 : 4;
    const id = this.#u32(idAt) + (idBytes === 8 ? this.#u32(idAt + 4) * 2 ** 32 : 0);
    if (this.#eh ? id === 0 : id === (idBytes === 8 ? 2 ** 64 : 0xffffffff)) return undefined;
    const common = this.#common(this.#eh ? idAt - id : id);
    const reader = new FrameReader(this.#section.view, idAt + idBytes, end);
    const low = reader.pointer(common.encoding, common.wordBytes, this.#section.address);
    const size = reader.pointer(common.encoding & 0x0f, common.wordBytes, this.#section.address);
    let augmentation = reader.at;
    if (common.augmented) {
      const length = reader.uleb();
      augmentation = reader.at;
      reader.skip(length);
    }
    return { common, low, size, augmentation, start: reader.at, end };
  }

  #common(at: number): CommonEntry {
    const known = this.#commons.get(at);
    if (known !== undefined) return known;
    if (!(at >= 0 && at + 8 <= this.#bytes.length)) throw new ElfError(damagedFrames().noCommonEntry());
    const { idAt, end, long } = this.#extent(at);
    if (end > this.#bytes.length) throw new ElfError(damagedFrames().commonEntryTooLong());
    const reader = new FrameReader(this.#section.view, idAt + (long && !this.#eh ? 8 : 4), end);
    const version = reader.u8();
    if (version !== 1 && version !== 3 && version !== 4) throw new ElfError(damagedFrames().version(version));
    let augmentation = "";
    for (let letter = reader.u8(); letter !== 0; letter = reader.u8()) augmentation += String.fromCharCode(letter);
    let wordBytes = this.#wide ? 8 : 4;
    if (version === 4) {
      wordBytes = reader.u8();
      if (reader.u8() !== 0 || (wordBytes !== 8 && wordBytes !== 4)) throw new ElfError(damagedFrames().segments());
    }
    const codeAlign = reader.uleb();
    const dataAlign = reader.sleb();
    const returnRegister = version === 1 ? reader.u8() : reader.uleb();
    let encoding = 0;
    let languageData: number | undefined;
    let signal = false;
    let start = reader.at;
    if (augmentation.startsWith("z")) {
      const length = reader.uleb();
      start = reader.at + length;
      for (const letter of augmentation.slice(1)) {
        if (letter === "R") encoding = reader.u8();
        else if (letter === "L") languageData = reader.u8();
        else if (letter === "P") reader.pointer(reader.u8() & 0x7f, wordBytes, this.#section.address);
        else if (letter === "S") signal = true;
        else if (letter !== "B" && letter !== "G") break; // the length says where the program begins
      }
    } else if (augmentation !== "") throw new ElfError(damagedFrames().augmentation(augmentation));
    if (start > end) throw new ElfError(damagedFrames().commonEntry());
    const common = {
      codeAlign,
      dataAlign,
      returnRegister,
      encoding,
      augmented: augmentation !== "",
      languageData,
      signal,
      wordBytes,
      start,
      end,
    };
    this.#commons.set(at, common);
    return common;
  }

  #find(address: number): FunctionEntry | undefined {
    let at: number | undefined;
    if (this.#header !== undefined) at = this.#search(this.#header, address);
    else {
      const { lows, at: places } = (this.#index ??= this.#makeIndex());
      const i = lastNotAbove(lows.length, (n) => lows[n], address);
      at = i < 0 ? undefined : places[i];
    }
    if (at === undefined) return undefined;
    const entry = this.#functionAt(at);
    return entry !== undefined && address >= entry.low && address < entry.low + entry.size ? entry : undefined;
  }

  #search(header: SearchTable, address: number): number | undefined {
    const { bytes, table, count } = header;
    const i = lastNotAbove(count, (n) => header.address + bytes.readInt32LE(table + n * 8), address);
    if (i < 0) return undefined;
    const at = header.address + bytes.readInt32LE(table + i * 8 + 4) - this.#section.address;
    if (!(at >= 0 && at + 8 <= this.#bytes.length)) throw new ElfError(damagedFrames().headerPointsOutside());
    return at;
  }

  #makeIndex(): Index {
    const found: { low: number; at: number }[] = [];
    for (const at of this.#entries()) {
      try {
        const entry = this.#functionAt(at);
        if (entry !== undefined && entry.size > 0) found.push({ low: entry.low, at });
      } catch (error) {
        if (!(error instanceof ElfError)) throw error;
      }
    }
    found.sort((a, b) => a.low - b.low);
    return { lows: Float64Array.from(found, ({ low }) => low), at: Float64Array.from(found, ({ at }) => at) };
  }

  #u32(at: number): number {
    if (at + 4 > this.#bytes.length) throw new ElfError(damagedFrames().endEarly());
    return this.#section.view.getUint32(at, true);
  }
}

function registerPlus(register: number, offset: number): LocationExpression {
  return {
    kind: "binary",
    operator: "+",
    left: { kind: "register", register },
    right: { kind: "constant", value: BigInt(offset) },
  };
}

function expressionRule(expression: LocationExpression | undefined): CfaRule {
  return expression === undefined ? { kind: "unknown" } : { kind: "expression", expression };
}

/** .eh_frame_hdr's sorted table, in the only form that linkers write: pairs of 32-bit distances from the header. */
function searchTable(elf: Elf): SearchTable | undefined {
  const section = elf.section(".eh_frame_hdr");
  if (section === undefined) return undefined;
  const bytes = elf.content(section);
  if (bytes.length < 12 || bytes[0] !== 1 || bytes[3] !== 0x3b || bytes[2] !== 0x03 || (bytes[1] & 0x0f) !== 0x0b)
    return undefined;
  const count = bytes.readUInt32LE(8);
  if (count === 0 || 12 + count * 8 > bytes.length) return undefined;
  return { bytes, address: Number(BigInt.asIntN(64, section.address)), table: 12, count };
}

/** Of values in order, the last that is not above what is wanted; -1 when all are. */
function lastNotAbove(count: number, at: (n: number) => number, wanted: number): number {
  return firstIndex(count, (i) => at(i) > wanted) - 1;
}
