import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { parse } from "../language/bpftrace/parse.ts";
import { partAt } from "../language/source-parts.ts";
import { bpftrace } from "../language/bpftrace/language.ts";
import { withImports } from "./imports.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "strobe-imports-")));
after(() => rmSync(folder, { recursive: true }));
const files: Readonly<Record<string, string>> = {
  "one.bt": '#!/usr/bin/env strobe\nimport "two.bt";\nmacro one() { 1 }\n',
  "two.bt": 'import "one.bt";\nmacro two() { 2 }\n',
  "lib/b.bt": "macro b() { 4 }",
  "lib/a.h": "struct a { int x; };",
  "inc/one.h":
    '#ifndef ONE_H\n#define ONE_H\n#include <linux/types.h>\n#include "two.h"\n#define ONE 1\n#define F(x) (x)\nextern int e;\nstruct one;\nint f(struct two *t, int n);\nstatic inline int g(int n) { if (n) { return 1; } return F(n); }\nstruct one { int x; struct two t; };\nstruct one *h(void);\n#endif\n',
  "inc/two.h": '#pragma once\n#include "one.h"\nstruct two { int y; };\n',
  "lib/readme.txt": "not imported",
  "set.bt": "config = { max_map_keys = 1 }\nbegin { }",
  "code.bpf.c": "int f(void) { return 1; }",
  "open/x.bt": "macro x() { 1 }",
};
mkdirSync(join(folder, "lib"));
mkdirSync(join(folder, "inc"));
mkdirSync(join(folder, "open"));
for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
chmodSync(join(folder, "open"), 0o777);

const from = (text: string) => withImports({ name: "main.bt", text }, folder, bpftrace);

test("what is imported comes first, each file once, and every offset knows its file", () => {
  const main =
    'struct s { int x; };\nimport "one.bt";\nconfig = { max_map_keys = 7 }\nimport "lib"; import "two.bt"\nbegin { one(); }\n';
  const source = from(main);
  assert.deepEqual(
    source.parts?.map(({ name }) => name),
    [...["two.bt", "one.bt", "lib/a.h", "lib/b.bt"].map((name) => join(folder, name)), "main.bt"],
  );
  for (const word of ["macro one", "macro two", "struct a", "macro b", "begin {"]) {
    const at = source.text.indexOf(word);
    const part = partAt(source, at);
    const written = part.name === "main.bt" ? main : files[part.name.slice(folder.length + 1)];
    assert.equal(at - part.start, written.indexOf(word), word);
  }
  assert.doesNotMatch(source.text, /import|#!/);
});

test("included headers come first: beside what includes them, or in a folder of -I", () => {
  const main = '#include <sys/socket.h>\n#include "inc/one.h"\n#ifdef NEVER\n#include "none.h"\n#endif\nbegin { }\n';
  const source = from(main);
  assert.deepEqual(
    source.parts?.map(({ name }) => name),
    [join(folder, "inc/two.h"), join(folder, "inc/one.h"), "main.bt"],
  );
  assert.equal(
    source.text.slice(source.parts.at(-1)!.start),
    `${main.replace('#include "inc/one.h"', " ".repeat(20))}\n`,
  );
  const named = withImports({ name: "-e", text: "#include <two.h>\nbegin { }" }, "/", bpftrace, {
    folders: [join(folder, "inc")],
    files: ["one.h", "linux/path.h"],
  });
  assert.deepEqual(
    named.parts?.map(({ name }) => name),
    [join(folder, "inc/two.h"), join(folder, "inc/one.h"), "-e"],
  );
  assert.throws(() => from('#include "none.h"\nbegin { }'), /main\.bt:1:1: error: there is no file none\.h to include/);
});

test("of a header, types and constants are taken, and the rest is passed over", () => {
  const { program, diagnostics } = parse(from('#include "inc/one.h"\nbegin { print(sizeof(struct one) + ONE); }'), {
    positional: [],
  });
  assert.deepEqual(diagnostics, []);
  assert.deepEqual(
    program.structs.map(({ name }) => name),
    ["two", "one"],
  );
  assert.equal(program.probes.length, 1);
});

test("a script without imports is left as it is", () => {
  const source = { name: "main.bt", text: 'begin { print("import"); } // import "one.bt";' };
  assert.equal(withImports(source, folder, bpftrace), source);
});

test("what cannot be imported is refused at its place", () => {
  const refused = (text: string, message: RegExp) => assert.throws(() => from(text), message);
  refused(
    'import "none.bt";',
    /^ScriptError: main\.bt:1:8: error: unable to find suitable path for import: .*none\.bt/,
  );
  refused('import "set.bt";', /set\.bt:1:1: error: an imported script cannot have a config block/);
  refused('import "code.bpf.c";', /main\.bt:1:8: error: .*code\.bpf\.c is C, which strobe does not compile/);
  refused('import "lib/readme.txt";', /is neither a script \(\.bt\) nor a header \(\.h\)/);
  refused('import "open/x.bt";', /everybody may write into .*open: nothing is imported from there/);
});
