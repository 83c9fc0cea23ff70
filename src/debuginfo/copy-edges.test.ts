// Where inlined copies begin and end, in code that is written here byte by byte.
import assert from "node:assert/strict";
import { test } from "node:test";
import { flowOf, type CodeSurroundings } from "./code-flow.ts";
import { conditionOf, continuations, edgesOf, onlyJumpTo, type CopyEdges, type PlaceChoice } from "./copy-edges.ts";
import { landingPads } from "./landing-pads.ts";

const base = 0x1000n;

// One instruction each.
const nop = [0x90],
  ret = [0xc3],
  ud2 = [0x0f, 0x0b];
const inc = [0xff, 0xc0],
  dec = [0xff, 0xc8];
/** Relative to the byte behind them. */
const jne = (by: number): number[] => [0x75, by & 0xff];
const jle = (by: number): number[] => [0x7e, by & 0xff];
const jmp = (by: number): number[] => [0xeb, by & 0xff];
const call = (by: number): number[] => [0xe8, by & 0xff, (by >> 8) & 0xff, (by >> 16) & 0xff, (by >> 24) & 0xff];

const anywhere: PlaceChoice = { allowed: () => true, sameStatement: () => false, beginnings: new Set() };

interface Asked {
  readonly code: readonly (readonly number[])[];
  readonly own: readonly (readonly [low: number, high: number])[];
  readonly entry?: number;
  readonly around?: CodeSurroundings;
  readonly choice?: PlaceChoice;
}

function edges({ code, own, entry, around = {}, choice = anywhere }: Asked): CopyEdges {
  const flow = flowOf([{ address: base, bytes: Uint8Array.from(code.flat()) }], base, around);
  const found = edgesOf(
    flow,
    {
      ranges: own.map(([low, high]) => ({ low: base + BigInt(low), high: base + BigInt(high) })),
      ...(entry === undefined ? {} : { entry: base + BigInt(entry) }),
    },
    choice,
  );
  assert.ok(found);
  return found;
}

/** `4` or, under a condition, `4 if 5`. */
function shown({ entries, exits, lostEntries, lostExits }: CopyEdges): { in: string[]; out: string[]; lost: number[] } {
  const text = (places: CopyEdges["exits"]): string[] =>
    places
      .map(
        ({ address, condition, tail }) =>
          `${address - base}${condition === undefined ? "" : ` if ${condition}`}${tail === true ? " tail" : ""}`,
      )
      .sort();
  return { in: text(entries), out: text(exits), lost: [lostEntries, lostExits] };
}

test("a copy in the middle is left for what is behind it", () => {
  assert.deepEqual(shown(edges({ code: [nop, inc, inc, nop, ret], own: [[1, 5]], entry: 1 })), {
    in: ["1"],
    out: ["5"],
    lost: [0, 0],
  });
});

test("instructions of the caller among the copy's are not its end", () => {
  assert.deepEqual(
    shown(
      edges({
        code: [inc, nop, inc, nop, inc, nop, ret],
        own: [
          [0, 2],
          [3, 5],
          [6, 8],
        ],
        entry: 0,
      }),
    ),
    { in: ["0"], out: ["8"], lost: [0, 0] },
  );
});

test("an early way out that joins others is seen at its jump, under its condition", () => {
  // 0: jne 8 (the caller's); 2: inc; 4: jle 8; 6: dec; 8: ret
  const found = edges({ code: [jne(6), inc, jle(2), dec, ret], own: [[2, 8]], entry: 2 });
  assert.deepEqual(shown(found), { in: ["2"], out: ["4 if 14", "6"], lost: [0, 0] });
  // Where nothing else comes to it, its target tells.
  assert.deepEqual(shown(edges({ code: [nop, inc, jle(2), dec, ret], own: [[1, 7]], entry: 1 })), {
    in: ["1"],
    out: ["7"],
    lost: [0, 0],
  });
});

test("a jump both of whose ways leave is seen once", () => {
  // 0: jne 10; 2: inc; 4: jle 8 (the copy's last); 6: jmp 10; 8: dec (the caller's); 10: ret
  const found = edges({ code: [jne(8), inc, jle(2), jmp(2), dec, ret], own: [[2, 6]], entry: 2 });
  assert.deepEqual(shown(found), { in: ["2"], out: ["6", "8"], lost: [0, 0] });
  // 0: jne 6; 2: inc; 4: jle 8; 6: dec (others come here too); 8: ret
  assert.deepEqual(shown(edges({ code: [jne(4), inc, jle(2), dec, ret], own: [[2, 6]], entry: 2 })).out, ["4"]);
});

