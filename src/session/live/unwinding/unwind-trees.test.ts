import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { nodeKeys, nodeRowBytes } from "../../../compiler/layouts/unwind-layout.ts";
import { CallFrames } from "../../../debuginfo/call-frames.ts";
import { bytesOf, Elf } from "../../../debuginfo/elf.ts";
import { ruleAt, UnwindKind, unwindRule, unwindTable, type UnwindTable } from "../../../debuginfo/unwind-table.ts";
import { UnwindNodes, type UnwindTree } from "./unwind-trees.ts";

/** A table whose row i begins at i * 4. */
function tableOf(rows: number): UnwindTable {
  const starts = Uint32Array.from({ length: rows + 1 }, (_, i) => i * 4);
  const rules = Uint32Array.from({ length: rows + 1 }, (_, i) =>
    i === rows ? UnwindKind.none : unwindRule(UnwindKind.rsp, i & 7, i),
  );
  return { base: 0x1000n, starts, rules };
}

/** As the program in the kernel searches: in each node the last row not above the key. */
function search(
  nodes: ReadonlyMap<number, Uint32Array>,
  trees: readonly UnwindTree[],
  address: bigint,
): number | undefined {
  const tree = trees.find(({ low, high }) => address >= low && address < high);
  if (tree === undefined) return undefined;
  let number = tree.root;
  for (let level = 0; level < 2; level++) {
    const words = nodes.get(number)!;
    let row = 0;
    for (let half = nodeKeys / 2; half >= 1; half /= 2)
      if (words[(row + half) * 2] <= Number(address - tree.low)) row += half;
    number = words[row * 2 + 1];
  }
  return number;
}

function written(): { readonly nodes: Map<number, Uint32Array>; readonly writer: UnwindNodes } {
  const nodes = new Map<number, Uint32Array>();
  return {
    nodes,
    writer: new UnwindNodes((numbers, bytes) => {
      assert.equal(bytes.length, numbers.length * nodeKeys * nodeRowBytes);
      numbers.forEach((number, i) =>
        nodes.set(number, new Uint32Array(bytes.buffer, i * nodeKeys * nodeRowBytes, nodeKeys * 2)),
      );
    }),
  };
}

test("every row is found, in tables of one node and in those of several trees", () => {
  const { nodes, writer } = written();
  for (const rows of [1, 255, 256, 257, 65_535, 65_536, 70_000, 140_000]) {
    const table = tableOf(rows);
    const trees = writer.add(table);
    assert.equal(trees.length, Math.ceil(rows / 65_536));
    for (const row of [0, 1, 254, 255, 256, 257, 65_535, 65_536, 65_537, rows - 1].filter((n) => n < rows)) {
      for (const within of [0n, 3n])
        assert.equal(
          search(nodes, trees, table.base + BigInt(row) * 4n + within),
          table.rules[row],
          `${row} of ${rows}`,
        );
    }
    assert.equal(search(nodes, trees, table.base + BigInt(rows) * 4n), undefined, "behind the code");
  }
});

const libc = "/lib/x86_64-linux-gnu/libc.so.6";

test("libc's rules are those of its call frame information", { skip: !existsSync(libc) && `needs ${libc}` }, () => {
  const frames = CallFrames.of(new Elf(bytesOf(readFileSync(libc))))!;
  const table = unwindTable(frames);
  const { nodes, writer } = written();
  const trees = writer.add(table);
  const kinds = new Map([
    [7, UnwindKind.rsp],
    [6, UnwindKind.rbp],
  ]);
  let compared = 0;
  let told = 0;
  for (let at = 0; at < table.starts.length - 1; at += 7) {
    const address = table.base + BigInt(table.starts[at]);
    const rule = ruleAt(table, address);
    assert.equal(search(nodes, trees, address), rule);
    const row = frames.rowAt(address);
    if (row?.cfa.kind !== "register") continue;
    compared++;
    const kind = kinds.get(row.cfa.register);
    if (row.returnAddress.kind === "undefined") assert.equal(rule & 7, UnwindKind.end);
    else if (kind !== undefined && row.returnAddress.kind === "saved" && row.returnAddress.offset === -8) {
      told++;
      assert.deepEqual([rule & 7, (rule | 0) >> 9], [kind, row.cfa.offset], address.toString(16));
      const rbp = row.registers.get(6);
      assert.equal((rule >> 3) & 63, rbp === undefined ? 0 : rbp.kind === "saved" ? -rbp.offset / 8 : 63);
    } else assert.equal(rule & 7, UnwindKind.none);
  }
  assert.ok(compared > 2000 && told / compared > 0.99, `${told} of ${compared}`);
});
