import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, constants, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { ByteWriter } from "./bytes.ts";
import { JsonConsumer } from "./json.ts";
import { OutputClosed, Sink } from "./sink.ts";
import { TextConsumer } from "./text.ts";

function inFolder(use: (path: string) => void | Promise<void>): () => Promise<void> {
  return async () => {
    const folder = mkdtempSync(join(tmpdir(), "strobe-sink-"));
    try {
      await use(join(folder, "lines"));
    } finally {
      rmSync(folder, { recursive: true });
    }
  };
}

test(
  "what was written is there, also of a buffer that has grown",
  inFolder((path) => {
    const file = openSync(path, "w");
    const sink = new Sink(file);
    const out = new ByteWriter(16);
    const expected: string[] = [];
    for (const line of ["a\n", "b".repeat(5000), "c\n"]) {
      out.text(line);
      expected.push(line);
      sink.write(out.bytes, out.length);
      out.clear();
    }
    sink.write(out.bytes, 0);
    closeSync(file);
    assert.equal(readFileSync(path, "utf8"), expected.join(""));
  }),
);

test(
  "a pipe that is full is waited for, and one that nobody reads is closed",
  { timeout: 300_000 },
  inFolder(async (path) => {
    const bytes = Buffer.alloc(1 << 20, "0123456789abcde\n");
    const fifo = spawn("mkfifo", [path]);
    await once(fifo, "exit");
    const both = openSync(path, constants.O_RDWR);
    const reader = spawn("sh", ["-c", `exec < ${path}; echo open; sleep 0.2; head -c ${bytes.length} | wc -c`], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const ended = once(reader, "close");
    let said = "";
    reader.stdout.on("data", (data) => {
      said += String(data);
    });
    await once(reader.stdout, "data");
    // Not blocking: the kernel says EAGAIN.
    const file = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
    closeSync(both);
    const sink = new Sink(file);
    sink.write(bytes, bytes.length);
    await ended;
    assert.deepEqual(said.split(/\s+/), ["open", String(bytes.length), ""]);
    assert.throws(() => sink.write(bytes, 1), OutputClosed);
    closeSync(file);
  }),
);

test(
  "nobody waits for a file, unless every line is to be written by itself",
  inFolder((path) => {
    const file = openSync(path, "w");
    const device = openSync("/dev/null", "w");
    const patience = (output: number, buffering: "line" | "full" | "none") => [
      new TextConsumer({ output, messages: device, quiet: true, buffering }).patience,
      new JsonConsumer({ output, buffering }).patience,
    ];
    assert.deepEqual(patience(file, "line"), [50, 50]);
    assert.deepEqual(patience(file, "full"), [50, 50]);
    assert.deepEqual(patience(file, "none"), [undefined, undefined]);
    assert.deepEqual(patience(device, "line"), [undefined, undefined]);
    closeSync(file);
    closeSync(device);
    // Not open any more.
    assert.deepEqual(patience(file, "line"), [undefined, undefined]);
  }),
);

test(
  "what the kernel refuses is said",
  inFolder((path) => {
    const file = openSync(path, "w");
    closeSync(file);
    const readOnly = openSync(path, "r");
    assert.throws(() => new Sink(readOnly).write(Buffer.from("a"), 1), /cannot write to "\/\S+": write: .*EBADF/);
    closeSync(readOnly);
  }),
);
