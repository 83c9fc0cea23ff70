// What random programs are made of: kinds of values, maps, and the numbers and texts where things go wrong.

/** What a variable, an element or a map holds. Integers are any width and sign: the checker widens what meets. */
export type Kind = "int" | "bool" | "string" | "pair" | "labelled" | "nested" | "wide" | "record" | "bytes" | "halves";

/** The elements of composite kinds: how they are reached, and what they are. */
export const members: Partial<Record<Kind, readonly (readonly [access: string, kind: Kind])[]>> = {
  pair: [
    [".0", "int"],
    [".1", "int"],
  ],
  labelled: [
    [".0", "int"],
    [".1", "string"],
  ],
  nested: [
    [".0", "bool"],
    [".1", "labelled"],
    [".2", "int"],
    [".1.0", "int"],
    [".1.1", "string"],
  ],
  wide: [
    [".0", "int"],
    [".1", "string"],
    [".2", "bool"],
    [".3", "pair"],
    [".3.1", "int"],
    [".4", "int"],
    [".5", "string"],
    [".6", "bytes"],
    [".7", "int"],
    [".8", "labelled"],
    [".8.1", "string"],
  ],
  record: [
    [".size", "int"],
    [".name", "string"],
  ],
  bytes: [
    ["[0]", "int"],
    ["[7]", "int"],
  ],
  halves: [
    ["[0]", "int"],
    ["[3]", "int"],
  ],
};
export const composites: readonly Kind[] = ["pair", "labelled", "nested", "wide", "record", "bytes", "halves"];
/** Arrays: what a number of 64 bits is taken for, and how many elements there are. */
export const arrays: Partial<Record<Kind, readonly [type: string, length: number]>> = {
  bytes: ["uint8[8]", 8],
  halves: ["int16[4]", 4],
};
/** Of variables' names. */
export const initials: Readonly<Record<Kind, string>> = {
  int: "i",
  bool: "b",
  string: "s",
  pair: "p",
  labelled: "l",
  nested: "t",
  wide: "w",
  record: "r",
  bytes: "y",
  halves: "h",
};

export interface MapShape {
  readonly name: string;
  readonly keys: readonly Kind[];
  /** With an aggregation: its kind. */
  readonly value: Kind | "count" | "sum" | "avg" | "min" | "max" | "stats" | "variance" | "hist" | "lhist" | "llhist";
  /** Behind the aggregated value. */
  readonly parameters?: string;
}

export const plainMaps: readonly MapShape[] = [
  { name: "@n", keys: [], value: "int" },
  { name: "@m", keys: [], value: "int" },
  { name: "@flag", keys: [], value: "bool" },
  { name: "@text", keys: [], value: "string" },
  { name: "@couple", keys: [], value: "labelled" },
  { name: "@whole", keys: [], value: "nested" },
  { name: "@by_int", keys: ["int"], value: "int" },
  { name: "@by_text", keys: ["string"], value: "int" },
  { name: "@by_both", keys: ["int", "string"], value: "int" },
  { name: "@by_bool", keys: ["bool"], value: "int" },
  { name: "@names", keys: ["int"], value: "string" },
  { name: "@pairs", keys: ["int", "int"], value: "labelled" },
  { name: "@by_pair", keys: ["pair"], value: "nested" },
  { name: "@records", keys: ["string", "bool"], value: "record" },
  { name: "@flags", keys: ["int"], value: "bool" },
  { name: "@wide", keys: ["int"], value: "wide" },
  { name: "@by_wide", keys: ["wide"], value: "int" },
  { name: "@bytes", keys: ["int"], value: "bytes" },
  { name: "@halves", keys: [], value: "halves" },
];
export const aggregateMaps: readonly MapShape[] = [[], ["int"], ["string"], ["int", "string"]].flatMap(
  (keys, i): MapShape[] => [
    { name: `@count${i}`, keys: keys as Kind[], value: "count" },
    { name: `@sum${i}`, keys: keys as Kind[], value: "sum" },
    { name: `@avg${i}`, keys: keys as Kind[], value: "avg" },
    { name: `@min${i}`, keys: keys as Kind[], value: "min" },
    { name: `@max${i}`, keys: keys as Kind[], value: "max" },
    { name: `@stats${i}`, keys: keys as Kind[], value: "stats" },
    { name: `@variance${i}`, keys: keys as Kind[], value: "variance" },
    { name: `@hist${i}`, keys: keys as Kind[], value: "hist", parameters: ["", ", 1", ", 3", ", 5"][i] },
    {
      name: `@lhist${i}`,
      keys: keys as Kind[],
      value: "lhist",
      parameters: [", 0, 100, 10", ", -50, 50, 7", ", 5, 6, 1", ", 0, 1000, 100"][i],
    },
    {
      name: `@llhist${i}`,
      keys: keys as Kind[],
      value: "llhist",
      parameters: [", 10, 0, 2, 20", ", 2, 3, 40, 2", ", 3, 0, 3, 9", ", 10, 2, 17, 10"][i],
    },
  ],
);

/** What a program has much of. */
export type Emphasis = "nothing" | "branches" | "maps" | "output" | "text" | "composites";
export const emphases: readonly Emphasis[] = ["branches", "maps", "output", "text", "composites"];

/** The same maps once more, under other names. */
export function again(maps: readonly MapShape[], times: number): MapShape[] {
  return Array.from({ length: times }, (_, i) =>
    maps.map((map) => (i === 0 ? map : { ...map, name: `${map.name}_${i}` })),
  ).flat();
}

export const numbers: readonly string[] = [
  "0",
  "1",
  "2",
  "3",
  "5",
  "7",
  "8",
  "10",
  "31",
  "32",
  "33",
  "63",
  "64",
  "65",
  "100",
  "127",
  "128",
  "255",
  "256",
  "1000",
  "32767",
  "32768",
  "65535",
  "65536",
  "2147483647",
  "2147483648",
  "4294967295",
  "4294967296",
  "9223372036854775807",
  "9223372036854775808",
  "18446744073709551615",
];
export const negatives = numbers.filter((n) => n !== "0" && n !== "18446744073709551615").map((n) => `-${n}`);
export const integerTypes = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"] as const;
export const words: readonly string[] = [
  "",
  "a",
  "b",
  "ab",
  "abc",
  "abd",
  "b c",
  "hello",
  "hello world",
  "\u00e9t\u00e9",
  "01234567",
  "0123456789abcdef",
  "the quick brown fox jumps",
];
export const arithmetic = ["+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"] as const;
export const comparisons = ["==", "!=", "<", "<=", ">", ">="] as const;
