// What the kernel, traced programs and strobe itself write.
import { closeSync, constants, openSync, readFileSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { fromText, toText } from "../../src/api/plan-text.ts";
import { demangle } from "../../src/linux/demangle.ts";
import { Kallsyms } from "../../src/linux/kernel/kallsyms.ts";
import { parsePerfRecord } from "../../src/linux/perf/perf-records.ts";
import { parseMaps } from "../../src/linux/processes/procfs.ts";
import { cppName, rustName, sourceName } from "../../src/machine/binaries/binaries.ts";
import { parseTracepointFormat } from "../../src/machine/kernel/tracepoint-format.ts";
import { parseUsdtArguments } from "../../src/machine/calls/usdt-arguments.ts";
import { packetRecord } from "../../src/session/live/pcap.ts";
import { UserSymbols } from "../../src/session/live/symbols/user-symbols.ts";
import { large, summed, type Form } from "../../src/store/whole.ts";
import { texts } from "./seeds.ts";
import type { Seed, Target } from "./target.ts";

/** With O_DIRECTORY, which it asks for. */
const O_TMPFILE = 0o20000000 | constants.O_DIRECTORY;
const never = (): boolean => false;

const formatText = `name: sample\nID: 372\nformat:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n
\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n\tfield:__data_loc char[] name;\toffset:24;\tsize:4;\tsigned:0;\n\tfield:unsigned long args[6];\toffset:32;\tsize:48;\tsigned:0;\n
print fmt: "%s %d", REC->prev_comm, REC->common_pid\n`;
const mapsText =
  "55d0c8a00000-55d0c8a01000 r-xp 00001000 fe:01 1234   /usr/bin/true\n7f00-7f01 rw-p 00000000 00:00 0 [heap]\n7ffd1000-7ffd2000 r-xp 0 08:01 99 /tmp/a b (deleted)\n";
const perfMapText = "55d0c8a00000 40 LazyCompile:*add file.js:3:4\n7f00 0x10 with spaces\nffffffffffffffff 1 end\n";
const symbolsText =
  "ffffffff81000000 T _stext\nffffffff81000010 t local.isra.0\nffffffffc0000000 t helper\t[module]\n0000000000000000 A fixed\n";
const planText = toText({
  programs: [{ name: "a", code: new Uint8Array([1, 2, 3]), cookies: [1, 2], ids: new Map([["x", 5n]]) }],
  text: "\u00e9\n",
  nothing: undefined,
  big: 1n << 70n,
});

/** A file of the store with these contents. */
function whole(form: Form, contents: Uint8Array): Buffer {
  return withFile((fd) => {
    form.write(fd, contents);
    return readFileSync(`/proc/self/fd/${fd}`);
  });
}

/** What the store takes from a file of these bytes. */
function kept(form: Form, bytes: Uint8Array): Buffer | undefined {
  return withFile((fd) => {
    writeSync(fd, bytes);
    return form.read({ fd, size: bytes.length });
  });
}

/** Of no name; it is gone afterwards. */
function withFile<T>(use: (fd: number) => T): T {
  const fd = openSync(tmpdir(), O_TMPFILE | constants.O_RDWR, 0o600);
  try {
    return use(fd);
  } finally {
    closeSync(fd);
  }
}

function perfSeeds(): Seed[] {
  const record = (type: number, ...words: readonly number[]): Seed => {
    const bytes = Buffer.alloc(8 + words.length * 4 + 40);
    bytes.writeUInt32LE(type, 0);
    bytes.writeUInt16LE(bytes.length, 6);
    words.forEach((word, i) => bytes.writeUInt32LE(word, 8 + i * 4));
    bytes.write("/usr/bin/true", 8 + words.length * 4);
    return { bytes };
  };
  return [
    record(2, 1, 2, 3, 4),
    record(3, 7, 7),
    record(4, 7, 7, 1, 1, 5),
    record(7, 7, 7, 1, 1, 5),
    record(10, 7, 7, 0x1000, 0, 0x1000, 0, 0, 0, 8, 1, 99, 0, 1, 0, 5, 2),
  ];
}

export const textTargets: readonly Target[] = [
  {
    name: "tracepoint-format",
    words: [
      "field:",
      ";",
      "\toffset:",
      "size:",
      "signed:",
      "\n",
      "ID: ",
      "[",
      "]",
      "__data_loc",
      "__rel_loc",
      "print fmt:",
      "char *",
      "struct",
      "0",
      "-1",
    ],
    seeds: () => texts(formatText),
    refuses: never,
    run: (input) => void parseTracepointFormat(input.toString()),
  },
  {
    name: "usdt-arguments",
    words: [
      "8@",
      "-4@",
      "8f@",
      "%rax",
      "%xmm0",
      "(",
      ")",
      ",",
      "[",
      "]",
      "sp",
      "x0",
      "$5",
      "0x10",
      "counter",
      "+",
      "-",
      "*",
      " ",
      "(%rip)",
      "#",
      "!",
      "%fs:",
    ],
    seeds: () =>
      texts(
        "8@%rax -4@-20(%rbp) 4@$5 8@counter(%rip) 1@(%rdx,%rax,8)",
        "8@x0 -4@[sp, 12] 8@[x1, x2, lsl 3] 4@5",
        "8f@%xmm0 8@%fs:16(%rax)",
      ),
    refuses: never,
    run(input) {
      const places = { distance: () => 16n, address: (symbol: string) => (symbol.length > 3 ? 0x404000n : undefined) };
      for (const machine of ["x86-64", "arm64"] as const) parseUsdtArguments(input.toString(), machine, places);
    },
  },
  { name: "perf-record", seeds: perfSeeds, refuses: never, run: (input) => void parsePerfRecord(input) },
  {
    name: "maps",
    words: ["-", " ", "r-xp", "\n", "ffffffffffffffff", "0", "00:00", "/", "(deleted)", "\\012"],
    seeds: () => texts(mapsText),
    refuses: never,
    run: (input) => void parseMaps(input.toString()),
  },
  {
    name: "perf-map",
    words: [" ", "\n", "0x", "ffffffffffffffffff", "0", "-1", "name"],
    seeds: () => texts(perfMapText),
    refuses: never,
    run(input) {
      const symbols = new UserSymbols({
        maps: () => parseMaps(mapsText),
        binary: () => undefined,
        perfMap: () => input.toString("latin1"),
      });
      for (const address of [0x55d0c8a00010n, 0x7f00n, 0n, (1n << 64n) - 1n]) symbols.frame(address, 7);
    },
  },
  {
    name: "kallsyms",
    words: ["ffffffff81000000", " T ", "\n", "\t[m]", "ffff", " "],
    seeds: () => texts(symbolsText),
    refuses: never,
    run(input) {
      const symbols = Kallsyms.parse(input);
      symbols.address("helper");
      symbols.lookup(0xffffffff81000011n);
      symbols.sharedFunctions();
    },
  },
  {
    name: "plan",
    words: ["{", "}", "[", "]", '"', ":", ",", "null", "$", "1e999", "\\u0000", "__proto__"],
    seeds: () => texts(planText),
    refuses: (error) => error instanceof SyntaxError,
    run: (input) => void fromText(input.toString()),
  },
  {
    name: "kept-plan",
    seeds: () => [{ bytes: whole(summed, Buffer.from(planText)), ranges: [[0, 16]] }],
    refuses: (error) => error instanceof SyntaxError,
    run(input) {
      const contents = kept(summed, input);
      if (contents !== undefined) void fromText(contents.toString());
    },
  },
  {
    name: "kept-code",
    seeds: () => [{ bytes: whole(large, Buffer.from(planText)), ranges: [[0, 16]] }],
    refuses: never,
    run(input) {
      const contents = kept(large, input);
      // V8 ends the process over damage: nothing but what was written may come back.
      if (contents !== undefined && !contents.equals(Buffer.from(planText)) && !whole(large, contents).equals(input))
        throw new Error("damaged code was taken for whole");
    },
  },
  {
    name: "demangle",
    words: [
      "_Z",
      "N",
      "E",
      "St",
      "I",
      "S_",
      "T_",
      "3app",
      "i",
      "L",
      "_ZN",
      "K",
      "D1Ev",
      "99999999",
      "_R",
      "Nv",
      "17h0123456789abcdefE",
    ],
    seeds: () =>
      texts(
        "_ZN3app6Server6handleEi",
        "_ZNSt6vectorIiSaIiEE9push_backERKi",
        "_ZN4core3fmt5write17h0123456789abcdefE",
        "_RNvC1a4main",
      ),
    refuses: never,
    run: runNames,
  },
  {
    name: "pcap",
    seeds: () => texts("packet bytes"),
    refuses: never,
    run: (input) => void packetRecord(BigInt(input.length) << 50n, input, input.length * 3),
  },
];

function runNames(input: Buffer): void {
  const name = input.toString("latin1").replaceAll("\0", "");
  demangle(name);
  cppName(name);
  sourceName(name);
  rustName(name);
}
