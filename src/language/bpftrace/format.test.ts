import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import * as fc from "fast-check";
import { builtinsFor } from "../builtins/table.ts";
import { printTree } from "../print-tree.ts";
import { formatItems } from "./format-items.ts";
import { format } from "./format.ts";
import { parse } from "./parse.ts";

const fixtures = join(process.cwd(), "src/language/bpftrace/fixtures");
const tools = join(process.cwd(), "tools");
const read = (folder: string, name: string): { name: string; text: string } => ({ name, text: readFileSync(join(folder, name), "utf8") });
const scripts = [
  ...readdirSync(tools).filter((name) => name.endsWith(".bt")).map((name) => read(tools, name)),
  ...readdirSync(fixtures).filter((name) => name.endsWith(".bt")).map((name) => read(fixtures, name)),
].filter((source) => format(source).text !== undefined);

function parsed(text: string): ReturnType<typeof parse> {
  return parse({ name: "script", text }, { positional: [], builtins: builtinsFor("bpftrace") });
}

test("a script without any layout gets the house's", () => {
  const { text } = format(read(join(fixtures, "format"), "before.bt"));
  const golden = join(fixtures, "format", "after.bt");
  if (process.env["STROBE_UPDATE"] === "1") writeFileSync(golden, text ?? "");
  assert.equal(text, readFileSync(golden, "utf8"));
});

test("the tools are in the house's layout", () => {
  for (const source of scripts.filter(({ name }) => readdirSync(tools).includes(name))) {
    assert.equal(format(source).text, source.text, source.name);
  }
});

test("a script that does not parse is left alone", () => {
  const { text, diagnostics } = format({ name: "script", text: "begin { print(1 }" });
  assert.equal(text, undefined);
  assert.deepEqual(diagnostics.map(({ code, span }) => [code, span.start]), [["syntax", 16]]);
});

test("formatting what is formatted changes nothing, and loses neither comments nor meaning", () => {
  assert.ok(scripts.length >= 25, `${scripts.length} scripts`);
  for (const source of scripts) {
    const once = format(source).text ?? "";
    assert.equal(format({ ...source, text: once }).text, once, source.name);
    assert.equal(tree(once), tree(source.text), source.name);
    assert.deepEqual(comments(once), comments(source.text), source.name);
  }
});

/** Nameless structs are named after their place. */
function tree(text: string): string {
  return printTree(parsed(text).program).replaceAll(/anonymous at \d+/g, "anonymous");
}

/** Comments and directives, without the white space in them. */
function comments(text: string): string[] {
  const specs = parsed(text).program.probes.flatMap((probe) => probe.specs.map((spec) => spec.span));
  return formatItems(text, specs)
    .filter(({ kind }) => kind === "line-comment" || kind === "block-comment" || kind === "directive")
    .map((item) => item.text.replaceAll(/\s+/g, " "));
}

test("however a script was spaced, its layout has the same tree and stays as it is", () => {
  fc.assert(fc.property(fc.constantFrom(...scripts), fc.infiniteStream(fc.constantFrom("", "", " ", "  ", "\n", "\n\n\n", "\t")), ({ text }, spaces) => {
    const specs = parsed(text).program.probes.flatMap((probe) => probe.specs.map((spec) => spec.span));
    let at = 0;
    let spaced = "";
    let previous = "";
    for (const item of formatItems(text, specs)) {
      const start = text.indexOf(item.text, at);
      const kept = text.slice(at, start);
      // White space may only grow where it is free: not in or around directives, probe specs and ends of line comments.
      const free = ["word", "punctuation"].includes(item.kind) && ["word", "punctuation"].includes(previous) && kept !== "";
      spaced += free ? kept + (spaces.next().value ?? "") : kept;
      spaced += item.text;
      at = start + item.text.length;
      previous = item.kind;
    }
    const once = format({ name: "script", text: spaced }).text ?? "";
    assert.equal(tree(once), tree(text));
    assert.equal(format({ name: "script", text: once }).text, once);
  }), { numRuns: 300 });
});
