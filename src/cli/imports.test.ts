import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { partAt } from "../language/source-parts.ts";
import { withImports } from "./imports.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "strobe-imports-")));
after(() => rmSync(folder, { recursive: true }));
const files: Readonly<Record<string, string>> = {
  "one.bt": '#!/usr/bin/env strobe\nimport "two.bt";\nmacro one() { 1 }\n',
  "two.bt": 'import "one.bt";\nmacro two() { 2 }\n',
  "lib/b.bt": "macro b() { 4 }",
  "lib/a.h": "struct a { int x; };",
  "lib/readme.txt": "not imported",
  "set.bt": "config = { max_map_keys = 1 }\nbegin { }",
  "code.bpf.c": "int f(void) { return 1; }",
  "open/x.bt": "macro x() { 1 }",
};
mkdirSync(join(folder, "lib"));
mkdirSync(join(folder, "open"));
for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
chmodSync(join(folder, "open"), 0o777);

const from = (text: string) => withImports({ name: "main.bt", text }, folder);

test("what is imported comes first, each file once, and every offset knows its file", () => {
  const main = 'struct s { int x; };\nimport "one.bt";\nconfig = { max_map_keys = 7 }\nimport "lib"; import "two.bt"\nbegin { one(); }\n';
  const source = from(main);
  assert.deepEqual(source.parts?.map(({ name }) => name), [...["two.bt", "one.bt", "lib/a.h", "lib/b.bt"].map((name) => join(folder, name)), "main.bt"]);
  for (const word of ["macro one", "macro two", "struct a", "macro b", "begin {"]) {
    const at = source.text.indexOf(word);
    const part = partAt(source, at);
    const written = part.name === "main.bt" ? main : files[part.name.slice(folder.length + 1)];
    assert.equal(at - part.start, written.indexOf(word), word);
  }
  assert.doesNotMatch(source.text, /import|#!/);
});

test("a script without imports is left as it is", () => {
  const source = { name: "main.bt", text: 'begin { print("import"); } // import "one.bt";' };
  assert.equal(withImports(source, folder), source);
});

test("what cannot be imported is refused at its place", () => {
  const refused = (text: string, message: RegExp) => assert.throws(() => from(text), message);
  refused('import "none.bt";', /^ScriptError: main\.bt:1:8: error: there is no file .*none\.bt to import/);
  refused('import "set.bt";', /set\.bt:1:1: error: an imported script cannot have a config block/);
  refused('import "code.bpf.c";', /main\.bt:1:8: error: .*code\.bpf\.c is C, which strobe does not compile/);
  refused('import "lib/readme.txt";', /is neither a script \(\.bt\) nor a header \(\.h\)/);
  refused('import "open/x.bt";', /everybody may write into .*open: nothing is imported from there/);
});
