// Pointers in structs of the script, however they are reached and wherever they are kept, and those of structs of the
// program's.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { compileC, strobe, temporaryFolder } from "../../support/strobe.ts";

const skip = process.geteuid?.() !== 0 && "needs root";
const folder = temporaryFolder();
const structs = `
  struct inner { char *name; char *names[2]; };
  struct outer { char *names[2]; char *one; struct inner in; struct inner ins[2]; union { char *u; long l; } un; char **list; struct outer *next; };`;
let program = "";
before(() => {
  // The literals' page is read once: handlers take no page faults.
  program = compileC(
    folder.path,
    "pointers",
    `${structs}
    struct outer second = { { "second 0", "second 1" }, "second" };
    char *list[] = { "list 0", "list 1" };
    struct outer first = { { "name 0", "name 1" }, "one", { "in", { "in 0", "in 1" } }, { { "a", { "a 0", "a 1" } }, { "b", { "b 0", "b 1" } } }, { "union" }, list, &second };
    __attribute__((noinline)) char *callee(struct outer *p, char **pp, struct inner in) { __asm__ volatile("" : : "r"(p), "r"(pp) : "memory"); return p->one; }
    volatile char touched;
    int main(void) { touched = *first.one; return callee(&first, list, first.in) == 0; }`,
  );
});
after(() => folder.remove());

/** What each expression is as text, behind `setup`. */
async function texts(setup: string, expressions: readonly string[], functions = ""): Promise<string[]> {
  const script = `${structs} ${functions} uprobe:${program}:callee { $s = (struct outer *)arg0; $zero = arg0 - arg0; ${setup} ${expressions.map((e) => `printf("%s\\n", ${e});`).join(" ")} }`;
  const { stdout, stderr, code } = await strobe([
    "-q",
    "-c",
    program,
    "-e",
    `config = { print_maps_on_exit = false } ${script}`,
  ]);
  assert.deepEqual({ stderr, code }, { stderr: "", code: 0 }, script);
  return stdout.trim().split("\n");
}

const cases: Readonly<Record<string, readonly [setup: string, expressions: Readonly<Record<string, string>>]>> = {
  "in arrays, structs in structs, arrays of them, and unions": [
    "",
    {
      "str($s.names[1])": "name 1",
      "str($s.names[$zero + 1])": "name 1",
      "str($s.one)": "one",
      "str($s.in.name)": "in",
      "str($s.in.names[1])": "in 1",
      "str($s.ins[1].name)": "b",
      "str($s.ins[$zero + 1].names[$zero])": "b 0",
      "str($s.un.u)": "union",
      "str($s.names[1], 5)": "name",
      "str($s.names[1] + 5)": "1",
    },
  ],
  "behind other pointers": [
    "$list = (char **)arg1;",
    {
      "str($s.list[1])": "list 1",
      "str(*$s.list)": "list 0",
      "str($s.next.one)": "second",
      "str($s.next.names[1])": "second 1",
      "str((*$s.next).names[1])": "second 1",
      "str($list[1])": "list 1",
      "str(*$list)": "list 0",
      "str(((char **)arg1)[$zero + 1])": "list 1",
      "str($s[0].names[1])": "name 1",
    },
  ],
  "in variables, tuples and conditionals": [
    `
      $in = $s.in; $names = $s.names; $t = ($s.names, $s.in, $s.one); $whole = *$s; let $declared : struct outer * = (struct outer *)arg0; let $inner : struct inner = $s.in;
      $either = $zero == 0 ? $s.in : $s.ins[0]; $other = $zero == 0 ? $s.names : $s.in.names;`,
    {
      "str($in.name)": "in",
      "str($in.names[1])": "in 1",
      "str($names[1])": "name 1",
      "str($t.0[1])": "name 1",
      "str($t.1.names[1])": "in 1",
      "str($t.2)": "one",
      "str($whole.names[1])": "name 1",
      "str($whole.ins[1].name)": "b",
      "str($declared.names[1])": "name 1",
      "str($inner.names[1])": "in 1",
      "str($either.names[0])": "in 0",
      "str($other[1])": "name 1",
    },
  ],
  "in maps": [
    "@inner = $s.in; @names[1] = $s.names; @tuple[2] = ($s.names, $s.in, $s.one); @p = $s;",
    {
      "str(@inner.names[1])": "in 1",
      "str(@names[1][1])": "name 1",
      "str(@tuple[2].0[1])": "name 1",
      "str(@tuple[2].1.name)": "in",
      "str(@tuple[2].2)": "one",
      "str(@p.names[1])": "name 1",
    },
  ],
  "by the program's own types": [
    "$in = args.in;",
    {
      "str(args.p.names[1])": "name 1",
      "str(args.p.ins[1].names[1])": "b 1",
      "str(args.pp[1])": "list 1",
      "str(args.in.names[1])": "in 1",
      "str($in.names[1])": "in 1",
    },
  ],
};

for (const [name, [setup, expressions]] of Object.entries(cases)) {
  test(name, { skip }, async () => {
    const all = Object.keys(expressions);
    const found = await texts(setup, all);
    assert.deepEqual(Object.fromEntries(all.map((e, i) => [e, found[i]])), expressions);
  });
}

test("as parameters, results and what macros are given", { skip }, async () => {
  const functions = `
    fn second($p : struct outer *) : string[16] { return str($p.names[1]); }
    fn at($address : uint64) : string[16] { return str(((struct outer *)$address).names[1]); }
    fn next($p : struct outer *) : struct outer * { return $p.next; }
    macro second_of($x) { str($x.names[1]) }`;
  assert.deepEqual(await texts("", ["second($s)", "at(arg0)", "str(next($s).names[1])", "second_of($s)"], functions), [
    "name 1",
    "name 1",
    "second 1",
    "name 1",
  ]);
});

test("as bytes and numbers", { skip }, async () => {
  assert.deepEqual(await texts('printf("%r %c\\n", buf($s.ins[1].names[1], 3), *$s.names[$zero]);', []), ["b 1 n"]);
});

test("in a loop over a map", { skip }, async () => {
  assert.deepEqual(
    await texts('@names[1] = $s.names; for ($entry : @names) { printf("%s\\n", str($entry.1[1])); }', []),
    ["name 1"],
  );
});

test("what a handler at a program finds in the kernel's memory is the kernel's", { skip }, async () => {
  const name = "str(curtask.fs.pwd.dentry.d_name.name)";
  assert.deepEqual(
    await texts("let $task : struct task_struct * = curtask; $fs = *curtask.fs;", [
      "$task.pid == tid",
      `str($fs.pwd.dentry.d_name.name) == ${name}`,
      `strlen(${name}) > 0`,
    ]),
    ["true", "true", "true"],
  );
});
