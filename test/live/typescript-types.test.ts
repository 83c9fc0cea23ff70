// What an editor says about handlers: valid ones have no error, and each mistake has one where it was made.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { after, test } from "node:test";
import { temporaryFolder } from "../support/strobe.ts";

const folder = temporaryFolder();
after(() => folder.remove());

/** The compiler's complaints about a program; a line that should have one says so by `@ts-expect-error`, and must. */
function complaints(name: string, text: string): string {
  const project = join(folder.path, name);
  mkdirSync(project, { recursive: true });
  writeFileSync(join(project, "program.ts"), text);
  writeFileSync(
    join(project, "tsconfig.json"),
    JSON.stringify({
      extends: resolve("tsconfig.json"),
      compilerOptions: {
        // People turn it on who want it; a name of a declaration that is not there is an index.
        noPropertyAccessFromIndexSignature: false,
        paths: { strobe: [resolve("src/index.ts")] },
        typeRoots: [resolve("node_modules/@types")],
        types: ["node"],
        noUnusedLocals: false,
      },
      include: ["program.ts"],
    }),
  );
  const { stdout } = spawnSync(resolve("node_modules/.bin/tsc"), ["--noEmit", "-p", project], {
    encoding: "utf8",
    timeout: 1_200_000,
  });
  // The library's own sources have `npm run check`.
  return stdout
    .split("\n")
    .filter((line) => /^(\S*\/)?program\.ts\(/.test(line))
    .join("\n");
}

test("with declarations, names and fields are checked", () => {
  assert.equal(
    complaints(
      "declared",
      `
    import {
      arrayOf, bits, cast, comm, deref, enumeration, event, fexit, i32, kstack, map, nsecs, offsetof, pid, pointerTo, sizeof, str, struct, threadLocal, trace,
      tracepoint, u8, u32, union, uprobe, type FixedArray, type Pointer, type Stack,
    } from "strobe";
    declare module "strobe" {
      interface Tracepoints {
        "syscalls:sys_enter_openat": { dfd: i32; filename: Pointer<char>; flags: i32; mode: u16 };
        "sched:sched_switch": { prev_comm: FixedArray<char>; next_pid: i32 };
      }
      interface KernelFunctions { vfs_read: { args: { file: Pointer<Structs["file"]>; count: u64 }; retval: i64 } }
      interface Structs { file: { f_flags: u32; f_inode: Pointer<{ i_ino: u64 }> } }
      interface UserFunctions { "/bin/prog": { main: { args: { argc: i32 }; retval: i32 } } }
    }
    type char = import("strobe").char; type u16 = number; type u64 = number; type i64 = number; type Structs = import("strobe").Structs;

    const counts = map<[name: string, flags: number], "count">();
    const sizes = map<string, "hist">();
    const last = map<number, number>();
    const total = map<[], "sum">();
    const start = threadLocal<number>();
    const opened = event<{ path: string; at: bigint; file: bigint; stack: Stack }>();

    tracepoint("syscalls:sys_enter_openat", ({ filename, flags }) => counts.at(str(filename), flags & 3).count());
    tracepoint("sched:*", (args) => last.set(args.anything.at.all, 1));
    tracepoint("sched:sched_switch", { filter: (args) => args.next_pid > 0, handler: (args) => { if (args.prev_comm === "bash") total.sum(1); } });
    fexit("vfs_read", ({ file, count }, ret) => {
      sizes.at(comm).hist(ret / count + file.f_inode.i_ino, 2);
      opened.emit({ path: comm, at: BigInt(nsecs), file, stack: kstack(3) });
      last.at(pid).value += i32(ret);
      total.add(file.f_flags);
      start.value = nsecs;
      const before = last.get(pid);
      if (before !== undefined) last.set(pid, before + 1);
    });
    uprobe("/bin/prog", "main", ({ argc }) => { last.set(argc, 0); });
    uprobe("/bin/other", "anything", (args) => { last.set(args.x, 0); });

    const header = struct({ kind: u8, length: "u16", name: arrayOf("char", 16), sock: "struct sock *", inner: struct({ x: i32 }), list: pointerTo(u32), "": union({ low: bits(u32, 3), raw: "u64" }) });
    const color = enumeration({ RED: 1, BLUE: 5n });
    uprobe("/bin/other", "typed", (args) => {
      const h = cast(args[0], header);
      const sum: number = h.kind + h.length + h.inner.x + h.low + h.raw + (h.list[0] ?? 0) + sizeof(header) + offsetof(header, "inner.x");
      const name: string = h.name;
      const number: number = cast(args[1], "u32") + cast(args[1], u8) + deref(cast(args[0], "u64 *"));
      last.set(sum, number);
      if (cast(args[2], color) === color.RED) opened.emit({ path: name, at: 1n, file: cast(args[0], pointerTo(header)), stack: kstack() });
      // @ts-expect-error -- a misspelt member
      last.set(h.lenght, 1);
      // @ts-expect-error -- text is no number
      last.set(h.name, 1);
      // @ts-expect-error -- a misspelt constant
      last.set(color.REED, 1);
      // @ts-expect-error -- a map is not a type
      cast(args[0], last);
    });
    // @ts-expect-error -- a number is not a type
    struct({ kind: 1 });
    void trace(tracepoint("sched:sched_switch", () => total.sum(1)), { settings: { maxStrlen: 64, missingProbes: "warn" } });
    // @ts-expect-error -- a misspelt setting
    void trace(tracepoint("sched:sched_switch", () => total.sum(1)), { settings: { maxStrLength: 64 } });

    async function node() {
      const session = await trace(tracepoint("sched:sched_switch", () => total.sum(1)), { signal: AbortSignal.timeout(1) });
      for await (const { path, at, file, stack } of opened) console.log(path.length, at + file, stack.frames[0]?.symbol);
      for (const [[name, flags], n] of counts) console.log(name.length, flags + n);
      for await (const snapshot of sizes.every("1s")) console.log(snapshot.get("x")?.[0]?.count.toFixed());
      const sum: number | undefined = total.get();
      session.stop();
    }

    // @ts-expect-error -- a misspelt event
    tracepoint("syscalls:sys_enter_opennat", () => {});
    // @ts-expect-error -- a misspelt field
    tracepoint("syscalls:sys_enter_openat", (args) => str(args.filname));
    // @ts-expect-error -- a misspelt member
    fexit("vfs_read", ({ file }) => total.sum(file.f_flag));
    // @ts-expect-error -- a misspelt function
    fexit("vfs_raed", () => {});
    // @ts-expect-error -- one of the program's functions
    uprobe("/bin/prog", "mian", () => {});
    // @ts-expect-error -- one key too few
    tracepoint("sched:sched_switch", () => counts.at("x").count());
    // @ts-expect-error -- a key of another type
    tracepoint("sched:sched_switch", () => sizes.at(1).hist(1));
    // @ts-expect-error -- a count is no histogram
    tracepoint("sched:sched_switch", () => counts.at("x", 1).hist(1));
    // @ts-expect-error -- a value of another type
    tracepoint("sched:sched_switch", () => last.set(1, "x"));
    // @ts-expect-error -- a field is missing
    tracepoint("sched:sched_switch", () => opened.emit({ path: comm, at: 1n, file: 1n }));
    // @ts-expect-error -- a number is no bigint
    tracepoint("sched:sched_switch", () => opened.emit({ path: comm, at: nsecs, file: 1n, stack: kstack }));
    // @ts-expect-error -- interval has no arguments
    (await import("strobe")).interval("1s", (args) => {});
    // @ts-expect-error -- a script has no probes behind it
    trace("begin { }", tracepoint("sched:sched_switch", () => {}));
  `,
    ),
    "",
  );
});

test("without declarations, every name is allowed", () => {
  assert.equal(
    complaints(
      "undeclared",
      `
    import { cast, enums, fentry, iter, kprobe, map, rawTracepoint, tracepoint, uretprobe, usdt } from "strobe";
    const m = map();
    tracepoint("any:thing", (args) => m.at(args.a.b.c, args[0]).count());
    rawTracepoint("any", ({ prev }) => m.at(prev.comm).sum(prev.pid + 1));
    kprobe("any", (args) => m.at(args[0]).hist(args.x));
    fentry("any", (args) => { m.set(args.file.f_inode, 1); });
    uretprobe("/bin/x", "f", (ret) => { if (ret < 0) m.at("x").value++; });
    usdt("/bin/x", "a:b", ([first, second]) => m.at(first).sum(second));
    iter("task", (ctx) => m.at(ctx.task.comm).count());
    fentry("any", (args) => m.at(cast(args.sk, "struct tcp_sock").snd_cwnd, enums.TCP_LISTEN).count());
  `,
    ),
    "",
  );
});
