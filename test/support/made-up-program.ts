// Programs for the examples of messages: `/bin/app` of the small machine with debug information of main.c, and
// `/bin/stripped`, the same without.
import { Failure } from "../../src/base/failure.ts";
import type {
  DebugInfo,
  DebugType,
  FoundLines,
  FunctionInstance,
  LinePlace,
  SourceFunction,
  Variable,
} from "../../src/debuginfo/dwarf/facts.ts";
import type { Binary, BinarySymbol } from "../../src/machine/system.ts";
import { app } from "./small-machine.ts";
import { reason } from "../../src/messages/message.ts";

const file = "/src/main.c";
const at = (line: number, column = 1) => ({ file, line, column });
const int: DebugType = { kind: "base", name: "int", bytes: 4, encoding: "signed" };
const settings: DebugType = {
  kind: "struct",
  tag: "struct",
  name: "settings",
  bytes: 8,
  declaration: false,
  members: () => [
    { name: "mode", offset: 0, type: () => int },
    { name: "debug", offset: 4, bitOffset: 0, bitWidth: 1, type: () => int },
  ],
};
const pointer: DebugType = { kind: "pointer", flavour: "pointer", bytes: 8, target: () => settings };

const symbol = (name: string, address: bigint, kind: "function" | "object" = "function"): BinarySymbol => ({
  name,
  address,
  size: kind === "function" ? 16n : 8n,
  fileOffset: address - 0x400000n,
  kind,
});
/** `locked` begins with an instruction that cannot be probed, `last` ends with a jump; `clamp` and `work` are inlined into main. */
const functions = ["locked", "work", "halve", "twice", "last"].map((name, i) =>
  symbol(name, 0x401040n + BigInt(i) * 16n),
);
const own = [...functions, symbol("settings", 0x401f00n, "object")];

const body = (entry: bigint): FunctionInstance => ({
  kind: "body",
  entry,
  ranges: [{ low: entry, high: entry + 16n }],
  parameters: [],
});
const main = body(0x401000n);
const inMain: FunctionInstance = {
  kind: "inlined",
  entry: 0x401006n,
  ranges: [{ low: 0x401006n, high: 0x40100an }],
  caller: { name: "main", position: at(5, 7), entry: main.entry, ranges: main.ranges },
  parameters: [],
};
const fn = (
  name: string,
  line: number,
  instances: readonly FunctionInstance[],
  more: Partial<SourceFunction> = {},
): SourceFunction => ({
  name,
  qualifiedName: name,
  language: "c",
  declared: at(line),
  instances,
  parameters: [],
  ...more,
});
const known: readonly SourceFunction[] = [
  fn("main", 2, [main]),
  fn("locked", 7, [body(0x401040n)]),
  fn("clamp", 20, [inMain]),
  fn("work", 22, [body(0x401050n), inMain]),
  fn("halve", 24, [body(0x401060n)], { inlined: true }),
  fn("twice", 26, [body(0x401070n)], { external: true, producer: "clang version 19.1.0" }),
];
const lines: readonly LinePlace[] = [
  { ...at(3), address: 0x401000n, function: "main" },
  { ...at(5), address: 0x401004n, function: "main" },
  { ...at(7), address: 0x401040n, function: "locked" },
];

const placed = (address: bigint): Variable["location"] => {
  return () => ({ kind: "memory", address: { kind: "static", address } });
};
const global = (name: string, type: DebugType, location: Variable["location"], more: Partial<Variable> = {}) => ({
  name,
  kind: "global" as const,
  type,
  declared: at(1),
  location,
  ...more,
});
const absent: Variable["location"] = () => ({ kind: "absent", reason: reason("optimised out here") });
const globals: readonly Variable[] = [
  global("total", int, placed(0x401f08n)),
  global("calls", int, placed(0x401f10n), { declared: { file: "/src/net.c", line: 3, column: 1 } }),
  global("calls", int, placed(0x401f18n), { declared: { file: "/src/disk.c", line: 3, column: 1 } }),
  global("settings", settings, placed(0x401f20n)),
  global("table", { kind: "array", lengths: [4], element: () => int }, placed(0x401f30n)),
  global("first", pointer, placed(0x401f40n)),
  global("current", int, absent, { kind: "thread-local" }),
  global("folded", int, absent),
];

