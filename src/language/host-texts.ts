// Computations on texts that the kernel has nothing for: what each takes and gives. They run on the host; a handler of an
// event that has one is captured. What they do is in src/compiler/javascript/text-functions.ts.

/** `any`: a text or a number. `bytes`: of any value, all of them. */
export type HostTextParameter = "text" | "number" | "any" | "bytes";

export interface HostText {
  /** The last one stands for all that follow where it is `any`. */
  readonly parameters: readonly HostTextParameter[];
  /** A double is one of 64 bits. */
  readonly result: "text" | "number" | "double";
  /** Bytes of a text that comes of texts of so many, ends included. */
  readonly capacity?: (given: readonly number[]) => number;
  /** Texts are bytes, or UTF-8 in which what is no character is U+FFFD. */
  readonly of: "bytes" | "characters";
  /** It leaves something behind for the next call: it runs even where its result is not used. */
  readonly keeps?: true;
  /** It is on memory that scripts write (scripts-memory.ts of the session), which reads look at from then on. */
  readonly onMemory?: true;
  /** It is on what is printed for the time being (speculations.ts of the session). */
  readonly onSpeculations?: true;
  /** Of a value of any type: the text that it is printed as. */
  readonly shows?: true;
}

/** Where memory that scripts write is. */
export const writtenMemory = {
  /** No machine with less than 57 bits of addresses has this one, and no kernel is there on others. */
  start: 0x00d0_0000_0000_0000n,
  /** What is allocated is at its begin, and there until so many more bytes were. */
  scratchSize: 1 << 18,
} as const;

const longest = 512;
const asLong = (given: readonly number[]): number => given[0];
/** A character may become three, and so may a byte that is none. */
const characters = (given: readonly number[]): number => (given[0] - 1) * 3 + 1;

const bytes = (parameters: readonly HostTextParameter[], capacity: (given: readonly number[]) => number): HostText => ({
  parameters,
  result: "text",
  capacity,
  of: "bytes",
});

const ofCharacters = (
  parameters: readonly HostTextParameter[],
  capacity: (given: readonly number[]) => number,
): HostText => ({ parameters, result: "text", capacity, of: "characters" });

const onMemory = (parameters: readonly HostTextParameter[]): HostText => ({
  parameters,
  result: "number",
  of: "bytes",
  keeps: true,
  onMemory: true,
});

const speculates = (parameters: readonly HostTextParameter[]): HostText => ({
  parameters,
  result: "number",
  of: "bytes",
  keeps: true,
  onSpeculations: true,
});

