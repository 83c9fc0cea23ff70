import assert from "node:assert/strict";
import { test } from "node:test";
import { InternalError } from "../base/internal-error.ts";
import { parse } from "../language/bpftrace/parse.ts";
import { ScriptError } from "../language/diagnostic.ts";
import { compile, type Compiled, type CompileOptions } from "./compile.ts";
import { madeUpSystem, resolveMadeUp } from "../../test/support/made-up-system.ts";

function compiled(text: string, options: CompileOptions = {}): Compiled {
  const { program, diagnostics } = parse({ name: "script", text }, { positional: [] });
  assert.deepEqual(diagnostics, []);
  return compile(program, madeUpSystem, { resolve: resolveMadeUp, ...options });
}

test("what goes wrong inside of the compiler is strobe's fault, not the script's", () => {
  const resolve = (): never => {
    throw new TypeError("broken");
  };
  assert.throws(
    () => compiled("kprobe:f { }", { resolve }),
    (error) =>
      error instanceof InternalError &&
      !(error instanceof ScriptError) &&
      error.fault === "TypeError: broken, while compiling the script",
  );
});

test("an integer is cast to an array of as many bytes as integers have, and no more", () => {
  const refusals = (text: string): (readonly [string, string | undefined])[] =>
    compiled(text).diagnostics.map(({ message, help }) => [message, help]);
  assert.deepEqual(refusals("kprobe:f { $x = (int8[10])0 }"), [
    ["cannot cast int64 to int8[10]", "the one has 8 bytes, the other 10"],
  ]);
  assert.deepEqual(refusals("begin { @ = (uint64[2])1 }"), [
    ["cannot cast int64 to uint64[2]", "the one has 8 bytes, the other 16"],
  ]);
  for (const bytes of [1, 2, 3, 4, 5, 6, 7, 8]) {
    for (const probe of ["begin", "kprobe:f"]) {
      const { plan, diagnostics } = compiled(`${probe} { $x = (int8[${bytes}])5; @ = $x; print($x); }`);
      assert.deepEqual([diagnostics, plan !== undefined], [[], true], `${bytes} bytes in ${probe}`);
    }
  }
});

const lines = (count: number, line: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => line(i)).join("\n");

test("thousands of statements of every kind compile", () => {
  const bodies: readonly string[] = [
    lines(3000, (i) => `if (pid == ${i}) { @ = ${i}; }`),
    `$x = 0; ${lines(3000, (i) => `if (pid == ${i}) { $x = ${i} + nsecs; }`)} @ = $x;`,
    lines(3000, (i) => `if (comm == "a${i}") { @s = comm; }`),
    lines(1500, (i) => `$j = 0; while ($j < pid) { $j++; @ = $j + ${i}; }`),
    lines(3000, (i) => `print(@m); @m[${i}] = 1;`),
    lines(3000, (i) => `@m${i}[${i}] = ${i};`),
  ];
  for (const body of bodies) {
    for (const probe of ["begin", "kprobe:f"]) {
      const { plan, diagnostics } = compiled(`config = { max_strlen = 64 } ${probe} { ${body} }`);
      assert.deepEqual([diagnostics, plan !== undefined], [[], true], body.slice(0, 40));
    }
  }
});

test("a thousand times `else if` is no nesting, as a statement and as a value", () => {
  const chain = (count: number, then: string): string =>
    `${lines(count, (i) => `if (pid == ${i} && cpu < 3 || tid > 4) { ${then} } else`)} { ${then} }`;
  for (const probe of ["begin", "kprobe:f"]) {
    for (const text of [chain(1000, "@ = 1;"), `@ = ${chain(1000, "nsecs")};`])
      assert.ok(compiled(`${probe} { ${text} }`).plan !== undefined);
  }
  const { diagnostics } = parse({ name: "script", text: `begin { ${chain(1001, "@ = 1;")} }` }, { positional: [] });
  assert.deepEqual(
    diagnostics.map(({ code, message, help }) => [code, message, help]),
    [["limit", "a chain has at most 1000 `else if`", "look the value up in a map, or divide the chain"]],
  );
});

test("what is kept for later is more than the stack has", () => {
  const { diagnostics } = compiled(
    `kprobe:f { ${lines(300, (i) => `$x${i} = nsecs + ${i};`)} ${lines(300, (i) => `@ = $x${i};`)} }`,
  );
  assert.deepEqual(
    diagnostics.map(({ code }) => code),
    ["limit"],
  );
  assert.match(
    diagnostics[0].message,
    /^this probe cannot be compiled for the kernel: f needs some \d+ bytes of stack, and has 512$/,
  );
});

test("sizes that no machine has room for are refused where they stand", () => {
  const refusals = (text: string): (readonly [string, string, string | undefined])[] =>
    compiled(text).diagnostics.map(({ code, message, span }) => [code, message, text.slice(span.start, span.end)]);
  for (const probe of ["begin", "kprobe:f"]) {
    assert.deepEqual(refusals(`${probe} { $a = "x"; @ = memcmp($a, $a, 0x7fffffff); }`), [
      ["limit", "memcmp() compares 16384 bytes at most", "0x7fffffff"],
    ]);
    assert.deepEqual(
      refusals(`${probe} { @ = memcmp("a", "b", 16384); }`)
        .map(([code]) => code)
        .filter((code) => code !== "limit"),
      [],
    );
    for (const conversion of ["%1000000000d", "%.1000000000d", "%-65537s"]) {
      const [format, value] = [`"${conversion}"`, conversion.endsWith("s") ? "comm" : "1"];
      assert.deepEqual(refusals(`${probe} { printf(${format}, ${value}); }`), [
        ["arguments", `bad format: \`${conversion}\` is too wide: a width and a precision are at most 65536`, format],
      ]);
    }
    assert.deepEqual(refusals(`${probe} { printf("%65536d", 1); }`), []);
  }
  assert.deepEqual(refusals("struct A { char x[1073741824]; } kprobe:f { print(((struct A *)arg0)->x); }"), [
    [
      "limit",
      "this gives a record of 1073741825 bytes, and at most 268435456 are supported",
      "print(((struct A *)arg0)->x)",
    ],
  ]);
});