test("a loop of the copy is no new beginning, one around it is", () => {
  // 0: nop; 1: inc; 3: jne 1; 5: dec (caller); 7: jne 0; 9: ret
  const own = edges({ code: [nop, inc, jne(-4), dec, jne(-9), ret], own: [[1, 5]], entry: 1 });
  assert.deepEqual(shown(own), { in: ["0"], out: ["5"], lost: [0, 0] });
  // The jump back is the caller's.
  const around = edges({ code: [nop, inc, jne(-4), ret], own: [[1, 3]], entry: 1 });
  assert.deepEqual(shown(around), { in: ["1"], out: ["3"], lost: [0, 0] });
});

test("a call that ends a copy where others come to as well cannot be told", () => {
  // 0: jne 9; 2: inc; 4: call; 9: ret
  const code = [jne(7), inc, call(0x100), ret];
  assert.deepEqual(shown(edges({ code, own: [[2, 9]], entry: 2 })), { in: ["2"], out: [], lost: [0, 1] });
  // It does not return.
  assert.deepEqual(shown(edges({ code, own: [[2, 9]], entry: 2, around: { neverReturns: () => true } })), {
    in: ["2"],
    out: [],
    lost: [0, 0],
  });
});

test("a copy ends where its function returns, or leaves for another one", () => {
  assert.deepEqual(shown(edges({ code: [nop, inc, ret], own: [[1, 4]], entry: 1 })), {
    in: ["1"],
    out: ["3"],
    lost: [0, 0],
  });
  assert.deepEqual(shown(edges({ code: [nop, inc, jmp(0x40)], own: [[1, 5]], entry: 1 })), {
    in: ["1"],
    out: ["3 tail"],
    lost: [0, 0],
  });
  const around = { isReturn: (target: bigint): boolean => target === base + 0x45n };
  assert.deepEqual(shown(edges({ code: [nop, inc, jmp(0x40)], own: [[1, 5]], entry: 1, around })), {
    in: ["1"],
    out: ["3"],
    lost: [0, 0],
  });
  assert.deepEqual(shown(edges({ code: [nop, inc, ud2], own: [[1, 5]], entry: 1 })), {
    in: ["1"],
    out: [],
    lost: [0, 0],
  });
});

test("what was moved in front of the beginning is not the copy", () => {
  // 0: inc (moved); 2: jne 6; 4: inc; 6: ret
  assert.deepEqual(
    shown(
      edges({
        code: [inc, jne(2), inc, ret],
        own: [
          [0, 2],
          [4, 6],
        ],
        entry: 4,
      }),
    ),
    { in: ["4"], out: ["4"], lost: [0, 0] },
  );
});

test("beginnings that a compiler repeats are all found", () => {
  // 0: jne 6; 2: inc (told); 4: jmp 8; 6: inc (another); 8: dec; 10: ret
  const asked = { code: [jne(4), inc, jmp(2), inc, dec, ret], own: [[2, 10]], entry: 2 } as const;
  const same = (): boolean => true;
  assert.deepEqual(shown(edges({ ...asked, choice: { ...anywhere, sameStatement: same } })), {
    in: ["2", "6"],
    out: ["10"],
    lost: [0, 0],
  });
  // Without a word of where it begins, every way in counts.
  assert.deepEqual(shown(edges({ code: asked.code, own: [[2, 10]] })).in, ["2", "6"]);
});

test("another way into a copy's code is told, whatever it means", () => {
  const asked = { code: [jne(4), inc, jmp(2), inc, dec, ret], own: [[2, 10]], entry: 2 } as const;
  // 0: jne 6; 2: inc (told); 4: jmp 8; 6: inc (no beginning, as far as its line tells); 8: dec; 10: ret
  assert.deepEqual([edges(asked).mixed, shown(edges(asked)).in], [true, ["2"]]);
  // Where it is a beginning, all is known.
  assert.equal(edges({ ...asked, choice: { ...anywhere, sameStatement: () => true } }).mixed, false);
  // Code behind the beginning that others share is none: 0: jne 4; 2: inc (told); 4: dec (shared); 6: ret
  const shared = edges({
    code: [jne(2), inc, dec, ret],
    own: [[2, 6]],
    entry: 2,
    choice: { ...anywhere, sameStatement: () => true },
  });
  assert.deepEqual([shared.mixed, shown(shared).in], [true, ["2"]]);
  assert.equal(
    edges({
      code: [nop, inc, nop, inc, ret],
      own: [
        [1, 3],
        [4, 6],
      ],
      entry: 1,
    }).mixed,
    false,
  );
});

