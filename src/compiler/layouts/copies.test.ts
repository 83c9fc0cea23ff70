import assert from "node:assert/strict";
import { test } from "node:test";
import type { AggregateType } from "../../language/types.ts";
import { copiesOf } from "./copies.ts";

const type = (aggregate: AggregateType["aggregate"], more: Partial<AggregateType> = {}): AggregateType => ({
  kind: "aggregate",
  aggregate,
  signed: false,
  ...more,
});
const hist = type("hist", { parameters: [0n] });
/** 15 kB. */
const fine = type("hist", { parameters: [5n] });

test("each CPU has a copy where memory allows, in lines of the cache of its own", () => {
  assert.deepEqual(copiesOf(type("count"), 4096, 1), { copies: 1, stride: 8 });
  assert.deepEqual(copiesOf(type("count"), 4096, 2), { copies: 2, stride: 64 });
  assert.deepEqual(copiesOf(type("count"), 4096, 128), { copies: 128, stride: 64 });
  assert.deepEqual(copiesOf(hist, 4096, 2), { copies: 2, stride: 576 });
  assert.deepEqual(copiesOf(hist, 100, 64), { copies: 64, stride: 576 });
});

test("else side by side, or CPUs share copies: a power of two, at least one", () => {
  assert.deepEqual(copiesOf(type("count"), 100_000, 2), { copies: 2, stride: 8 });
  assert.deepEqual(copiesOf(type("count"), 1_000_000, 2), { copies: 1, stride: 8 });
  assert.deepEqual(copiesOf(hist, 4096, 128), { copies: 16, stride: 576 });
  assert.deepEqual(copiesOf(fine, 4096, 128).copies, 1);
  // An entry is written whole when its key is new.
  assert.deepEqual(copiesOf(fine, 1, 128).copies, 4);
});

test("minima and maxima are never shared", () => {
  for (const aggregate of ["min", "max"] as const)
    assert.deepEqual(copiesOf(type(aggregate), 1_000_000, 128), { copies: 128, stride: 16 });
});

test("a map takes no more than half a megabyte a CPU, unless one copy is more", () => {
  for (const cpus of [2, 3, 8, 16, 100, 128, 512]) {
    for (const one of [type("count"), type("avg"), hist, fine]) {
      for (const entries of [1, 100, 4096, 100_000]) {
        const { copies, stride } = copiesOf(one, entries, cpus);
        assert.ok(
          copies === 1 || copies * stride * entries <= Math.max(8 << 20, cpus * (512 << 10)),
          `${one.aggregate} ${entries} ${cpus}`,
        );
        assert.ok(copies === cpus || Number.isInteger(Math.log2(copies)));
      }
    }
  }
});
