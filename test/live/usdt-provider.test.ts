// Static probes that a Node program defines with the library: found by tools that know nothing of strobe, counted to
// the event.
import assert from "node:assert/strict";
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { after, before, test } from "node:test";
import { bpfObjects, interrupt, nothingLeft, startStrobe, strobe, temporaryFolder } from "../support/strobe.ts";

const folder = temporaryFolder();
const atStart = bpfObjects();
const program = join(folder.path, "shop.mjs");
const children: ChildProcess[] = [];

before(() =>
  writeFileSync(
    program,
    `
  import { createInterface } from "node:readline";
  import { usdtProvider } from "${pathToFileURL(resolve("dist/index.mjs")).href}";
  const shop = usdtProvider("shop", {
    order: ["i32", "string", "u64"],
    numbers: ["i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f32", "f64", "i64", "string"],
    idle: [],
  });
  const { order, numbers, idle } = shop.probes;
  console.log(shop.path);
  createInterface({ input: process.stdin }).on("line", (line) => {
    const enabled = [order.enabled, numbers.enabled, idle.enabled];
    switch (line) {
      case "fire":
        for (let i = 0; i < 1000; i++) order(i - 500, "tea ☕ " + i % 2, 2n ** 63n + BigInt(i));
        numbers(-128, 255, -32768, 65535, -2147483648, 4294967295, -(2n ** 63n), 2n ** 64n - 1n, 0.5, -1.25, 2 ** 53 - 1, null);
        numbers(128, 256, 32768, 65536, 2147483648, 4294967296, 2n ** 63n, 2n ** 64n, NaN, Infinity, 1.9, "last");
        numbers("7", undefined, {}, true, [], null, NaN, -1, "x", Symbol(), Symbol(), 42);
        for (let i = 0; i < 7; i++) idle();
        break;
      case "dispose": shop[Symbol.dispose](); break;
    }
    console.log(JSON.stringify(enabled));
  });
`,
  ),
);
after(async () => {
  for (const child of children) child.kill();
  await nothingLeft(atStart);
  folder.remove();
});

interface Shop {
  readonly pid: number;
  readonly path: string;
  ask(line: string): Promise<string>;
}

async function shop(): Promise<Shop> {
  const child = spawn(process.execPath, [program], {
    stdio: ["pipe", "pipe", "inherit"],
    env: { ...process.env, TMPDIR: folder.path },
  });
  children.push(child);
  const line = (): Promise<string> =>
    new Promise((done) => {
      child.stdout.once("data", (data: Buffer) => done(data.toString().trim()));
    });
  const path = await line();
  return {
    pid: child.pid ?? 0,
    path,
    ask(text) {
      const answer = line();
      child.stdin.write(`${text}\n`);
      return answer;
    },
  };
}

test("a definition is one file, for its owner only to write, and readelf knows its probes", async () => {
  const [one, other] = [await shop(), await shop()];
  assert.equal(one.path, other.path);
  assert.equal(statSync(one.path).mode & 0o022, 0);
  const notes = execFileSync("readelf", ["-nW", one.path], { encoding: "utf8" });
  assert.deepEqual(
    [...notes.matchAll(/Provider: (\S+)\s+Name: (\S+)/g)].map(([, provider, name]) => `${provider}:${name}`),
    ["shop:order", "shop:numbers", "shop:idle"],
  );
  assert.doesNotMatch(execFileSync("readelf", ["-aW", one.path], { encoding: "utf8" }), /warning|error/i);
  const { stdout } = await strobe(["-lv", `usdt:${one.path}:order`]);
  assert.deepEqual(
    stdout
      .trim()
      .split("\n")
      .map((line) => line.trim()),
    [`usdt:${one.path}:shop:order`, "int32 arg0", "uint64 arg1", "uint64 arg2"],
  );
});

