// Line tables (DWARF 2 to 5, section 6.2): which source line each instruction came from. A table's header (its files)
// is read apart from its program, which runs once somebody asks for a line in one of its files.
import { firstIndex } from "../../base/first-index.ts";
import { FORM } from "./constants.ts";
import { Cursor, DwarfError } from "./cursor.ts";
import { stepOf, takeStep } from "./forms.ts";
import { isDropped } from "./ranges.ts";
import type { DwarfSections } from "./sections.ts";
import { damagedDwarf } from "../../messages/on-demand.ts";

/**
 * The file names of a table and where its program is. Indices of `files` are those that the program and entries use.
 */
export interface LineHeader {
  /** Where the table begins and ends in .debug_line. */
  readonly offset: number;
  readonly end: number;
  readonly version: number;
  readonly offsetSize: 4 | 8;
  readonly addressSize: number;
  readonly program: number;
  readonly minimumInstruction: number;
  readonly operationsPerInstruction: number;
  readonly defaultStatement: boolean;
  readonly lineBase: number;
  readonly lineRange: number;
  readonly opcodeBase: number;
  readonly opcodeLengths: readonly number[];
  readonly folders: readonly string[];
  /** Folder index and name; files that DWARF counts from 1 leave the first place empty. */
  readonly files: readonly { readonly name: string; readonly folder: number }[];
}

export const ROW = { statement: 1, prologueEnd: 2, sequenceEnd: 4 } as const;

/** Rows in order of address within each sequence, sequences in order of their first address; columns of numbers. */
export interface LineRows {
  readonly count: number;
  readonly addresses: Float64Array;
  readonly files: Uint32Array;
  readonly lines: Uint32Array;
  readonly columns: Uint16Array;
  /** Bits of ROW. */
  readonly flags: Uint8Array;
}

const LNCT = { path: 1, directory_index: 2 } as const;
/** Of one table. */
const FILE_LIMIT = 1 << 20;

/** All tables, one behind the other. */
export function* lineHeaders(sections: DwarfSections): Iterable<LineHeader> {
  const size = sections.find("debug_line")?.size ?? 0;
  for (let offset = 0; offset < size;) {
    const next = tableEnd(sections, offset);
    if (next.length > 0) yield readLineHeader(sections, offset);
    offset = next.end;
  }
}

function tableEnd(sections: DwarfSections, offset: number): { readonly end: number; readonly length: number } {
  const data = sections.get("debug_line");
  const cursor = new Cursor(data.slice(offset, Math.min(12, data.size - offset)));
  const { length } = cursor.unitLength();
  const end = offset + cursor.at + length;
  if (end > data.size) throw new DwarfError(damagedDwarf().linesBehindEnd());
  return { end, length };
}

export function readLineHeader(sections: DwarfSections, offset: number): LineHeader {
  return sections.get("debug_line").from(offset, (cursor) => headerFrom(sections, cursor, offset));
}

function headerFrom(sections: DwarfSections, cursor: Cursor, offset: number): LineHeader {
  const { length, offsetSize } = cursor.unitLength();
  const end = offset + cursor.at + length;
  const version = cursor.u16();
  if (version < 2 || version > 5) throw new DwarfError(damagedDwarf().linesVersion(version));
  let addressSize = 8;
  if (version >= 5) {
    addressSize = cursor.u8();
    cursor.u8();
  }
  const headerLength = cursor.offset(offsetSize);
  const program = offset + cursor.at + headerLength;
  if (program > end) throw new DwarfError(damagedDwarf().linesHeaderTooLong());
  const minimumInstruction = cursor.u8();
  const operationsPerInstruction = version >= 4 ? Math.max(1, cursor.u8()) : 1;
  const defaultStatement = cursor.u8() !== 0;
  const lineBase = cursor.s8();
  const lineRange = cursor.u8();
  const opcodeBase = cursor.u8();
  const opcodeLengths: number[] = [0];
  for (let i = 1; i < opcodeBase; i++) opcodeLengths.push(cursor.u8());
  const folders: string[] = [];
  const files: { name: string; folder: number }[] = [];
  if (version >= 5) {
    const encoding = { version, addressSize, offsetSize };
    const entries = (add: (name: string, folder: number) => void): void => {
      const formats: { kind: number; form: number }[] = [];
      for (let count = cursor.u8(); count > 0; count--) formats.push({ kind: cursor.uleb(), form: cursor.uleb() });
      const count = cursor.uleb();
      if (count > FILE_LIMIT || (formats.length === 0 && count > 0))
        throw new DwarfError(damagedDwarf().tooManyFiles());
      for (let i = 0; i < count; i++) {
        let name = "";
        let folder = 0;
        for (const { kind, form } of formats) {
          if (kind === LNCT.path) name = textOf(sections, cursor, form, offsetSize);
          else if (kind === LNCT.directory_index) folder = numberOf(cursor, form);
          else takeStep(cursor, stepOf(form, encoding), encoding);
        }
        add(name, folder);
      }
    };
    entries((name) => folders.push(name));
    entries((name, folder) => files.push({ name, folder }));
  } else {
    // The compilation's folder, which the unit tells.
    folders.push("");
    for (let name = cursor.text(); name !== ""; name = cursor.text()) folders.push(name);
    files.push({ name: "", folder: 0 });
    for (let name = cursor.text(); name !== ""; name = cursor.text()) {
      files.push({ name, folder: cursor.uleb() });
      cursor.skipLeb();
      cursor.skipLeb();
    }
  }
  return {
    offset,
    end,
    version,
    offsetSize,
    addressSize,
    program,
    minimumInstruction,
    operationsPerInstruction,
    defaultStatement,
    lineBase,
    lineRange,
    opcodeBase,
    opcodeLengths,
    folders,
    files,
  };
}

