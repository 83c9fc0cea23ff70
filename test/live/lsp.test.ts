// The language server as an editor meets it: through the protocol.
import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import {
  createProtocolConnection,
  StreamMessageReader,
  StreamMessageWriter,
  type CompletionList,
  type Diagnostic,
  type DocumentSymbol,
  type CodeAction,
  type CodeLens,
  type Hover,
  type InitializeResult,
  type Location,
  type ProtocolConnection,
  type PublishDiagnosticsParams,
  type SignatureHelp,
  type TextEdit,
  type WorkspaceEdit,
} from "vscode-languageserver/node";
import { command, temporaryFolder } from "../support/strobe.ts";

const uri = "file:///script.bt";
let server: ChildProcess;
let connection: ProtocolConnection;
let published: (diagnostics: Diagnostic[]) => void = () => {};
let version = 0;

before(async () => {
  server = spawn(process.execPath, [command, "lsp"], { stdio: ["pipe", "pipe", "inherit"], timeout: 300_000 });
  assert.ok(server.stdin !== null && server.stdout !== null);
  connection = createProtocolConnection(new StreamMessageReader(server.stdout), new StreamMessageWriter(server.stdin));
  connection.onNotification(
    "textDocument/publishDiagnostics",
    ({ diagnostics, version: of }: PublishDiagnosticsParams) => {
      if (of === version) published(diagnostics);
    },
  );
  connection.listen();
  const { capabilities } = await connection.sendRequest<InitializeResult>("initialize", {
    processId: process.pid,
    rootUri: null,
    capabilities: {},
    initializationOptions: { run: true },
  });
  assert.equal(capabilities.hoverProvider, true);
  await connection.sendNotification("initialized", {});
  await connection.sendNotification("textDocument/didOpen", {
    textDocument: { uri, languageId: "bpftrace", version, text: "" },
  });
});

after(async () => {
  await connection.sendRequest("shutdown");
  await connection.sendNotification("exit");
  await new Promise((resolve) => {
    server.once("exit", resolve);
  });
  connection.dispose();
});

/** Replaces the document; gives what is then published. */
async function write(text: string): Promise<Diagnostic[]> {
  version++;
  const diagnostics = new Promise<Diagnostic[]>((resolve) => {
    published = resolve;
  });
  await connection.sendNotification("textDocument/didChange", {
    textDocument: { uri, version },
    contentChanges: [{ text }],
  });
  return diagnostics;
}

/** The text with the cursor's mark taken out, and where it was. */
function marked(text: string): { text: string; position: { line: number; character: number } } {
  const lines = text.slice(0, text.indexOf("‸")).split("\n");
  return {
    text: text.replace("‸", ""),
    position: { line: lines.length - 1, character: lines[lines.length - 1].length },
  };
}

async function ask<T>(method: string, script: string): Promise<T> {
  const { text, position } = marked(script);
  await write(text);
  return connection.sendRequest<T>(method, { textDocument: { uri }, position });
}

async function labels(script: string): Promise<string[]> {
  return (await ask<CompletionList>("textDocument/completion", script)).items.map(({ label }) => label);
}

async function shown(script: string): Promise<string> {
  const hover = await ask<Hover | null>("textDocument/hover", script);
  return hover === null ? "" : (hover.contents as { value: string }).value;
}

test("mistakes come as diagnostics, where they are, with what to do", async () => {
  assert.deepEqual(await write("begin { print(pid); }"), []);
  const [mistake, ...others] = await write("begin {\n  print(pidd);\n}");
  assert.deepEqual(others, []);
  assert.deepEqual(mistake.range, { start: { line: 1, character: 8 }, end: { line: 1, character: 12 } });
  assert.deepEqual([mistake.severity, mistake.code, mistake.source], [1, "name", "strobe"]);
  assert.match(JSON.stringify(mistake.message), /did you mean `pid`\?/);
});

test("a probe of this machine that does not exist is red", async () => {
  const [mistake] = await write("tracepoint:sched:sched_swich { }");
  assert.deepEqual(mistake.range.start, { line: 0, character: 0 });
  assert.match(JSON.stringify(mistake.message), /sched_switch/);
});

test("positional parameters are no mistake in an editor", async () => {
  assert.deepEqual(await write("interval:ms:$1 { print(str($2)); exit(); }"), []);
});

