// Call frame information: at every instruction, where the caller's frame begins (the canonical frame address, CFA) and where
// its registers were saved. The rows of .eh_frame, found through .eh_frame_hdr, or of .debug_frame where that is all there is
// (Go). DWARF 5, section 6.4; LSB Core, "Exception Frames"; registers have DWARF's numbers for the machine.
import { Elf, ElfError, type Section } from "./elf.ts";
import { frameExpression } from "./frame-expression.ts";
import type { LocationExpression } from "./dwarf/facts.ts";

/** The caller's frame address. An expression that cannot be followed is "unknown". */
export type CfaRule =
  | { readonly kind: "register"; readonly register: number; readonly offset: number }
  | { readonly kind: "expression"; readonly expression: LocationExpression }
  | { readonly kind: "unknown" };

/** The value of a register in the caller. */
export type RegisterRule =
  /** Not recoverable; of the return address: there is no caller. */
  | { readonly kind: "undefined" }
  | { readonly kind: "same" }
  /** Saved at the CFA plus `offset`. */
  | { readonly kind: "saved"; readonly offset: number }
  /** The CFA plus `offset` itself. */
  | { readonly kind: "value"; readonly offset: number }
  | { readonly kind: "register"; readonly register: number }
  /** Saved at an address. */
  | { readonly kind: "saved-at"; readonly address: LocationExpression }
  | { readonly kind: "computed"; readonly value: LocationExpression }
  | { readonly kind: "unknown" };

/** What holds from `low` to before `high`. */
export interface FrameRow {
  readonly low: bigint;
  readonly high: bigint;
  readonly cfa: CfaRule;
  /** Of the callee-saved registers that the function touched; what is missing is the same. */
  readonly registers: ReadonlyMap<number, RegisterRule>;
  readonly returnAddress: RegisterRule;
  /** The frame of a signal handler's return: its caller was interrupted, it did not call. */
  readonly signal: boolean;
}

/** How a register was left, in numbers: see `FrameState`. */
export const Saved = { same: 0, undefined: 1, saved: 2, value: 3, register: 4, savedAt: 5, computed: 6 } as const;

/** DW_EH_PE_omit */
const OMITTED = 0xff;
/** Registers that rows are kept of; others are the vector ones, which unwinding does not need. */
const registersKept = 48;
/** A step takes about a millisecond. */
const functionsPerStep = 256;
/** Of remembered states in one function. GCC needs one or two. */
const rememberedMost = 64;

/** A row being built, without objects: whole binaries have millions. Only valid during the call that is handed it. */
export class FrameState {
  /** -1: by the expression at `cfaOffset`, which has `cfaLength` bytes. */
  cfaRegister = -1;
  cfaOffset = 0;
  cfaLength = 0;
  /** `Saved`, by register. */
  readonly kinds = new Uint8Array(registersKept);
  /** An offset from the CFA, a register, or where an expression begins in the section. */
  readonly values = new Float64Array(registersKept);
  readonly lengths = new Uint32Array(registersKept);
  returnRegister = 16;
  signal = false;

  reset(): void {
    this.cfaRegister = -1;
    this.cfaOffset = 0;
    this.cfaLength = 0;
    this.kinds.fill(0);
  }

  copy(from: FrameState): void {
    this.cfaRegister = from.cfaRegister;
    this.cfaOffset = from.cfaOffset;
    this.cfaLength = from.cfaLength;
    this.kinds.set(from.kinds);
    this.values.set(from.values);
    this.lengths.set(from.lengths);
  }
}

