// The proof of variables: programs of several compilers and settings, stopped at every line that has code. At each stop
// every parameter and local in scope, and every global, static and thread-local, is what gdb reads at the same
// instruction of the same run, and what one lacks the other lacks.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { after, before, test } from "node:test";
import type { DebugInfo, Location, Variable } from "../../src/debuginfo/dwarf/facts.ts";
import { bytesOfDebugType } from "../../src/machine/values/debug-types.ts";
import { openBinary } from "../../src/machine/binaries/live-binary.ts";
import { missing as missingOrOld } from "../support/compilers.ts";
import { corpusC, corpusCpp, corpusGlobals, corpusGo, corpusRust, oracle } from "../support/corpus.ts";
import { partOf } from "../support/part-of.ts";
import { bpfObjects, nothingLeft, strobe, temporaryFolder } from "../support/strobe.ts";
import { Failure } from "../../src/base/failure.ts";

const folder = temporaryFolder();
// The kernel names files by their real paths.
const home = realpathSync(folder.path);
let objects = "";
before(() => {
  objects = bpfObjects();
  writeFileSync(join(home, "oracle.py"), oracle);
  writeFileSync(join(home, "corpus.c"), corpusC);
  writeFileSync(join(home, "corpus.cpp"), corpusCpp);
  writeFileSync(join(home, "corpus.rs"), corpusRust);
  writeFileSync(join(home, "corpus.go"), corpusGo);
  writeFileSync(join(home, "go.mod"), "module main\n");
});
after(async () => {
  await nothingLeft(objects);
  folder.remove();
});

const has = (tool: string, argument = "--version"): boolean => spawnSync(tool, [argument]).status === 0;
const lacking = (...tools: readonly string[]): string | false => {
  const missing = tools.find((tool) => !has(tool, tool === "go" ? "version" : "--version"));
  return missing === undefined ? false : `needs ${missing}`;
};

/** What JSON numbers lose beyond 53 bits is kept as text. */
const exactly = (line: string): unknown => JSON.parse(line.replaceAll(/(?<=[[:,]\s*)-?\d{16,}(?=\s*[,}\]])/g, '"$&"'));

interface Hit {
  readonly pc: number;
  readonly frames: readonly string[];
  readonly vars: Readonly<Record<string, unknown>>;
  readonly globals: Readonly<Record<string, unknown>>;
}

/** Every place's variables as gdb has them, in order of time. */
function judged(
  path: string,
  file: string,
  pie: boolean,
  places: readonly number[],
): { readonly base: number; readonly hits: readonly Hit[] } {
  const order = join(home, "order.json");
  const output = join(home, "judged.json");
  writeFileSync(
    order,
    JSON.stringify({ output, pie, path, places, references: file.endsWith(".rs"), globals: corpusGlobals[file] }),
  );
  const { stderr } = spawnSync(
    "gdb",
    ["-batch", "-nx", "-ex", `python ORDER=${JSON.stringify(order)}`, "-x", join(home, "oracle.py"), path],
    { encoding: "utf8", timeout: 300_000 },
  );
  assert.doesNotMatch(stderr, /Traceback|Python Exception/);
  const [head, ...lines] = readFileSync(output, "utf8").trim().split("\n").map(exactly);
  return { base: (head as { base: number }).base, hits: lines as Hit[] };
}

interface Traced {
  readonly ip: number;
  readonly vars: Readonly<Record<string, unknown>>;
  readonly globals: readonly unknown[];
}

/** The same by strobe. */
async function traced(path: string, places: readonly bigint[], globals: readonly string[]): Promise<readonly Traced[]> {
  const output = join(home, "traced.json");
  const script = `${places.map((address) => `uprobe:${path}:0x${address.toString(16)}`).join(",\n")} { printf("%d", reg("ip")); print(vars); print((0, ${globals.map((name) => `var("${name}")`).join(", ")})); }`;
  // Stacks begin where they begin under gdb. Go's runtime sends no signals to its threads meanwhile: a register was seen
  // changed under gdb after one.
  const { stderr, code } = await strobe(
    ["-f", "json", "-o", output, "-c", `setarch -R env -i GODEBUG=asyncpreemptoff=1 ${path}`, "-"],
    {
      deadline: 300_000,
      input: script,
    },
  );
  assert.equal(code, 0, stderr);
  assert.doesNotMatch(stderr, /warning|error/);
  const hits: Traced[] = [];
  let ip = 0;
  let vars: Traced["vars"] = {};
  for (const line of readFileSync(output, "utf8").trim().split("\n")) {
    const { type, data } = exactly(line) as { type: string; data: unknown };
    if (type === "printf") ip = Number(data);
    else if (type === "value" && Array.isArray(data)) hits.push({ ip, vars, globals: data.slice(1) });
    else if (type === "value") vars = data as Traced["vars"];
  }
  return hits;
}