test("probes complete part by part", async () => {
  assert.ok((await labels("trace‸")).includes("tracepoint"));
  assert.deepEqual(await labels("tracepoint:sched:sched_switc‸"), ["tracepoint:sched:sched_switch"]);
  assert.deepEqual(await labels("begin { }\nt:sched:sched_switc‸ { }"), ["t:sched:sched_switch"]);
  const many = await ask<CompletionList>("textDocument/completion", "tracepoint:‸");
  assert.equal(many.isIncomplete, true);
});

test("arguments, members and settings complete behind a dot, in unfinished lines too", async () => {
  const fields = ["prev_comm", "prev_pid", "prev_prio", "prev_state", "next_comm", "next_pid", "next_prio"];
  assert.deepEqual(await labels('tracepoint:sched:sched_switch { printf("%d", args.‸ }'), fields);
  assert.deepEqual(await labels("tracepoint:sched:sched_switch /args.‸"), fields);
  const members = await labels("begin { $t = curtask; print($t->parent->‸); }");
  assert.deepEqual(
    ["pid", "tgid", "comm", "mm"].filter((name) => members.includes(name)),
    ["pid", "tgid", "comm", "mm"],
  );
  assert.deepEqual(await labels('interval:s:1 { $r = (first=1, second="x"); print($r.‸); }'), ["first", "second"]);
  assert.ok((await labels("begin { print(config.‸); }")).includes("max_strlen"));
});

test("names of the script and builtins complete in bodies", async () => {
  const script = 'fn twice($x : uint64) : uint64 { return $x * 2; }\nbegin { $count = 1; @seen["a"] = $count; ‸ }';
  const all = await labels(script);
  for (const name of ["$count", "@seen", "twice", "printf", "nsecs", "if"]) assert.ok(all.includes(name), name);
  assert.deepEqual(await labels(script.replace("‸", "$c‸")), ["$count"]);
  assert.deepEqual(await labels('begin { print("‸"); }'), []);
  assert.deepEqual(await labels("begin { } // ‸"), []);
});

test("types and constants of the kernel complete by their first letters", async () => {
  assert.ok((await labels("kprobe:vfs_read { print(((struct task_str‸")).includes("task_struct"));
  assert.ok((await labels("begin { print(sizeof(struct tcp_soc‸)); }")).every((name) => name.startsWith("tcp_soc")));
  const states = await labels("tracepoint:sock:inet_sock_set_state /args.newstate == TCP_LISTE‸/ { }");
  assert.deepEqual(
    states.filter((name) => name.startsWith("TCP_")),
    ["TCP_LISTEN"],
  );
  const many = await ask<CompletionList>("textDocument/completion", "begin { $x = (struct ‸");
  assert.deepEqual([many.items.length, many.isIncomplete], [400, true]);
});

test("hovering shows types, docs and a probe's arguments", async () => {
  assert.match(await shown("begin { $x‸ = (uint8)1; }"), /\$x : uint8/);
  assert.match(await shown("begin { @m[pid, comm] = 1; print(@m‸); }"), /@m\[uint64, string\[16\]\] : int64/);
  assert.match(await shown("begin { print(ns‸ecs); }"), /nsecs/);
  assert.match(
    await shown("tracepoint:sched:sched_sw‸itch { }"),
    /tracepoint:sched:sched_switch\n\s+char prev_comm\[16\]/,
  );
  assert.match(await shown("tracepoint:sched:sched_switch { print(args.next_‸pid); }"), /next_pid : int32/);
});

/** Of the form that fits: its label, and the parameter that is being written. */
async function called(script: string): Promise<readonly string[] | undefined> {
  const help = await ask<SignatureHelp | null>("textDocument/signatureHelp", script);
  if (help === null) return undefined;
  const { label, parameters = [], activeParameter } = help.signatures[help.activeSignature ?? 0];
  const span = parameters[activeParameter ?? 0]?.label as [number, number] | undefined;
  return [label, span === undefined ? "" : label.slice(...span)];
}