test("a first test that goes around the told beginning does not hide another one", () => {
  // 0: inc (moved in front); 2: jne 8; 4: inc (told); 6: jmp 10; 8: dec (the copy's, too); 10: ret
  assert.equal(
    edges({
      code: [inc, jne(4), inc, jmp(2), dec, ret],
      own: [
        [0, 2],
        [4, 6],
        [8, 10],
      ],
      entry: 4,
    }).mixed,
    true,
  );
});

test("beginnings that never come together may be another statement's", () => {
  // 0: jne 5; 2: inc (told); 4: ret; 5: inc (beside); 7: dec; 9: ret
  const asked = {
    code: [jne(3), inc, ret, inc, dec, ret],
    entry: 2,
    choice: { ...anywhere, sameStatement: () => true },
  };
  const apart = edges({
    ...asked,
    own: [
      [2, 4],
      [5, 9],
    ],
  });
  assert.deepEqual([apart.mixed, shown(apart).in], [true, ["2", "5"]]);
});

test("a copy of which a jump is left leads to another one", () => {
  // 0: jne 5; 2: inc; 4: ret; 5: jmp 2
  const flow = flowOf([{ address: base, bytes: Uint8Array.from([jne(3), inc, ret, jmp(-5)].flat()) }], base);
  assert.equal(onlyJumpTo(flow, [{ low: base + 5n, high: base + 7n }]), base + 2n);
  assert.equal(onlyJumpTo(flow, [{ low: base + 2n, high: base + 5n }]), undefined);
});

test("a piece goes on from one that is told, behind a few instructions of nobody; one that is told goes on from none", () => {
  // 0: inc (one piece); 2: nop; 3: dec (another); 5: ret
  const flow = flowOf([{ address: base, bytes: Uint8Array.from([inc, nop, dec, ret].flat()) }], base);
  const pieces = [[{ low: base, high: base + 2n }], [{ low: base + 3n, high: base + 5n }]];
  assert.deepEqual([...continuations(flow, pieces, (piece) => piece === 0)], [[1, 0]]);
  assert.deepEqual([...continuations(flow, pieces, () => true)], []);
  // Where no beginning is told, others' instructions lie between two calls.
  assert.deepEqual([...continuations(flow, pieces, () => false)], []);
});

test("a loop around a copy that leads into the middle of it is told", () => {
  // 0: nop; 1: inc (told); 3: dec (the copy's); 5: jne 9; 7: jmp 3 (the caller's, back into the copy); 9: ret
  assert.equal(edges({ code: [nop, inc, dec, jne(2), jmp(-6), ret], own: [[1, 5]], entry: 1 }).mixed, true);
  // The loop is the copy's own, or leads to its beginning.
  assert.equal(edges({ code: [nop, inc, dec, jne(-4), ret], own: [[1, 7]], entry: 1 }).mixed, false);
  assert.equal(edges({ code: [nop, inc, dec, jne(-6), ret], own: [[1, 5]], entry: 1 }).mixed, false);
});

test("a beginning that is told outside of the copy's code leads to it", () => {
  assert.equal(edges({ code: [nop, inc, dec, ret], own: [[3, 5]], entry: 1 }).mixed, false);
  // 0: nop (told); 1: jne 5; 3: inc (the copy's); 5: ret
  assert.equal(edges({ code: [nop, jne(2), inc, ret], own: [[3, 5]], entry: 0 }).mixed, true);
});

test("where there can be no probe, the next instruction that surely runs will do", () => {
  const allowed = (_: Uint8Array, address: bigint): boolean => address !== base + 5n;
  assert.deepEqual(
    shown(edges({ code: [nop, inc, inc, nop, ret], own: [[1, 5]], entry: 1, choice: { ...anywhere, allowed } })).out,
    ["6"],
  );
});