interface CommonEntry {
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

interface FunctionEntry { readonly common: CommonEntry; readonly low: number; readonly size: number; /** Where its augmentation data is. */ readonly augmentation: number; readonly start: number; readonly end: number }

/** .eh_frame_hdr: `count` pairs at `table`, distances from `address`. */
interface SearchTable { readonly bytes: Buffer; readonly address: number; readonly table: number; readonly count: number }

/** Beginnings of functions, in order, and where their entries are. */
interface Index { readonly lows: Float64Array; readonly at: Float64Array }

export class CallFrames {
  readonly #bytes: Buffer;
  readonly #view: DataView;
  readonly #address: number;
  readonly #eh: boolean;
  readonly #wide: boolean;
  readonly #arm: boolean;
  readonly #header: SearchTable | undefined;
  readonly #commons = new Map<number, CommonEntry>();
  /** Used again for each function. */
  readonly #states = { state: new FrameState(), initial: new FrameState(), remembered: [] as FrameState[] };
  /** Only for files without a header's table. */
  #index: Index | undefined;

  /** The call frames of a binary: of .eh_frame, else of .debug_frame. undefined when it has neither. @throws ElfError */
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
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#address = Number(BigInt.asIntN(64, section.address));
    this.#eh = section.name === ".eh_frame";
    this.#wide = elf.wide;
    this.#arm = elf.machine === "arm64";
    this.#header = this.#eh ? searchTable(elf) : undefined;
  }