test("a call being written shows what it takes, and which of it comes next", async () => {
  assert.deepEqual(await called("begin { print(str(‸"), ["str(pointer [, length])", "pointer"]);
  assert.deepEqual(await called("begin { print(str(0, ‸)); }"), ["str(pointer [, length])", "length"]);
  assert.deepEqual(await called("begin { print(str(0), ‸); }"), ["print(@map [, top [, divisor]])", "top"]);
  assert.deepEqual(await called("begin { print(‸); }"), ["print(value)", "value"]);
  assert.deepEqual(await called('begin { printf("a, (%d // %d", pid, ‸); }'), ['printf("format", …)', "…"]);
  assert.deepEqual(await called('begin { printf("a, (‸%d", pid); }'), ['printf("format", …)', '"format"']);
  assert.deepEqual(await called("begin { @ = lhist(pid, 0, ‸"), ["@ = lhist(n, min, max, step)", "max"]);
  // One argument is the address, and of a stack's there is no telling.
  assert.deepEqual(await called("begin { print(ntop(‸0)); }"), ["ntop([family, ]address)", "address"]);
  assert.deepEqual(await called("begin { print(ntop(‸2, 0)); }"), ["ntop([family, ]address)", "family"]);
  assert.deepEqual(await called("begin { print(kstack(‸3)); }"), ["kstack([mode, ][limit])", ""]);
  assert.deepEqual(await called("begin { print(strlen(a, ‸)); }"), ["strlen(text)", ""]);
  const own =
    "fn add($a : uint64, $b : uint64) : uint64 { return $a + $b; }\nmacro put(@m, $k) { @m[$k] = 1 }\nuprobe:/bin/*:f { ";
  assert.deepEqual(await called(`${own}print(add(1, ‸`), ["add($a : uint64, $b : uint64) : uint64", "$b : uint64"]);
  assert.deepEqual(await called(`${own}put!(‸@x, $y); }`), ["put(@m, $k)", "@m"]);
  for (const script of [
    "begin { print(1)‸ }",
    "begin { str(1; print‸ }",
    "begin { str( }\nend { ‸ }",
    "begin { if (‸1) { } }",
    "begin { str(1 // ‸\n) }",
    "fn f(‸",
  ])
    assert.equal(await called(script), undefined, script);
});

test("a misspelt name is replaced by what was meant, and nothing around it", async () => {
  const mended = async (text: string): Promise<readonly string[]> => {
    const [{ range }] = await write(text);
    const actions = await connection.sendRequest<CodeAction[]>("textDocument/codeAction", {
      textDocument: { uri },
      range,
      context: { diagnostics: [] },
    });
    return actions.map(({ edit }) => {
      const [{ range: at, newText }] = edit?.changes?.[uri] ?? [];
      const lines = text.split("\n");
      assert.equal(at.start.line, at.end.line);
      const line = lines[at.start.line];
      lines[at.start.line] = line.slice(0, at.start.character) + newText + line.slice(at.end.character);
      return lines.join("\n");
    });
  };
  const cases = [
    ["begin {\n  print(elapsd);\n}", "begin {\n  print(elapsed);\n}"],
    ['begin { prinft("prinft %d", pid); }', 'begin { printf("prinft %d", pid); }'],
    ["tracepoint:sched:sched_swich { }", "tracepoint:sched:sched_switch { }"],
    ['begin { signal("SIGKIL"); }', 'begin { signal("SIGKILL"); }'],
    ["sched:sched_switch { }", "tracepoint:sched:sched_switch { }"],
    [
      "tracepoint:sched:sched_switch { print(args.next_pidd); }",
      "tracepoint:sched:sched_switch { print(args.next_pid); }",
    ],
    ["begin { @opened[pid] = 1; }\nend { print(@openned); }", "begin { @opened[pid] = 1; }\nend { print(@opened); }"],
    ["begin { $total = 1; print($totl); }", "begin { $total = 1; print($total); }"],
  ];
  for (const [wrong, right] of cases) assert.ok((await mended(wrong)).includes(right), wrong);
  assert.deepEqual(await mended("begin { print(zzzzzzzzz); }"), []);
});

test("a name leads to where it was made", async () => {
  const place = async (script: string): Promise<unknown> =>
    (await ask<Location | null>("textDocument/definition", script))?.range.start;
  assert.deepEqual(await place("begin { $a = 1;\n print($a‸); }"), { line: 0, character: 8 });
  assert.deepEqual(await place("// @m\nbegin { @m = 1; }\nend { print(@m‸); }"), { line: 1, character: 8 });
  assert.deepEqual(await place("fn f($x : uint64) : uint64 { return $x; }\nbegin { print(f‸(1)); }"), {
    line: 0,
    character: 3,
  });
  assert.deepEqual(await place("macro twice(x) { x * 2 }\nbegin { print(twi‸ce(1)); }"), { line: 0, character: 6 });
  assert.equal(await place("begin { print(pi‸d); }"), undefined);
});

