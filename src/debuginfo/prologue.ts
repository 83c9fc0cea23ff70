// What a function does with what its caller gave it before its first statement: its instructions are followed one by
// one, so that a value found behind them is known by where it was at the very beginning. x86-64 only; it knows the
// instructions that compilers begin functions with, and stops at any other (Intel SDM, volume 2, chapter 2 and appendix
// A). A table of a few dozen opcodes, since the whole decoder (instructions.ts) takes longer to load than all else that
// a script with arguments does.

/**
 * Where a byte was when the function was entered: in a register (DWARF's number), or on the stack, counted from its
 * frame's end.
 */
export interface Source {
  readonly register: number | "stack";
  readonly byte: number;
}

/** Bytes from the lowest on; undefined where they come from nowhere in particular. */
export type Sources = readonly (Source | undefined)[];

/** What a register holds: an address of the frame, counted from the frame's end (the CFA); or bytes. */
export type Held = { readonly frame: number } | Sources;

export interface Frame {
  /** By DWARF's number: general ones 0 to 15, vector ones from 17 on. */
  register(number: number): Held;
  /** Bytes of the stack, counted from the frame's end; what is in front of it is the caller's. */
  memory(offset: number, length: number): Sources;
  /** Whether the function has written any of these bytes. */
  written(offset: number, length: number): boolean;
}

/** DWARF's numbers of registers by the processor's. */
const dwarfNumbers = [0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15];
const [stackPointer, firstVector] = [4, 17];
const nothing = (length: number): Sources => Array.from({ length });

/**
 * The frame as each instruction of `code` has left it, with the next one's offset: as far as control goes in a straight
 * line and the instructions are known. It is one object, to be asked before the next. `code` begins with the function's
 * first instruction.
 */
export function* framesIn(code: Uint8Array): Iterable<{ readonly offset: number; readonly frame: Frame }> {
  const state = new State(code);
  while (state.at < code.length && state.step()) yield { offset: state.at, frame: state };
}

/**
 * Operand of an instruction: a register by the processor's number, or memory: an offset into the frame where it is one.
 */
type Operand = { readonly register: number } | { readonly frame: number | undefined };

