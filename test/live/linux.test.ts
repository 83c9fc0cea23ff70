// The kernel room against this machine's kernel: maps, programs, raw tracepoints, the ring buffer, and nothing left
// behind.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { after, describe, it } from "node:test";
import {
  createMap,
  listLinks,
  listMaps,
  listPrograms,
  loadProgram,
  mapDelete,
  mapLookup,
  mapNextKey,
  mapUpdate,
  progInfo,
  rawTracepointOpen,
  testRun,
} from "../../src/linux/bpf/bpf.ts";
import { mapDeleteAll, mapEntries, mapUpdateBatch } from "../../src/linux/bpf/map-batches.ts";
import { LinuxError } from "../../src/linux/error.ts";
import { Features } from "../../src/linux/kernel/features.ts";
import { closeAllParallel, closeFd } from "../../src/linux/ffi.ts";
import { Kallsyms } from "../../src/linux/kernel/kallsyms.ts";
import { BPF_F_MMAPABLE, MappedArray } from "../../src/linux/bpf/mapped-array.ts";
import { openPerfEvent, PERF_TYPE_SOFTWARE, possibleCpus } from "../../src/linux/perf/perf.ts";
import { RingBuffer } from "../../src/linux/bpf/ring.ts";
import { spawnTraced } from "../../src/linux/processes/child.ts";
import { comm } from "../../src/linux/processes/procfs.ts";

const HASH = 1;
const ARRAY = 2;
const PERCPU_HASH = 5;
const RINGBUF = 27;
const RAW_TRACEPOINT = 17;
const license = "Dual MIT/GPL";

/** One instruction: opcode, registers, offset, immediate. */
function insn(opcode: number, destination: number, source: number, offset: number, immediate: number): number[] {
  const view = new DataView(new ArrayBuffer(8));
  view.setUint8(0, opcode);
  view.setUint8(1, destination | (source << 4));
  view.setInt16(2, offset, true);
  view.setInt32(4, immediate, true);
  return [...new Uint8Array(view.buffer)];
}
const program = (...instructions: number[][]): Uint8Array => Uint8Array.from(instructions.flat());
const move = (register: number, value: number): number[] => insn(0xb7, register, 0, 0, value);
const moveRegister = (to: number, from: number): number[] => insn(0xbf, to, from, 0, 0);
const call = (helper: number): number[] => insn(0x85, 0, 0, 0, helper);
const exit = insn(0x95, 0, 0, 0, 0);
/** A map's address: two instructions. */
const mapAddress = (register: number, fd: number): number[] => [
  ...insn(0x18, register, 1, 0, fd),
  ...insn(0, 0, 0, 0, 0),
];

const u32 = (value: number): Uint8Array => new Uint8Array(Uint32Array.of(value).buffer);
const u64 = (...values: bigint[]): Uint8Array => new Uint8Array(BigUint64Array.from(values).buffer);
const asBigInt = (bytes: Uint8Array): bigint => new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true);

const privileged = process.geteuid?.() === 0;
const existing = privileged
  ? {
      programs: new Set(listPrograms().map((p) => p.id)),
      maps: new Set(listMaps().map((m) => m.id)),
      links: new Set(listLinks().map((l) => l.id)),
    }
  : undefined;