export const hostTexts = {
  /** What print() makes of a value: a name of an address, a stack. */
  shownText: { ...bytes(["bytes"], () => longest), shows: true },
  /** A format of printf(): numbers are of 64 bits. */
  formattedText: bytes(["text", "any"], () => longest),
  /** From a byte on, so many. */
  bytesOfText: bytes(["text", "number", "number"], asLong),
  /** The byte at a place, from 0; 0 behind the last. */
  byteOfText: { parameters: ["text", "number"], result: "number", of: "bytes" },
  /** What cannot be printed, quotes and backslashes as C writes them. */
  escapedText: bytes(["text"], () => longest),
  /** The character of a number's lowest byte, as C writes it between single quotes. */
  escapedCharacter: bytes(["number"], () => 8),
  /** Of words with commas between, the one with a number, from 0. */
  wordOfList: bytes(["text", "number"], () => 64),
  /**
   * Names of what a number has, with `|` between. The second, `MASK:NAME=VALUE,…|NAME=BIT,…`, says in which bits one of
   * several values is, and which flags are beside them; what has no name is in hexadecimal.
   */
  flagNames: bytes(["number", "text"], () => longest),
  /** All occurrences of the second in the first, replaced by the third. */
  replacedText: bytes(["text", "text", "text"], () => longest),
  /** The next part of the text that was given last, or of this one if it is not empty. */
  nextToken: { ...bytes(["text", "text"], () => longest), keeps: true },
  /** Seconds since 1970 in UTC: `Mon Nov 23 01:30:00 2026`. */
  dateText: bytes(["number"], () => 32),
  /** The same in the local time zone, whose name stands behind it. */
  zoneDateText: bytes(["number"], () => 48),
  /** A number at the beginning, to a base; as the kernel's simple_strtol(). */
  parsedNumber: { parameters: ["text", "number"], result: "number", of: "bytes" },
  /** Whether a regular expression (JavaScript's) matches: 1 or 0. */
  matchesPattern: { parameters: ["text", "text"], result: "number", of: "bytes", keeps: true },
  /** Of the last match: all of it, or a group. */
  matchedPart: bytes(["number"], () => longest),
  /** How many groups that had, with all of it. */
  matchedGroups: { parameters: [], result: "number", of: "bytes" },

  // Doubles, whose bits are a number.
  /** An operation, as it is written: of one double the second is 0. */
  doubleComputed: { parameters: ["text", "number", "number"], result: "number", of: "bytes" },
  /** With so many decimal places. */
  doubleText: bytes(["number", "number"], () => longest),
  parsedDouble: { parameters: ["text"], result: "number", of: "bytes" },
  /** Rounded: to the nearest even (0), towards 0, down, up, to the nearest away from 0 (4), to odd (6). */
  doubleAsNumber: { parameters: ["number", "number"], result: "number", of: "bytes" },

  // D's, whose texts are bytes.
  /** From a byte on, counted from the end where negative, so many; all but so many where those are negative. */
  subtext: bytes(["text", "number", "number"], asLong),
  /** Where the second first is in the first, from a byte on; or -1. */
  indexOfText: { parameters: ["text", "text", "number"], result: "number", of: "bytes" },
  /** Where it last is, beginning at a byte at most. */
  lastIndexOfText: { parameters: ["text", "text", "number"], result: "number", of: "bytes" },
  textFromByte: bytes(["text", "number"], asLong),
  textFromLastByte: bytes(["text", "number"], asLong),
  textFromPart: bytes(["text", "text"], asLong),
  baseName: bytes(["text"], (given) => Math.max(2, asLong(given))),
  directoryName: bytes(["text"], (given) => Math.max(2, asLong(given))),
  cleanPath: bytes(["text"], (given) => Math.max(2, asLong(given))),
  numberText: bytes(["number", "number"], () => 67),
  /** In quotes, with escapes, so many bytes of text at most, of which the last are `...` where that is not all. */
  quotedBytes: bytes(["bytes", "number"], () => longest),
  /** Two digits each. */
  hexOfBytes: bytes(["bytes"], () => longest),
  /** Up to the first that is 0. */
  textOfBytes: bytes(["bytes"], () => longest),
  /** UTF-16 (2) or UTF-32 (4) as UTF-8. */
  charactersOfBytes: bytes(["bytes", "number"], () => longest),
  /** UTF-8 with escapes, of characters behind ASCII as `\\u20AC`. */
  escapedCharacters: bytes(["text"], () => longest),
  /** Seconds that the local time zone is west of UTC now. */
  zoneOffset: { parameters: [], result: "number", of: "bytes" },
  /** Words with a NUL behind each, with spaces between. */
  joinedWords: bytes(["bytes"], asLong),
  /** What bytes are by a description of a type (d/printed.ts), as DTrace's print() lays it out. */
  printedMemory: bytes(["text", "bytes"], () => 4096),
  /**
   * Bytes of a value, from one on, as DTrace's trace() shows them: as text in so many columns (none where that is 0) where
   * they can be printed, else in hexadecimal; always so where it is below 0.
   */
  tracedBytes: bytes(["bytes", "number", "number"], () => 8192),
  /** The low bytes of a number, so many, in hexadecimal. */
  tracedNumber: bytes(["number", "number"], () => 512),
  /** A text's bytes in hexadecimal, zeroes behind them, so many in all. */
  tracedText: bytes(["text", "number"], () => 8192),
  /** An IP address of 4 or 16 bytes, as inet_ntop() writes it. */
  addressText: bytes(["bytes"], () => 46),
  /**
   * The magic number of the file system, the inode's number, whether the name is gone, whether more is above; and the
   * names upwards, where empty ones are none.
   */
  joinedPath: bytes(["number", "number", "number", "number", "any"], () => 4096),

  // Memory that scripts write: addresses of their own, which lead nowhere in the kernel.
  /** So many bytes, zeroes; 0 where there is no room. They are somebody else's after a while. */
  allocatedMemory: onMemory(["number"]),
  /** Of a variable by its number: so many bytes, always the same ones for the same keys. */
  variableMemory: onMemory(["number", "number", "any"]),
  /** Address, value, bytes; where bits are given, only those are written, from one on. 1 where that was possible. */
  writtenNumber: onMemory(["number", "number", "number", "number", "number"]),
  writtenBytes: onMemory(["number", "bytes"]),
  /** To, from, bytes. */
  copiedMemory: onMemory(["number", "number", "number"]),

  // What is printed for the time being.
  /** A free one of so many, of so many bytes each (0: some megabytes); 0 where there is none. */
  speculation: speculates(["number", "number"]),
  /** What is printed from here on is kept for it. */
  speculate: speculates(["number"]),
  /** It is printed again. */
  speculated: speculates([]),
  commit: speculates(["number"]),
  discard: speculates(["number"]),

  upperCase: ofCharacters(["text"], characters),
  lowerCase: ofCharacters(["text"], characters),
  trimmedText: ofCharacters(["text", "number"], characters),
  /** Between separators, from 0. */
  partOfText: ofCharacters(["text", "text", "number"], characters),
  /** To so many characters, before (0) or behind (1). */
  paddedText: ofCharacters(["text", "number", "text", "number"], (given) => Math.max(longest, characters(given))),
  parsedInteger: { parameters: ["text", "number"], result: "double", of: "characters" },
  /** With flags. */
  hasPattern: { parameters: ["text", "text", "text"], result: "number", of: "characters" },
} as const satisfies Readonly<Record<string, HostText>>;

export type HostTextName = keyof typeof hostTexts;

export function hostText(name: HostTextName): HostText {
  return hostTexts[name];
}

/** What a script says of its speculations. */
export type OnSpeculations = "speculation" | "speculate" | "speculated" | "commit" | "discard";

export function isOnSpeculations(name: HostTextName): name is OnSpeculations {
  return hostText(name).onSpeculations === true;
}

/** What runs on the scripts' own memory. */
export type OnMemory = "allocatedMemory" | "variableMemory" | "writtenNumber" | "writtenBytes" | "copiedMemory";

export function isOnMemory(name: HostTextName): name is OnMemory {
  return hostText(name).onMemory === true;
}

export function isHostText(name: string): name is HostTextName {
  return Object.hasOwn(hostTexts, name);
}

/** What the parameter at an index wants. */
export function parameterAt({ parameters }: HostText, index: number): HostTextParameter | undefined {
  return parameters[index] ?? (parameters.at(-1) === "any" ? "any" : undefined);
}