function linePlaces(wanted: Parameters<DebugInfo["linePlaces"]>[1]): FoundLines {
  const places: LinePlace[] = [];
  const moved: FoundLines["moved"][number][] = [];
  const empty: FoundLines["empty"][number][] = [];
  for (const { first, last } of wanted.ranges) {
    const inside = lines.filter((each) => each.line >= first && each.line <= last);
    const behind = lines.find((each) => each.line > last);
    const before = lines.findLast((each) => each.line < first);
    if (inside.length > 0) places.push(...inside.filter(({ column }) => (wanted.column ?? column) === column));
    else if (first === last && behind !== undefined) {
      moved.push({ line: first, to: behind.line });
      places.push(behind);
    } else empty.push({ first, last, ...(before && { before: before.line }), ...(behind && { behind: behind.line }) });
  }
  return { places, moved, empty };
}

const holds = (address: bigint) => (instance: FunctionInstance) =>
  instance.kind === "body" && instance.ranges.some(({ low, high }) => low <= address && address < high);

const info: DebugInfo = {
  definitionsNamed: () => [],
  bodiesAt: () => [],
  maybeMergedWith: () => [],
  isLeftAsThunk: () => false,
  functionsNamed: (name) => known.filter((each) => each.name === name),
  functionAt(address) {
    const found = known.find(({ instances }) => instances.some(holds(address)));
    return found && { fn: found, instance: found.instances.find(holds(address))! };
  },
  functionNames: () => known.map(({ name }) => name),
  framesAt: (address) =>
    known
      .filter(({ instances }) => instances.some(holds(address)))
      .map(({ name }) => ({ function: name, position: at(3), inlined: false })),
  sourceFiles: () => [file],
  linePlaces: (of, wanted) =>
    (typeof of === "string" ? file.endsWith(`/${of}`) || of === file : of(file))
      ? linePlaces(wanted)
      : { places: [], moved: [], empty: [] },
  lines: () => lines,
  afterPrologue: ({ entry }) => entry,
  prologueEnd: ({ entry }) => entry,
  variablesAt: () => [],
  localsElsewhere: () => [],
  labelsAt: () => [],
  globalsNamed: (name) => globals.filter((each) => each.name === name),
  typeNamed: () => undefined,
  enumerator: () => undefined,
};

/** `lock inc (%rax)` over and over; `jmp main`, and what pads it. */
const locked = [0xf0, 0xff, 0x00];
const jump = [0xe9, 0x7b, 0xff, 0xff, 0xff, 0xcc];

export const program: Binary = {
  ...app,
  symbol: (name) => own.find((each) => each.name === name) ?? app.symbol(name),
  symbols: () => [...app.symbols(), ...own],
  code: [{ low: 0x1000n, high: 0x1f00n }],
  read(offset, length) {
    if (offset === 0x1080n) return Uint8Array.from({ length }, (_, i) => jump[i] ?? 0xcc);
    return offset >= 0x1040n && offset < 0x1050n
      ? Uint8Array.from({ length }, (_, i) => locked[i % 3])
      : app.read(offset, length);
  },
  imports: () => [{ name: "malloc", fileOffset: 0x1020n }],
  usdtProbes: () => [
    ...app.usdtProbes(),
    { provider: "app", name: "rate", fileOffset: 0x1008n, semaphoreOffset: 0n, argumentText: "8f@8(%rsp)" },
  ],
  functionAt(offset) {
    const found = [...app.symbols(), ...functions].find(
      ({ fileOffset, size }) => offset >= fileOffset && offset < fileOffset + size,
    );
    return found && { name: found.name, offset: Number(offset - found.fileOffset) };
  },
  references: () => ({ calls: [], loads: [], elsewhere: false }),
  debugInfo: () => info,
};

export const stripped: Binary = {
  ...program,
  path: "/bin/stripped",
  shownPath: "/bin/stripped",
  imports: () => [],
  usdtProbes: () => [],
  debugInfo: () => new Failure(reason("stripped has no debug information")),
};
