// A kind of probe is a file and a line: one from outside is read, listed, completed, checked, translated, documented,
// declared and attached as strobe's own are.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { resolve } from "node:path";
import { translateToTypeScript } from "../../src/api/translate.ts";
import { declareMachine } from "../../src/declare/declare.ts";
import { comm, compileScript, map, probe, ScriptError, trace, type TraceEvent } from "../../src/index.ts";
import { complete } from "../../src/lsp/completion.ts";
import { liveSystem } from "../../src/machine/live-system.ts";
import type { Provider } from "../../src/providers/provider.ts";
import { addKind, allProviders, findProvider, listProbes } from "../../src/providers/registry.ts";
import { bareSystem } from "../support/bare-system.ts";
import { moment } from "../support/made-up-kind.ts";
import { bpfObjects, nothingLeft } from "../support/strobe.ts";

const deadline = { timeout: 120_000, skip: process.geteuid?.() !== 0 && "needs root" };
/** Three programs that the shell starts, and itself. */
const workload = "sh -c 'for i in 1 2 3; do /bin/true; done; :'";
const atStart = bpfObjects();
let added: Disposable;

before(() => {
  added = addKind(moment);
});
after(async () => {
  added[Symbol.dispose]();
  assert.equal(findProvider("moment"), undefined);
  await nothingLeft(atStart);
});

async function mapsOf(events: AsyncIterable<TraceEvent>): Promise<unknown[]> {
  const maps: unknown[] = [];
  for await (const event of events) if (event.type === "map") maps.push([event.map.name, event.map.entries]);
  return maps;
}

test("a name that is taken is refused", () => {
  assert.throws(() => addKind({ ...moment, name: "other", aliases: ["k"] }), /there is a kind of probe named "k"/);
});

test("it runs in a script, by its name and by its alias", deadline, async () => {
  for (const kind of ["moment", "mo"]) {
    const session = await trace(`${kind}:program /ppid == cpid && args.before == tid/ { @[comm, probe] = count(); }`, {
      command: workload,
    });
    assert.deepEqual(await mapsOf(session), [["", [[["true", "moment:program"], 3]]]]);
  }
});

test("it runs in TypeScript", deadline, async () => {
  const begun = map<string, "count">({ name: "begun" });
  const session = await trace(
    probe(
      "moment:program",
      (args) => {
        if (args.before > 1) begun.at(comm).count();
      },
      { begun, comm },
    ),
    { command: workload },
  );
  await session.ended;
  assert.equal(new Map(begun.snapshot()).get("true"), 3);
});

test("mistakes are found, with the nearest name", () => {
  const said = (text: string): unknown => {
    const { diagnostics } = compileScript({ name: "", text });
    return diagnostics.map(({ message, help }) => [message, help]);
  };
  assert.deepEqual(said("moment:progran { }"), [["there is no moment `progran`", "did you mean `program`?"]]);
  assert.deepEqual(said("momen:program { }"), [["invalid probe type: momen", "did you mean `moment`?"]]);
  assert.throws(() => translateToTypeScript({ name: "", text: "moment:program" }), ScriptError);
});

test("it is listed and completed", () => {
  const listed = (pattern: string): string[] =>
    [...listProbes(pattern, liveSystem(), { verbose: false })].map(({ probe: name }) => name);
  assert.deepEqual(listed("moment:*"), ["moment:program", "moment:thread"]);
  assert.deepEqual(listed("mo*:thr*"), ["moment:thread"]);
  const offered = (text: string): string[] => complete({ name: "", text }, text.length).items.map(({ label }) => label);
  assert.ok(offered("mo").includes("moment"));
  assert.deepEqual(offered("mo:p"), ["mo:program"]);
  assert.deepEqual(offered("moment:program { args."), ["before"]);
});

test("it is translated, declared and documented", async () => {
  const { text } = { text: translateToTypeScript({ name: "", text: "mo:program { @[args.before] = count(); }" }) };
  assert.match(text, /probe\("mo:program", \(args\) =>/);
  const { files, counts } = declareMachine(bareSystem, { binaries: [], about: "// about" });
  assert.equal(counts["moments"], 2);
  const declared = Buffer.from(files.get("moments.d.ts")!).toString();
  assert.match(declared, /interface Probes \{\n {4}"moment:program": \{ before: i32 \};\n {4}"moment:thread": \{\};/);
  assert.match(Buffer.from(files.get("index.d.ts")!).toString(), /import ".\/moments.d.ts";/);
  const { probesPage } = (await import(pathToFileURL(resolve("docs/pages.mjs")).href)) as {
    readonly probesPage: (providers: readonly Provider[]) => string;
  };
  assert.match(
    probesPage(allProviders()),
    /\| `moment` \| `mo` \| `moment:\(program\\\|thread\)` \| A program begins, or a thread ends. \|/,
  );
});