describe("linux", { skip: privileged ? false : "needs root" }, () => {
  after(async () => {
    const left = (): string[] =>
      [
        ...listPrograms().filter((p) => !existing?.programs.has(p.id)),
        ...listMaps().filter((m) => !existing?.maps.has(m.id)),
        ...listLinks().filter((l) => !existing?.links.has(l.id)),
      ]
        .map((o) => o.name)
        .filter((name) => name.startsWith("strobetest"));
    // Programs and maps are freed after a grace period.
    for (let tries = 0; tries < 5000 && left().length > 0; tries++)
      await new Promise((resolve) => setTimeout(resolve, 20));
    assert.deepEqual(left(), []);
  });

  it("stores, reads, walks and deletes map entries", () => {
    const fd = createMap({ name: "strobetest_hash", type: HASH, keySize: 4, valueSize: 8, entries: 5000 });
    try {
      assert.equal(mapLookup(fd, u32(1), 8), undefined);
      for (let i = 0; i < 5000; i++) mapUpdate(fd, u32(i), u64(BigInt(i) * 3n));
      assert.equal(asBigInt(mapLookup(fd, u32(4999), 8) ?? u64(0n)), 14997n);
      const entries = mapEntries(fd, 4, 8);
      const sum = entries.reduce((total, [, value]) => total + asBigInt(value), 0n);
      assert.equal(entries.length, 5000);
      assert.equal(new Set(entries.map(([key]) => Buffer.from(key).toString("hex"))).size, 5000);
      assert.equal(sum, 3n * 4999n * 2500n);
      assert.throws(
        () => mapUpdate(fd, u32(5001), u64(0n)),
        (error) => error instanceof LinuxError && error.errno === "E2BIG" && /full/.test(error.message),
      );
      assert.equal(mapDelete(fd, u32(7)), true);
      assert.equal(mapDelete(fd, u32(7)), false);
      let keys = 0;
      for (let key = mapNextKey(fd, null, 4); key; key = mapNextKey(fd, key, 4)) keys++;
      assert.equal(keys, 4999);
    } finally {
      closeFd(fd);
    }
  });

  it("writes many entries in one call, and one by one what is refused; takes all of them out", () => {
    const fd = createMap({ name: "strobetest_many", type: HASH, keySize: 4, valueSize: 8, entries: 10 });
    try {
      const numbers = [1, 2, 3, 3, ...Array.from({ length: 9 }, (_, i) => i + 4), 2];
      const refused: number[] = [];
      mapUpdateBatch(
        fd,
        {
          count: numbers.length,
          keys: new Uint8Array(new Uint32Array(numbers).buffer),
          values: u64(...numbers.map((_, i) => BigInt(i))),
        },
        (key, value) => {
          assert.throws(
            () => mapUpdate(fd, key, value),
            (error) => error instanceof LinuxError && error.errno === "E2BIG",
          );
          refused.push(key[0]);
        },
      );
      // Ten keys have room; the last write is of one of them.
      assert.deepEqual(refused, [11, 12]);
      const there = mapEntries(fd, 4, 8)
        .map(([key, value]) => [key[0], Number(asBigInt(value))])
        .sort(([a], [b]) => a - b);
      assert.deepEqual(there, [
        [1, 0],
        [2, 13],
        [3, 3],
        [4, 4],
        [5, 5],
        [6, 6],
        [7, 7],
        [8, 8],
        [9, 9],
        [10, 10],
      ]);
      mapDeleteAll(fd, 4, 8);
      assert.deepEqual(mapEntries(fd, 4, 8), []);
      mapDeleteAll(fd, 4, 8);
    } finally {
      closeFd(fd);
    }
  });

  it("reads every CPU's copy of a per-CPU map, and an array by batch", () => {
    const stride = 8 * possibleCpus();
    const percpu = createMap({ name: "strobetest_pcpu", type: PERCPU_HASH, keySize: 8, valueSize: 8, entries: 16 });
    const array = createMap({ name: "strobetest_arr", type: ARRAY, keySize: 4, valueSize: 8, entries: 3 });
    try {
      const values = u64(...Array.from({ length: possibleCpus() }, (_, cpu) => BigInt(cpu + 10)));
      mapUpdate(percpu, u64(5n), values);
      assert.deepEqual(mapEntries(percpu, 8, stride), [[u64(5n), values]]);
      mapUpdate(array, u32(2), u64(9n));
      assert.deepEqual(
        mapEntries(array, 4, 8).map(([key, value]) => [key[0], asBigInt(value)]),
        [
          [0, 0n],
          [1, 0n],
          [2, 9n],
        ],
      );
    } finally {
      closeFd(percpu);
      closeFd(array);
    }
  });

  it("loads and runs a program, and explains a refusal with the verifier's log", () => {
    const fd = loadProgram({ name: "strobetest_two", type: RAW_TRACEPOINT, code: program(move(0, 42), exit), license });
    try {
      assert.equal(testRun(fd).retval, 42);
      const info = progInfo(fd);
      assert.equal(info.name, "strobetest_two");
      assert.equal(info.translatedLength, 16);
      assert.equal(info.verifiedInstructions, 2);
    } finally {
      closeFd(fd);
    }
    assert.throws(
      () => loadProgram({ name: "strobetest_bad", type: RAW_TRACEPOINT, code: program(exit), license }),
      (error) => {
        assert.ok(error instanceof LinuxError);
        assert.equal(error.errno, "EACCES");
        assert.match(error.log ?? "", /R0 !read_ok/);
        assert.match(error.message, /strobetest_bad.*R0 !read_ok/);
        return true;
      },
    );
  });

  it("accepts a callback function with the type information made from its start", () => {
    const fd = createMap({ name: "strobetest_each", type: HASH, keySize: 4, valueSize: 8, entries: 8 });
    // r2 = &callback; for_each_map_elem(map, callback, NULL, 0) gives the number of entries.
    const code = program(
      mapAddress(1, fd),
      insn(0x18, 2, 4, 0, 5),
      insn(0, 0, 0, 0, 0), // pc-relative: the function 6 instructions on
      move(3, 0),
      move(4, 0),
      call(164),
      exit,
      move(0, 0),
      exit,
    );
    const options = { name: "strobetest_for", type: RAW_TRACEPOINT, code, license };
    try {
      for (let i = 0; i < 5; i++) mapUpdate(fd, u32(i), u64(1n));
      const loaded = loadProgram({ ...options, subprograms: [{ name: "each", start: 8 }] });
      try {
        assert.equal(testRun(loaded).retval, 5);
      } finally {
        closeFd(loaded);
      }
    } finally {
      closeFd(fd);
    }
  });

  it(
    "receives exactly the records of a raw tracepoint, in order, through the ring buffer",
    { timeout: 300_000 },
    async () => {
      const bytes = 1 << 16;
      const map = createMap({ name: "strobetest_ring", type: RINGBUF, keySize: 0, valueSize: 0, entries: bytes });
      const counter = createMap({
        name: "strobetest_mmap",
        type: ARRAY,
        keySize: 4,
        valueSize: 16,
        entries: 1,
        flags: BPF_F_MMAPABLE,
      });
      using shared = new MappedArray(counter, 16);
      shared.words[1] = BigInt(process.pid);
      // On sys_enter of getpriority by this process: *counter++ and a 16-byte record { counter, argument }. Map value
      // address: ld_imm64 with source register 2.
      const getpriority = process.arch === "arm64" ? 141 : 140;
      const code = program(
        moveRegister(6, 1),
        insn(0x79, 7, 6, 8, 0),
        insn(0x55, 7, 0, 20, getpriority),
        call(14),
        insn(0x77, 0, 0, 0, 32),
        insn(0x18, 8, 2, 0, counter),
        insn(0, 0, 0, 0, 0),
        insn(0x79, 1, 8, 8, 0),
        insn(0x5d, 0, 1, 14, 0),
        mapAddress(1, map),
        move(2, 16),
        move(3, 0),
        call(131),
        insn(0x15, 0, 0, 8, 0),
        insn(0x79, 1, 8, 0, 0),
        insn(0x07, 1, 0, 0, 1),
        insn(0x7b, 8, 1, 0, 0),
        insn(0x7b, 0, 1, 0, 0),
        insn(0x7b, 0, 7, 8, 0),
        moveRegister(1, 0),
        move(2, 0),
        call(132),
        move(0, 0),
        exit,
      );
      const prog = loadProgram({ name: "strobetest_ring", type: RAW_TRACEPOINT, code, license });
      const link = rawTracepointOpen("sys_enter", prog);
      using ring = new RingBuffer(map, bytes);
      const { getPriority } = await import("node:os");
      try {
        // 20000 records of 24 bytes go round the 64 KiB seven times.
        const seen: number[] = [];
        let wrong = 0;
        const handle = (offset: number, length: number): void => {
          if (length !== 16 || ring.memory.words[(offset >> 2) + 2] !== getpriority) wrong++;
          seen.push(ring.memory.words[offset >> 2] ?? 0);
        };
        for (let round = 0; round < 20; round++) {
          for (let i = 0; i < 1000; i++) getPriority();
          assert.equal(ring.available(), 24_000);
          let got = 0;
          for (let n = ring.drain(handle, 300); n > 0; n = ring.drain(handle, 300)) got += n;
          assert.equal(got, 1000);
        }
        assert.equal(wrong, 0);
        assert.deepEqual(
          seen,
          Array.from({ length: 20_000 }, (_, i) => i + 1),
        );
        assert.equal(shared.words[0], 20_000n);
        assert.equal(shared.u32[0], 20_000);

        // Waiting: an event wakes it, a deadline ends it, cancel() ends it, and the event loop goes on meanwhile.
        // The timer that makes the event can only fire if the loop goes on.
        setTimeout(() => getPriority(), 30);
        let start = performance.now();
        await ring.wait(200_000);
        const woken = performance.now() - start;
        assert.ok(woken < 190_000, `woken by its deadline, after ${woken} ms`);
        assert.equal(ring.drain(handle, 10), 1);
        start = performance.now();
        await ring.wait(20);
        assert.ok(performance.now() - start >= 18);
        setTimeout(() => ring.cancel(), 5);
        start = performance.now();
        await ring.wait(200_000);
        assert.ok(performance.now() - start < 190_000);
      } finally {
        await closeAllParallel([link, prog]);
        closeFd(map);
        closeFd(counter);
      }
    },
  );

  it("starts a command that waits before it runs", { timeout: 300_000 }, async () => {
    const child = spawnTraced("sh -c 'exit 7'");
    assert.equal(spawnSync("kill", ["-0", String(child.pid)]).status, 0);
    child.go();
    assert.equal(await child.exited, 7);
    const sleeper = spawnTraced(`sleep "600"`);
    sleeper.go();
    for (let i = 0; i < 20_000 && comm(sleeper.pid) !== "sleep"; i++)
      await new Promise((resolve) => setTimeout(resolve, 5));
    assert.equal(comm(sleeper.pid), "sleep");
    sleeper.kill();
    assert.equal(await sleeper.exited, 128 + 15);
    assert.throws(() => spawnTraced("/no/such/program"), /\/no\/such\/program/);
  });

  it("begins a command that was ended while it waited", { timeout: 300_000 }, async () => {
    const child = spawnTraced("sleep 600");
    await child.ready;
    process.kill(child.pid, "SIGKILL");
    // Its end is not told while this waits.
    const pause = new Int32Array(new SharedArrayBuffer(4));
    while (!readFileSync(`/proc/${child.pid}/stat`, "latin1").includes(") Z ")) Atomics.wait(pause, 0, 0, 5);
    child.go();
    assert.equal(await child.exited, 128 + 9);
  });

  it("tells what the kernel offers", () => {
    const capabilities = new Features().capabilities();
    assert.equal(capabilities.cpus, possibleCpus());
    assert.ok(capabilities.kernel[0] >= 5);
    assert.ok(capabilities.ringBuffer);
    const report = new Features().report();
    assert.equal(report.find((f) => f.name === "ring buffer")?.missing, undefined);
    assert.ok(report.every(({ missing }) => missing === undefined || missing.reason.length > 0));
  });

  it("knows kernel symbols both ways", () => {
    const symbols = Kallsyms.read();
    const address = symbols.address("vfs_read");
    assert.ok(address !== undefined && address > 0xffff_0000_0000_0000n);
    assert.deepEqual(symbols.lookup(address + 4n), { symbol: "vfs_read", offset: 4 });
    assert.equal(symbols.address("no_such_symbol_here"), undefined);
    assert.equal(symbols.lookup(16n), undefined);
  });

  it("refuses with the call's and the errno's name", () => {
    assert.throws(
      () => openPerfEvent({ type: PERF_TYPE_SOFTWARE, config: 0, pid: 0x3fff_fff0, cpu: -1 }),
      (error) => error instanceof LinuxError && error.call === "perf_event_open" && error.errno === "ESRCH",
    );
  });
});
