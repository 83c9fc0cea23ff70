// What the command says of itself: help WORD, --help of subcommands, completion by a real shell, the manual page.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { after, before, test } from "node:test";
import { subcommands } from "../../src/cli/subcommands.ts";
import { missing } from "../support/compilers.ts";
import { command, strobe, temporaryFolder } from "../support/strobe.ts";

const folder = temporaryFolder();
const environment = { ...process.env, PATH: `${folder.path}${delimiter}${process.env["PATH"]}` };

before(() => {
  const link = join(folder.path, "strobe");
  writeFileSync(link, `#!/bin/sh\nexec ${process.execPath} ${command} "$@"\n`);
  chmodSync(link, 0o755);
});
after(() => folder.remove());

test("help explains builtins, probes, options, settings, tools, other tools' words and messages", async () => {
  const first = async (...words: string[]): Promise<string> => {
    const { stdout, stderr, code } = await strobe(["help", ...words]);
    assert.equal(code, 0, stderr);
    return stdout.split("\n")[0];
  };
  assert.equal(await first("str"), "str(pointer [, length])");
  assert.equal(await first("kprobe"), (await first("k:vfs_read")).replace(/^k:/, ""));
  assert.match(await first("kprobe"), /^kprobe.*: a kind of probe$/);
  assert.equal(await first("--comm"), "option of strobe");
  assert.equal(await first("max_map_keys"), "config = { max_map_keys = … }: a setting");
  assert.equal(await first("opens"), "strobe opens: a tool");
  assert.equal(await first("quantize(x)"), "@ = shist(n)");
  assert.equal(await first("task_execname"), "task_execname:string (arg1:long): in SystemTap");
  assert.equal(await first("kernel.function"), 'kernel.function("…"): in SystemTap');
  assert.equal(await first("walltimestamp"), "walltimestamp: in D");
  assert.equal(await first("@hist_log"), "SystemTap's @hist_log is hist here");
  assert.equal(await first("sqlhist"), "SQL: a language of strobe's, --lang sql");
  assert.equal(await first("unknown function"), "message calls.unknownFunction");
  assert.equal(await first(), "strobe: ask a running Linux system a question");
  const none = await strobe(["help", "strr"]);
  assert.equal(none.stderr, 'strobe: nothing is known of "strr": did you mean `strobe help str`?\n');
  assert.equal(none.code, 1);
});

test("help answers commands of other tools with the rows of the pages about them", async () => {
  const said = async (word: string): Promise<string> => (await strobe(["help", word])).stdout;
  assert.equal(
    await said("opensnoop"),
    "opensnoop: of BCC; the same with strobe\n\n  opensnoop\n      strobe opens\n  opensnoop -x\n      strobe opens --failed\n",
  );
  assert.equal(
    await said("offcputime-bpfcc"),
    "offcputime-bpfcc: of BCC; the same with strobe\n\n  offcputime\n      strobe off-cpu\n",
  );
  assert.equal(
    await said("set_ftrace_filter"),
    "set_ftrace_filter: of ftrace; the same with strobe\n\n  function, set_ftrace_filter\n      strobe func 'vfs_*' where the kernel has kprobes\n",
  );
  // All of a page by its tool.
  for (const page of readdirSync("docs").filter((name) => name.startsWith("from-"))) {
    const rows = [...readFileSync(`docs/${page}`, "utf8").matchAll(/^\| (`.*?) \| (.*) \|$/gm)];
    const all = await said(page.replace(/^from-(.*)\.md$/, "$1"));
    const plain = (cell: string): string => cell.replaceAll(/\[.*?\]\((.*?)\)/g, "docs/$1").replaceAll("`", "");
    for (const [, theirs, ours] of rows)
      assert.ok(all.includes(`  ${plain(theirs)}\n      ${plain(ours)}\n`), `${page}: ${theirs}`);
  }
});

test("every subcommand says its usage", async () => {
  for (const [name, command] of Object.entries(subcommands)) {
    const { usage, doc } = command;
    const { stdout, code } = await strobe([name, "--help"]);
    assert.equal(code, 0, name);
    if (name === "stap") {
      assert.match(stdout, /^usage: strobe stap/);
      continue;
    }
    const behind = command.help === undefined ? "" : `\n${command.help()}`;
    assert.ok(stdout.endsWith(behind), name);
    const before = stdout.slice(0, stdout.length - behind.length);
    assert.equal(before.replaceAll(/\s+/g, " "), `strobe ${usage} ${doc} `);
    assert.ok(
      before.split("\n").every((line) => line.length <= 100),
      before,
    );
  }
});

const lines: readonly (readonly [line: string, completed: readonly string[]])[] = [
  ["strobe repl", ["replay"]],
  ["strobe -f spe", ["speedscope"]],
  ["strobe -l tracepoint:sched:sched_process_exe", ["tracepoint:sched:sched_process_exec"]],
  ["strobe -l t:sched:sched_process_exe", ["t:sched:sched_process_exec"]],
  ["strobe -l uprobe:libc:mallopt", ["uprobe:libc:mallopt"]],
  ["strobe opens --fail", ["--failed"]],
  ["strobe --user nobod", ["nobody"]],
  ["strobe completion ", ["bash", "zsh", "fish"]],
];

test("bash completes command lines", () => {
  // bash splits words at colons, as COMP_WORDBREAKS has it: a candidate is what stands behind the last.
  const script = `source <(strobe completion bash)
    try() { COMP_LINE="$1" COMP_POINT=\${#1}; read -ra COMP_WORDS <<< "\${1//:/ : }"
      [[ "$1" == *" " ]] && COMP_WORDS+=(""); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _strobe; echo "\${COMPREPLY[*]}"; }
    ${lines.map(([line]) => `try '${line}'`).join("\n")}`;
  const printed = execFileSync("bash", ["-c", script], { env: environment, encoding: "utf8" });
  const expected = lines.map(([, all]) => all.map((one) => one.split(":").at(-1)).join(" "));
  assert.deepEqual(printed.trimEnd().split("\n"), expected);
});

test("a program's name is offered, unless it has more than text in it", async () => {
  const offered = async (name: string): Promise<string> => {
    const child = spawn("sh", ["-c", `printf '${name}' >/proc/$$/comm; echo; read x`], { stdio: "pipe" });
    try {
      await once(child.stdout, "data");
      return (await strobe(["complete", "--comm", "Tab-of"])).stdout;
    } finally {
      child.kill("SIGKILL");
      await once(child, "close");
    }
  };
  assert.equal(await offered("Tab-of-strobe"), "Tab-of-strobe\n");
  assert.equal(await offered("Tab-of\\033[31m"), "");
});

test("fish completes command lines", { skip: missing("fish") }, () => {
  const script = `strobe completion fish | source\n${lines.map(([line]) => `complete -C '${line}'; echo`).join("\n")}`;
  const printed = execFileSync("fish", ["-N", "-c", script], { env: environment, encoding: "utf8" });
  for (const [i, [, all]] of lines.entries()) {
    const offered = printed.split("\n\n")[i].split("\n");
    assert.deepEqual(
      all.filter((one) => !offered.includes(one)),
      [],
      printed,
    );
  }
});

test("the manual page is one", { skip: missing("man") }, () => {
  const text = execFileSync("man", ["-l", "docs/strobe.1"], {
    env: { ...process.env, MANWIDTH: "100" },
    encoding: "utf8",
  });
  assert.match(text, /strobe - ask a running Linux system a question/);
  assert.match(text, /--cgroup PATHS/);
});
