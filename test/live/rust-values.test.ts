// What is passed to functions of Rust and what they return, of some seventy types: each value that is shown is the
// program's own, whatever the compiler made of the call; what is not shown is refused with its reason.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { compileWith, missing } from "../support/compilers.ts";
import {
  expectedOf,
  forCSource,
  methodCounts,
  methodsSource,
  rustValuesScript,
  rustValuesSource,
} from "../support/rust-values.ts";
import { partOf } from "../support/part-of.ts";
import { bpfObjects, nothingLeft, strobe, temporaryFolder } from "../support/strobe.ts";

const folder = temporaryFolder();
let objects = "";

before(() => {
  objects = bpfObjects();
  writeFileSync(join(folder.path, "values.rs"), rustValuesSource());
  writeFileSync(join(folder.path, "names.rs"), methodsSource);
  writeFileSync(join(folder.path, "plain.rs"), forCSource);
});
after(async () => {
  await nothingLeft(objects);
  folder.remove();
});

/** Why a value is not shown, in the message's words. */
const reasons = [
  "in a vector register, which a probe cannot read",
  "not known at the function's entry",
  "not in its place yet at the function's beginning",
  "optimised out",
  "partly optimised out",
  "not known: the compiler changed what the function takes and returns",
  "returned in memory, whose address the function does not give back",
  "returned in a way that",
];

interface Compared {
  readonly values: number;
  readonly refused: ReadonlyMap<string, number>;
}

