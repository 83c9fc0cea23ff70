// How often each function of programs of others is entered, or returns, as strobe counts it in what compilers made with
// optimisation, beside what is counted in the same program without, by gcov, by hooks for clang and for returns:
// `node bench/counts.mjs [--sources FOLDER] [--folder FOLDER] [--only PATTERN] [--returns] [--all]`. The sources are
// Debian's (`apt-get source lua5.4 libzstd`, unpacked in a folder, build/sources where none is named); programs are built
// in the other folder. It needs root, gcc, gcov, clang and lld.
import { spawnSync } from "node:child_process";
import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const { values } = parseArgs({
  options: {
    sources: { type: "string", default: here("../build/sources") },
    folder: { type: "string", default: here("../build/counts") },
    only: { type: "string", default: "" },
    returns: { type: "boolean" },
    all: { type: "boolean" },
  },
});

/** Functions that are inlined without optimisation too are not told of: none is. */
const apart = "-Dalways_inline=noinline";
const compilers = [
  ["gcc", "-O2"],
  ["gcc", "-O3"],
  ["gcc", "-O2", "-flto"],
  ["gcc", "-O2", "-flto", "-flto-partition=max"],
  ["clang", "-O2"],
  ["clang", "-O3"],
  ["clang", "-O2", "-flto", "-fuse-ld=lld"],
  ["clang", "-O2", "-flto=thin", "-fuse-ld=lld"],
];
const folderOf = (name) => {
  const found = existsSync(values.sources)
    ? readdirSync(values.sources).find((folder) => folder.startsWith(`${name}-`))
    : undefined;
  if (found === undefined)
    throw new Error(`${values.sources} has no sources of ${name}: \`apt-get source lua5.4 libzstd\` there gets them`);
  return resolve(values.sources, found);
};
const filesOf = (folder, left = []) =>
  readdirSync(folder)
    .filter((name) => name.endsWith(".c") && !left.includes(name))
    .map((name) => join(folder, name));
const programs = {
  lua() {
    const folder = join(build, "lua");
    rmSync(folder, { recursive: true, force: true });
    cpSync(join(folderOf("lua5.4"), "src"), folder, { recursive: true });
    // Debian's own header, which its build makes.
    writeFileSync(join(folder, "lua5.4-deb-multiarch.h"), '#define DEB_HOST_MULTIARCH "x86_64-linux-gnu"\n');
    // What is hashed by its address would be called differently often from run to run.
    const limits = join(folder, "llimits.h");
    writeFileSync(limits, readFileSync(limits, "utf8").replace("((size_t)(p) & UINT_MAX)", "((size_t)(p) & 0)"));
    // GCC cannot take the addresses of labels from one partition to another.
    return {
      sources: filesOf(folder, ["luac.c"]),
      flags: ["-DLUA_USE_JUMPTABLE=0", "-DLUA_USE_POSIX", "-Dluai_makeseed(state)=42u", `-I${folder}`, "-lm"],
      args: [here("counts/workload.lua")],
    };
  },
  zstd() {
    const lib = join(folderOf("libzstd"), "lib");
    const sources = ["common", "compress", "decompress", "dictBuilder"].flatMap((name) => filesOf(join(lib, name)));
    return {
      sources: [...sources, here("counts/workload.c")],
      flags: ["-DZSTD_DISABLE_ASM=1", "-DZSTD_LEGACY_SUPPORT=0", `-I${lib}`, `-I${lib}/common`],
      args: [],
    };
  },
};

const strobe = here("../dist/strobe.js");
const build = resolve(values.folder);
/** All are run by one name, which is a text that they work on. */
const traceable = join(build, "program");

function run(command, args, options = {}) {
  const { status, stdout, stderr } = spawnSync(command, args, {
    encoding: "utf8",
    maxBuffer: 1 << 28,
    env: { ...process.env, LC_ALL: "C" },
    ...options,
  });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")}: ${stderr}`);
  return stdout;
}

