import assert from "node:assert/strict";
import { test } from "node:test";
import { parse } from "../language/bpftrace/parse.ts";
import { compile } from "../compiler/compile.ts";
import { madeUpSystem, resolveMadeUp } from "../../test/support/made-up-system.ts";
import { E2BIG, LinuxError } from "../linux/error.ts";
import { tooComplex } from "./too-complex.ts";
import { attempts } from "../messages/on-demand.ts";

/** What is said of a script whose program of that name was refused: the text it points at, and the message. */
function said(text: string, name: string): readonly [at: string, message: string] | undefined {
  const { program } = parse({ name: "test.bt", text }, { positional: [] });
  const compiled = compile(program, madeUpSystem, { resolve: resolveMadeUp });
  const refused = new LinuxError({
    call: "bpf(BPF_PROG_LOAD)",
    code: E2BIG,
    doing: attempts().loadProgram(name),
    program: name,
  });
  const [diagnostic] = tooComplex(refused, { ...compiled, program })?.diagnostics ?? [];
  return diagnostic && [text.slice(diagnostic.span.start, diagnostic.span.end), diagnostic.message];
}

const ways = "more ways through it than the kernel's verifier walks (a million instructions, 8,192 branches on a way)";

test("a program that the verifier gave up on is told by its largest loop", () => {
  const script = `kprobe:f { @ = 1; }
kprobe:g {
  for ($i : 0..3) { @++; }
  while (@ < arg0) { if (arg1 > 1) { @++; } else { @ += 2; } }
}`;
  assert.deepEqual(said(script, "g"), ["while (@ < arg0)", `kprobe:g with this loop has ${ways}`]);
  assert.deepEqual(said(script, "f"), ["kprobe:f", `this probe has ${ways}, in 0 branches`]);
  assert.equal(said(script, "h"), undefined);
});

test("a loop of a function counts where the probe has none", () => {
  assert.deepEqual(
    said("fn count() : uint64 { for ($kv : @m) { @n++; } return @n; } kprobe:f { @m[1] = count(); }", "f"),
    ["for ($kv : @m)", `kprobe:f with this loop has ${ways}`],
  );
});

test("a probe without loops is told by the statement that most of its branches are in", () => {
  const chain = Array.from({ length: 20 }, (_, i) => `if (arg0 == ${i}) { @m[${i}] = 1; }`);
  assert.deepEqual(said(`kprobe:f { ${chain.join(" ")} }`, "f"), [
    "kprobe:f",
    `this probe has ${ways}, in 40 branches`,
  ]);
  assert.deepEqual(said(`kprobe:f { @a = 1; if (arg1 > 2) { ${chain.join(" else ")} } @b[1] = 2; }`, "f"), [
    "if (arg0 == 0)",
    `this probe has ${ways}, and 40 of its 42 branches are here`,
  ]);
  assert.deepEqual(
    said(
      `fn many($x : uint64) : uint64 { ${chain.join(" ").replaceAll("arg0", "$x")} return $x; } kprobe:f { @a = 1; $y = many(arg0) + many(arg1); @b[2] = 1; }`,
      "f",
    )?.[1],
    `this probe has ${ways}, and 80 of its 81 branches are here`,
  );
  const deep = Array.from({ length: 1000 }, (_, i) => `if (arg0 == ${i}) { @ = ${i}; }`).join(" else ");
  assert.equal(
    said(`kprobe:f { ${deep} }`, "f")?.[1],
    `this probe has ${ways}, and 1000 of its 1000 branches are here`,
  );
});