/** Parameters that have no value at the entry, as `FUNCTION NAME`: what `print(args)` says of all of them. */
async function hiddenParameters(path: string, functions: ReadonlySet<string>): Promise<ReadonlySet<string>> {
  const script = join(folder.path, "args.bt");
  const output = join(folder.path, "args");
  writeFileSync(
    script,
    [...functions].map((name) => `uprobe:${path}:${name} { printf("${name} "); print(args); }`).join("\n"),
  );
  const { code, stderr } = await strobe(["-o", output, "-c", path, script], { deadline: 300_000 });
  assert.equal(code, 0, stderr);
  const hidden = new Set<string>();
  for (const line of readFileSync(output, "utf8").split("\n")) {
    for (const [, name] of line.matchAll(/[{,] \.(\w+) = <[a-z ]+>/g))
      hidden.add(`${line.slice(0, line.indexOf(" "))} ${name}`);
  }
  return hidden;
}

/** Leaves out what is refused, runs the rest, and compares what it prints with what the program says. */
async function compare(path: string): Promise<Compared> {
  let lines = rustValuesScript(path);
  if (path.endsWith("optimised")) {
    const hidden = await hiddenParameters(
      path,
      new Set(lines.flatMap((line) => /^uprobe:[^ ]*:(\w+) /.exec(line)?.[1] ?? [])),
    );
    assert.ok(hidden.size > 0);
    lines = lines.filter((line) => {
      const name = /^uprobe:[^ ]*:(\w+) /.exec(line)?.[1];
      return ![...line.matchAll(/args\.(\w+)/g)].some(([, parameter]) => hidden.has(`${name} ${parameter}`));
    });
  }
  const refused = new Map<string, number>();
  const script = join(folder.path, "values.bt");
  const output = join(folder.path, "output");
  for (let round = 0; round < 8; round++) {
    writeFileSync(script, lines.join("\n"));
    const { code, stdout, stderr } = await strobe(["-o", output, "-c", path, script], { deadline: 300_000 });
    if (code === 0) {
      assert.doesNotMatch(stderr, /lost/i);
      return { values: compareLines(stdout, readFileSync(output, "utf8")), refused };
    }
    const wrong = new Set<number>();
    for (const [, line, message] of stderr.matchAll(/values\.bt:(\d+):\d+: error: (.*)/g)) {
      const reason = reasons.findLast((one) => message.includes(one));
      assert.ok(reason !== undefined, message);
      if (!wrong.has(Number(line))) refused.set(reason, (refused.get(reason) ?? 0) + 1);
      wrong.add(Number(line));
    }
    assert.ok(wrong.size > 0, `${code} ${stderr}`);
    lines = lines.filter((_, i) => !wrong.has(i + 1));
  }
  throw new assert.AssertionError({ message: "something else is refused every time" });
}

function compareLines(program: string, script: string): number {
  const said = grouped(program.split("\n"), /^(\w+_t\d+_\d+)() ?(.*)$/);
  const read = grouped(script.split("\n"), /^(\w+_t\d+_\d+)( is| n| abc)? ?(.*)$/);
  let values = 0;
  for (const [key, shown] of read) {
    const [name, of] = key.split(" ");
    const { variant, n } = expectedOf(name);
    const own = said.get(name) ?? [];
    assert.equal(shown.length, 2, `${key}: it runs twice`);
    for (const [i, text] of shown.entries()) {
      const words = own[i] === "" ? [] : own[i].split(" ");
      switch (of) {
        case "is":
          assert.ok(
            variant === undefined ? isShownAs(text, words[0]) : text.includes(variant),
            `${key}: ${text}, not ${variant ?? words[0]}`,
          );
          break;
        case "n":
          assert.equal(Number(text), (n ?? 0) + i, key);
          break;
        case "abc":
          assert.equal(text, "3 2200 4 text 2", key);
          break;
        default:
          assert.deepEqual(text.split(" ").map(wordOf), words.map(wordOf), key);
      }
      values += of === undefined ? words.length : of === "abc" ? 5 : 1;
    }
  }
  return values;
}

/** Texts by `NAME KIND`, in order. */
function grouped(lines: readonly string[], shape: RegExp): ReadonlyMap<string, readonly string[]> {
  const groups = new Map<string, string[]>();
  for (const line of lines) {
    const [, name, kind = "", text] = shape.exec(line) ?? [];
    if (name === undefined) continue;
    const group = groups.get(name + kind);
    if (group === undefined) groups.set(name + kind, [text]);
    else group.push(text);
  }
  return groups;
}

/** As 32 bits where it has no more: what `%d` shows of an unsigned number. */
function wordOf(text: string): bigint {
  const value = text === "true" || text === "false" ? BigInt(text === "true") : BigInt(text);
  return value >= -(1n << 31n) && value < 1n << 32n ? BigInt.asIntN(32, value) : BigInt.asIntN(64, value);
}

function isShownAs(text: string, word: string): boolean {
  const named: Readonly<Record<string, readonly string[]>> = { 0: ["false"], 1: ["Low", "true"], 700: ["High"] };
  if (text === word || (word in named && named[word].includes(text))) return true;
  const number = /-?0x[0-9a-f]+|-?\d+/.exec(text.replaceAll(/__\d+/g, ""))?.[0];
  return number !== undefined && BigInt(number) === BigInt(word);
}

test("whatever is passed and returned, not optimised", { skip: missing("rustc") }, async () => {
  const { values, refused } = await compare(compileWith("rustc", folder.path, "values.rs", "plain"));
  assert.ok(values > 2800, `${values} values`);
  // Floating-point numbers, and an enum of which a part is nowhere.
  assert.deepEqual(Object.fromEntries(refused), {
    "in a vector register, which a probe cannot read": 5,
    "not known at the function's entry": 9,
  });
});

for (const flags of partOf("values", [
  ["-O"],
  ["-O", "-C", "lto", "-C", "codegen-units=1"],
  ["-O", "-C", "lto=thin"],
])) {
  test(`whatever is passed and returned, with ${flags.join(" ")}`, { skip: missing("rustc") }, async () => {
    const { values } = await compare(compileWith("rustc", folder.path, "values.rs", "optimised", ...flags));
    assert.ok(values > 900, `${values} values`);
  });
}

for (const mangling of ["default", "v0"]) {
  test(
    `methods by the names of their types, in symbols of the ${mangling} kind`,
    { skip: missing("rustc") },
    async () => {
      const flags = mangling === "default" ? [] : ["-C", `symbol-mangling-version=${mangling}`];
      const path = compileWith("rustc", folder.path, "names.rs", "names", ...flags);
      for (const kind of ["uprobe", "ret"]) {
        const script = Object.keys(methodCounts)
          .map((name) => `${kind}:${path}:${name} { @["${name}"] = count(); }`)
          .join(" ");
        const { code, stdout, stderr } = await strobe(["-f", "json", "-c", path, "-e", script]);
        assert.equal(code, 0, stderr);
        const counts = stdout
          .split("\n")
          .filter((line) => line.startsWith("{"))
          .map((line) => JSON.parse(line) as { type: string; data: Record<string, Record<string, number>> })
          .find(({ type }) => type === "map");
        assert.deepEqual(counts?.data["@"], methodCounts, kind);
      }
    },
  );
}

test(
  "a function by a plain name may be C's: what C and Rust return in other ways is refused",
  { skip: missing("rustc") },
  async () => {
    const path = compileWith("rustc", folder.path, "plain.rs", "plain");
    const shown: Record<string, string> = {};
    for (const name of ["ctwo", "cfour", "csix", "cint", "clarge", "rtwo"]) {
      const { stdout, stderr } = await strobe(["-c", path, "-e", `uretprobe:${path}:${name} { print(retval); }`]);
      shown[name] =
        /error: (.*?);/.exec(stderr)?.[1] ?? stdout.split("\n").find((line) => /^[{-]/.test(line)) ?? stderr;
    }
    const untold = 'retval is returned as Rust or as C does: debug information does not tell whether it is extern "C"';
    assert.deepEqual(shown, {
      ctwo: untold,
      cfour: "{ .a = 3, .b = 5 }",
      csix: "{ .a = 5, .b = 7 }",
      cint: "-7",
      clarge: "{ .a = [1,2,3,4,8] }",
      rtwo: untold,
    });
  },
);