/** How often each function is called and returns, by what it was compiled to call; and what the program prints. */
function hooked(name, compiler, { sources, flags, args }) {
  const folder = emptied(`${name}-${compiler}-hooked`);
  const [hooks, calls] = [join(folder, "hooks.o"), join(folder, "calls")];
  run(compiler, ["-c", here("counts/hooks.c"), "-o", hooks]);
  const own = flags.filter((flag) => !flag.startsWith("-l"));
  const objects = sources.map((source, i) => {
    const object = join(folder, `${i}.o`);
    run(compiler, ["-O0", "-fno-pie", apart, "-finstrument-functions", ...own, "-c", source, "-o", object]);
    return object;
  });
  run(compiler, ["-no-pie", ...objects, hooks, ...flags, "-o", traceable]);
  const ours = new Set([...run("nm", objects).matchAll(/ [tTwW] (\w+)$/gm)].map(([, fn]) => fn));
  const printed = run(traceable, args, { cwd: folder, env: { ...process.env, LC_ALL: "C", CALLS: calls } });
  const counts = new Map(
    [...readFileSync(calls, "utf8").matchAll(/^(\w+) (\d+) (\d+)$/gm)].map(([, address, called, returned]) => [
      BigInt(`0x${address}`),
      { calls: Number(called), returns: Number(returned) },
    ]),
  );
  const functions = new Map();
  for (const [, address, fn] of run("nm", [traceable]).matchAll(/^(\w+) [tTwW] (\w+)$/gm)) {
    if (!ours.has(fn)) continue;
    const known = functions.get(fn) ?? { calls: 0, returns: 0 };
    const { calls: more, returns } = counts.get(BigInt(`0x${address}`)) ?? { calls: 0, returns: 0 };
    functions.set(fn, { calls: known.calls + more, returns: known.returns + returns });
  }
  return { functions, printed };
}

/** How often each function is called, as gcov says it. */
function covered(name, { sources, flags, args }) {
  const folder = emptied(`${name}-covered`);
  const objects = sources.map((source, i) => {
    const object = join(folder, `${i}.o`);
    const own = flags.filter((flag) => !flag.startsWith("-l"));
    run("gcc", ["-O0", apart, "--coverage", ...own, "-c", source, "-o", object], { cwd: folder });
    return object;
  });
  run("gcc", ["--coverage", ...objects, ...flags, "-o", traceable], { cwd: folder });
  run(traceable, args, { cwd: folder });
  const functions = new Map();
  for (const object of objects) {
    const shown = run("gcov", ["-b", "-c", "-t", object], { cwd: folder });
    for (const [, fn, calls] of shown.matchAll(/^function (\S+) called (\d+) /gm))
      functions.set(fn, (functions.get(fn) ?? 0) + Number(calls));
  }
  return functions;
}

const told = new Map();

/**
 * What is true of a program as a compiler sees it. What clang's own coverage says is worked out from ways through the
 * code, and wrong where calls end by longjmp.
 */
function truth(name, compiler, program) {
  const key = `${name} ${compiler}`;
  if (told.has(key)) return told.get(key);
  const { functions, printed } = hooked(name, compiler, program);
  const known =
    compiler === "gcc"
      ? [...covered(name, program)].map(([fn, calls]) => [fn, { calls, returns: functions.get(fn)?.returns ?? 0 }])
      : functions;
  told.set(key, { functions: new Map(known), printed });
  return told.get(key);
}

