import assert from "node:assert/strict";
import { test } from "node:test";
import type { Relocation } from "../../compiler/bpf/bpf-plan.ts";
import { relocated, type Targets } from "./relocate.ts";

const targets: Targets = {
  maps: [7, 300],
  childPid: 4242,
  bootToWall: -2n,
  bootToTai: 37_000_000_000n,
  start: 0x1234_5678_9abc_def0n,
  kernelVariable: (symbol) => (symbol === "runqueues" ? 99 : undefined),
  kernelFunction: (symbol) => (symbol === "bpf_session_is_return" ? 66_736 : undefined),
};

/** r1 = 0x1122334455667788 ll; exit; r2 = 0 ll */
const code = new Uint8Array([
  0x18, 0x01, 0, 0, 0x88, 0x77, 0x66, 0x55, 0, 0, 0, 0, 0x44, 0x33, 0x22, 0x11, 0x95, 0, 0, 0, 0, 0, 0, 0, 0x18, 0x02,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
]);

function patch(...relocations: Partial<Relocation>[]): Uint8Array {
  return relocated(
    {
      name: "p",
      code,
      relocations: relocations.map((r) => ({ instruction: 0, kind: "map", map: 0, offset: 0, ...r })),
    },
    targets,
  );
}

test("maps are patched by descriptor, values with their offset, and the plan's code stays as it was", () => {
  const before = code.slice();
  const patched = patch({ map: 1 }, { instruction: 3, kind: "map-value", map: 0, offset: 72 });
  assert.deepEqual([...patched.subarray(0, 16)], [0x18, 0x11, 0, 0, 0x2c, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
  assert.deepEqual([...patched.subarray(16, 24)], [0x95, 0, 0, 0, 0, 0, 0, 0]);
  assert.deepEqual([...patched.subarray(24)], [0x18, 0x22, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 72, 0, 0, 0]);
  assert.deepEqual(code, before);
});

test("constants of the run are whole 64-bit numbers", () => {
  const constant = (kind: Relocation["kind"]) => {
    const view = new DataView(patch({ kind }).buffer);
    assert.equal(view.getUint8(1), 0x01);
    return (view.getBigInt64(8, true) & ~0xffff_ffffn) | BigInt(view.getUint32(4, true));
  };
  assert.equal(constant("child-pid"), 4242n);
  assert.equal(constant("boot-to-wall"), -2n);
  assert.equal(constant("boot-to-tai"), 37_000_000_000n);
  assert.equal(constant("session-start"), 0x1234_5678_9abc_def0n);
});

test("per-CPU kernel variables go by BTF id", () => {
  const patched = patch({ kind: "kernel-variable", symbol: "runqueues" });
  assert.deepEqual([...patched.subarray(0, 16)], [0x18, 0x31, 0, 0, 99, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
  assert.throws(() => patch({ kind: "kernel-variable", symbol: "nope" }), /no per-CPU variable "nope"/);
});

test("a relocation that is not on a 64-bit load is refused", () => {
  assert.throws(() => patch({ instruction: 2 }), /not on a 64-bit load/);
  assert.throws(() => patch({ map: 2 }), /kernel map 2, of 2/);
});

test("a call of a kernel function gets its BTF id", () => {
  const program = (symbol: string) => ({
    name: "p",
    code: new Uint8Array([0x85, 0x20, 0, 0, 0, 0, 0, 0]),
    relocations: [{ instruction: 0, kind: "kernel-function" as const, symbol, map: -1, offset: 0 }],
  });
  assert.deepEqual([...relocated(program("bpf_session_is_return"), targets)], [0x85, 0x20, 0, 0, 0xb0, 0x04, 1, 0]);
  assert.throws(() => relocated(program("nope"), targets), /no function "nope"/);
});