test("a map, a variable, a function gets another name wherever the script has it, or is refused with the reason", async () => {
  const rename = async (script: string, newName: string): Promise<string> => {
    const { text, position } = marked(script);
    await write(text);
    const params = { textDocument: { uri }, position, newName };
    try {
      const { changes } = await connection.sendRequest<WorkspaceEdit>("textDocument/rename", params);
      const lines = text.split("\n");
      for (const { range, newText } of (changes?.[uri] ?? []).toReversed()) {
        const { line } = range.start;
        lines[line] = lines[line].slice(0, range.start.character) + newText + lines[line].slice(range.end.character);
      }
      return lines.join("\n");
    } catch (error) {
      return (error as Error).message;
    }
  };
  const maps =
    'macro put(@m, $k) { @m[$k] = 1 }\nbegin { @m[1] = 2; put!(@m, 3); /* @m */ printf("@m"); }\nend { print(@m‸); }';
  const others =
    'macro put(@m, $k) { @m[$k] = 1 }\nbegin { @n[1] = 2; put!(@n, 3); /* @m */ printf("@m"); }\nend { print(@n); }';
  // The macro writes through a variable of its own.
  const k = (text: string): string =>
    text.replace("put!(@m, 3)", "$k = 3; put!(@m, $k)").replace("put!(@n, 3)", "$k = 3; put!(@n, $k)");
  assert.equal(await rename(k(maps), "n"), k(others));
  assert.equal(await rename(k(maps), "@n"), k(others));
  assert.equal(
    await rename("macro put(@m‸, $k) { @m[$k] = 1 }\nbegin { $k = 1; put!(@m, $k); }", "p"),
    "macro put(@p, $k) { @p[$k] = 1 }\nbegin { $k = 1; put!(@m, $k); }",
  );
  assert.equal(
    await rename("begin { $a‸ = 1; print($a); }\nend { $a = 2; print($a); }", "$b"),
    "begin { $b = 1; print($b); }\nend { $a = 2; print($a); }",
  );
  assert.equal(
    await rename("fn pid_of($x : uint64) : uint64 { return $x; }\nbegin { print(pid‸_of(pid_of(1))); }", "same"),
    "fn same($x : uint64) : uint64 { return $x; }\nbegin { print(same(same(1))); }",
  );
  assert.equal(await rename("begin { $a‸ = 1; $b = $a; }", "b"), "the script has a `$b` already");
  assert.equal(await rename("begin { $a‸ = 1; }", "1b"), "`$1b` is no name");
  assert.equal(await rename("begin { @a‸ = 1; print(pidd); }", "b"), "the script has mistakes: mend them first");
  assert.equal(
    await rename("fn f‸($x : uint64) : uint64 { return $x; }\nbegin { print(f(1)); }", "strlen"),
    "`strlen` is a word of the language",
  );
  assert.match(await rename("begin { print(pi‸d); }", "b"), /^only the script's own/);
  assert.equal(await rename("#define A $a\nbegin { $a‸ = 1; print(A); }", "b"), "the script would be wrong with `$b`");
  const places = await ask<Location[]>("textDocument/references", "begin { @c = 1; }\nend { print(@c‸); }");
  assert.deepEqual(
    places.map(({ range: { start } }) => start),
    [
      { line: 0, character: 8 },
      { line: 1, character: 12 },
    ],
  );
});

test("the outline lists probes, functions and types; formatting is strobe fmt's", async () => {
  await write("struct S{int a;}; fn f($x:uint64):uint64{return $x;}\nbegin,end{print(f(1))}");
  const symbols = await connection.sendRequest<DocumentSymbol[]>("textDocument/documentSymbol", {
    textDocument: { uri },
  });
  assert.deepEqual(
    symbols.map(({ name }) => name),
    ["S", "f", "begin, end"],
  );
  const [{ newText }] = await connection.sendRequest<TextEdit[]>("textDocument/formatting", {
    textDocument: { uri },
    options: {},
  });
  assert.equal(
    newText,
    "struct S { int a; };\nfn f($x : uint64) : uint64 { return $x; }\nbegin, end { print(f(1)) }\n",
  );
});

test("mistakes of a long script come in time, and those of an older text do not come", async () => {
  const probes = Array.from(
    { length: 200 },
    (_, i) => `tracepoint:sched:sched_switch /args.next_pid == ${i}/ { @a[args.prev_comm, ${i}] = count(); }\n`,
  );
  await write(probes.join(""));
  const times: number[] = [];
  // Of the CPU: the machine may be busy.
  const cpuSeconds = (): number => {
    const fields = readFileSync(`/proc/${server.pid}/stat`, "latin1").split(") ").at(-1)?.split(" ") ?? [];
    return (Number(fields[11]) + Number(fields[12])) / 100;
  };
  for (let i = 0; i < 3; i++) {
    const begun = cpuSeconds();
    const [mistake] = await write(`${probes.join("")}begin { print(pidd${i}); }`);
    times.push(cpuSeconds() - begun);
    assert.equal(mistake.range.start.line, 200);
  }
  assert.ok(Math.min(...times) < 5, `${times.join()} s`);
  const old = write("begin { print(olld); }");
  let answered = false;
  void old.then(() => {
    answered = true;
  });
  assert.deepEqual(await write("begin { print(pid); }"), []);
  assert.equal(answered, false);
});

test("positions that are in no text have answers", async () => {
  await write('begin { print("😀", pid); }');
  const positions = [
    { line: -1, character: 3 },
    { line: 7e8, character: -2 },
    { line: 0, character: 1e9 },
    { line: 0, character: 16 },
    { line: 0.5, character: 1.5 },
  ];
  for (const position of positions) {
    for (const method of ["hover", "completion", "definition", "signatureHelp", "prepareRename"])
      await connection.sendRequest(`textDocument/${method}`, { textDocument: { uri }, position });
  }
  await connection.sendNotification("textDocument/didChange", {
    textDocument: { uri, version: ++version },
    contentChanges: [
      { range: { start: { line: 9, character: 9 }, end: { line: 99, character: 0 } }, text: "\nbegin { }" },
    ],
  });
  assert.deepEqual(await write("begin { }"), []);
});

test(
  "who is not root is told what cannot be seen, and has the rest",
  { skip: process.geteuid?.() === 0 ? false : "only root can become somebody else" },
  async () => {
    const text = "tracepoint:sched:sched_switch { print(args.next_pid); }\nbegin { print(pidd); }";
    // Its own copy: what root has built may be in a folder that is closed to others.
    const folder = temporaryFolder();
    try {
      chmodSync(folder.path, 0o755);
      cpSync(resolve("dist/lsp.js"), join(folder.path, "lsp.js"));
      mkdirSync(join(folder.path, "node_modules"));
      for (const name of ["koffi", "@koromix"])
        cpSync(resolve("node_modules", name), join(folder.path, "node_modules", name), {
          recursive: true,
          dereference: true,
        });
      const own = spawn(process.execPath, ["-e", `require(${JSON.stringify(join(folder.path, "lsp.js"))}).serve()`], {
        stdio: ["pipe", "pipe", "inherit"],
        uid: 65534,
        gid: 65534,
        cwd: "/",
        timeout: 300_000,
      });
      const other = createProtocolConnection(new StreamMessageReader(own.stdout), new StreamMessageWriter(own.stdin));
      const told = new Promise<PublishDiagnosticsParams>((done) => {
        other.onNotification("textDocument/publishDiagnostics", done);
      });
      other.listen();
      await other.sendRequest("initialize", { processId: process.pid, rootUri: null, capabilities: {} });
      await other.sendNotification("initialized", {});
      await other.sendNotification("textDocument/didOpen", {
        textDocument: { uri, languageId: "bpftrace", version: 0, text },
      });
      const { diagnostics } = await told;
      assert.deepEqual(
        diagnostics.map(({ severity, range }) => [severity, range.start.line]),
        [
          [2, 0],
          [1, 1],
        ],
      );
      assert.match(JSON.stringify(diagnostics[0].message), /root alone.*sudo strobe lsp/);
      const list = await other.sendRequest<CompletionList>("textDocument/completion", {
        textDocument: { uri },
        position: { line: 0, character: 23 },
      });
      assert.deepEqual(list.items, []);
      await other.sendRequest("shutdown");
      await other.sendNotification("exit");
      await new Promise((ended) => {
        own.once("exit", ended);
      });
      other.dispose();
    } finally {
      folder.remove();
    }
  },
);

test("any text at all gets an answer", async () => {
  for (const text of [
    "‸",
    "}‸",
    "begin { ((((‸",
    "begin { $x = @[‸",
    "kprobe:‸",
    "/* ‸",
    "tracepoint:a:b /‸",
    "begin { .‸ }",
    "begin { )‸.",
    "macro m(x) {‸",
  ]) {
    const list = await ask<CompletionList>("textDocument/completion", text);
    assert.ok(Array.isArray(list.items), text);
    await ask("textDocument/hover", text);
    await ask("textDocument/definition", text);
    await ask("textDocument/signatureHelp", text);
    await ask("textDocument/prepareRename", text);
  }
});

/** Another document, in the language that its name tells. */
async function other<T>(name: string, method: string, script: string, more: object = {}): Promise<T> {
  const { text, position } = marked(script);
  const textDocument = { uri: `file:///${name}` };
  await connection.sendNotification("textDocument/didOpen", { textDocument: { ...textDocument, version: 1, text } });
  const answer = await connection.sendRequest<T>(method, { textDocument, position, ...more });
  await connection.sendNotification("textDocument/didClose", { textDocument });
  return answer;
}

async function otherLabels(name: string, script: string): Promise<string[]> {
  return (await other<CompletionList>(name, "textDocument/completion", script)).items.map(({ label }) => label);
}

async function otherShown(name: string, script: string): Promise<string> {
  const hover = await other<Hover | null>(name, "textDocument/hover", script);
  return hover === null ? "" : (hover.contents as { value: string }).value;
}

/** The text with another name for what the mark stands in. */
async function otherRenamed(name: string, script: string, newName: string): Promise<string> {
  const edit = await other<WorkspaceEdit>(name, "textDocument/rename", script, { newName });
  const { text } = marked(script);
  const starts = [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)];
  return Object.values(edit.changes ?? {})
    .flat()
    .reduceRight(
      (to, { range: { start, end }, newText }) =>
        to.slice(0, starts[start.line] + start.character) + newText + to.slice(starts[end.line] + end.character),
      text,
    );
}

