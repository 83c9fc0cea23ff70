// What an unwound stack costs beside one that follows frame pointers, and what tables cost.
import { spawnSync } from "node:child_process";
import { realpathSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { run, startTracer, stopTracer } from "./process.mjs";
import { table } from "./statistics.mjs";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const depths = [5, 20, 100];
const repeats = 10;
/** With a probe in the program, so that its table is there before it runs. */
const handler = (program, stack) => `uprobe:${program}:main { @m = count(); }
  tracepoint:syscalls:sys_enter_getppid /comm == "frames"/ { ${stack === "" ? "@ = count();" : `@[${stack}] = count();`} }`;

export async function unwinding(options) {
  return `${await stacks(options)}\n\n${await tables(options)}`;
}

/** The least nanoseconds that the handler's program took for a call. */
async function cost({ peers: [own], kernel, rounds }, program, script, words, calls) {
  let least = Infinity;
  for (let round = 0; round < Math.min(rounds, 3); round++) {
    const tracer = startTracer(own, ["-e", script]);
    await tracer.ready;
    const ids = [...kernel.programsById().values()]
      .filter(({ id }) => kernel.holds(tracer.pid(), id))
      .map(({ id }) => id);
    const sum = (field) => {
      const programs = kernel.programsById();
      return ids.reduce((total, id) => total + programs.get(id)[field], 0);
    };
    for (let repeat = 0; repeat < repeats; repeat++) {
      const before = sum("runTimeNs");
      await run(program, words);
      least = Math.min(least, (sum("runTimeNs") - before) / calls);
    }
    await stopTracer(tracer);
  }
  return least;
}

async function stacks(options) {
  const build = (name, flag) => {
    const path = here(`../build/${name}`);
    if (
      spawnSync("gcc", ["-O2", "-fno-optimize-sibling-calls", flag, "-o", path, here("frames.c")], { stdio: "inherit" })
        .status !== 0
    )
      throw new Error("the workload needs gcc");
    return path;
  };
  // Both are called "frames", the one with frame pointers in a folder of its own.
  spawnSync("mkdir", ["-p", here("../build/pointers")]);
  const [without, pointers] = [
    build("frames", "-fomit-frame-pointer"),
    build("pointers/frames", "-fno-omit-frame-pointer"),
  ];
  const rows = [];
  const statistics = options.kernel.enableStats();
  try {
    for (const depth of depths) {
      const ns = async (program, stack, calls) =>
        cost(options, program, handler(program, stack), [String(calls), String(depth)], calls);
      // A process that is met has its mappings in the unwinder's map some milliseconds later; until then the kernel is
      // asked.
      const [many, few] = [20_000, 200];
      const [nothing, nothingFirst] = [await ns(without, "", many), await ns(without, "", few)];
      const [fp, dwarf, first] = [
        (await ns(pointers, "ustack(fp)", many)) - nothing,
        (await ns(without, "ustack(dwarf)", many)) - nothing,
        (await ns(without, "ustack(dwarf)", few)) - nothingFirst,
      ];
      const frames = depth + 5;
      rows.push([
        String(frames),
        fp.toFixed(0),
        dwarf.toFixed(0),
        (dwarf / frames).toFixed(0),
        (dwarf / fp).toFixed(1),
        (first / frames).toFixed(0),
      ]);
      process.stderr.write(`${rows.at(-1).join(" | ")}\n`);
    }
  } finally {
    options.kernel.closeFd(statistics);
  }
  return table(
    ["frames", "frame pointers, ns", "unwound, ns", "a frame", "ratio", "a frame of a process just met"],
    rows,
  );
}

async function tables({ kernel }) {
  const library = /=> (\S+libc\S+)/.exec(spawnSync("ldd", ["/bin/sh"], { encoding: "utf8" }).stdout)?.[1];
  return table(
    ["binary", "rows", "bytes in the kernel", "made, ms", "read again, ms"],
    [library, realpathSync(process.execPath)].map((path) => {
      const { rows, bytes, made, read } = kernel.unwindingTable(path);
      return [path, String(rows), String(bytes), made.toFixed(0), read.toFixed(1)];
    }),
  );
}