function numberOf(cursor: Cursor, form: number): number {
  switch (form) {
    case FORM.data1:
      return cursor.u8();
    case FORM.data2:
      return cursor.u16();
    case FORM.data4:
      return cursor.u32();
    case FORM.udata:
      return cursor.uleb();
    default:
      throw new DwarfError(damagedDwarf().folderNumberForm());
  }
}

function textOf(sections: DwarfSections, cursor: Cursor, form: number, offsetSize: 4 | 8): string {
  switch (form) {
    case FORM.string:
      return cursor.text();
    case FORM.line_strp:
      return sections.get("debug_line_str").repeated(cursor.offset(offsetSize));
    case FORM.strp:
      return sections.get("debug_str").text(cursor.offset(offsetSize));
    case FORM.strx:
    case FORM.strx1:
    case FORM.strx2:
    case FORM.strx3:
    case FORM.strx4: {
      // Only split tables have these, whose string offsets have no base but their header.
      const index =
        form === FORM.strx
          ? cursor.uleb()
          : form === FORM.strx1
            ? cursor.u8()
            : form === FORM.strx2
              ? cursor.u16()
              : form === FORM.strx3
                ? cursor.u24()
                : cursor.u32();
      const at = (offsetSize === 8 ? 16 : 8) + index * offsetSize;
      const offset = new Cursor(sections.get("debug_str_offsets").slice(at, offsetSize)).offset(offsetSize);
      return sections.get("debug_str").text(offset);
    }
    default:
      throw new DwarfError(damagedDwarf().fileNameForm());
  }
}

/** The whole path of a file of a table. */
export function pathOf(header: LineHeader, file: number, folder: string): string {
  const entry = header.files[file];
  if (entry === undefined) return "";
  return joined(
    joined(header.version >= 5 ? (header.folders[0] ?? folder) : folder, header.folders[entry.folder] ?? ""),
    entry.name,
  );
}

function joined(folder: string, name: string): string {
  if (name.startsWith("/") || folder === "") return name;
  if (name === "" || name === folder) return folder;
  return `${folder.replace(/\/$/, "")}/${name}`;
}

const LNS = {
  copy: 1,
  advance_pc: 2,
  advance_line: 3,
  set_file: 4,
  set_column: 5,
  negate_stmt: 6,
  set_basic_block: 7,
  const_add_pc: 8,
  fixed_advance_pc: 9,
  set_prologue_end: 10,
  set_epilogue_begin: 11,
  set_isa: 12,
} as const;
const LNE = { end_sequence: 1, set_address: 2, define_file: 3, set_discriminator: 4 } as const;

/** Runs a table's program. Sequences of dropped code are left out. */
export function readRows(sections: DwarfSections, header: LineHeader): LineRows {
  const bytes = sections.get("debug_line").slice(header.program, header.end - header.program);
  const cursor = new Cursor(bytes);
  const { lineBase, lineRange, opcodeBase, minimumInstruction, operationsPerInstruction } = header;
  const rows = new Rows(bytes.length);
  let address = 0,
    file = 1,
    line = 1,
    column = 0,
    operation = 0;
  let flags: number = header.defaultStatement ? ROW.statement : 0;
  const advance = (operations: number): void => {
    if (operationsPerInstruction === 1) {
      address += minimumInstruction * operations;
      return;
    }
    address += minimumInstruction * Math.floor((operation + operations) / operationsPerInstruction);
    operation = (operation + operations) % operationsPerInstruction;
  };
  const constAdvance = lineRange === 0 ? 0 : Math.floor((255 - opcodeBase) / lineRange);
  while (cursor.at < cursor.end) {
    const opcode = cursor.u8();
    if (opcode >= opcodeBase) {
      if (lineRange === 0) throw new DwarfError(damagedDwarf().noLineRange());
      const adjusted = opcode - opcodeBase;
      const step = Math.floor(adjusted / lineRange);
      if (operationsPerInstruction === 1) address += minimumInstruction * step;
      else advance(step);
      line += lineBase + (adjusted - step * lineRange);
      rows.add(address, file, line, column, flags);
      flags &= ~ROW.prologueEnd;
      continue;
    }
    switch (opcode) {
      case 0: {
        const length = cursor.uleb();
        if (length === 0) break;
        const end = cursor.at + length;
        if (end > cursor.end) throw new DwarfError(damagedDwarf().lineOperationBehindEnd());
        const extended = cursor.u8();
        if (extended === LNE.end_sequence) {
          rows.add(address, file, line, column, flags | ROW.sequenceEnd);
          rows.endSequence();
          address = 0;
          file = 1;
          line = 1;
          column = 0;
          operation = 0;
          flags = header.defaultStatement ? ROW.statement : 0;
        } else if (extended === LNE.set_address) {
          address = cursor.address(length - 1);
          operation = 0;
        }
        cursor.at = end;
        break;
      }
      case LNS.copy:
        rows.add(address, file, line, column, flags);
        flags &= ~ROW.prologueEnd;
        break;
      case LNS.advance_pc:
        advance(cursor.uleb());
        break;
      case LNS.advance_line:
        line += cursor.sleb();
        break;
      case LNS.set_file:
        file = cursor.uleb();
        break;
      case LNS.set_column:
        column = cursor.uleb();
        break;
      case LNS.negate_stmt:
        flags ^= ROW.statement;
        break;
      case LNS.set_basic_block:
        break;
      case LNS.const_add_pc:
        advance(constAdvance);
        break;
      case LNS.fixed_advance_pc:
        address += cursor.u16();
        operation = 0;
        break;
      case LNS.set_prologue_end:
        flags |= ROW.prologueEnd;
        break;
      case LNS.set_epilogue_begin:
        break;
      case LNS.set_isa:
        cursor.skipLeb();
        break;
      default:
        for (let count = header.opcodeLengths[opcode]; count > 0; count--) cursor.skipLeb();
    }
  }
  return rows.finish();
}