test("SystemTap: probes, arguments, members and the library complete", async () => {
  const file = "a.stp";
  assert.ok((await otherLabels(file, "‸")).includes("probe"));
  assert.deepEqual(await otherLabels(file, "probe ker‸"), [
    'kernel.function("',
    'kernel.trace("',
    'kernel.statement("',
  ]);
  assert.deepEqual(await otherLabels(file, 'probe begin, kernel.trace("sched_switc‸'), [
    'kernel.trace("sched_switch")',
  ]);
  // An editor has closed what was opened.
  assert.deepEqual(await otherLabels(file, 'probe kernel.trace("sched_switc‸")'), ['kernel.trace("sched_switch']);
  assert.deepEqual(await otherLabels(file, "probe syscall.openat‸ { }"), ["syscall.openat", "syscall.openat2"]);
  const targets = await otherLabels(file, 'probe kernel.trace("sched_switch") { println($‸) }');
  assert.deepEqual(targets.slice(0, 3), ["$preempt", "$prev", "$next"]);
  const members = await otherLabels(file, 'probe kernel.trace("sched_switch") { println($prev->‸) }');
  assert.ok(members.includes("tgid") && !members.includes("execname"));
  const names = await otherLabels(file, "global reads\nfunction twice(x) { return x }\nprobe begin { mine = 1; ‸ }");
  assert.deepEqual(
    ["reads", "mine", "twice", "x", "execname", "foreach", "task_execname"].map((name) => names.includes(name)),
    [true, true, true, false, true, true, true],
  );
});