function emptied(name) {
  const folder = join(build, name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** Probes of one run: strobe prints a hundred warnings and no more. */
const together = 40;

/** What strobe says of each function: the count, or why there is none; and its notes. */
function traced(path, names, args) {
  const parts = Array.from({ length: Math.ceil(names.length / together) }, (_, i) =>
    tracedTogether(path, names.slice(i * together, (i + 1) * together), args),
  );
  return {
    counts: new Map(parts.flatMap(({ counts }) => [...counts])),
    notes: new Map(parts.flatMap(({ notes }) => [...notes])),
  };
}

function tracedTogether(path, names, args) {
  const script = join(build, "script.bt");
  const output = join(build, "output");
  const provider = values.returns ? "uretprobe" : "uprobe";
  const lines = names.map((fn, i) => `${provider}:${path}:${fn} { @[${i}] = count(); }`);
  writeFileSync(script, `config = { missing_probes = warn; max_map_keys = 65536 }\n${lines.join("\n")}\n`);
  rmSync(output, { force: true });
  const { status, stderr } = spawnSync(
    process.execPath,
    [strobe, "-o", output, "-c", [path, ...args].join(" "), script],
    { encoding: "utf8", maxBuffer: 1 << 28 },
  );
  // Where it has not one of the functions, there is nothing to trace.
  const none = /error: nothing to attach to/.test(stderr);
  if (status !== 0 && !none) throw new Error(stderr.slice(-3000));
  const counts = new Map(
    [...(none ? "" : readFileSync(output, "utf8")).matchAll(/^@\[(\d+)\]: (\d+)$/gm)].map(([, i, count]) => [
      names[i],
      Number(count),
    ]),
  );
  const notes = new Map(names.map((fn) => [fn, []]));
  for (const [, line, note] of stderr.matchAll(/^\S*script\.bt:(\d+)(?::\d+)*: (?:warning|error): (.*)$/gm))
    notes.get(names[line - 2])?.push(note);
  return { counts, notes };
}

const inlined = /is inlined: probing/;
const plain = /is inlined: probing|there is no function/;
const wanted = new RegExp(values.only);
const rows = [];
for (const [name, program] of Object.entries(programs)) {
  for (const [compiler, ...flags] of compilers) {
    const title = `${name} ${compiler} ${flags.filter((flag) => !flag.startsWith("-fuse")).join(" ")}`;
    if (!wanted.test(title)) continue;
    mkdirSync(build, { recursive: true });
    const made = program();
    const { sources, flags: own, args } = made;
    const { functions, printed } = truth(name, compiler, made);
    const path = join(build, title.replaceAll(/[^-\w]/g, "_"));
    run(compiler, [...flags, "-g", ...sources, ...own, "-o", path], { cwd: build });
    copyFileSync(path, traceable);
    if (run(traceable, args) !== printed) throw new Error(`${title} does not print what it does without optimisation`);
    const all = [...functions].map(([fn, { calls, returns }]) => [fn, values.returns ? returns : calls]);
    const { counts, notes } = traced(
      traceable,
      all.map(([fn]) => fn),
      args,
    );
    const row = { title, compared: 0, equal: 0, needless: 0, noted: 0, general: 0, silent: 0, absent: 0 };
    for (const [fn, calls] of all) {
      const said = notes.get(fn).filter((note) => !plain.test(note));
      if (notes.get(fn).some((note) => /there is no function|left no code of it/.test(note))) {
        row.absent += calls > 0 ? 1 : 0;
        if (calls > 0 && values.all) console.log(`  ${fn}: ${calls}, and no code`);
        continue;
      }
      row.compared++;
      const count = counts.get(fn) ?? 0;
      if (count === calls) {
        row.equal++;
        if (calls > 0 && said.length > 0) {
          row.needless++;
          if (values.all) console.log(`  ${fn}: ${count}, noted all the same: ${said.join("; ")}`);
        }
        continue;
      }
      // Of every inlined function it is said that what was folded away or merged is not seen.
      const kind = said.length > 0 ? "noted" : notes.get(fn).some((note) => inlined.test(note)) ? "general" : "silent";
      row[kind]++;
      if (kind === "silent" || values.all)
        console.log(`  ${fn}: ${count} of ${calls} (${kind})${said.length > 0 ? `: ${said.join("; ")}` : ""}`);
    }
    rows.push(row);
  }
}
console.log(
  "| program | functions | equal | equal, with a note of its own | different, with a note of its own | different, as is said of inlined functions | different, nothing said | run, and have no code |\n|---|---|---|---|---|---|---|---|",
);
for (const { title, compared, equal, needless, noted, general, silent, absent } of rows)
  console.log(`| ${title} | ${compared} | ${equal} | ${needless} | ${noted} | ${general} | ${silent} | ${absent} |`);
