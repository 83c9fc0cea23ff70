// The library inside of other programs: many traces at once, threads that end in their midst, CommonJS, and its types
// as consumers of any kind see them.
import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { after, test } from "node:test";
import { promisify } from "node:util";
import { temporaryFolder } from "../support/strobe.ts";

const folder = temporaryFolder();
mkdirSync(join(folder.path, "node_modules/@types"), { recursive: true });
symlinkSync(resolve("."), join(folder.path, "node_modules/strobe"));
symlinkSync(resolve("node_modules/@types/node"), join(folder.path, "node_modules/@types/node"));
after(() => folder.remove());

async function run(name: string, text: string): Promise<readonly string[]> {
  writeFileSync(join(folder.path, name), text);
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [name], {
    cwd: folder.path,
    timeout: 300_000,
    encoding: "utf8",
  });
  assert.equal(stderr, "");
  return stdout.trimEnd().split("\n");
}

/** What of the kernel's a process holds: maps, programs, links, perf events. */
const held = `const held = () => require("node:fs").readdirSync("/proc/self/fd").filter((fd) => {
  try { return /bpf|perf/.test(require("node:fs").readlinkSync("/proc/self/fd/" + fd)); } catch { return false; }
}).length;`;

test("CommonJS requires it, and ten traces of one process count each their own", async () => {
  assert.deepEqual(
    await run(
      "ten.cjs",
      `
    ${held}
    const { execFileSync } = require("node:child_process");
    const { map, trace, tracepoint, pid, cpid, ScriptError } = require("strobe");
    (async () => {
      const traces = await Promise.all(Array.from({ length: 10 }, async (_, i) => {
        const calls = map();
        const session = await trace(tracepoint("syscalls:sys_enter_getppid", () => { if (pid === cpid) calls.count(); }, { calls }),
          { command: process.execPath + " -e 'for (let i = 0; i < " + (i + 1) * 10 + "; i++) process.ppid'" });
        return { calls, session };
      }));
      await Promise.all(traces.map(({ session }) => session.ended));
      console.log(traces.map(({ calls }) => calls.get()).join(), held());
      await trace("nonsense:x { }").catch((error) => console.log(error instanceof ScriptError, error.diagnostics[0].code));
    })();
  `,
    ),
    ["10,20,30,40,50,60,70,80,90,100 0", "true name"],
  );
});

test("worker threads trace, and what ends one ends its probes and nothing else", { timeout: 300_000 }, async () => {
  assert.deepEqual(
    await run(
      "workers.cjs",
      `
    ${held}
    const { once } = require("node:events");
    const { Worker, isMainThread, parentPort, workerData } = require("node:worker_threads");
    const { event, map, trace, tracepoint, interval } = require("strobe");
    async function main() {
      for (const how of ["stop", "exit", "terminate"]) {
        const workers = [1, 2, 3].map(() => new Worker(__filename, { workerData: how }));
        await Promise.all(workers.map(async (worker) => {
          const ended = once(worker, "exit");
          const [ticks] = await once(worker, "message");
          if (how === "terminate") await worker.terminate();
          await ended;
          if (ticks !== 3) console.log(ticks);
        }));
        console.log(how, held());
      }
    }
    async function worker() {
      const tick = event();
      const count = map();
      const session = await trace(interval("10ms", () => tick.emit({ n: 1 }), { tick }), tracepoint("syscalls:sys_enter_getpid", () => count.count(), { count }));
      let ticks = 0;
      for await (const { n } of tick) if ((ticks += n) === 3) break;
      if (workerData === "stop") await session[Symbol.asyncDispose]();
      parentPort.postMessage(ticks);
      if (workerData === "exit") setTimeout(() => process.exit(0), 50);
      if (workerData === "terminate") setInterval(() => {}, 1000);
    }
    void (isMainThread ? main() : worker());
  `,
    ),
    ["stop 0", "exit 0", "terminate 0"],
  );
});

test(
  "its types suit every consumer, also those that check them",
  { skip: spawnSync("test", ["-e", "dist/types/index.d.ts"]).status === 0 ? false : "the declarations are not built" },
  () => {
    const program = `
    import { event, map, trace, tracepoint, comm, type Trace, type MapOptions } from "strobe";
    const reads = map<[comm: string], "sum">();
    const opened = event<{ path: string; at?: number }>();
    export async function start(signal?: AbortSignal): Promise<number> {
      await using session: Trace = await trace(tracepoint("syscalls:sys_exit_read", (args) => { if (args.ret > 0) reads.at(comm).sum(args.ret); }), {
        ...(signal === undefined ? {} : { signal }),
      });
      for await (const { path } of opened) if (path === "") break;
      const rows: number = [...reads.entries()].length;
      return rows + session.attached;
    }
    // @ts-expect-error there is no such option
    export const wrong: MapOptions = { entires: 1 };
  `;
    const settings = [
      { module: "nodenext" },
      { module: "node16" },
      { module: "esnext", moduleResolution: "bundler" },
      { module: "preserve", moduleResolution: "bundler" },
    ];
    for (const [i, setting] of settings.entries()) {
      const place = join(folder.path, `types${i}`);
      mkdirSync(place);
      writeFileSync(join(place, "program.mts"), program);
      writeFileSync(
        join(place, "tsconfig.json"),
        JSON.stringify({
          compilerOptions: {
            ...setting,
            target: "es2022",
            lib: ["es2023", "esnext.disposable"],
            types: ["node"],
            noEmit: true,
            strict: true,
            exactOptionalPropertyTypes: true,
            noUncheckedIndexedAccess: true,
            noPropertyAccessFromIndexSignature: true,
            skipLibCheck: false,
          },
          include: ["program.mts"],
        }),
      );
      const { stdout } = spawnSync(resolve("node_modules/.bin/tsc"), ["-p", place], {
        encoding: "utf8",
        timeout: 300_000,
      });
      assert.equal(stdout, "", JSON.stringify(setting));
    }
  },
);