test("SystemTap: hover, signatures, definition and other names", async () => {
  const file = "b.stp";
  assert.match(
    await otherShown(file, "probe begin { println(exec‸name()) }"),
    /execname:string \(\)\n.*\n\nName of the/s,
  );
  assert.match(await otherShown(file, "global n probe begin { ‸n[1] = 2 }"), /n\[int64\] : int64/);
  assert.match(await otherShown(file, "probe begin { xy‸ = 2 }"), /xy : int64/);
  assert.match(
    await otherShown(file, 'probe kernel.trace("sched_switch") { println($pr‸ev->pid) }'),
    /struct task_struct \*/,
  );
  assert.match(await otherShown(file, 'probe kernel.trace("sched_‸switch") { }'), /struct task_struct \* prev/);
  const help = await other<SignatureHelp>(file, "textDocument/signatureHelp", "probe begin { println(substr(a, ‸");
  assert.deepEqual(
    [help.signatures[0].label, help.activeParameter],
    ["substr:string (arg1:string, arg2:long, arg3:long)", 1],
  );
  const script = [
    "global reads, seen[100] // reads",
    "function twice:long (x:long) { return x * 2 }",
    'probe kernel.trace("sched_switch") { x = cpu() reads[execname()] <<< twice(x) seen[$prev->pid]++ }',
    'probe timer.s(1) { foreach (n in reads) printf("reads %s %d\\n", n, @count(reads[n])) exit() }',
  ].join("\n");
  const at = (from: string, to: string): string => script.replace(from, to);
  const place = await other<Location>(file, "textDocument/definition", at("@count(reads", "@count(re‸ads"));
  assert.deepEqual(place.range.start, { line: 0, character: 7 });
  assert.equal(
    await otherRenamed(file, at("in reads", "in re‸ads"), "calls"),
    script.replaceAll(/reads(?=,|\[|\))/g, "calls"),
  );
  assert.equal(
    await otherRenamed(file, at("x = cpu", "x‸ = cpu"), "at"),
    script.replace("x = cpu", "at = cpu").replace("twice(x)", "twice(at)"),
  );
  assert.equal(await otherRenamed(file, at("twice:", "twi‸ce:"), "double"), script.replaceAll("twice", "double"));
  await assert.rejects(otherRenamed(file, at("in reads", "in re‸ads"), "execname"), /already|word of the language/);
});