class Rows implements LineRows {
  count = 0;
  addresses: Float64Array<ArrayBuffer>;
  files: Uint32Array<ArrayBuffer>;
  lines: Uint32Array<ArrayBuffer>;
  columns: Uint16Array<ArrayBuffer>;
  flags: Uint8Array<ArrayBuffer>;
  #start = 0;
  readonly #sequences: { start: number; end: number }[] = [];

  constructor(programBytes: number) {
    // A row takes about four bytes of its program.
    const room = Math.max(16, programBytes >>> 2);
    this.addresses = new Float64Array(room);
    this.files = new Uint32Array(room);
    this.lines = new Uint32Array(room);
    this.columns = new Uint16Array(room);
    this.flags = new Uint8Array(room);
  }

  add(address: number, file: number, line: number, column: number, flags: number): void {
    const i = this.count++;
    if (i === this.addresses.length) this.#grow();
    this.addresses[i] = address;
    this.files[i] = file;
    this.lines[i] = line;
    this.columns[i] = column;
    this.flags[i] = flags;
  }

  #grow(): void {
    const room = this.addresses.length * 2;
    const addresses = new Float64Array(room),
      files = new Uint32Array(room),
      lines = new Uint32Array(room);
    const columns = new Uint16Array(room),
      flags = new Uint8Array(room);
    addresses.set(this.addresses);
    files.set(this.files);
    lines.set(this.lines);
    columns.set(this.columns);
    flags.set(this.flags);
    this.addresses = addresses;
    this.files = files;
    this.lines = lines;
    this.columns = columns;
    this.flags = flags;
  }

  endSequence(): void {
    const start = this.#start;
    const end = this.count;
    // Dropped, or without a byte of code.
    if (isDropped(this.addresses[start]) || !(this.addresses[end - 1] > this.addresses[start])) this.count = start;
    else this.#sequences.push({ start, end });
    this.#start = this.count;
  }

  finish(): LineRows {
    // Rows behind the last sequence's end belong to nothing.
    const count = this.#start;
    const sequences = this.#sequences;
    const sorted = sequences.every(
      ({ start }, i) => i === 0 || this.addresses[start] >= this.addresses[sequences[i - 1].start],
    );
    if (sorted) {
      return {
        count,
        addresses: this.addresses.subarray(0, count),
        files: this.files.subarray(0, count),
        lines: this.lines.subarray(0, count),
        columns: this.columns.subarray(0, count),
        flags: this.flags.subarray(0, count),
      };
    }
    const order = [...sequences].sort((a, b) => this.addresses[a.start] - this.addresses[b.start]);
    const result = {
      count,
      addresses: new Float64Array(count),
      files: new Uint32Array(count),
      lines: new Uint32Array(count),
      columns: new Uint16Array(count),
      flags: new Uint8Array(count),
    };
    let at = 0;
    for (const { start, end } of order) {
      result.addresses.set(this.addresses.subarray(start, end), at);
      result.files.set(this.files.subarray(start, end), at);
      result.lines.set(this.lines.subarray(start, end), at);
      result.columns.set(this.columns.subarray(start, end), at);
      result.flags.set(this.flags.subarray(start, end), at);
      at += end - start;
    }
    return result;
  }
}

/** The row that covers an address: the last at or before it in its sequence; -1 when none does. */
export function rowAt(rows: LineRows, address: number): number {
  const low = firstIndex(rows.count, (i) => rows.addresses[i] > address);
  // Of several at one address the last holds, except that a sequence may end where the next begins.
  const row = low - 1;
  return row < 0 || (rows.flags[row] & ROW.sequenceEnd) !== 0 ? -1 : row;
}
