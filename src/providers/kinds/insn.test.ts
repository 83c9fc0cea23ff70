// insn and ret in a made-up kernel whose code is written out here.
import assert from "node:assert/strict";
import { test } from "node:test";
import { bareSystem } from "../../../test/support/bare-system.ts";
import { i32 } from "../../language/types.ts";
import type { KprobeSite } from "../places/kernel-functions.ts";
import type { Resolution } from "../provider.ts";
import { resolveSpec, splitPattern } from "../registry.ts";
import type { KernelCode, System } from "../../machine/system.ts";
import { Failure } from "../../base/failure.ts";
import { reason } from "../../messages/message.ts";

const skip = process.arch === "x64" ? false : "x86-64 only";
const start = 0xffff_ffff_8100_0000n;
const bytes = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex.replaceAll(" ", ""), "hex"));

// 0 nop; 5 test %edi,%edi; 7 je 17; 9 ud2; 11 jmp thunk; 16 int3; 17 xor %eax,%eax; 19 jmp other
const work: KernelCode = {
  name: "work",
  ranges: [{ address: start, bytes: bytes("0f1f440000 85ff 7408 0f0b e9f0000000 cc 31c0 e9e8010000") }],
  forbidden: (address) => address === start + 5n,
  nameAt: (address) =>
    ({ 256: { name: "__x86_return_thunk", offset: 0 }, 512: { name: "other", offset: 0 } })[Number(address - start)],
};

const system: System = {
  ...bareSystem,
  kernelFunction: (name) =>
    name === "work" || name === "hidden"
      ? { name, btfId: 1, module: "vmlinux", parameters: [], result: i32 }
      : undefined,
  kernelFunctions: () => ["hidden", "work"],
  functionModule: () => "vmlinux",
  kernelCode: (name) =>
    name === "work" ? work : new Failure(reason("the kernel's code cannot be read: it is closed")),
};

function resolve(text: string, ...uses: readonly string[]): Resolution {
  const [provider, ...parts] = splitPattern(text);
  return resolveSpec({ provider, parts, text, span: { start: 0, end: text.length } }, system, {
    missing: "error",
    uses: new Set(uses),
  });
}
const places = ({ variants }: Resolution): string[] =>
  variants.flatMap(({ sites }) => sites.map(({ name, data }) => `${name} @${(data as KprobeSite).offset - start}`));
const said = ({ diagnostics }: Resolution): string[] =>
  diagnostics.map(({ severity, message, help }) => `${severity}: ${message}${help === undefined ? "" : ` (${help})`}`);

test("every instruction of a kernel function, but where it must not be probed", { skip }, () => {
  for (const spelling of ["insn:work:*", "kinst:work:"]) {
    const all = resolve(spelling);
    assert.deepEqual(places(all), [
      "insn:work:0 @0",
      "insn:work:7 @7",
      "insn:work:11 @11",
      "insn:work:17 @17",
      "insn:work:19 @19",
    ]);
    assert.deepEqual(said(all), [
      "warning: 2 of 7 instructions of `work` cannot be probed " +
        "(work:5 `test %edi, %edi`: the kernel must not be probed there; work:9 `ud2`: it is where a warning or a bug of the kernel traps)",
    ]);
  }
});

test("one instruction of a kernel function", { skip }, () => {
  assert.deepEqual(places(resolve("insn:work:0x11")), ["insn:work:17 @17"]);
  assert.deepEqual(said(resolve("insn:work:8")), [
    "error: work:8 is inside an instruction, which begins at work:7; the next begins at work:9",
  ]);
  assert.deepEqual(said(resolve("insn:work:5")), [
    "error: `test %edi, %edi` at work:5 cannot be probed: the kernel must not be probed there",
  ]);
  assert.deepEqual(said(resolve("insn:hidden:0")), ["error: the kernel's code cannot be read: it is closed"]);
  assert.match(said(resolve("insn:wrok:0"))[0], /there is no kernel function `wrok` \(did you mean `work`\?\)/);
  assert.match(said(resolve("insn:work"))[0], /^error: insn probe type requires 2 or 3 arguments, found 1/);
  for (const text of ["insn:/bin/app:0", "ret:/bin/app", "insn:work:x"])
    assert.match(said(resolve(text))[0], /does not say what to probe/);
});

test("a kernel function returns through its thunk, and the result has its type", { skip }, () => {
  const ret = resolve("ret:work", "retval");
  assert.deepEqual(places(ret), ["ret:work @11"]);
  assert.deepEqual(said(ret), [
    "warning: some calls end with a jump to another function, and are not seen: `work` to `other` " +
      "(the other function returns in its place: probe it as well, or use kretprobe)",
  ]);
  const { context } = ret.variants[0];
  assert.ok(context !== "host");
  assert.deepEqual(context.retval?.type, i32);
  assert.equal(context.numbered, undefined);
});

test("a wildcard takes the functions whose code is there", { skip }, () => {
  assert.deepEqual(places(resolve("ret:*")), ["ret:work @11"]);
  assert.deepEqual(said(resolve("ret:hidden")), [
    "error: the kernel's code cannot be read: it is closed (use kretprobe or fexit)",
  ]);
});