test("probes fire in the process that is traced, with their values, and only while somebody listens", async () => {
  const [one, other] = [await shop(), await shop()];
  assert.equal(await one.ask("fire"), "[false,false,false]");
  const running = startStrobe([
    "-p",
    String(one.pid),
    "-e",
    `
    usdt:*:shop:order { @[str(arg1)] = count(); @numbers = sum(args.arg0); @least = min(arg2); }
    usdt:*:shop:idle { @idle = count(); }`,
  ]);
  await running.attached;
  assert.deepEqual([await one.ask("fire"), await other.ask("fire")], ["[true,false,true]", "[false,false,false]"]);
  assert.deepEqual(
    (await interrupt(running)).stdout
      .trim()
      .split("\n")
      .filter((line) => line !== "")
      .sort(),
    ["@[tea ☕ 0]: 500", "@[tea ☕ 1]: 500", "@idle: 7", `@least: ${2n ** 63n}`, "@numbers: -500"].sort(),
  );
  assert.equal(await one.ask("fire"), "[false,false,false]");
});

test("the file's probes fire in all processes that defined them", async () => {
  const [one, other] = [await shop(), await shop()];
  const running = startStrobe(["-e", `usdt:${one.path}:idle { @[pid] = count(); }`]);
  await running.attached;
  const late = await shop();
  assert.deepEqual(
    [await one.ask("fire"), await other.ask("fire"), await late.ask("fire")],
    Array(3).fill("[false,false,true]"),
  );
  const pids = [one.pid, other.pid, late.pid].sort((a, b) => a - b);
  assert.deepEqual(
    (await interrupt(running)).stdout.trim().split("\n").sort(),
    pids.map((pid) => `@[${pid}]: 7`).sort(),
  );
});

test("values are turned into what the probe declared, and nothing that is passed makes the program fail", async () => {
  const one = await shop();
  const running = startStrobe([
    "-p",
    String(one.pid),
    "-e",
    "usdt:*:shop:numbers { print((args.arg0, args.arg1, args.arg2, args.arg3, args.arg4, args.arg5, args.arg6, args.arg7, args.arg8, args.arg9, args.arg10, str(arg11))); }",
  ]);
  await running.attached;
  await one.ask("fire");
  assert.deepEqual((await interrupt(running)).stdout.trim().split("\n"), [
    `(-128, 255, -32768, 65535, -2147483648, 4294967295, ${-(2n ** 63n)}, ${2n ** 64n - 1n}, 0.5, -1.25, ${2 ** 53 - 1}, )`,
    `(-128, 0, -32768, 0, -2147483648, 0, ${-(2n ** 63n)}, 0, nan, inf, 1, last)`,
    `(7, 0, 0, 1, 0, 0, 0, ${2n ** 64n - 1n}, nan, nan, 0, 42)`,
  ]);
});

test("disposed probes do nothing", async () => {
  const one = await shop();
  await one.ask("dispose");
  assert.equal(await one.ask("fire"), "[false,false,false]");
  const { stdout } = await strobe(["-p", String(one.pid), "-l", "usdt:*:shop:*"]);
  assert.equal(stdout, "");
});

test("names and types that cannot be are refused", async () => {
  const { usdtProvider } = (await import(
    pathToFileURL(resolve("dist/index.mjs")).href
  )) as typeof import("../../src/index.ts");
  assert.throws(() => usdtProvider("my shop", { order: [] }), { name: "TypeError", message: /got "my shop"$/ });
  assert.throws(() => usdtProvider("shop", { "a:b": [] }), { message: /got "a:b"$/ });
  assert.throws(() => usdtProvider("shop", {}), { message: /has no probes/ });
  assert.throws(() => usdtProvider("shop", { order: ["f16" as "f32"] }), { message: /unknown type "f16"/ });
  assert.throws(() => usdtProvider("shop", { order: Array(13).fill("u8") as "u8"[] }), {
    message: /13 arguments, more than 12/,
  });
});
