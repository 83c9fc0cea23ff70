import assert from "node:assert/strict";
import { test } from "node:test";
import { kprobeRefusal } from "./kprobe-refusals.ts";

test("what the kernel cannot imitate is told from what it can", () => {
  const reason = (hex: string): string | undefined => kprobeRefusal(Uint8Array.from(Buffer.from(hex, "hex")))?.reason;
  // call *%rax; call *%r10; jmp *%rax; incl (%rax); push (%rax)
  for (const code of ["ffd0", "41ffd2", "ffe0", "ff00", "ff30", "c3", "e800000000", "0f1f4000", "f00fb10f"])
    assert.equal(reason(code), undefined, code);
  // call *0x18(%rax); call *8(%r10); notrack jmp *0(,%rax,8); lcall *(%rax)
  for (const code of ["ff5018", "41ff5208", "ff18"])
    assert.equal(reason(code), "the kernel cannot imitate calls through memory", code);
  assert.equal(reason("3eff24c500000000"), "the kernel cannot imitate jumps through memory");
  assert.equal(reason("48cf"), "the kernel cannot imitate iret");
  assert.equal(reason("cc"), "it is a breakpoint itself");
  assert.equal(reason("0f0b"), "it is where a warning or a bug of the kernel traps");
});