test("D: probes, members, subroutines and variables of all three kinds", async () => {
  const file = "a.d";
  assert.deepEqual(await otherLabels(file, "syscall::openat‸"), ["syscall::openat:entry", "syscall::openat2:entry"]);
  assert.deepEqual(await otherLabels(file, "syscall::openat:‸"), ["syscall::openat:entry", "syscall::openat:return"]);
  assert.ok((await otherLabels(file, "proc:::‸")).includes("proc:::exec"));
  assert.ok((await otherLabels(file, "BEGIN { curthread->‸ }")).includes("tgid"));
  assert.deepEqual(await otherLabels(file, "BEGIN { self->begun = 1; } END { self->‸ }"), ["begun"]);
  const names = await otherLabels(file, "BEGIN { total = 3; @sums = sum(1); ‸ }");
  assert.deepEqual(
    ["total", "@sums", "execname", "copyinstr", "quantize"].map((name) => names.includes(name)),
    [true, true, true, true, true],
  );
  assert.match(await otherShown(file, "BEGIN { trace(exec‸name); }"), /Name of the current thread/);
  assert.match(await otherShown(file, "BEGIN { to‸tal = 3; }"), /total : int64/);
  const help = await other<SignatureHelp>(file, "textDocument/signatureHelp", "BEGIN { @ = lquantize(3, ‸");
  assert.deepEqual([help.signatures[0].label, help.activeParameter], ["@ = lquantize(n, min, max, step)", 1]);
  const script = [
    "self int start;",
    "BEGIN { start = 0; }",
    'syscall::write:entry /execname == "start"/ { self->start = timestamp; start = start + 1; @start = sum(start); }',
    "syscall::write:return /self->start/ { @times = quantize(timestamp - self->start); self->start = 0; }",
  ].join("\n");
  assert.equal(
    await otherRenamed(file, script.replace("self->start", "self->sta‸rt"), "begun"),
    script.replace("int start", "int begun").replaceAll("self->start", "self->begun"),
  );
  assert.equal(
    await otherRenamed(file, script.replace("sum(start", "sum(sta‸rt"), "calls"),
    script
      .replace("{ start", "{ calls")
      .replace("; start = start +", "; calls = calls +")
      .replace("sum(start", "sum(calls"),
  );
  assert.equal(await otherRenamed(file, script.replace("@start", "@sta‸rt"), "all"), script.replace("@start", "@all"));
});

