// The command as one file: built, and run where there is no Node, nothing installed and no environment.
import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import {
  createProtocolConnection,
  StreamMessageReader,
  StreamMessageWriter,
  type InitializeResult,
  type PublishDiagnosticsParams,
} from "vscode-languageserver/node";
import { bpfObjects, command, compileC, nothingLeft, temporaryFolder } from "../support/strobe.ts";

const folder = temporaryFolder();
const single = join(folder.path, "strobe");
let objects = "";

before(() => {
  objects = bpfObjects();
  const built = spawnSync(process.execPath, ["single/build.mjs", single], { encoding: "utf8", timeout: 300_000 });
  assert.equal(built.status, 0, built.stderr);
});
after(async () => {
  await nothingLeft(objects);
  folder.remove();
});

interface Ended {
  readonly stdout: string;
  readonly stderr: string;
  readonly status: number | null;
}

const run = (...args: string[]): Ended => runIn({}, ...args);

function runIn(env: NodeJS.ProcessEnv, ...args: string[]): Ended {
  const { stdout, stderr, status } = spawnSync(single, args, {
    encoding: "utf8",
    cwd: folder.path,
    env,
    timeout: 300_000,
  });
  return { stdout, stderr, status };
}

test("it traces", () => {
  const program = compileC(
    folder.path,
    "calls",
    "__attribute__((noinline)) int half(int x) { return x / 2; } int main(void) { int s = 0; for (int i = 0; i < 50; i++) s += half(i); return s & 0; }",
    ["-O0"],
  );
  assert.deepEqual(run("-q", "-c", program, "-e", `uprobe:${program}:half { @sum = sum(arg0); @calls = count(); }`), {
    stdout: "\n\n@calls: 50\n@sum: 1225\n",
    stderr: "",
    status: 0,
  });
});

test("the instruction decoder is in it", () => {
  const { stderr, status } = run("-e", `uprobe:${join(folder.path, "calls")}:half+2 { }`);
  assert.equal(status, 1);
  assert.match(stderr, /is inside an instruction/);
});

test("options, mistakes and listings are the command's", () => {
  assert.deepEqual(run("-l", "tracepoint:sched:sched_switch"), {
    stdout: "tracepoint:sched:sched_switch\n",
    stderr: "",
    status: 0,
  });
  assert.match(run("-e", "begin { print(pidd) }").stderr, /did you mean `pid`\?/);
});

test("it runs programs in TypeScript", () => {
  const program = join(folder.path, "program.ts");
  writeFileSync(
    program,
    `import { exit, map, pid, trace, tracepoint } from "strobe";
    const own = process.pid;
    const calls = map<string, "count">();
    await using session = await trace(tracepoint("syscalls:sys_enter_umask", () => {
      if (pid !== own) return;
      calls.at("umask").count();
      exit();
    }));
    process.umask(0o22);
    await session.ended;
    console.log(process.argv[2] as string, JSON.stringify([...(await calls.entries())]));`,
  );
  for (const environment of [{}, { STROBE_CACHE: "no folder of ours", TMPDIR: folder.path }])
    assert.deepEqual(runIn(environment, "run", program, "counted"), {
      stdout: 'counted [["umask",1]]\n',
      stderr: "",
      status: 0,
    });
  assert.match(run("check", "absent.ts").stderr, /failed to open file 'absent.ts'/);
  assert.match(run("run", "absent.ts").stderr, /failed to open file 'absent.ts'/);
});

test("tools are in it, those in TypeScript as well", () => {
  assert.equal(run("tools").stdout, execFileSync(process.execPath, [command, "tools"], { encoding: "utf8" }));
  for (const tool of ["opens", "supervise"])
    assert.deepEqual(run(tool, "--help"), {
      stdout: execFileSync(process.execPath, [command, tool, "--help"], { encoding: "utf8" }),
      stderr: "",
      status: 0,
    });
  const { stderr, status } = run("supervise", "sh", "-c", "exit 3");
  assert.equal(status, 3);
  assert.match(stderr, /status 3  .*\/sh$/m);
});

test("help of messages and settings is in it", () => {
  for (const word of ["max_map_keys", "compiler.unrolledTooOften"])
    assert.equal(
      run("help", word).stdout,
      execFileSync(process.execPath, [command, "help", word], { encoding: "utf8" }),
    );
});

test("the language server is in it", async () => {
  const server = spawn(single, ["lsp"], { stdio: ["pipe", "pipe", "inherit"], env: {}, timeout: 300_000 });
  const connection = createProtocolConnection(
    new StreamMessageReader(server.stdout),
    new StreamMessageWriter(server.stdin),
  );
  connection.listen();
  const { serverInfo } = await connection.sendRequest<InitializeResult>("initialize", {
    processId: process.pid,
    rootUri: null,
    capabilities: {},
  });
  assert.equal(serverInfo?.name, "strobe");
  const marked = new Promise<PublishDiagnosticsParams>((done) =>
    connection.onNotification("textDocument/publishDiagnostics", done),
  );
  const uri = "file:///script.bt";
  const textDocument = { uri, languageId: "bpftrace", version: 1, text: "begin { print(pidd); }" };
  await connection.sendNotification("textDocument/didOpen", { textDocument });
  assert.match(JSON.stringify((await marked).diagnostics), /did you mean `pid`\?/);
  await connection.sendRequest("shutdown");
  await connection.sendNotification("exit");
  await new Promise((done) => server.once("exit", done));
  connection.dispose();
});

test("it leaves no file behind", () => {
  assert.deepEqual(readdirSync(folder.path).sort(), ["calls", "calls.c", "program.ts", "strobe"]);
});
