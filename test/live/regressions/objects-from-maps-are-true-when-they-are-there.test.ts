// What may be missing is asked for as in JavaScript: in conditions, with ?., ??, in variables, through functions. Each
// case is run in the kernel, in strobe's own process and, by Node, as JavaScript over the maps that the trace filled.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { strobe, temporaryFolder } from "../../support/strobe.ts";

const folder = temporaryFolder();
after(() => folder.remove());

/**
 * Bodies of `(x) => number`, where x is 5: there is an entry of 5 in `objects` and `numbers`, of 6 a 0 in `numbers`,
 * and none of 9.
 */
const cases: readonly string[] = [
  ...[5, 9].flatMap((key) => [
    `const r = objects.get(${key}); if (!r) return 1; return r.n * 10;`,
    `const r = objects.get(${key}); if (r) return r.n * 10; return 1;`,
    `const r = objects.get(${key}); return r ? r.n : 9;`,
    `const r = objects.get(${key}); return Number(!!r) + Number(Boolean(r)) * 10 + Number(r !== undefined) * 100 + Number(r == null) * 1000;`,
    `const r = objects.get(${key}); return r && r.n > 2 ? 1 : 2;`,
    `const r = objects.get(${key}); return !r || r.n > 9 ? 1 : 2;`,
    `const r = objects.get(${key}); const s = r; return s ? s.n : 4;`,
    `const r = objects.get(${key}); return typeof r === "undefined" ? 1 : 2;`,
    `const r = x > 3 ? objects.get(${key}) : undefined; return r ? r.n : 4;`,
    `let r; for (const k of [4, ${key}, 8]) { const o = objects.get(k); if (o) r = o; } return r ? r.n : 4;`,
    `return objects.get(${key})?.n ?? 7;`,
    `return objects.get(${key})?.zero ?? 7;`,
    `return objects.get(${key})?.inner?.zero ?? 7;`,
    `return objects.get(${key})?.inner.one ?? 7;`,
    `const inner = objects.get(${key})?.inner; return inner ? inner.one : 4;`,
    `const zero = objects.get(${key})?.zero; return zero === undefined ? 1 : zero + 2;`,
    `return objects.get(${key})?.name === "cat" ? 1 : 2;`,
    `return (objects.get(${key})?.name ?? "none").length;`,
    `const r = objects.get(${key}) ?? objects.get(5); return r.n;`,
    `const r = objects.get(${key}) || objects.get(5); return r.n;`,
    `const r = objects.get(4), s = objects.get(${key}); return r && s ? 1 : r || s ? 2 : 3;`,
    `let r = objects.get(${key}); r ??= objects.get(5); return r.n;`,
    `let r = objects.get(5); r &&= objects.get(${key}); return r ? 1 : 2;`,
    `const t = tuples.get(${key}); return t ? t[1] : 9;`,
    `return tuples.get(${key})?.[1] ?? 9;`,
    `const p = pairs.get(${key}, "cat"); return p ? p.n : 9;`,
    `const n = numbers.get(${key}); return n ? n : 2;`,
    `const n = numbers.get(${key}); const m = n ?? 3; return m;`,
    `let n = numbers.get(${key}); n = n === undefined ? 4 : n + 1; return n;`,
    `let k = ${key - 1}; const r = objects.get(++k); return (r ? r.n : 0) * 100 + k;`,
    `let k = ${key}; return (numbers.get(k++) ?? 3) * 100 + k;`,
    `return named(${key}) + early(${key}) * 100;`,
    `return handed(objects.get(${key})) + handed(objects.get(${key}), numbers.get(${key})) * 100;`,
    `const r = found(${key}); return r ? r.n : 1;`,
    `return found(${key})?.inner?.one ?? 8;`,
    `return found(${key}) === undefined ? 1 : 2;`,
    `const f = (o: any, n = 2) => o ? o.n + n : n; return f(objects.get(${key})) * 10 + f(objects.get(${key}), numbers.get(${key}));`,
    `const r = (() => { const k = ${key}; return objects.get(k); })(); return r ? r.n : 2;`,
  ]),
  "const n = numbers.get(6); return (n ? 1 : 2) + (n === undefined ? 10 : 20) + (n ?? 3) * 100;",
  'return (texts.get("empty") ?? "other").length * 100 + (texts.get("empty") || "other").length * 10 + (texts.get("none") ?? "others").length;',
  'return texts.get("empty")?.length ?? 5;',
  "return (single.get() ? 1 : 2) + (single.get()?.a ?? 5) * 10 + (never.get() === undefined ? 100 : 200) + (never.get()?.a ?? 3) * 1000;",
  "let sum = 0; for (const [, o] of objects) { if (o && o.inner) sum += o.n; } return sum;",
  "return optional(0) + optional() * 10 + optional(undefined) * 100;",
  "let n = 0; while (numbers.get(n) === undefined) n++; return n;",
  "const none = undefined; return none === undefined ? none ?? 3 : 2;",
];

