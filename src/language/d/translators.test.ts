import assert from "node:assert/strict";
import { test } from "node:test";
import { printTree } from "../print-tree.ts";
import { parse } from "./parse.ts";

function read(text: string) {
  return parse({ name: "a.d", text: `#pragma D option quiet\n${text}` }, { positional: [] });
}

function tree(text: string): string {
  const { program, diagnostics } = read(text);
  assert.deepEqual(diagnostics, []);
  return printTree(program);
}

function mistakes(text: string): (readonly [tag: string | undefined, message: string])[] {
  return read(text).diagnostics.map(({ tag, message }) => [tag, message]);
}

test("members of D's own types are read from the kernel's", () => {
  assert.match(tree("BEGIN { x = curpsinfo->pr_pid; }"), /tgid/);
  assert.match(tree("BEGIN { x = xlate <psinfo_t *> (curthread)->pr_ppid; }"), /real_parent/);
  assert.match(tree("sched:::off-cpu { x = args[0]->pr_lwpid; }"), /rawtracepoint:sched_switch[^]*next/);
  assert.doesNotMatch(tree("BEGIN { x = pid; }"), /task_struct/);
});

test("a script's own translators", () => {
  const own = "struct mine { char id; };\ntranslator struct mine < struct task_struct *T > { id = T->tgid + 1; };";
  assert.match(tree(`${own}\nBEGIN { x = xlate <struct mine> (curthread).id; }`), /int8[^]*tgid/);
});

test("arguments of stable probes, and when they fire", () => {
  assert.match(tree("proc:::exec { x = args[0]; }"), /sys_enter_execve[^]*sys_enter_execveat[^]*filename/);
  assert.match(tree("proc:::exec-failure /args[0] == -2/ { x = 1; }"), /sys_exit_execve[^]*\(< [^]*ret/);
});

test("mistakes are where the script makes them", () => {
  assert.deepEqual(mistakes("BEGIN { x = curpsinfo->pr_nothing; }"), [
    ["D_XLATE_NOCONV", "translator does not define conversion for member: pr_nothing"],
  ]);
  assert.deepEqual(mistakes("BEGIN { x = xlate <nothing_t> (curthread)->a; }"), [
    ["D_XLATE_NONE", 'cannot translate to "nothing_t"'],
  ]);
  assert.deepEqual(mistakes("proc:::create { x = args[1]->pr_pid; }"), [
    ["D_ARGS_IDX", "index 1 is out of range for proc:::create args[ ]"],
  ]);
});
