// Programs with probes in TypeScript, in each of the ways to run them, with the same exact counts: `strobe run`, the
// module hook (also under tsx), bundles, and plain JavaScript that says itself what its handlers capture. STROBE_NODES
// names other versions of Node to run them with, by path, with a colon between.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { strobe as plugin } from "../../src/esbuild-plugin.ts";
import { bpfObjects, nothingLeft, temporaryFolder } from "../support/strobe.ts";

const nodes = [process.execPath, ...(process.env["STROBE_NODES"] ?? "").split(":").filter((path) => path !== "")];
const command = resolve("dist/strobe.js");
const register = pathToFileURL(resolve("dist/register.mjs")).href;
const tsx = pathToFileURL(resolve("node_modules/tsx/dist/loader.mjs")).href;
const folder = temporaryFolder();
/** Has the library in its node_modules; the others have to be told where it is. */
const withLibrary = join(folder.path, "with-library");
const atStart = bpfObjects();

before(() => {
  mkdirSync(join(withLibrary, "node_modules"), { recursive: true });
  symlinkSync(resolve("."), join(withLibrary, "node_modules/strobe"));
});
after(async () => {
  await nothingLeft(atStart);
  folder.remove();
});

/**
 * Ten reads of 777 bytes and five of 5, told three ways: by a map, by a function that handlers share, and by events.
 */
const counting = `import { readSync, openSync } from "node:fs";
import * as strobe from "strobe";
import { comm as name, event, map, pid, trace, tracepoint, type u64 } from "strobe";
import { isOwn } from "./own.js";

const self: number = process.pid, large = 777, least = 6;
const small = map<number, "count">();
const bytes = map<[name: string], "sum">();
const calls = map<[], "count">();
const reads = event<{ ret: number }>();

const session = await trace(
  tracepoint("syscalls:sys_exit_read", {
    filter: () => isOwn(pid, self),
    handler: (args: { ret: u64 }) => {
      const { ret } = args;
      if (ret === large) {
        bytes.at(name).sum(ret);
        note(ret);
        reads.emit({ ret });
      }
    },
  }),
  ...[5, 6].map((size) => strobe.tracepoint("syscalls:sys_exit_read", (args: { ret: u64 }) => {
    if (strobe.pid === self && args.ret === size) small.at(size).count();
  })),
);
function note(ret: u64): void { if (ret > least) calls.count(); }
const fd = openSync("/dev/zero", "r");
for (let i = 0; i < 15; i++) readSync(fd, new Uint8Array(i < 10 ? large : 5));
session.stop();
await session.ended;
let count = 0;
for await (const { ret } of reads) count += ret;
console.log(JSON.stringify([[...bytes.values()], [...calls.values()], count, [...small.entries()]]));
`;
const expected = "[[7770],[10],7770,[[5,5]]]\n";
const own =
  'import { comm, type u32 } from "strobe";\nexport function isOwn(pid: u32, own: number): boolean { return pid === own && comm !== "nobody"; }\n';

function project(name: string, files: Readonly<Record<string, string>>, root = folder.path): string {
  const path = join(root, name);
  mkdirSync(path, { recursive: true });
  for (const [file, text] of Object.entries(files)) writeFileSync(join(path, file), text);
  return path;
}

interface Outcome {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number | null;
}

function run(node: string, args: readonly string[], cwd = folder.path): Promise<Outcome> {
  const { NODE_OPTIONS: _, ...env } = process.env;
  const child = spawn(node, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (data: string) => {
    stdout += data;
  });
  child.stderr.setEncoding("utf8").on("data", (data: string) => {
    stderr += data;
  });
  const deadline = setTimeout(() => child.kill("SIGKILL"), 300_000);
  return new Promise((done, failed) => {
    child.on("error", failed);
    child.on("close", (code) => {
      clearTimeout(deadline);
      done({ stdout, stderr, code });
    });
  });
}