test("SQL: events, their fields, words, hover, other names and diagnostics", async () => {
  const file = "a.sql";
  const pair = "FROM sched_waking AS start JOIN sched_switch AS last ON start.pid = last.next_pid";
  const switched = ["prev_comm", "prev_pid", "prev_prio", "prev_state", "next_comm", "next_pid", "next_prio"];
  assert.deepEqual(await otherLabels(file, "SELECT next_comm FROM sched_switc‸"), ["sched_switch"]);
  assert.deepEqual(await otherLabels(file, "select next_comm from sched.sched_switc‸"), ["sched.sched_switch"]);
  assert.deepEqual(await otherLabels(file, "SELECT x FROM tracepoint:sched:sched_switc‸"), [
    "tracepoint:sched:sched_switch",
  ]);
  // With an alias, without, of two events, in WHERE, and further than the first member.
  assert.deepEqual(await otherLabels(file, `SELECT last.‸ ${pair}`), switched);
  assert.deepEqual(await otherLabels(file, "SELECT a.‸ FROM sched_switch a"), switched);
  assert.deepEqual(await otherLabels(file, `SELECT start.comm ${pair} WHERE last.next_prio < 3 AND last.‸`), switched);
  assert.deepEqual(await otherLabels(file, `SELECT other.‸ ${pair}`), []);
  const task = await otherLabels(file, "SELECT next.‸ FROM rawtracepoint:sched_switch");
  assert.ok(task.includes("tgid") && !task.includes("COUNT"));
  const one = await otherLabels(file, "SELECT ‸ FROM sched_switch");
  assert.deepEqual(one.slice(0, switched.length), switched);
  const two = await otherLabels(file, `SELECT ‸ ${pair}`);
  assert.deepEqual(
    ["last", "start", "COUNT", "TIMESTAMP_DELTA", "WHERE", "next_comm", "printf", "kstack"].map((name) =>
      two.includes(name),
    ),
    [true, true, true, true, true, false, false, false],
  );
  for (const nowhere of ["SELECT x FROM a -- sched_‸", 'SELECT x FROM a WHERE b ~ "sched_‸'])
    assert.deepEqual(await otherLabels(file, nowhere), [], nowhere);
  assert.equal(await otherShown(file, "SELECT next_‸pid FROM sched_switch"), "```sql\nnext_pid : int32\n```");
  assert.match(
    await otherShown(file, "SELECT next_pid FROM sched_sw‸itch"),
    /tracepoint:sched:sched_switch\n.*prev_comm/,
  );
  assert.match(await otherShown(file, "SELECT coun‸t(*) FROM sched_switch"), /How many events there were/);
  assert.equal(await otherShown(file, `SELECT la‸st.next_comm ${pair}`), "```sql\nlast : sched_switch\n```");
  const help = await other<SignatureHelp>(file, "textDocument/signatureHelp", "SELECT sum(‸");
  assert.deepEqual([help.signatures[0].label, help.activeParameter], ["SUM(value)", 0]);
  const question = `SELECT last.next_comm, TIMESTAMP_DELTA AS last_delta ${pair}`;
  assert.equal(
    await otherRenamed(file, question.replace("SELECT last", "SELECT la‸st"), "behind"),
    question
      .replace("last.next_comm,", "behind.next_comm,")
      .replace("AS last ON", "AS behind ON")
      .replace("= last.", "= behind."),
  );
  const range = { start: { line: 0, character: 0 }, end: { line: 0, character: 60 } };
  const wrong = "SELECT next_com, COUNT(*) FROM sched_switch‸";
  const mends = await other<CodeAction[]>(file, "textDocument/codeAction", wrong, {
    range,
    context: { diagnostics: [] },
  });
  assert.deepEqual(
    mends.map(({ title, diagnostics = [] }) => [title, diagnostics[0].range.start.character, diagnostics[0].code]),
    [["Replace it with next_comm", 7, "name"]],
  );
  const lenses = await other<CodeLens[]>(file, "textDocument/codeLens", `${question}‸`);
  assert.deepEqual(
    lenses.map(({ command }) => command?.arguments),
    [["file:///a.sql", 0]],
  );
  await assert.rejects(otherRenamed(file, question.replace("AS start", "AS sta‸rt"), "last"), /already/);
});

test("a client that runs scripts has a button above each probe", async () => {
  for (const [name, script] of [
    ["c.bt", "begin { exit(); }\n\ninterval:s:1 { print(1); }‸"],
    ["c.stp", "probe begin { exit() }\n\nprobe timer.s(1) { println(1) }‸"],
    ["c.d", "BEGIN { exit(0); }\n\ntick-1s { trace(1); }‸"],
  ]) {
    const lenses = await other<CodeLens[]>(name, "textDocument/codeLens", script);
    assert.deepEqual(
      lenses.map(({ command }) => [command?.command, command?.arguments]),
      [0, 2].map((line) => ["strobe.run", [`file:///${name}`, line]]),
      name,
    );
  }
});
