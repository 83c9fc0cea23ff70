// Functions, lines and places of arguments, beside what binutils and perf probe read out of the same files.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { DebugInfo, Location, LocationExpression } from "../../src/debuginfo/dwarf/facts.ts";
import { openBinary, type LiveBinary } from "../../src/machine/binaries/live-binary.ts";
import { corpusC, corpusCpp } from "../support/corpus.ts";
import { temporaryFolder } from "../support/strobe.ts";
import { Failure } from "../../src/base/failure.ts";

const folder = temporaryFolder();
const home = realpathSync(folder.path);
before(() => {
  writeFileSync(join(home, "corpus.c"), corpusC);
  writeFileSync(join(home, "corpus.cpp"), corpusCpp);
});
after(() => folder.remove());

const lacking = (...tools: readonly string[]): string | false => {
  const missing = tools.find((tool) => spawnSync(tool, ["--version"]).status !== 0);
  return missing === undefined ? false : `needs ${missing}`;
};

interface Built {
  readonly path: string;
  readonly binary: LiveBinary;
  readonly info: DebugInfo;
}

function build(compiler: string, source: string, flags: readonly string[]): Built {
  const path = join(home, `${compiler}${flags.join("")}`.replaceAll(/[^-\w]/g, "_"));
  execFileSync(compiler, [...flags, "-g", "-o", path, source], { cwd: home });
  const binary = openBinary(path, { paths: {} });
  const info = binary?.debugInfo();
  assert.ok(binary !== undefined && info !== undefined && !(info instanceof Failure));
  return { path, binary, info };
}

const output = (command: string, ...args: readonly string[]): string =>
  execFileSync(command, args, { encoding: "utf8", maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "ignore"] });
const inOrder = (texts: Iterable<string>): string[] => [...new Set(texts)].sort((a, b) => a.localeCompare(b));

const settings = [["-O0"], ["-O1", "-no-pie"], ["-O2"], ["-O3", "-gdwarf-4"]] as const;

for (const [compiler, source] of [
  ["gcc", "corpus.c"],
  ["clang", "corpus.c"],
  ["g++", "corpus.cpp"],
  ["clang++", "corpus.cpp"],
] as const) {
  test(`statements are readelf's, functions nm's, by ${compiler}`, { skip: lacking(compiler, "readelf", "nm") }, () => {
    for (const flags of settings) {
      const { path, info } = build(compiler, source, flags);
      const theirs: string[] = [];
      for (const row of output("readelf", "-W", "--debug-dump=decodedline", path).split("\n")) {
        const [, file, line, address, rest] = /^(\S+)\s+(\d+)\s+(?:0x)?([0-9a-f]+)\b(.*)$/.exec(row) ?? [];
        if (file?.split("/").at(-1) === source && /\bx\b/.test(rest ?? "") && line !== "0")
          theirs.push(`${line} ${address}`);
      }
      assert.ok(theirs.length > 20);
      assert.deepEqual(
        inOrder([...info.lines(source)].map(({ line, address }) => `${line} ${address.toString(16)}`)),
        inOrder(theirs),
        flags.join(" "),
      );

      let functions = 0;
      const named = new Set(info.functionNames());
      for (const row of output("nm", path).split("\n")) {
        const [address, kind, symbol] = row.split(" ");
        const plain = symbol?.replace(/\.(constprop|isra|part)\.\d+$/, "");
        // Cold parts and what the linker adds have no source; constructors are two symbols of one body.
        if (!/^[tTW]$/.test(kind ?? "") || plain === undefined || plain.includes(".cold")) continue;
        const [fn] = info.functionsNamed(plain);
        if (fn === undefined) continue;
        functions++;
        const at = BigInt(`0x${address}`);
        assert.ok(
          fn.instances.some((instance) => instance.kind === "body" && instance.entry === at),
          `${flags.join(" ")}: ${symbol}`,
        );
        assert.equal(info.functionAt(at)?.fn.linkageName ?? info.functionAt(at)?.fn.name, plain);
        assert.ok(named.has(fn.qualifiedName));
      }
      assert.ok(functions >= 4, `${functions} functions`);
    }
  });
}

// DWARF's numbers, in the names that perf has.
const registers = [
  "ax",
  "dx",
  "cx",
  "bx",
  "si",
  "di",
  "bp",
  "sp",
  "r8",
  "r9",
  "r10",
  "r11",
  "r12",
  "r13",
  "r14",
  "r15",
];

/** As perf writes it; undefined for what is more than a register or a place next to where one points. */
function asPerf(location: Location): string | undefined {
  if (location.kind === "register") return `%${registers[location.register]}`;
  return location.kind === "memory" ? near(location.address) : undefined;
}

function near(expression: LocationExpression): string | undefined {
  if (expression.kind === "register") return `+0(%${registers[expression.register]})`;
  if (expression.kind !== "binary" || expression.left.kind !== "register" || expression.right.kind !== "constant")
    return undefined;
  if (expression.operator !== "+" && expression.operator !== "-") return undefined;
  const offset = BigInt.asIntN(64, expression.operator === "+" ? expression.right.value : -expression.right.value);
  return `${offset < 0n ? "" : "+"}${offset}(%${registers[expression.left.register]})`;
}

test(
  "perf probe finds arguments and locals where strobe does",
  { skip: lacking("gcc", "perf") || (process.arch === "x64" ? false : "registers are those of x86-64") },
  (t) => {
    let agreed = 0;
    let computed = 0;
    for (const flags of settings) {
      const { path, binary, info } = build("gcc", "corpus.c", flags);
      for (const name of ["area", "mean", "hash", "recurse", "scaled", "twice_scaled"]) {
        const probes = output("perf", "probe", "-x", path, "-D", `${name} $vars`)
          .split("\n")
          .filter((line) => line.startsWith("p:"));
        assert.ok(probes.length > 0, name);
        const instances = info.functionsNamed(name).flatMap((fn) => fn.instances);
        const bodies = instances.filter(({ kind }) => kind === "body");
        const places: string[] = [];
        for (const probe of probes) {
          const [, offset, rest] = /:(0x[0-9a-f]+)(.*)$/.exec(probe) ?? [];
          assert.ok(offset !== undefined && rest !== undefined, probe);
          const address = binary.address(BigInt(offset));
          assert.ok(address !== undefined);
          places.push(offset);
          const variables = info.variablesAt(address).filter(({ outer }) => outer !== true);
          const entry = bodies.some((body) => body.entry === address);
          for (const [, variable, where] of rest.matchAll(/ (\w+)=([^:\s]+)/g)) {
            const found = variables.find((each) => each.name === variable);
            // perf names what other copies at the address have as well.
            if (found === undefined) continue;
            const ours = asPerf(found.location(address));
            // perf drops what an expression computes.
            if (ours === undefined) computed++;
            else {
              assert.equal(where, ours, `${flags.join(" ")} ${probe}: ${variable}${entry ? " at the entry" : ""}`);
              agreed++;
            }
          }
        }
        // perf goes behind the prologue where nothing was optimised, and to all copies of what was inlined.
        const starts =
          bodies.length > 0 ? bodies.map((body) => info.afterPrologue(body)) : instances.map(({ entry }) => entry);
        assert.deepEqual(
          inOrder(starts.map((address) => `0x${binary.fileOffset(address)?.toString(16)}`)),
          inOrder(places),
          `${flags.join(" ")} ${name}`,
        );
      }
    }
    t.diagnostic(`${agreed} places agreed, ${computed} are computed`);
    assert.ok(agreed > 60);
  },
);