const GONE = "<optimised out>";
/** In a vector register, which a probe cannot read; or what callers alone tell. */
const HIDDEN: ReadonlySet<unknown> = new Set([
  "<in a vector register>",
  "<depends on the caller>",
  "<floating point>",
  "<known at the entry>",
  "<not visible>",
]);
const verdicts = ["same", "shown otherwise", "partly gone", "partly hidden", "partly zero"] as const;
type Verdict = (typeof verdicts)[number] | { readonly differs: string };

interface Fields {
  readonly fields: readonly (readonly [name: string | null, base: boolean, value: unknown])[];
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Is a value of ours what gdb has? */
function compared(ours: unknown, theirs: unknown): Verdict {
  // gdb fails on parts of classes that lack their table of virtual functions.
  if (theirs === null && isRecord(ours) && Object.keys(ours).some((name) => name.startsWith("_vptr")))
    return "shown otherwise";
  if (theirs === null)
    return ours === GONE ? "partly gone" : { differs: `${JSON.stringify(ours)}, and gdb has nothing` };
  if (HIDDEN.has(ours)) return "partly hidden";
  if (ours === GONE && hasHoles(theirs)) return "partly gone";
  if (ours === GONE && theirs === 0) return "partly zero";
  if (isRecord(theirs)) {
    if ("float" in theirs)
      return Math.abs(Number(ours) - Number(theirs["float"])) <= 1e-6 * Math.abs(Number(ours))
        ? "same"
        : { differs: `${String(ours)} is not ${String(theirs["float"])}` };
    if ("fields" in theirs) {
      if (typeof ours === "string") return "shown otherwise";
      if (!isRecord(ours)) return { differs: `${JSON.stringify(ours)} is not ${JSON.stringify(theirs)}` };
      return together(
        (theirs as unknown as Fields).fields.map(([name, base, value]) => {
          if (name?.startsWith("_vptr") === true) return "same";
          // Members of a base class or of one without a name are the struct's.
          const own = name === null || base ? ours : ours[name];
          return own === undefined ? { differs: `there is no member ${name}` } : compared(own, value);
        }),
      );
    }
    return { differs: `${JSON.stringify(ours)} is not ${JSON.stringify(theirs)}` };
  }
  if (Array.isArray(theirs)) {
    if (typeof ours === "string")
      return String.fromCharCode(...(theirs as number[])).replace(/\0.*$/s, "") === ours
        ? "same"
        : { differs: `${ours} is not ${JSON.stringify(theirs)}` };
    if (!Array.isArray(ours) || ours.length !== theirs.length)
      return { differs: `${JSON.stringify(ours)} is not ${JSON.stringify(theirs)}` };
    return together(theirs.map((value, i) => compared((ours as unknown[])[i], value)));
  }
  return JSON.stringify(ours) === JSON.stringify(theirs)
    ? "same"
    : { differs: `${JSON.stringify(ours)} is not ${JSON.stringify(theirs)}` };
}

function together(parts: readonly Verdict[]): Verdict {
  return parts.find((each) => typeof each === "object") ?? verdicts.findLast((each) => parts.includes(each)) ?? "same";
}

const hasHoles = (value: unknown): boolean =>
  value === null ||
  (Array.isArray(value)
    ? value.some(hasHoles)
    : isRecord(value) && "fields" in value && (value as unknown as Fields).fields.some(([, , part]) => hasHoles(part)));

/** What gdb gets from the caller's frame, and what lies where probes do not see: strobe says so instead. */
const outOfReach = /what the function was called with|floating|vector|no caller passes|comparison/;

function isOutOfReach(variable: Variable | undefined, pc: bigint): boolean {
  const location = variable?.location(pc);
  const parts = location?.kind === "pieces" ? location.pieces.map((piece) => piece.location) : [location];
  return parts.some(
    (part) =>
      (part?.kind === "absent" && outOfReach.test(part.reason)) ||
      (part?.kind === "register" && part.register > 16) ||
      (part?.kind === "value" && textOf(part).includes('"register":1')),
  );
}

const textOf = (location: Location | undefined): string =>
  JSON.stringify(location ?? null, (key, each: unknown) =>
    key === "target" ? undefined : typeof each === "bigint" ? `${each}` : each,
  );

/** Behind the last piece of a value, gdb takes what nobody tells for zeroes. */
function endsEarly(variable: Variable | undefined, pc: bigint): boolean {
  const location = variable?.location(pc);
  return (
    variable !== undefined &&
    location?.kind === "pieces" &&
    location.pieces.reduce((sum, { bits }) => sum + bits, 0) < bytesOfDebugType(variable.type) * 8
  );
}

/** `beyond`: kept from the entry, where gdb asks callers that do not tell, or not rightly. */
interface Counts {
  places: number;
  hits: number;
  compared: number;
  globals: number;
  absent: number;
  outOfReach: number;
  beyond: number;
}

const total: Counts = { places: 0, hits: 0, compared: 0, globals: 0, absent: 0, outOfReach: 0, beyond: 0 };

/** Larger than what strobe shows among the others. */
const leaveOut: ReadonlySet<string> = new Set(["room"]);

/** Go's scheduler may take a function's turn from it as it begins: then it goes to its last lines, and begins again. */
function withoutRestarts<T>(hits: readonly T[], placeOf: (hit: T) => number): T[] {
  const places = hits.map(placeOf);
  return hits.filter((_, i) => places[i] !== places[i + 2] && (i === 0 || places[i - 1] !== places[i + 1]));
}

/** Compares at every line; gives how much was compared. */
async function prove(path: string, file: string, unoptimised: boolean): Promise<Counts> {
  const binary = openBinary(path, { paths: {} });
  const info = binary?.debugInfo();
  assert.ok(binary !== undefined && info !== undefined && !(info instanceof Failure));
  const places = [...new Set([...info.lines(file)].map(({ address }) => address))];
  assert.ok(places.length > 8);
  const { base, hits: all } = judged(path, file, !binary.fixed, places.map(Number));
  // A signal of Go's own scheduler makes gdb stop at a place once more.
  const hits = file.endsWith(".go")
    ? withoutRestarts(
        all.filter(({ pc }, i) => pc !== all[i - 1]?.pc),
        ({ pc }) => pc,
      )
    : all;
  const wanted = corpusGlobals[file].map(([name]) => name).filter((name) => !hasNoPlace(info, name));
  const met = await traced(path, places, wanted);
  const seen = file.endsWith(".go") ? withoutRestarts(met, ({ ip }) => ip) : met;
  const problems: string[] = [];
  const entered = new Map<string, readonly Hit["vars"][]>();
  const counts: Counts = {
    places: places.length,
    hits: hits.length,
    compared: 0,
    globals: 0,
    absent: 0,
    outOfReach: 0,
    beyond: 0,
  };
  assert.deepEqual(
    seen.map(({ ip }) => (ip - base).toString(16)),
    hits.map(({ pc }) => pc.toString(16)),
    `the same places in the same order: ${firstDifference(
      seen.map(({ ip }) => ip - base),
      hits.map(({ pc }) => pc),
    )}`,
  );
  hits.forEach((hit, i) => {
    const pc = BigInt(hit.pc);
    const ours = seen[i].vars;
    const found = info.functionAt(pc);
    const entry = found?.instance.kind === "body" && found.instance.entry === pc;
    const at = `0x${hit.pc.toString(16)} (${info.framesAt(pc)[0]?.function}, line ${info.framesAt(pc)[0]?.position.line})`;
    const frames = info.framesAt(pc).map(({ function: name }) => bare(name));
    // gdb goes on to the function that a lambda was written in.
    const theirFrames = hit.frames.map(bare).slice(0, frames.length);
    if (JSON.stringify(frames) !== JSON.stringify(theirFrames))
      problems.push(`${at}: in ${frames.join(" ")}, to gdb in ${theirFrames.join(" ")}`);
    // Before the prologue gdb takes what lies on the stack: variables are where strobe says only behind it.
    if (entry && unoptimised) return;
    if (entry) entered.set(frames[0], [...(entered.get(frames[0]) ?? []), hit.vars]);
    for (const name of Object.keys(ours))
      if (!(name in hit.vars) && !leaveOut.has(name)) problems.push(`${at}: gdb does not see ${name}`);
    for (const [name, theirs] of Object.entries(hit.vars)) {
      // Go's results without names are no arguments.
      if (name === "" || leaveOut.has(name) || name.startsWith("~")) continue;
      const own = ours[name];
      if (own === undefined) {
        if (!entry) problems.push(`${at}: there is no ${name}`);
        continue;
      }
      const variable = variableAt(info, pc, name);
      // Go's stacks have other addresses in every run, and what is not set yet is what was there before.
      if (
        file.endsWith(".go") &&
        (variable?.type.kind === "pointer" ||
          (info.framesAt(pc)[0]?.position.line ?? 0) <= (variable?.declared.line ?? 0))
      )
        continue;
      if (own === GONE || HIDDEN.has(own)) {
        if (theirs === null || hasHoles(theirs) || hasErrors(theirs)) counts.absent++;
        else if (isOutOfReach(variable, pc)) counts.outOfReach++;
        else if (!entry) problems.push(`${at}: ${name} is gone, and gdb has ${JSON.stringify(theirs)}`);
        continue;
      }
      const verdict = compared(own, theirs);
      // clang counts from where the stack was before it pushed arguments: what gdb itself has read at the entry
      // decides.
      if ((theirs === null || typeof verdict === "object") && textOf(variable?.location(pc)).includes('"at-entry"')) {
        const were = (entered.get(frames[0]) ?? [])
          .map((vars) => vars[name])
          .filter((was) => was !== undefined && was !== null);
        if ((theirs === null && were.length === 0) || were.some((was) => compared(own, was) === "same"))
          counts.beyond++;
        else
          problems.push(
            `${at}: ${name} is ${JSON.stringify(own)}, and gdb has ${JSON.stringify(theirs)}, and at the entry ${JSON.stringify(were)}`,
          );
        continue;
      }
      // Unset as yet, and pointing nowhere.
      if (hasErrors(theirs)) continue;
      if (verdict === "same" || verdict === "partly gone") counts.compared++;
      else if (verdict === "partly hidden" && isOutOfReach(variable, pc)) counts.outOfReach++;
      else if (verdict === "partly zero" && endsEarly(variable, pc)) counts.absent++;
      else if (verdict === "partly zero") problems.push(`${at}: ${name} is partly gone, and gdb has 0`);
      else if (verdict === "partly hidden")
        problems.push(`${at}: ${name} is hidden, and gdb has ${JSON.stringify(theirs)}`);
      // At the entry arguments are where the caller put them, which compilers do not always say, and gdb also takes
      // what holds before the first instruction only.
      else if (typeof verdict === "object" && !entry) problems.push(`${at}: ${name} is ${verdict.differs}`);
    }
    for (const [name, theirs] of Object.entries(hit.globals)) {
      const place = wanted.indexOf(name);
      if (place < 0) {
        if (theirs === null || hasErrors(theirs)) counts.absent++;
        else problems.push(`${at}: ${name} is nowhere, and gdb has ${JSON.stringify(theirs)}`);
        continue;
      }
      // gdb asks a library of the C library's for thread-local variables, which programs without that library do not
      // load.
      if (hasErrors(theirs) && threadLocals.has(name) && path.includes("-static")) continue;
      const verdict = compared(seen[i].globals[place], theirs);
      if (verdict === "same" || verdict === "partly gone") counts.globals++;
      else problems.push(`${at}: ${name} is ${JSON.stringify(verdict)}`);
    }
  });
  assert.equal(
    problems.length,
    0,
    `${problems.length} problems in ${JSON.stringify(counts)}:\n${[...new Set(problems)].slice(0, 40).join("\n")}`,
  );
  for (const key of Object.keys(total) as (keyof Counts)[]) total[key] += counts[key];
  return counts;
}

/** A global that an optimiser left no place. */
function hasNoPlace(info: DebugInfo, name: string): boolean {
  return info.globalsNamed(name).every((variable) => variable.location(0n).kind === "absent");
}

const threadLocals: ReadonlySet<string> = new Set(["in_thread", "thread_point"]);

function firstDifference(ours: readonly number[], theirs: readonly number[]): string {
  const at = ours.findIndex((pc, i) => pc !== theirs[i]);
  const shown = (list: readonly number[]): string =>
    list
      .slice(Math.max(0, at - 2), at + 4)
      .map((pc) => pc.toString(16))
      .join(" ");
  return `of ${ours.length} and ${theirs.length}, number ${at}: ${shown(ours)}, to gdb ${shown(theirs)}`;
}

const hasErrors = (value: unknown): boolean =>
  Array.isArray(value)
    ? value.some(hasErrors)
    : isRecord(value) &&
      ("error" in value ||
        ("fields" in value && (value as unknown as Fields).fields.some(([, , part]) => hasErrors(part))));

const variableAt = (info: DebugInfo, pc: bigint, name: string): Variable | undefined =>
  info.variablesAt(pc).find((each) => each.name === name && each.outer !== true);

/** A function's plain name: tools differ in how they write scopes, parameters and what template arguments are. */
const bare = (name: string): string =>
  name
    .replace("(anonymous)::", "")
    .replace("operator()", "call")
    .replace(/\(anonymous namespace\)::/g, "")
    .replace(/\{.*\}/s, "")
    .replace(/<.*$/s, "")
    .replace(/\(.*$/s, "")
    .replace(/^.*(::|\.)/s, "");

function compile(compiler: string, source: string, ...flags: readonly string[]): string {
  const path = join(home, `${compiler}-${flags.join("")}`.replaceAll(/[^-\w]/g, "_"));
  execFileSync(compiler, [...flags, "-g", "-o", path, source], { cwd: home, stdio: ["ignore", "ignore", "pipe"] });
  return path;
}

const tools = ["gdb", "setarch"];

const settings: readonly (readonly string[])[] = [
  ["-O0"],
  ["-O1", "-fomit-frame-pointer"],
  ["-O2", "-fno-omit-frame-pointer"],
  ["-O3", "-no-pie"],
  ["-O2", "-gdwarf-4", "-static"],
  ["-Og"],
];
for (const [compiler, source] of [
  ["gcc", "corpus.c"],
  ["clang", "corpus.c"],
  ["g++", "corpus.cpp"],
  ["clang++", "corpus.cpp"],
] as const) {
  for (const flags of partOf("values", settings)) {
    if (compiler.endsWith("++") && flags.includes("-static")) continue;
    test(`${compiler} ${flags.join(" ")}`, { skip: lacking(compiler, ...tools) }, async (t) => {
      const counts = await prove(compile(compiler, source, ...flags), source, flags.includes("-O0"));
      t.diagnostic(JSON.stringify(counts));
    });
  }
}

/** Linked whole: clang's needs its own linker. */
for (const [compiler, source, ...flags] of [
  ["gcc", "corpus.c", "-O2", "-flto"],
  ["clang++", "corpus.cpp", "-O2", "-flto", "-fuse-ld=lld"],
  ["clang++", "corpus.cpp", "-O2", "-flto=thin", "-fuse-ld=lld"],
] as const) {
  const needed = compiler.startsWith("clang") ? [compiler, "ld.lld"] : [compiler];
  test(`${compiler} ${flags.join(" ")}`, { skip: lacking(...needed, ...tools) }, async (t) => {
    t.diagnostic(JSON.stringify(await prove(compile(compiler, source, ...flags), source, false)));
  });
}

test(
  "stripped, with its debug information in a file of its own",
  { skip: lacking("gcc", "objcopy", ...tools) },
  async (t) => {
    const path = compile("gcc", "corpus.c", "-O2", "-Wl,--build-id=none");
    mkdirSync(join(home, ".debug"), { recursive: true });
    const debug = join(home, ".debug", `${basename(path)}.debug`);
    execFileSync("objcopy", ["--only-keep-debug", path, debug]);
    execFileSync("strip", [path]);
    execFileSync("objcopy", [`--add-gnu-debuglink=${debug}`, path]);
    t.diagnostic(JSON.stringify(await prove(path, "corpus.c", false)));
  },
);

for (const flags of partOf("values", [
  ["-Copt-level=0"],
  ["-Copt-level=2"],
  ["-Copt-level=3", "-Cforce-frame-pointers=yes"],
  ["-Copt-level=2", "-Clto=fat"],
  ["-Copt-level=2", "-Clto=thin"],
])) {
  test(`rustc ${flags.join(" ")}`, { skip: missingOrOld("rustc") || lacking(...tools) }, async (t) => {
    t.diagnostic(
      JSON.stringify(
        await prove(compile("rustc", "corpus.rs", ...flags), "corpus.rs", flags.includes("-Copt-level=0")),
      ),
    );
  });
}

for (const flags of [["-gcflags=all=-N -l"], []]) {
  test(`go build ${flags.join(" ")}`, { skip: lacking("go", ...tools) }, async (t) => {
    const path = join(home, `go${flags.length}`);
    execFileSync("go", ["build", ...flags, "-o", path, "corpus.go"], {
      cwd: home,
      env: { ...process.env, GOFLAGS: "-mod=mod" },
    });
    t.diagnostic(JSON.stringify(await prove(path, "corpus.go", flags.length > 0)));
  });
}

test("all of it together", (t) => {
  t.diagnostic(JSON.stringify(total));
});
