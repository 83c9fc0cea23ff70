// What Tab takes: `strobe complete`, which shells run anew each time, and completion by the language server, which knows the
// machine after the first.
import { spawn, spawnSync } from "node:child_process";
import { StreamMessageReader, StreamMessageWriter, createProtocolConnection } from "vscode-languageserver/node";
import { spread, table } from "./statistics.mjs";

const lines = [
  ["a subcommand or tool", "op"],
  ["an option's value", "-f spe"],
  ["a tool's option", "opens --fail"],
  ["a process", "-p node"],
  ["a word for help", "help st"],
  ["a tracepoint", "-l tracepoint:sched:sched_s"],
  ["a function of a library", "-l uprobe:libc:mallo"],
  ["a function of the kernel", "-l kprobe:vfs_"],
];
const places = [
  ["bpftrace: a tracepoint", "a.bt", "tracepoint:sched:sched_s"],
  ["bpftrace: a function of the kernel", "b.bt", "kprobe:vfs_"],
  ["bpftrace: an argument", "c.bt", "tracepoint:sched:sched_switch { print(args."],
  ["bpftrace: a member of the kernel's", "d.bt", "begin { print(curtask.parent."],
  ["SystemTap: a function of the kernel", "e.stp", 'probe kernel.function("vfs_'],
  ["D: a function of the kernel", "f.d", "fbt::vfs_"],
  ["SQL: an event", "g.sql", "SELECT x FROM sched_s"],
];

export async function completion({ builds, rounds }) {
  const shell = lines.map(([what, line]) => {
    const times = builds.map(({ command: [program, ...first] }) =>
      Array.from({ length: rounds + 1 }, () => {
        const started = performance.now();
        const { status, stdout } = spawnSync(program, [...first, "complete", ...line.split(" ")]);
        if (status !== 0 || stdout.length === 0) throw new Error(`nothing completes ${line}`);
        return performance.now() - started;
      }).slice(1),
    );
    return [`shell: ${what}`, ...times.map((all) => spread(all, 0))];
  });
  const served = [];
  for (const { command } of builds) served.push(await ofServer(command, rounds));
  const editor = places.flatMap(([what], i) => [
    [`editor: ${what}, first`, ...served.map((all) => all[i][0].toFixed(0))],
    [`editor: ${what}, again`, ...served.map((all) => spread(all[i].slice(1), 0))],
  ]);
  return table(["milliseconds for", ...builds.map(({ name }) => name)], [...shell, ...editor]);
}

/** Of each place, the first time and those after it. */
async function ofServer([program, ...first], rounds) {
  const server = spawn(program, [...first, "lsp"], { stdio: ["pipe", "pipe", "inherit"] });
  const connection = createProtocolConnection(
    new StreamMessageReader(server.stdout),
    new StreamMessageWriter(server.stdin),
  );
  connection.listen();
  await connection.sendRequest("initialize", { processId: process.pid, rootUri: null, capabilities: {} });
  await connection.sendNotification("initialized", {});
  const all = [];
  for (const [what, name, text] of places) {
    const textDocument = { uri: `file:///${name}` };
    await connection.sendNotification("textDocument/didOpen", {
      textDocument: { ...textDocument, languageId: "", version: 1, text },
    });
    const times = [];
    for (let round = 0; round <= rounds; round++) {
      const started = performance.now();
      const { items } = await connection.sendRequest("textDocument/completion", {
        textDocument,
        position: { line: 0, character: text.length },
      });
      if (items.length === 0) throw new Error(`nothing completes ${what}`);
      times.push(performance.now() - started);
    }
    all.push(times);
  }
  connection.dispose();
  server.kill();
  return all;
}