class State implements Frame {
  at = 0;
  readonly #code: Uint8Array;
  readonly #general: Held[] = dwarfNumbers.map((register) =>
    Array.from({ length: 8 }, (_, byte) => ({ register, byte })),
  );
  readonly #vectors: Sources[] = Array.from({ length: 16 }, (_, n) =>
    Array.from({ length: 16 }, (_one, byte) => ({ register: firstVector + n, byte })),
  );
  readonly #memory = new Map<number, Source | undefined>();

  constructor(code: Uint8Array) {
    this.#code = code;
    // The return address is at the frame's end.
    this.#general[stackPointer] = { frame: -8 };
  }

  register(number: number): Held {
    const general = dwarfNumbers.indexOf(number);
    return general >= 0 ? this.#general[general] : (this.#vectors[number - firstVector] ?? nothing(8));
  }

  memory(offset: number, length: number): Sources {
    return Array.from({ length }, (_, i) => {
      const byte = offset + i;
      return this.#memory.has(byte) || byte < 0 ? this.#memory.get(byte) : ({ register: "stack", byte } as const);
    });
  }

  written(offset: number, length: number): boolean {
    for (let i = 0; i < length; i++) if (this.#memory.has(offset + i)) return true;
    return false;
  }

  /** Runs an instruction; false at one that is not known. */
  step(): boolean {
    const start = this.at;
    let prefix = 0;
    let segment = false;
    for (; ; this.at++) {
      const byte = this.#code[this.at];
      if (byte === 0x66) prefix ||= byte;
      else if (byte === 0xf2 || byte === 0xf3) prefix = byte;
      else if (byte === 0x64) segment = true;
      else break;
    }
    const rex = (this.#code[this.at] & 0xf0) === 0x40 ? this.#code[this.at++] : 0;
    const opcode = this.#code[this.at++];
    const known =
      opcode === 0x0f
        ? this.#twoBytes(this.#code[this.at++], prefix, rex)
        : this.#oneByte(opcode, prefix, rex, segment);
    // Cut off at the end of what was read.
    return known && this.at > start && this.at <= this.#code.length;
  }

  #oneByte(opcode: number, prefix: number, rex: number, segment: boolean): boolean {
    const width = (rex & 8) !== 0 ? 8 : prefix === 0x66 ? 2 : 4;
    const register = (opcode & 7) + ((rex & 1) << 3);
    const immediate = width === 2 ? 2 : 4;
    if (opcode < 0x40) return this.#arithmetic(opcode, width, rex);
    if (opcode >= 0x50 && opcode < 0x58) {
      const pushed = bytesOf(this.#general[register]);
      this.#moveStack(-8);
      this.#store(this.#stackTop(), pushed);
      return true;
    }
    if (opcode >= 0xb0 && opcode < 0xc0) {
      const wide = opcode >= 0xb8;
      this.at += wide ? (width === 8 ? 8 : immediate) : 1;
      this.#set(register, nothing(wide ? width : 1), rex);
      return true;
    }
    switch (opcode) {
      case 0x63: {
        // movsxd
        const { reg, to } = this.#operands(rex);
        this.#set(reg, [...this.#load(to, 4), ...nothing(4)], rex);
        return true;
      }
      case 0x80:
      case 0x81:
      case 0x83: {
        // add, or, adc, sbb, and, sub, xor, cmp with a number
        const bytes = opcode === 0x81 ? immediate : 1;
        const { operation, to } = this.#operands(rex);
        const value = this.#number(bytes);
        // A compare changes nothing, nor does the mask of what is 0 or 1.
        if (operation === 7 || (operation === 4 && value === 1 && opcode === 0x80)) return true;
        const held = "register" in to && opcode !== 0x80 ? this.#general[to.register] : undefined;
        if (
          "register" in to &&
          held !== undefined &&
          "frame" in held &&
          width === 8 &&
          (operation === 0 || operation === 5)
        ) {
          this.#general[to.register] = { frame: held.frame + (operation === 0 ? value : -value) };
        } else this.#store(to, nothing(opcode === 0x80 ? 1 : width), rex);
        return true;
      }
      case 0x84:
      case 0x85:
        this.#operands(rex);
        return true; // test
      case 0x88:
      case 0x89: {
        // mov to memory or a register
        const { reg, to } = this.#operands(rex);
        const bytes = opcode === 0x88 ? 1 : width;
        if (bytes === 8 && "register" in to) this.#general[to.register] = this.#general[reg];
        else
          this.#store(
            to,
            bytes === 1 && isHigh(reg, rex) ? nothing(1) : bytesOf(this.#general[reg]).slice(0, bytes),
            rex,
          );
        return true;
      }
      case 0x8a:
      case 0x8b: {
        // mov from memory or a register
        const bytes = opcode === 0x8a ? 1 : width;
        const { reg, to } = this.#operands(rex);
        if (bytes === 8 && "register" in to) this.#general[reg] = this.#general[to.register];
        else
          this.#set(
            reg,
            segment || (bytes === 1 && "register" in to && isHigh(to.register, rex))
              ? nothing(bytes)
              : this.#load(to, bytes),
            rex,
          );
        return true;
      }
      case 0x8d: {
        // lea
        const { reg, to } = this.#operands(rex);
        if ("register" in to) return false;
        if (to.frame !== undefined && width === 8) this.#general[reg] = { frame: to.frame };
        else this.#set(reg, nothing(width), rex);
        return true;
      }
      case 0x90:
        return true;
      case 0xa8:
        this.at += 1;
        return true; // test
      case 0xa9:
        this.at += immediate;
        return true;
      case 0xc0:
      case 0xc1: {
        // shifts by a number
        const bytes = opcode === 0xc0 ? 1 : width;
        const { operation, to } = this.#operands(rex);
        const by = this.#code[this.at++];
        const shifted = operation === 5 && by % 8 === 0 ? this.#load(to, bytes).slice(by / 8) : [];
        this.#store(to, [...shifted, ...nothing(bytes - shifted.length)], rex);
        return true;
      }
      case 0xc6:
      case 0xc7: {
        // mov of a number
        const bytes = opcode === 0xc6 ? 1 : width;
        const trailing = opcode === 0xc6 ? 1 : immediate;
        const { to } = this.#operands(rex);
        this.at += trailing;
        this.#store(to, nothing(bytes), rex);
        return true;
      }
      default:
        return false;
    }
  }

  /** add, or, adc, sbb, and, sub, xor, cmp: of two operands, or of the accumulator and a number. */
  #arithmetic(opcode: number, width: number, rex: number): boolean {
    const form = opcode & 7;
    const compares = opcode >= 0x38;
    const bytes = (form & 1) === 0 ? 1 : width;
    if (form >= 6) return false;
    if (form >= 4) {
      const value = this.#number(form === 4 ? 1 : width === 2 ? 2 : 4);
      const masks = opcode === 0x24 && value === 1;
      if (!compares && !masks) this.#set(0, nothing(bytes), rex);
      return true;
    }
    const { reg, to } = this.#operands(rex);
    if (!compares) this.#store(form < 2 ? to : { register: reg }, nothing(bytes), rex);
    return true;
  }

  #twoBytes(opcode: number, prefix: number, rex: number): boolean {
    const width = (rex & 8) !== 0 ? 8 : prefix === 0x66 ? 2 : 4;
    // Without a prefix these are of the old vectors, with one the others are more than moves.
    if (
      prefix === 0
        ? [0x6e, 0x6f, 0x7e, 0x7f, 0xd6, 0xef].includes(opcode)
        : prefix !== 0x66 && [0x12, 0x13, 0x16, 0x17].includes(opcode)
    )
      return false;
    switch (opcode) {
      case 0x1e: // endbr64
        return prefix === 0xf3 && this.#code[this.at++] === 0xfa;
      case 0x1f:
        this.#operands(rex);
        return true; // nop
      case 0x10:
      case 0x12:
      case 0x16:
      case 0x28:
      case 0x6f: {
        // moves to a vector register
        const { reg, to } = this.#operands(rex);
        const bytes =
          opcode === 0x10 && prefix === 0xf3
            ? 4
            : opcode === 0x12 || opcode === 0x16 || (opcode === 0x10 && prefix === 0xf2)
              ? 8
              : 16;
        const whole = bytes === 16 && "register" in to;
        this.#vectors[reg] = whole
          ? this.#vectors[to.register]
          : opcode === 0x16 || "register" in to
            ? nothing(16)
            : [...this.#load(to, bytes), ...nothing(16 - bytes)];
        return true;
      }
      case 0x11:
      case 0x13:
      case 0x17:
      case 0x29:
      case 0x7f:
      case 0xd6: {
        // moves from one
        const { reg, to } = this.#operands(rex);
        const bytes =
          opcode === 0x11 && prefix === 0xf3
            ? 4
            : opcode === 0x13 || opcode === 0x17 || opcode === 0xd6 || (opcode === 0x11 && prefix === 0xf2)
              ? 8
              : 16;
        const from = opcode === 0x17 ? this.#vectors[reg].slice(8, 16) : this.#vectors[reg].slice(0, bytes);
        if ("register" in to) this.#vectors[to.register] = bytes === 16 ? from : nothing(16);
        else this.#store(to, from, rex);
        return true;
      }
      case 0x6e: {
        // from a general register or memory
        const { reg, to } = this.#operands(rex);
        this.#vectors[reg] = [...this.#load(to, width === 8 ? 8 : 4), ...nothing(width === 8 ? 8 : 12)];
        return true;
      }
      case 0x7e: {
        // to one; with f3 from one vector register to another
        const { reg, to } = this.#operands(rex);
        const bytes = width === 8 ? 8 : 4;
        if (prefix === 0xf3)
          this.#vectors[reg] = "register" in to ? nothing(16) : [...this.#load(to, 8), ...nothing(8)];
        else this.#store(to, this.#vectors[reg].slice(0, bytes), rex);
        return true;
      }
      case 0x57:
      case 0xef: {
        // xor of vectors
        this.#vectors[this.#operands(rex).reg] = nothing(16);
        return true;
      }
      case 0xb6:
      case 0xb7:
      case 0xbe:
      case 0xbf: {
        // extended
        const bytes = (opcode & 1) === 0 ? 1 : 2;
        const { reg, to } = this.#operands(rex);
        this.#set(
          reg,
          [
            ...("register" in to && bytes === 1 && isHigh(to.register, rex) ? nothing(1) : this.#load(to, bytes)),
            ...nothing(8 - bytes),
          ].slice(0, width),
          rex,
        );
        return true;
      }
      default:
        if (opcode >= 0x90 && opcode < 0xa0) {
          // setcc
          this.#store(this.#operands(rex).to, nothing(1), rex);
          return true;
        }
        if (opcode >= 0x40 && opcode < 0x50) {
          // cmov
          this.#set(this.#operands(rex).reg, nothing(width), rex);
          return true;
        }
        return false;
    }
  }

  /** ModR/M: `reg` with its extension, `operation` without. */
  #operands(rex: number): { readonly reg: number; readonly operation: number; readonly to: Operand } {
    const modrm = this.#code[this.at++];
    const operation = (modrm >> 3) & 7;
    const reg = operation + ((rex & 4) << 1);
    const mode = modrm >> 6;
    const low = modrm & 7;
    if (mode === 3) return { reg, operation, to: { register: low + ((rex & 1) << 3) } };
    let base: number | undefined = low + ((rex & 1) << 3);
    let indexed = false;
    if (low === 4) {
      const sib = this.#code[this.at++];
      indexed = ((sib >> 3) & 7) + ((rex & 2) << 2) !== 4;
      base = (sib & 7) === 5 && mode === 0 ? undefined : (sib & 7) + ((rex & 1) << 3);
    } else if (low === 5 && mode === 0) base = undefined;
    const far = base === undefined ? this.#number(4) : mode === 1 ? this.#number(1) : mode === 2 ? this.#number(4) : 0;
    const held = base === undefined || indexed ? undefined : this.#general[base];
    return { reg, operation, to: { frame: held !== undefined && "frame" in held ? held.frame + far : undefined } };
  }

  #number(bytes: number): number {
    const view = new DataView(this.#code.buffer, this.#code.byteOffset, this.#code.length);
    const at = this.at;
    this.at += bytes;
    if (this.at > this.#code.length) return 0;
    return bytes === 1 ? view.getInt8(at) : bytes === 2 ? view.getInt16(at, true) : view.getInt32(at, true);
  }

  #stackTop(): Operand {
    const held = this.#general[stackPointer];
    return { frame: "frame" in held ? held.frame : undefined };
  }

  #moveStack(by: number): void {
    const held = this.#general[stackPointer];
    if ("frame" in held) this.#general[stackPointer] = { frame: held.frame + by };
  }

  #load(from: Operand, bytes: number): Sources {
    if ("register" in from) return bytesOf(this.#general[from.register]).slice(0, bytes);
    return from.frame === undefined ? nothing(bytes) : this.memory(from.frame, bytes);
  }

  /** The frame is not known to anybody else yet: what is written by other addresses is elsewhere. */
  #store(to: Operand, sources: Sources, rex = 0): void {
    if ("register" in to) this.#set(to.register, sources, rex);
    else if (to.frame !== undefined)
      for (const [i, source] of sources.entries()) this.#memory.set(to.frame + i, source);
  }

  /** Four bytes clear the others, fewer leave them. */
  #set(register: number, sources: Sources, rex: number): void {
    if (sources.length === 1 && isHigh(register, rex)) {
      const other = bytesOf(this.#general[register - 4]);
      this.#general[register - 4] = [other[0], undefined, ...other.slice(2)];
      return;
    }
    const old = bytesOf(this.#general[register]);
    this.#general[register] =
      sources.length >= 4 ? [...sources, ...nothing(8 - sources.length)] : [...sources, ...old.slice(sources.length)];
  }
}

/** The second bytes of the first four registers go by the numbers of others. */
function isHigh(register: number, rex: number): boolean {
  return rex === 0 && register >= 4 && register < 8;
}

function bytesOf(held: Held): Sources {
  return "frame" in held ? nothing(8) : held;
}