for (const [index, node] of nodes.entries()) {
  const named = index === 0 ? "" : `, with ${node}`;

  test(`strobe run${named}`, async () => {
    const path = project("run", { "count.ts": counting, "own.ts": own });
    assert.deepEqual(await run(node, [command, "run", "count.ts"], path), { stdout: expected, stderr: "", code: 0 });
  });

  test(`node --import strobe/register${named}`, async () => {
    const path = project("import", { "count.ts": counting, "own.ts": own });
    assert.deepEqual(await run(node, ["--import", register, "count.ts"], path), {
      stdout: expected,
      stderr: "",
      code: 0,
    });
  });

  test(`tsx, before and after the hook${named}`, async () => {
    const path = project("tsx", {
      "package.json": '{ "type": "module" }',
      "count.ts": `enum Unused { A }\n${counting}`,
      "own.ts": own,
      "plain.ts": counting,
    });
    assert.deepEqual(await run(node, ["--import", tsx, "--import", register, "count.ts"], path), {
      stdout: expected,
      stderr: "",
      code: 0,
    });
    assert.deepEqual(await run(node, ["--import", register, "--import", tsx, "plain.ts"], path), {
      stdout: expected,
      stderr: "",
      code: 0,
    });
  });

  test(`JavaScript, as a module and as CommonJS${named}`, async () => {
    const module = `import { pid, map, trace, tracepoint } from "strobe"; import { readSync, openSync } from "node:fs";
      const self = process.pid, calls = map(); const session = await trace(tracepoint("syscalls:sys_exit_read", (args) => {
        if (pid === self && args.ret === 777) calls.count(); }));
      const fd = openSync("/dev/zero"); for (let i = 0; i < 7; i++) readSync(fd, new Uint8Array(777));
      session.stop(); await session.ended; console.log([...calls.values()]);`;
    const common = `const strobe = require("strobe"); const { readSync, openSync } = require("node:fs");
      async function main() { const self = process.pid, calls = strobe.map();
        const session = await strobe.trace(strobe.tracepoint("syscalls:sys_exit_read", (args) => {
          if (strobe.pid === self && args.ret === 777) calls.count(); }));
        const fd = openSync("/dev/zero"); for (let i = 0; i < 7; i++) readSync(fd, new Uint8Array(777));
        session.stop(); await session.ended; console.log([...calls.values()]); }
      main();`;
    const path = project("javascript", { "module.mjs": module, "common.cjs": common }, withLibrary);
    for (const file of ["module.mjs", "common.cjs"]) {
      const { stdout, stderr, code } = await run(node, ["--import", register, file], path);
      const others = stderr
        .split("\n")
        .filter((line) => line !== "" && !/ExperimentalWarning|--trace-warnings/.test(line));
      assert.deepEqual({ file, stdout, others, code }, { file, stdout: "[ 7 ]\n", others: [], code: 0 });
    }
  });

  test(`plain JavaScript that says what its handlers capture${named}`, async () => {
    const path = project(
      "plain",
      {
        "plain.mjs": `import { map, pid, trace, tracepoint } from "strobe"; import { readSync, openSync } from "node:fs";
      const self = process.pid, calls = map(); const session = await trace(tracepoint("syscalls:sys_exit_read", (args) => {
        if (pid === self && args.ret === 777) calls.count(); }, { self, calls }));
      const fd = openSync("/dev/zero"); for (let i = 0; i < 7; i++) readSync(fd, new Uint8Array(777));
      session.stop(); await session.ended; console.log([...calls.values()]);`,
      },
      withLibrary,
    );
    assert.deepEqual(await run(node, ["plain.mjs"], path), { stdout: "[ 7 ]\n", stderr: "", code: 0 });
  });

  test(`the library by way of the program's own modules${named}`, async () => {
    const files = {
      "tracing.ts":
        'export * from "./probes.ts";\nexport { tracepoint as tp, trace, map as counts } from "strobe";\nexport * as everything from "strobe";\n',
      "probes.ts": `import { pid, tracepoint, type Handler, type Probe } from "strobe"; import { readers } from "./circle.ts";
        const self = process.pid;
        export const onRead = (handler: (args: any) => void): Probe => tracepoint("syscalls:sys_exit_read", { filter: () => pid === self, handler });
        export function all(handlers: readonly ((args: any) => void)[]): Probe[] { return handlers.map((one) => onRead(one)); }
        export { readers };\n`,
      "circle.ts": 'export * from "./probes.ts";\nexport const readers = 2;\n',
      "main.ts": `import { counts, onRead, tp, trace, readers } from "./tracing.ts"; import { openSync, readSync } from "node:fs";
        const one = counts(), two = counts(), self = process.pid, size = 777;
        const session = await trace(onRead((args) => { if (args.ret === size) one.count(); }), tp("syscalls:sys_exit_read", (args) => { if (args.ret === size) two.sum(readers); }));
        const fd = openSync("/dev/zero"); for (let i = 0; i < 7; i++) readSync(fd, new Uint8Array(size));
        session.stop(); await session.ended; console.log([...one.values()], [...two.values()].every((sum) => sum >= 14));\n`,
    };
    const path = project("handed-on", files, withLibrary);
    const wanted = { stdout: "[ 7 ] true\n", stderr: "", code: 0 };
    assert.deepEqual(await run(node, [command, "run", "main.ts"], path), wanted);
    assert.deepEqual(await run(node, ["--import", register, "main.ts"], path), wanted);
    // What is kept of a file for the next run goes by what is behind it, too.
    const other = (name: string, text: string): Promise<Outcome> => {
      writeFileSync(
        join(path, "probes.ts"),
        files["probes.ts"].replace("onRead = (handler", `${name} = (handler`).replace("onRead(one)", `${name}(one)`),
      );
      writeFileSync(join(path, "tracing.ts"), text);
      return run(node, [command, "run", "main.ts"], path);
    };
    assert.match(
      (await other("made", `${files["tracing.ts"]}export const onRead = (given: unknown) => given;\n`)).stderr,
      /trace\(\) takes/,
    );
    assert.deepEqual(await other("onRead", files["tracing.ts"]), wanted);
    const outfile = join(path, "out.mjs");
    await build({
      entryPoints: [join(path, "main.ts")],
      bundle: true,
      platform: "node",
      format: "esm",
      minify: true,
      outfile,
      external: ["strobe"],
      plugins: [plugin()],
      logLevel: "error",
    });
    assert.deepEqual(await run(node, [outfile], path), wanted);
  });

  test(`what nobody caught is shown where it is, by Node itself${named}`, async () => {
    const path = project(
      "uncaught",
      {
        "count.mjs": `import { map, trace, tracepoint } from "strobe";
const calls = map();
await trace(tracepoint("syscalls:sys_exit_read", (args) => { calls.count(args.ret); }));
`,
      },
      withLibrary,
    );
    const { stdout, stderr, code } = await run(node, ["count.mjs"], path);
    assert.deepEqual([stdout, code], ["", 1]);
    const [, place, message] =
      /^(file:.*count\.mjs:3)\n.*\n *\^\n\s*(ScriptError: [^]*)\n    at async file:.*count\.mjs:3:1\n\nNode\.js/.exec(
        stderr,
      ) ?? [];
    assert.ok(place, stderr);
    assert.equal(
      message,
      `ScriptError: handler:1:50: error: \`calls\` cannot be resolved from the handler's source
 1 │ tracepoint("syscalls:sys_exit_read", (args) => { calls.count(args.ret); })
   │                                                  ^^^^^
help: pass it along: tracepoint(…, handler, { calls }); or run the file with \`strobe run\` or \`node --import strobe/register\`, or bundle it with strobe's plugin for esbuild, Vite or Rollup, which do that`,
    );
  });

  test(`bundles of esbuild, also minified${named}`, async () => {
    const path = project("bundle", { "count.ts": counting, "own.ts": own }, withLibrary);
    for (const minify of [false, true]) {
      const outfile = join(path, `out-${minify}.mjs`);
      await build({
        entryPoints: [join(path, "count.ts")],
        bundle: true,
        platform: "node",
        format: "esm",
        minify,
        outfile,
        external: ["strobe"],
        plugins: [plugin()],
        logLevel: "error",
        sourcemap: true,
      });
      assert.deepEqual(await run(node, [outfile], path), { stdout: expected, stderr: "", code: 0 });
    }
  });

  test(`using, also where Node has none${named}`, async () => {
    const path = project("using", {
      "using.ts": `import { begin, print, trace } from "strobe";
const held = (name: string) => ({ name, [Symbol.asyncDispose]: async () => console.log("let go of", name), [Symbol.dispose]: () => console.log("dropped", name) });
async function inside(): Promise<number> {
  await using a = held("a"), b = held("b");
  using c = held("c");
  console.log(a.name, b.name, c.name);
  return 1;
}
await inside();
try {
  using d = held("d");
  throw new Error(d.name);
} catch (error) { console.log((error as Error).stack?.split("\\n")[1]?.replace(/^.*\\/|\\)$/g, "")); }
await using session = await trace(begin(() => print("traced")));
using none = null;
await using last = held("last");
console.log("end", session.attached, none)`,
      "other.ts": "{ using x = { [Symbol.dispose]: (): void => console.log('other') }; }\n",
    });
    assert.deepEqual(await run(node, [command, "run", "using.ts"], path), {
      stdout:
        "a b c\ndropped c\nlet go of b\nlet go of a\ndropped d\nusing.ts:12:9\ntraced\nend 1 null\nlet go of last\n",
      stderr: "",
      code: 0,
    });
    assert.deepEqual(await run(node, [command, "run", "other.ts"], path), { stdout: "other\n", stderr: "", code: 0 });
  });

  test(`what strobe run hands to the program, and what becomes of it${named}`, async () => {
    const path = project("node", {
      "args.ts": "const [, file, ...rest]: string[] = process.argv; console.log(file, rest); process.exitCode = 7;",
      "later.ts":
        'import "strobe"; process.on("exit", (code) => console.log("exit", code)); setTimeout(() => { throw new RangeError("later"); }, 10);\n',
      "caught.ts":
        'process.on("uncaughtException", (error) => console.log("caught", error.message)); setTimeout(() => { throw new Error("mine"); }, 10);',
      "syntax.ts": 'import "strobe"; const a: number = ;\n',
      "bad.ts":
        'import { comm, trace, tracepoint } from "strobe";\ninterface Read { ret: number }\n\nawait trace(tracepoint("syscalls:sys_exit_read", ' +
        "(args: Read) => {\n  if (args.rett > 0) console.log(comm);\n}));\n",
    });
    assert.deepEqual(await run(node, [command, "run", "args.ts", "-x", "a b", "--", "c"], path), {
      stdout: `${join(path, "args.ts")} [ '-x', 'a b', '--', 'c' ]\n`,
      stderr: "",
      code: 7,
    });
    const later = await run(node, [command, "run", "later.ts"], path);
    assert.match(later.stderr, /^RangeError: later\n +at .*later\.ts:1:/);
    assert.deepEqual([later.stdout, later.code], ["exit 1\n", 1]);
    assert.deepEqual(await run(node, [command, "run", "caught.ts"], path), {
      stdout: "caught mine\n",
      stderr: "",
      code: 0,
    });
    assert.deepEqual(await run(node, [command, "run", "syntax.ts"], path), {
      stdout: "",
      code: 1,
      stderr: `${join(path, "syntax.ts")}:1:36: error: expression expected\n 1 │ import "strobe"; const a: number = ;\n   │                                    ^\n`,
    });
    assert.deepEqual(await run(node, [command, "run", "bad.ts"], path), {
      stdout: "",
      code: 1,
      stderr:
        `${join(path, "bad.ts")}:5:12: error: tracepoint:syscalls:sys_exit_read has no argument \`rett\`\n` +
        " 5 │   if (args.rett > 0) console.log(comm);\n   │            ^^^^\nhelp: did you mean `ret`?\n",
    });
  });
}

test("what strobe run does not take", async () => {
  for (const [args, message] of [
    [[], /nothing to run: give a program's path/],
    [["-p", "1"], /strobe run has no option -p/],
    [["x.bt"], /takes a program in TypeScript or JavaScript/],
    [["missing.ts"], /failed to open file 'missing\.ts': no such file/],
  ] as const) {
    const { stderr, code } = await run(process.execPath, [command, "run", ...args]);
    assert.match(stderr, message);
    assert.equal(code, 1);
  }
});
