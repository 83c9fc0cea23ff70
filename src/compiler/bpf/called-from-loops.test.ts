// Linux 6.17 to 6.19 may oops at a loop over a map whose call of the helper is in no loop itself (map-operations.ts).
import assert from "node:assert/strict";
import { test } from "node:test";
import { disassemble } from "../../bpf/disassembler.ts";
import { parse } from "../../language/bpftrace/parse.ts";
import { compile } from "../compile.ts";
import { madeUpSystem, resolveMadeUp } from "../../../test/support/made-up-system.ts";

/** Of each call that goes through a map, in the order of the code: whether a way leads from it back to it. */
function callsInLoops(body: string, kernel: readonly [number, number]): boolean[] {
  const { program } = parse({ name: "maps", text: `kprobe:f { ${body} }` }, { positional: [] });
  const { plan, diagnostics } = compile(
    program,
    { ...madeUpSystem, capabilities: { ...madeUpSystem.capabilities, kernel } },
    { resolve: resolveMadeUp },
  );
  assert.ok(plan, JSON.stringify(diagnostics));
  const lines = disassemble(plan.bpf.programs[0].code).map(
    (line) => /^ *(?<at>\d+): (?<text>.*)$/.exec(line)?.groups ?? {},
  );
  const number = new Map(lines.map(({ at }, i) => [at, i]));
  const next = (i: number): number[] => {
    const { text = "" } = lines[i] ?? {};
    const to = number.get(/goto (\d+)$/.exec(text)?.[1] ?? "");
    return [...(to === undefined ? [] : [to]), ...(text === "exit" || text.startsWith("goto") ? [] : [i + 1])];
  };
  const reached = (from: number): ReadonlySet<number> => {
    const found = new Set(next(from));
    for (const i of found) for (const behind of next(i)) found.add(behind);
    return found;
  };
  return lines.flatMap(({ text = "" }, i) => (text.endsWith("for_each_map_elem#164") ? [reached(i).has(i)] : []));
}

const text = `if (strcontains("the quick brown fox", $a.0)) { @n++; }`;
const scripts = {
  "a loop in a loop over a map": "@m[arg0] = 1; for ($a : @m) { $i = 0; while ($i < $a.1) { $i++; @n = $i; } }",
  "texts in a loop over a map": `@m[comm] = 1; for ($a : @m) { ${text} }`,
  "two loops over maps, one after the other": `@m[comm] = 1; for ($a : @m) { ${text} } for ($a : @m) { ${text} }`,
};

for (const [name, body] of Object.entries(scripts)) {
  test(`${name} is called from a loop where the verifier frees what it still uses`, () => {
    const calls = callsInLoops(body, [6, 16]);
    assert.ok(calls.length > 0 && calls.every((inLoop) => !inLoop), String(calls));
    for (const minor of [17, 18, 19])
      assert.deepEqual(
        callsInLoops(body, [6, minor]),
        calls.map(() => true),
      );
    assert.deepEqual(callsInLoops(body, [7, 0]), calls);
  });
}