  /** What holds at an address; undefined where no function is described. @throws ElfError when the description is damaged */
  rowAt(address: bigint): FrameRow | undefined {
    const wanted = Number(BigInt.asIntN(64, address));
    const entry = this.#find(wanted);
    if (entry === undefined) return undefined;
    let found: FrameRow | undefined;
    this.#run(entry, (low, high, state) => {
      if (found === undefined && wanted >= low && wanted < high) found = this.row(low, high, state);
    });
    return found;
  }

  /** Where the frame begins of the function that holds an address: what DW_OP_call_frame_cfa means there. @throws ElfError */
  cfaAt(address: bigint): CfaRule | undefined {
    return this.rowAt(address)?.cfa;
  }

  /**
   * Every row of every function, in the order of addresses where the file has a search table, else of the file. A function whose description is damaged or unknown has none.
   * `state` is used again for the next row.
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
        if (entry !== undefined) this.#run(entry, each);
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
    const cfa: CfaRule = state.cfaRegister >= 0
      ? { kind: "register", register: state.cfaRegister, offset: state.cfaOffset }
      : expressionRule(frameExpression(this.expression(state.cfaOffset, state.cfaLength), undefined));
    return {
      low: BigInt.asUintN(64, BigInt(low)), high: BigInt.asUintN(64, BigInt(high)), cfa, registers, signal: state.signal,
      returnAddress: registers.get(state.returnRegister) ?? { kind: "same" },
    };
  }

  /** The bytes of an expression that a state points at. */
  expression(start: number, length: number): Buffer {
    return this.#bytes.subarray(start, start + length);
  }

  /**
   * Where the data is that a function's language left for its exceptions (LSDA), and where the function begins: GCC's parts of a
   * function have their own. undefined where it has none. @throws ElfError
   */
  languageDataAt(address: bigint): { readonly address: bigint; readonly low: bigint } | undefined {
    const entry = this.#find(Number(BigInt.asIntN(64, address)));
    if (entry?.common.languageData === undefined || entry.common.languageData === OMITTED) return undefined;
    const { common, augmentation, end, low } = entry;
    const reader = new Reader(this.#view, augmentation, end);
    const { languageData = OMITTED } = common;
    const place = this.#pointer(reader, languageData & 0x7f, common.wordBytes);
    // Relative to itself, none is 0.
    const none = (languageData & 0x70) === 0x10 ? this.#address + augmentation : 0;
    return place === none ? undefined : { address: BigInt.asUintN(64, BigInt(place)), low: BigInt.asUintN(64, BigInt(low)) };
  }

  #rule(state: FrameState, register: number): RegisterRule {
    const value = state.values[register];
    switch (state.kinds[register]) {
      case Saved.undefined: return { kind: "undefined" };
      case Saved.saved: return { kind: "saved", offset: value };
      case Saved.value: return { kind: "value", offset: value };
      case Saved.register: return { kind: "register", register: value };
      case Saved.savedAt:
      case Saved.computed: {
        if (state.cfaRegister < 0) {
          // Seen only where the CFA is not what the expression builds on.
          const alone = frameExpression(this.expression(value, state.lengths[register]), undefined);
          if (alone === undefined) return { kind: "unknown" };
          return state.kinds[register] === Saved.computed ? { kind: "computed", value: alone } : { kind: "saved-at", address: alone };
        }
        const cfa = registerPlus(state.cfaRegister, state.cfaOffset);
        const expression = frameExpression(this.expression(value, state.lengths[register]), cfa);
        if (expression === undefined) return { kind: "unknown" };
        return state.kinds[register] === Saved.computed ? { kind: "computed", value: expression } : { kind: "saved-at", address: expression };
      }
      default: return { kind: "same" };
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
      const at = address + bytes.readInt32LE(table + i * 8 + 4) - this.#address;
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
    if (end > this.#bytes.length) throw new ElfError("a frame description is longer than its section");
    // .eh_frame keeps 32-bit ids even in long entries (LSB), and counts back from them; .debug_frame has offsets.
    const idBytes = long && !this.#eh ? 8 : 4;
    const id = this.#u32(idAt) + (idBytes === 8 ? this.#u32(idAt + 4) * 2 ** 32 : 0);
    if (this.#eh ? id === 0 : id === (idBytes === 8 ? 2 ** 64 : 0xffffffff)) return undefined;
    const common = this.#common(this.#eh ? idAt - id : id);
    const reader = new Reader(this.#view, idAt + idBytes, end);
    const low = this.#pointer(reader, common.encoding, common.wordBytes);
    const size = this.#pointer(reader, common.encoding & 0x0f, common.wordBytes);
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
    if (!(at >= 0 && at + 8 <= this.#bytes.length)) throw new ElfError("a frame description names no common entry");
    const { idAt, end, long } = this.#extent(at);
    if (end > this.#bytes.length) throw new ElfError("a common frame entry is longer than its section");
    const reader = new Reader(this.#view, idAt + (long && !this.#eh ? 8 : 4), end);
    const version = reader.u8();
    if (version !== 1 && version !== 3 && version !== 4) throw new ElfError(`frame descriptions of version ${version}`);
    let augmentation = "";
    for (let letter = reader.u8(); letter !== 0; letter = reader.u8()) augmentation += String.fromCharCode(letter);
    let wordBytes = this.#wide ? 8 : 4;
    if (version === 4) {
      wordBytes = reader.u8();
      if (reader.u8() !== 0 || (wordBytes !== 8 && wordBytes !== 4)) throw new ElfError("frame descriptions with segments");
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
        else if (letter === "P") this.#pointer(reader, reader.u8() & 0x7f, wordBytes);
        else if (letter === "S") signal = true;
        else if (letter !== "B" && letter !== "G") break; // the length says where the program begins
      }
    } else if (augmentation !== "") throw new ElfError(`frame descriptions with augmentation "${augmentation}"`);
    if (start > end) throw new ElfError("a common frame entry is damaged");
    const common = { codeAlign, dataAlign, returnRegister, encoding, augmented: augmentation !== "", languageData, signal, wordBytes, start, end };
    this.#commons.set(at, common);
    return common;
  }

  /** DW_EH_PE encodings: absolute or relative to where the pointer is. Others are not used for code. */
  #pointer(reader: Reader, encoding: number, wordBytes: number): number {
    const place = this.#address + reader.at;
    const value = encodedValue(reader, encoding, wordBytes);
    switch (encoding & 0x70) {
      case 0x00: return value;
      case 0x10: return Number(BigInt.asUintN(wordBytes * 8, BigInt(place) + BigInt(value)));
      default: throw new ElfError(`an address of encoding 0x${encoding.toString(16)}`);
    }
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
    const at = header.address + bytes.readInt32LE(table + i * 8 + 4) - this.#address;
    if (!(at >= 0 && at + 8 <= this.#bytes.length)) throw new ElfError(".eh_frame_hdr points outside .eh_frame");
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

  #run({ common, low, size, start, end }: FunctionEntry, each: (low: number, high: number, state: FrameState) => void): void {
    const { state, initial: afterCommon, remembered } = this.#states;
    state.reset();
    state.returnRegister = common.returnRegister;
    state.signal = common.signal;
    // The common entry's program makes the state that restoring goes back to; the function's own makes rows.
    const run = (from: number, to: number, initial: FrameState | undefined, at: number): number => {
      let depth = 0;
      const reader = new Reader(this.#view, from, to);
      const high = low + size;
      const advance = (delta: number): void => {
        const next = at + delta * common.codeAlign;
        if (initial === undefined || !(next >= at)) throw new ElfError("a frame description moves backwards");
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
        if (register < registersKept) set(register, initial?.kinds[register] ?? Saved.same, initial?.values[register] ?? 0, initial?.lengths[register] ?? 0);
      };
      const setCfa = (register: number, offset: number): void => {
        state.cfaRegister = register;
        state.cfaOffset = offset;
      };
      while (reader.at < to) {
        const code = reader.u8();
        const low6 = code & 0x3f;
        switch (code >> 6) {
          case 1: advance(low6); continue;
          case 2: set(low6, Saved.saved, reader.uleb() * common.dataAlign); continue;
          case 3: restore(low6); continue;
          default:
        }
        switch (code) {
          case 0x00: break; // nop
          case 0x01: { // set_loc
            const next = this.#pointer(reader, common.encoding, common.wordBytes);
            advance((next - at) / common.codeAlign);
            break;
          }
          case 0x02: advance(reader.u8()); break;
          case 0x03: advance(reader.u16()); break;
          case 0x04: advance(reader.u32()); break;
          case 0x05: set(reader.uleb(), Saved.saved, reader.uleb() * common.dataAlign); break;
          case 0x06: restore(reader.uleb()); break;
          case 0x07: set(reader.uleb(), Saved.undefined, 0); break;
          case 0x08: set(reader.uleb(), Saved.same, 0); break;
          case 0x09: set(reader.uleb(), Saved.register, reader.uleb()); break;
          case 0x0a: {
            if (depth >= rememberedMost) throw new ElfError("a frame description remembers too many states");
            (remembered[depth++] ??= new FrameState()).copy(state);
            break;
          }
          case 0x0b: {
            if (depth === 0) throw new ElfError("a frame description restores what it did not remember");
            state.copy(remembered[--depth]);
            break;
          }
          case 0x0c: setCfa(reader.uleb(), reader.uleb()); break;
          case 0x0d: state.cfaRegister = reader.uleb(); break;
          case 0x0e: state.cfaOffset = reader.uleb(); break;
          case 0x0f: { // def_cfa_expression
            const length = reader.uleb();
            setCfa(-1, reader.at);
            state.cfaLength = length;
            reader.skip(length);
            break;
          }
          case 0x10:
          case 0x16: { // expression, val_expression
            const register = reader.uleb();
            const length = reader.uleb();
            set(register, code === 0x10 ? Saved.savedAt : Saved.computed, reader.at, length);
            reader.skip(length);
            break;
          }
          case 0x11: set(reader.uleb(), Saved.saved, reader.sleb() * common.dataAlign); break;
          case 0x12: setCfa(reader.uleb(), reader.sleb() * common.dataAlign); break;
          case 0x13: state.cfaOffset = reader.sleb() * common.dataAlign; break;
          case 0x14: set(reader.uleb(), Saved.value, reader.uleb() * common.dataAlign); break;
          case 0x15: set(reader.uleb(), Saved.value, reader.sleb() * common.dataAlign); break;
          case 0x2d: // AArch64: the return address is signed from here on, or no more. Its bits say so as well.
            if (this.#arm) break;
            throw new ElfError("a frame description with SPARC's register windows");
          case 0x2e: reader.uleb(); break; // GNU_args_size: what a call pushed, part of the CFA's offset already
          case 0x2f: set(reader.uleb(), Saved.saved, -reader.uleb() * common.dataAlign); break;
          default: throw new ElfError(`a frame description with unknown instruction 0x${code.toString(16)}`);
        }
      }
      return at;
    };
    run(common.start, common.end, undefined, low);
    afterCommon.copy(state);
    const at = run(start, end, afterCommon, low);
    if (at < low + size) each(at, low + size, state);
  }

  #u32(at: number): number {
    if (at + 4 > this.#bytes.length) throw new ElfError("frame descriptions end too early");
    return this.#view.getUint32(at, true);
  }
}

function registerPlus(register: number, offset: number): LocationExpression {
  return { kind: "binary", operator: "+", left: { kind: "register", register }, right: { kind: "constant", value: BigInt(offset) } };
}

function expressionRule(expression: LocationExpression | undefined): CfaRule {
  return expression === undefined ? { kind: "unknown" } : { kind: "expression", expression };
}

/** .eh_frame_hdr's sorted table, in the only form that linkers write: pairs of 32-bit distances from the header. */
function searchTable(elf: Elf): SearchTable | undefined {
  const section = elf.section(".eh_frame_hdr");
  if (section === undefined) return undefined;
  const bytes = elf.content(section);
  if (bytes.length < 12 || bytes[0] !== 1 || bytes[3] !== 0x3b || bytes[2] !== 0x03 || (bytes[1] & 0x0f) !== 0x0b) return undefined;
  const count = bytes.readUInt32LE(8);
  if (count === 0 || 12 + count * 8 > bytes.length) return undefined;
  return { bytes, address: Number(BigInt.asIntN(64, section.address)), table: 12, count };
}

/** Of values in order, the last that is not above what is wanted; -1 when all are. */
function lastNotAbove(count: number, at: (n: number) => number, wanted: number): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (at(middle) <= wanted) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

function encodedValue(reader: Reader, encoding: number, wordBytes: number): number {
  switch (encoding & 0x0f) {
    case 0x00: return wordBytes === 8 ? reader.u64() : reader.u32();
    case 0x01: return reader.uleb();
    case 0x02: return reader.u16();
    case 0x03: return reader.u32();
    case 0x04: return reader.u64();
    case 0x09: return reader.sleb();
    case 0x0a: return (reader.u16() << 16) >> 16;
    case 0x0b: return reader.u32() | 0;
    case 0x0c: return reader.i64();
    default: throw new ElfError(`a value of encoding 0x${encoding.toString(16)}`);
  }
}

/** Reads from `at` to before `end`. Numbers beyond 2^53 lose their last bits: they are addresses in no program. */
class Reader {
  at: number;
  readonly #view: DataView;
  readonly #end: number;

  constructor(view: DataView, at: number, end: number) {
    this.at = at;
    this.#view = view;
    this.#end = end;
  }

  skip(bytes: number): number {
    const at = this.at;
    if (!(bytes >= 0 && at + bytes <= this.#end)) throw new ElfError("a frame description ends too early");
    this.at = at + bytes;
    return at;
  }

  u8(): number { return this.#view.getUint8(this.skip(1)); }
  u16(): number { return this.#view.getUint16(this.skip(2), true); }
  u32(): number { return this.#view.getUint32(this.skip(4), true); }
  /** Signed, so that the kernel's addresses are exact as numbers. */
  u64(): number { return Number(this.#view.getBigInt64(this.skip(8), true)); }
  i64(): number { return Number(this.#view.getBigInt64(this.skip(8), true)); }

  uleb(): number {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = this.u8();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
      if (scale > 2 ** 63) throw new ElfError("a number without end");
    }
  }

  sleb(): number {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = this.u8();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return (byte & 0x40) === 0 ? value : value - scale * 128;
      if (scale > 2 ** 63) throw new ElfError("a number without end");
    }
  }
}