test("an end at another beginning is seen in front of it", () => {
  const choice = { ...anywhere, beginnings: new Set([base + 3n]) };
  assert.deepEqual(shown(edges({ code: [nop, inc, inc, ret], own: [[1, 3]], entry: 1, choice })).out, ["1"]);
});

test("a copy that begins with the jump by which it ends begins in front of it", () => {
  // 0: dec; 2: jle 8; 4: inc; 6: nop (the caller's); 7: nop; 8: ret
  const found = edges({ code: [dec, jle(4), inc, nop, nop, ret], own: [[2, 6]], entry: 2 });
  assert.deepEqual(shown(found), { in: ["0"], out: ["2 if 14", "6"], lost: [0, 0] });
});

test("the cases of a switch are where its table says", () => {
  // cmp $1,%eax; ja 14 (out); lea table(%rip),%rdx; movslq (%rdx,%rax,4),%rax; add %rdx,%rax; jmp *%rax; two cases; ret
  const code = [
    [0x83, 0xf8, 0x01],
    [0x77, 0x16],
    [0x48, 0x8d, 0x15, 0xf4, 0x0f, 0x00, 0x00],
    [0x48, 0x63, 0x04, 0x82],
    [0x48, 0x01, 0xd0],
    [0xff, 0xe0],
    inc,
    jmp(2),
    dec,
    ret,
    nop,
  ];
  const table = base + 0x1000n;
  const targets = [21, 25].map((offset) => BigInt(offset) - 0x1000n);
  const read = (address: bigint, length: number): Uint8Array | undefined => {
    if (address < table || address >= table + 8n) return undefined;
    const bytes = new Uint8Array(length);
    new DataView(bytes.buffer).setInt32(0, Number(targets[Number(address - table) / 4]), true);
    return bytes;
  };
  const flow = flowOf([{ address: base, bytes: Uint8Array.from(code.flat()) }], base, { read });
  const jump = flow.at(base + 19n)!;
  assert.deepEqual(
    flow.successors[jump].map((index) => flow.addresses[index] - base),
    [21n, 25n],
  );
  // Without it, the cases are what nothing else leads to.
  const unread = flowOf([{ address: base, bytes: Uint8Array.from(code.flat()) }], base);
  assert.deepEqual(
    unread.successors[jump].map((index) => unread.addresses[index] - base),
    [21n, 25n],
  );
  assert.deepEqual(
    [...unread.unsure].map((index) => unread.addresses[index] - base),
    [0n, 21n, 25n],
  );
});

test("conditions are those of short and long jumps", () => {
  assert.deepEqual(
    [
      [0x75, 0],
      [0x0f, 0x8e, 0, 0, 0, 0],
      [0x3e, 0x74, 0],
      [0xe3, 0],
      [0xeb, 0],
    ].map((code) => conditionOf(Uint8Array.from(code))),
    [5, 14, 4, undefined, undefined],
  );
});

test("landing pads are read, whatever the bytes", () => {
  const sites = [0x00, 0x05, 0x20, 0x00, 0x05, 0x03, 0x00, 0x00];
  const data = Uint8Array.from([0xff, 0xff, 0x01, sites.length, ...sites]);
  assert.deepEqual(landingPads(data, base), [{ from: base, to: base + 5n, pad: base + 0x20n }]);
  for (let length = 0; length < data.length; length++)
    assert.ok(landingPads(data.subarray(0, length), base).length <= 1);
  let seed = 1;
  for (let round = 0; round < 500; round++) {
    const bytes = Uint8Array.from({ length: 40 }, () => (seed = (seed * 1103515245 + 12345) & 0x7fffffff) >> 16);
    bytes[0] = 0xff;
    landingPads(bytes, base);
  }
});

test("any bytes are code to someone", () => {
  let seed = 7;
  for (let round = 0; round < 300; round++) {
    const bytes = Uint8Array.from({ length: 60 }, () => (seed = (seed * 1103515245 + 12345) & 0x7fffffff) >> 16);
    const flow = flowOf([{ address: base, bytes }], base);
    edgesOf(flow, { ranges: [{ low: base + 5n, high: base + 40n }] }, anywhere);
    edgesOf(flow, { ranges: [{ low: base + 5n, high: base + 40n }], entry: base + BigInt(round % 60) }, anywhere);
  }
});