test("in the kernel, in strobe's own process and as JavaScript they are the same", async () => {
  const program = join(folder.path, "cases.ts");
  const perProbe = 12;
  const parts = Array.from({ length: Math.ceil(cases.length / perProbe) }, (_, part) =>
    cases.map((_, i) => i).slice(part * perProbe, (part + 1) * perProbe),
  );
  const emits = (part: readonly number[], where: string): string =>
    part.map((i) => `given.emit({ where: "${where}", i: ${i}, value: f${i}(five.value) });`).join(" ");
  writeFileSync(
    program,
    `import { begin, event, map, pid, trace, tracepoint } from "strobe";
    const objects = map<number, any>(), numbers = map<number, number>(), texts = map<string, string>(), tuples = map<number, any>();
    const pairs = map<[number, string], any>(), single = map<[], any>(), never = map<[], any>(), five = map<[], number>();
    const given = event<{ where: string; i: number; value: number }>(), self = process.pid;
    function named(k: any) { const r = objects.get(k); if (!r) return 4; return r.name.length; }
    function early(k: any) { const r = objects.get(k); if (r === undefined) return 4; if (!r.inner) return 5; return r.inner.one; }
    function sum(r: any, n: any) { return (r ? r.n : 1) + n; }
    function handed(r: any, n: any = 4) { return sum(r, n); }
    function found(k: any) { if (k < 3) return undefined; return objects.get(k); }
    function optional(n?: any) { return n ?? 7; }
    five.set(5);
    ${cases.map((body, i) => `const f${i} = (x: any): any => { ${body} };`).join("\n    ")}
    const session = await trace(
      begin(() => {
        objects.set(5, { n: 3, zero: 0, name: "cat", inner: { one: 1, zero: 0 } }); numbers.set(5, 7); numbers.set(6, 0);
        texts.set("empty", ""); texts.set("a", "text"); tuples.set(5, [1, 2]); pairs.set(5, "cat", { n: 1 }); single.set({ a: 4 });
        if (five.value === 6) never.set({ a: 1 });
        ${emits(
          cases.map((_, i) => i),
          "host",
        )}
      }),
      ${parts.map((part) => `tracepoint("syscalls:sys_enter_getppid", { filter: () => pid === self, handler: () => { ${emits(part, "kernel")} } }),`).join("\n      ")}
    );
    void process.ppid;
    setTimeout(() => session.stop(), 100);
    for await (const { where, i, value } of given) console.log(where, i, value);
    [${cases.map((_, i) => `f${i}`).join(", ")}].forEach((f, i) => console.log("javascript", i, f(5)));
  `,
  );
  const { stdout, stderr, code } = await strobe(["run", program]);
  assert.deepEqual({ stderr, code }, { stderr: "", code: 0 });
  const got = Object.fromEntries(["javascript", "host", "kernel"].map((where) => [where, new Map<number, string>()]));
  for (const [, where, i, value] of stdout.matchAll(/^(\w+) (\d+) (.*)$/gm)) got[where].set(Number(i), value);
  const all = (where: string): string[] => cases.map((body, i) => `${body} → ${got[where].get(i)}`);
  assert.deepEqual(all("host"), all("javascript"));
  assert.deepEqual(all("kernel"), all("javascript"));
  assert.ok(cases.every((_, i) => /^-?\d+$/.test(got["javascript"].get(i) ?? "")));
});
