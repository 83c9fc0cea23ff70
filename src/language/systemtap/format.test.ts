import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import * as fc from "fast-check";
import { printTree } from "../print-tree.ts";
import { format } from "./format.ts";
import { parse } from "./parse.ts";

const folder = join(process.cwd(), "src/language/systemtap/fixtures");
const laidOut = (text: string): string | undefined => format({ name: "script.stp", text }).text;
const tree = (text: string): string =>
  printTree(parse({ name: "script.stp", text }, { positional: ["1", "2"] }).program);

function keeps(text: string): void {
  const once = laidOut(text);
  if (once === undefined) return;
  assert.equal(tree(once), tree(text), text);
  assert.equal(laidOut(once), once, text);
}

test("what touches the brace of alternatives keeps touching it", () => {
  assert.equal(
    laidOut("probe syscall.{open,close}*.return{exit()}"),
    "probe syscall.{open, close}*.return {\n  exit()\n}\n",
  );
});

test("a script without any layout gets the house's", () => {
  assert.equal(
    laidOut(
      'global a,b%[10]=3 // two\nprobe begin{if(a>1){printf("%d\\n",a)}else b=-1;x=$y$;foreach([k+,v] in c[*,1] limit 5){}\n\n\n\nexit( ) /* last */}\nprobe kernel.{trace("a"),trace("b")}!,timer.s( 1 )?{ a++ }',
    ),
    `global a, b%[10] = 3 // two
probe begin {
  if (a > 1) {
    printf("%d\\n", a)
  } else b = -1; x = $y$; foreach ([k+, v] in c[*, 1] limit 5) {}

  exit() /* last */
}
probe kernel.{trace("a"), trace("b")}!, timer.s(1)? {
  a++
}
`,
  );
});

test("the fixtures keep what they mean, and stay as they are the second time", () => {
  for (const file of readdirSync(folder).filter((name) => name.endsWith(".stp")))
    keeps(readFileSync(join(folder, file), "utf8"));
});

test("random scripts keep what they mean, and stay as they are the second time", () => {
  const space = fc.constantFrom("", " ", "  ", "\n", "\n\n\n", "\t", " // note\n", " /* note */ ", "# note\n");
  const words = [
    ["a", "=", "-", "1", ";"],
    ["if", "(", "a", ")", "{", "a", "++", "}", "else", "b", "=", "2", ";"],
    ["foreach", "(", "k", "-", "in", "c", "limit", "3", ")", "printf", "(", '"%d"', ",", "k", ")", ";"],
    ["d", "=", "x", "?", "1", ":", "2", ";"],
    ["while", "(", "!", "a", ")", "break", ";"],
    ["delete", "c", "[", "1", "]", ";"],
    ["try", "{", "error", "(", '"x"', ")", "}", "catch", "{", "}"],
    ["s", "<<<", "1", "-", "-", "2", ";"],
    ["print", "(", "$x", "->", "y", "[", "0", "]", ")", ";"],
    ["a", "=", "b", "-", "--", "e", ";"],
  ];
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom(...words), { maxLength: 6 }),
      fc.array(space, { maxLength: 120 }),
      (statements, spaces) => {
        const all = [
          "probe",
          "process",
          "(",
          '"x"',
          ")",
          ".",
          "function",
          "(",
          '"f"',
          ")",
          "{",
          ...statements.flat(),
          "}",
        ];
        // Words that would run into each other stand apart, and so do operators.
        keeps(
          `global c, s\n${all.map((word, i) => `${word}${/\w$|[-+<=!]$/.test(word) && /^[\w"$]|^[-+<=!]/.test(all[i + 1] ?? "") ? " " : ""}${spaces[i] ?? ""}`).join("")}`,
        );
      },
    ),
    { numRuns: 1000 },
  );
});
