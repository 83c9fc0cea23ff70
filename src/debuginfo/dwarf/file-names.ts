// Which line table has a file of which name, for all tables of a file: their headers are passed over without being
// decoded, since every table repeats the names of the headers that its unit includes.
import { FORM } from "./constants.ts";
import { Cursor, DwarfError } from "./cursor.ts";
import { stepOf, takeStep, type Encoding } from "./forms.ts";
import { hashOf } from "./name-hash.ts";
import type { Pairs } from "./pairs.ts";
import type { DwarfSections, SectionData } from "./sections.ts";
import { damagedDwarf } from "../../messages/on-demand.ts";

const LNCT_PATH = 1;
/** Bytes in which most headers end. */
const USUAL = 1 << 13;
/** Of one table. */
const FILES_MOST = 1 << 20;
/** A table's length and the beginning of its header. */
const FIXED = 32;

/** What files are called: the last part of a path. */
export const lastPart = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

interface Name {
  readonly index: number;
  readonly hash: number;
  count: number;
  /** The table that told it last. */ table: number;
}

/**
 * Hashes of the last parts of file names, each about once a table, with where the table begins; in order of hash.
 * @throws DwarfError
 */
export function fileNames(sections: DwarfSections): Pairs {
  const told: number[] = [],
    tables: number[] = [];
  const names: Name[] = [];
  const known = new Map<number | string, Name>();
  const data = sections.find("debug_line");
  if (data === undefined) return { hashes: new Uint32Array(0), offsets: new Uint32Array(0) };
  const room = Buffer.allocUnsafeSlow(USUAL);
  for (let offset = 0; offset < data.size;) {
    const { bytes, end } = headerAt(data, offset, room);
    const add = (key: number | string, text: () => string): void => {
      let name = known.get(key);
      if (name === undefined) {
        known.set(key, (name = { index: names.length, hash: hashOf(lastPart(text())), count: 0, table: -1 }));
        names.push(name);
      }
      if (name.table === offset) return;
      name.table = offset;
      name.count++;
      told.push(name.index);
      tables.push(offset);
    };
    if (bytes.length > FIXED) eachName(new Cursor(bytes), sections, add);
    offset = end;
  }
  return inOrder(names, told, tables);
}

/** Few names are told often: these are put in order, and what was told is dealt out to them. */
function inOrder(names: readonly Name[], told: readonly number[], tables: readonly number[]): Pairs {
  const hashes = new Uint32Array(told.length),
    offsets = new Uint32Array(told.length);
  const places = new Uint32Array(names.length);
  let at = 0;
  for (const { index, hash, count } of [...names].sort((a, b) => a.hash - b.hash)) {
    places[index] = at;
    hashes.fill(hash, at, (at += count));
  }
  for (let i = 0; i < told.length; i++) offsets[places[told[i]]++] = tables[i];
  return { hashes, offsets };
}

/** A header's bytes, and where its table ends. */
function headerAt(data: SectionData, offset: number, room: Buffer): { readonly bytes: Buffer; readonly end: number } {
  const bytes = data.slice(offset, Math.min(USUAL, data.size - offset), room);
  const cursor = new Cursor(bytes);
  const { length, offsetSize } = cursor.unitLength();
  const end = offset + cursor.at + length;
  if (end > data.size) throw new DwarfError(damagedDwarf().linesBehindEnd());
  if (length < FIXED) return { bytes: bytes.subarray(0, 0), end };
  if (cursor.u16() >= 5) cursor.skip(2);
  const header = cursor.offset(offsetSize);
  const size = cursor.at + header;
  if (offset + size > end) throw new DwarfError(damagedDwarf().linesHeaderTooLong());
  return { bytes: size <= bytes.length ? bytes.subarray(0, size) : data.slice(offset, size), end };
}

function eachName(
  cursor: Cursor,
  sections: DwarfSections,
  add: (key: number | string, text: () => string) => void,
): void {
  const { offsetSize } = cursor.unitLength();
  const version = cursor.u16();
  if (version < 2 || version > 5) throw new DwarfError(damagedDwarf().linesVersion(version));
  const addressSize = version >= 5 ? cursor.u8() : 8;
  cursor.skip((version >= 5 ? 1 : 0) + offsetSize + (version >= 4 ? 5 : 4));
  const opcodes = cursor.u8();
  cursor.skip(Math.max(0, opcodes - 1));
  const addText = (text: string): void => add(text, () => text);
  if (version < 5) {
    while (cursor.text() !== "") {
      /* a folder */
    }
    for (let name = cursor.text(); name !== ""; name = cursor.text()) {
      addText(name);
      for (let i = 0; i < 3; i++) cursor.skipLeb();
    }
    return;
  }
  const encoding: Encoding = { version, addressSize, offsetSize };
  const fields = (): readonly Field[] => {
    const found: Field[] = [];
    for (let count = cursor.u8(); count > 0; count--) {
      const kind = cursor.uleb(),
        form = cursor.uleb();
      found.push({ isPath: kind === LNCT_PATH, form, step: stepOf(form, encoding) });
    }
    return found;
  };
  const counted = (): number => {
    const count = cursor.uleb();
    if (count > FILES_MOST) throw new DwarfError(damagedDwarf().tooManyFiles());
    return count;
  };
  const folders = fields();
  for (let count = counted(); count > 0; count--) for (const { step } of folders) takeStep(cursor, step, encoding);
  const files = fields();
  const shared = sharedTexts(sections, files.find(({ isPath }) => isPath)?.form);
  for (let count = counted(); count > 0; count--) {
    for (const { isPath, form, step } of files) {
      if (!isPath) takeStep(cursor, step, encoding);
      else if (shared !== undefined) {
        const at = cursor.offset(offsetSize);
        add(shared.key + at, () => shared.data.text(at));
      } else if (form === FORM.string) addText(cursor.text());
      else throw new DwarfError(damagedDwarf().fileNameForm());
    }
  }
}

interface Field {
  readonly isPath: boolean;
  readonly form: number;
  readonly step: number;
}

/** Where texts of a form lie, and what tells their offsets apart from those of the others. */
function sharedTexts(
  sections: DwarfSections,
  form: number | undefined,
): { readonly data: SectionData; readonly key: number } | undefined {
  if (form === FORM.line_strp) return { data: sections.get("debug_line_str"), key: 0 };
  return form === FORM.strp ? { data: sections.get("debug_str"), key: 2 ** 40 } : undefined;
}
