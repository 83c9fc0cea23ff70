// What is wrong with a binary that cannot be read
import type { Reason } from "../base/failure.ts";
import { reason } from "./message.ts";

/** Only of a damaged file, or one of a kind that is not read, behind `damaged ELF file: `. */
export const damagedElf = {
  magic: (): Reason => reason("wrong magic number"),
  unknownClass: (): Reason => reason("unknown class"),
  bigEndian: (): Reason => reason("big-endian files are not supported"),
  behindEnd: (part: string): Reason => reason(`${part} lies behind the end of the file`),
  beyondEnd: (part: string): Reason => reason(`${part} reaches beyond the end of the file`),
  programHeadersTooSmall: (): Reason => reason("program headers are too small"),
  sectionHeadersTooSmall: (): Reason => reason("section headers are too small"),
  compressedTooShort: (part: string): Reason => reason(`${part} is compressed, and shorter than the header of that`),
  compressedOtherwise: (part: string, kind: number): Reason =>
    reason(`${part} is compressed in an unsupported way (${kind})`),
  tooLarge: (part: string, bytes: number): Reason => reason(`${part} is too large (${bytes} bytes)`),
  notDecompressed: (part: string): Reason => reason(`${part} does not decompress`),
  notRelocatable: (): Reason => reason("not a relocatable file of 64 bits"),
  tooManySections: (): Reason => reason("too many sections"),
  acrossSections: (): Reason => reason("something lies across sections"),
  sectionTooLarge: (section: string): Reason => reason(`section ${section} is too large`),
  sectionLength: (section: string): Reason => reason(`section ${section} is not as long as it says`),
  relocations: (section: string): Reason => reason(`the relocations of ${section} cannot be followed`),
  unknownRelocation: (section: string, kind: number): Reason =>
    reason(`${section} has a relocation of an unknown kind (${kind})`),
  relocationOutside: (section: string): Reason => reason(`a relocation of ${section} lies outside it`),
  symbolOutside: (): Reason => reason("a symbol lies outside the file"),
  exportsWithoutNames: (): Reason => reason("its exported symbols have no names"),
  nothingRuns: (): Reason => reason("there is nothing that code can be run from"),
  replaced: (): Reason => reason("another file has taken its place while it was read"),
  holes: (): Reason => reason("what it says that it has are holes"),
  becameShorter: (): Reason => reason("the file became shorter while it was read"),
  noMemory: (bytes: number): Reason => reason(`there is no memory for ${bytes} bytes of it`),
  notUnpacked: (form: string): Reason => reason(`it cannot be unpacked as ${form}: damaged, something else, too large`),
  notUnpackedXz: (): Reason =>
    reason("it cannot be unpacked as xz: damaged, something else, too large, or liblzma is missing"),
  tooManyLinks: (): Reason => reason("too many symbolic links"),
};

/** Only of a damaged file, or one of a kind that is not read, behind `damaged ELF file: `. */
export const damagedFrames = {
  longerThanSection: (): Reason => reason("a frame description is longer than its section"),
  noCommonEntry: (): Reason => reason("a frame description names no common entry"),
  commonEntryTooLong: (): Reason => reason("a common frame entry is longer than its section"),
  version: (version: number): Reason => reason(`frame descriptions of version ${version}`),
  segments: (): Reason => reason("frame descriptions with segments"),
  augmentation: (augmentation: string): Reason => reason(`frame descriptions with augmentation "${augmentation}"`),
  commonEntry: (): Reason => reason("a common frame entry is damaged"),
  headerPointsOutside: (): Reason => reason(".eh_frame_hdr points outside .eh_frame"),
  endEarly: (): Reason => reason("frame descriptions end too early"),
  movesBackwards: (): Reason => reason("a frame description moves backwards"),
  tooManyStates: (): Reason => reason("a frame description remembers too many states"),
  restoresNothing: (): Reason => reason("a frame description restores what it did not remember"),
  registerWindows: (): Reason => reason("a frame description with SPARC's register windows"),
  unknownInstruction: (code: number): Reason =>
    reason(`a frame description with unknown instruction 0x${code.toString(16)}`),
  endsEarly: (): Reason => reason("a frame description ends too early"),
  endlessNumber: (): Reason => reason("a number without end"),
  addressEncoding: (encoding: number): Reason => reason(`an address of encoding 0x${encoding.toString(16)}`),
  valueEncoding: (encoding: number): Reason => reason(`a value of encoding 0x${encoding.toString(16)}`),
};

/** Only of damaged type information of a kernel or a module, behind `damaged BTF: `. */
export const damagedBtf = {
  magic: (): Reason => reason("wrong magic number"),
  bigEndian: (): Reason => reason("big-endian BTF is not supported"),
  tooShort: (): Reason => reason("shorter than its header"),
  sectionOutside: (): Reason => reason("a section lies outside the file"),
  typesNotAligned: (): Reason => reason("the type section's length is not a multiple of 4"),
  textsNotBounded: (): Reason => reason("the string section is not bounded by NULs"),
  unknownKind: (): Reason => reason("the type section has an unknown kind or ends within a record"),
  typeOfItself: (id: number): Reason => reason(`type ${id} refers to itself`),
  noType: (id: number): Reason => reason(`there is no type ${id}`),
  noText: (offset: number): Reason => reason(`there is no string ${offset}`),
  noPrototype: (id: number): Reason => reason(`type ${id} is no prototype`),
};

/** Only of a damaged archive that a path leads into, behind `damaged ZIP archive: `. */
export const damagedZip = {
  noList: (): Reason => reason("it has no list of its files"),
  zip64: (): Reason => reason("its list is in the form of ZIP64"),
  listBehindEnd: (): Reason => reason("its list of files lies behind its end"),
  fileBehindEnd: (file: string): Reason => reason(`${file} lies behind its end`),
  fileElsewhere: (file: string): Reason => reason(`${file} is not where its list says`),
};
