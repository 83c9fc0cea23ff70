import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { printTree } from "../print-tree.ts";
import { renderDiagnostic } from "../render-diagnostic.ts";
import type { Given } from "../language.ts";
import { format } from "./format.ts";
import { parse } from "./parse.ts";
import { spelledProbe } from "./probes.ts";

function read(text: string, given: Given = { positional: [] }) {
  return parse({ name: "a.d", text }, given);
}

function tree(text: string, given?: Given): string {
  const { program, diagnostics } = read(`#pragma D option quiet\n${text}`, given);
  assert.deepEqual(diagnostics, []);
  return printTree(program);
}

function mistakes(text: string): (readonly [tag: string | undefined, message: string])[] {
  return read(text).diagnostics.map(({ tag, message }) => [tag, message]);
}

const folder = join(process.cwd(), "src/language/d/fixtures");
for (const file of readdirSync(folder)
  .filter((name) => name.endsWith(".d"))
  .sort()) {
  const source = { name: file, text: readFileSync(join(folder, file), "utf8") };
  test(`fixture ${file}`, () => {
    const { program, diagnostics } = parse(source, { positional: ["one"], target: 4242 });
    const said = diagnostics.map((one) => renderDiagnostic(source, one, { color: false })).join("");
    const found = said === "" ? printTree(program) : said;
    const golden = join(folder, `${file.slice(0, -2)}.${said === "" ? "tree" : "diagnostics"}`);
    if (process.env["STROBE_UPDATE"] === "1") writeFileSync(golden, found);
    assert.equal(found, readFileSync(golden, "utf8"));
  });
  if (file === "errors.d") continue;
  test(`${file} means the same in the house's layout, which it keeps`, () => {
    const { text = "" } = format(source);
    assert.equal(format({ name: file, text }).text, text);
    const given: Given = { positional: ["one"], target: 4242 };
    assert.equal(printTree(parse({ name: file, text }, given).program), printTree(parse(source, given).program));
  });
}

test("a clause's line is printed at once, and begins with where it was", () => {
  const { program } = read('BEGIN { trace("hi"); printf("%d\\n", 5); x = 1; }');
  assert.match(
    printTree(program),
    /\(printf "%3d %6s %32s %#v%d\\n\\n" cpu \(probe_part probe 'id\) \(probe_part probe 'place\) "hi"/,
  );
});

test("probe descriptions are read from the right", () => {
  assert.match(tree("write:entry { x = 1; }"), /kprobe:write/);
  assert.match(tree("syscall::write:entry, syscall::read:return { x = 1; }"), /sys_enter_write.*sys_exit_read/s);
  assert.match(tree("tick-1s { x = 1; }"), /interval:s:1/);
  assert.match(tree("profile:::profile-97 { x = 1; }"), /profile:hz:97/);
});

test("instructions of the kernel and of programs", () => {
  assert.match(tree("kinst::vm_fault:4 { x = regs[R_RSI]; }"), /insn::vm_fault:4[^]*\(reg "si"\)/);
  assert.match(tree("kinst::amd64_syscall: { x = 1; }"), /insn::amd64_syscall:/);
  assert.match(tree("kinst:tun:tun_open:entry { x = locals->count; }"), /insn:tun:tun_open:entry[^]*\(var "count"\)/);
  assert.match(tree("kinst::f:4 { x = regs[R_RIP]; }"), /\(- .*\(reg "ip"\)\)? 1\)/);
  assert.match(tree("pid12:a.out:work:1c { x = uregs[R_R15]; }"), /insn:\/proc\/12\/exe:work:0x1c[^]*\(reg "r15"\)/);
  assert.match(tree("pid12:a.out:-:1129 { x = 1; }"), /uprobe:\/proc\/12\/exe:0x1129/);
  assert.match(tree("pid12:a.out:work: { x = 1; }"), /uprobe:\S*:work[^]*uretprobe:\S*:work[^]*insn:\S*:work:\*/);
  assert.deepEqual(mistakes("kinst::f:0x4 { x = 1; }"), [
    ["D_PDESC_ZERO", "probe description kinst::f:0x4 does not match any probes"],
  ]);
  assert.deepEqual(mistakes("kinst::f:4 { x = regs[pid]; }"), [
    [undefined, "regs[ ] is indexed by a register's constant name"],
  ]);
  assert.equal(spelledProbe("insn:spinlock_enter:53"), "kinst:vmlinux:spinlock_enter:53");
  assert.equal(spelledProbe("insn:/bin/app:work:28"), "pid:app:work:1c");
});

test("what was found is named as D names it", () => {
  assert.equal(spelledProbe("tracepoint:syscalls:sys_exit_read"), "syscall:vmlinux:read:return");
  assert.equal(spelledProbe("kprobe:vfs_read"), "fbt:vmlinux:vfs_read:entry");
  assert.equal(spelledProbe("begin"), "dtrace:::BEGIN");
});

test("a slash ends a predicate where the body begins", () => {
  assert.match(tree("BEGIN /timestamp / 2 > 1/ { x = 1; }"), /\(\/ /);
});

test("a predicate knows what its clause's body assigns first", () => {
  assert.match(tree("tick-1s /n < 3/ { n++; }"), /\(< /);
});

test("macros stand for what the command line gives", () => {
  assert.match(tree("BEGIN { printf($$1); x = $2; }", { positional: ["a b", "7"] }), /"a b"/);
  assert.match(tree("BEGIN /pid == $target/ { x = 1; }", { positional: [], target: "command" }), /cpid/);
});

test("probes of the traced process have its number in their names", () => {
  const shown = (target: number | "command"): unknown =>
    read("pid$target::main:entry { x = 1; }", { positional: [], target, command: "/bin/true" }).program.probes[0]
      .specs[0].text;
  assert.deepEqual([shown(4242), shown("command")], ["pid4242::main:entry", "pid$target::main:entry"]);
});

test("definitions and conditions", () => {
  assert.match(
    tree("#define N(x) (x + 1)\n#ifdef N\nBEGIN { x = N(41); }\n#else\nBEGIN { y }\n#endif"),
    /\(\+ \(cast int64 41\) \(cast int64 1\)\)/,
  );
});

test("mistakes have DTrace's tags", () => {
  assert.deepEqual(mistakes("BEGIN { trace(nope); }"), [
    ["D_IDENT_UNDEF", "failed to resolve nope: Unknown variable name"],
  ]);
  assert.deepEqual(mistakes("BEGIN { x = strlen(); }"), [
    ["D_PROTO_LEN", "strlen( ) prototype mismatch: 0 args passed, 1 expected"],
  ]);
  assert.deepEqual(mistakes("BEGIN { x = ; }"), [["D_SYNTAX", 'syntax error near ";"']]);
  assert.deepEqual(mistakes("nothing:::here { x = 1; }"), [
    ["D_PDESC_ZERO", "probe description nothing:::here does not match any probes"],
  ]);
});
