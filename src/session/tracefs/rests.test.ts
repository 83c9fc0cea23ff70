import assert from "node:assert/strict";
import { closeSync, readSync, writeSync } from "node:fs";
import { describe, it } from "node:test";
import type { AnyReadable } from "../../linux/any-readable.ts";
import { check } from "../../linux/error.ts";
import { syscall, SYS } from "../../linux/ffi.ts";
import { Rests } from "./rests.ts";
import { attempts } from "../../messages/on-demand.ts";

const minute = 60_000;

/** What an instance of tracefs is to them: a pipe that is readable when reading is due. */
class Pipe {
  readonly percents: number[] = [];
  readonly #ends = new Int32Array(2);

  constructor() {
    check(syscall(SYS.pipe2, new Uint8Array(this.#ends.buffer)), "pipe2", () => attempts().makePipe());
  }

  wakeAt(percent: number): boolean {
    this.percents.push(percent);
    return true;
  }

  watch(readable: AnyReadable): void {
    readable.add(this.#ends[0]);
  }

  write(): void {
    writeSync(this.#ends[1], "x");
  }

  read(): void {
    readSync(this.#ends[0], new Uint8Array(1));
  }

  close(): void {
    for (const end of this.#ends) closeSync(end);
  }
}

describe("rests between looks at the buffers of instances", () => {
  it("end when there are events, of either instance, and by cancel()", async () => {
    const [script, lives] = [new Pipe(), new Pipe()];
    const rests = new Rests(script, lives);
    const rest = (): Promise<void> => rests.take({ events: false, held: false, now: 0, most: minute });
    for (const pipe of [script, lives, script]) {
      setImmediate(() => pipe.write());
      await rest();
      pipe.read();
    }
    // What was there before the rest began ends it as well.
    script.write();
    await rest();
    script.read();
    setImmediate(() => rests.cancel());
    await rest();
    rests[Symbol.dispose]();
    assert.deepEqual([script.percents, lives.percents], [[0], [25]]);
    script.close();
    lives.close();
  });

  it("gather events that come one after the other, as far as no buffer fills", async () => {
    const script = new Pipe();
    const rests = new Rests(script);
    script.write();
    const found = { events: true, held: false, most: minute };
    // The first of them, one soon after it, then two more: the pause grows to where the kernel watches the buffer.
    for (const now of [1000, 1010, 1020, 1030]) await rests.take({ ...found, now });
    assert.deepEqual(script.percents, [0, 25]);
    // Then nothing, and one that comes alone.
    await rests.take({ ...found, events: false, now: 1040 });
    await rests.take({ ...found, now: 2000 });
    assert.deepEqual(script.percents, [0, 25, 0]);
    rests[Symbol.dispose]();
    script.close();
  });

  it("are short where the kernel does not wake anybody", async () => {
    const old = new Pipe();
    old.wakeAt = () => false;
    old.watch = () => assert.fail("nobody waits for it");
    const rests = new Rests(old, old);
    await rests.take({ events: false, held: false, now: 0, most: minute });
    rests[Symbol.dispose]();
    old.close();
  });
});
