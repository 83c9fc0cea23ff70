// Handlers in TypeScript come to the same code as the scripts that say the same.
import assert from "node:assert/strict";
import { test } from "node:test";
import { builtinsFor } from "../language/builtins/table.ts";
import { typescriptRules } from "../language/typescript/rules.ts";
import { parse } from "../language/bpftrace/parse.ts";
import type { Program } from "../language/program.ts";
import type { Binding, FunctionSource, ProbeSource } from "../language/typescript/binding.ts";
import { parseProbes } from "../language/typescript/parse.ts";
import { casts, specialNames } from "../language/typescript/specials.ts";
import { compile } from "./compile.ts";
import { madeUpSystem, resolveMadeUp } from "../../test/support/made-up-system.ts";
import { printModule } from "./ir/print-ir.ts";

function ir(program: Program): string {
  const { stages, diagnostics } = compile(program, madeUpSystem, { resolve: resolveMadeUp, unsafe: true });
  assert.deepEqual(
    diagnostics.filter((d) => d.severity === "error"),
    [],
  );
  const { lowered, module } = stages;
  assert.ok(lowered && module);
  return printModule(module, lowered.schemas);
}

function ofScript(text: string): string {
  const { program, diagnostics } = parse({ name: "x", text }, { positional: [] });
  assert.deepEqual(diagnostics, []);
  return ir(program);
}

/** `kprobe:f` and its handler; names of `maps` are maps, those of `functions` functions. */
function ofHandlers(
  handlers: readonly (readonly [spec: string, handler: string, filter?: string])[],
  maps: string,
  functions: Record<string, string> = {},
): string {
  const builtins = builtinsFor(typescriptRules);
  const known = new Map<string, Binding>(
    maps.split(" ").map((name) => [name, { kind: "map", map: { identity: { name } } }]),
  );
  const source = (text: string, name = ""): FunctionSource => ({
    identity: { text },
    name,
    text,
    resolve,
    complete: true,
  });
  const resolve = (name: string): Binding | undefined => {
    if ((specialNames as readonly string[]).includes(name) || Object.hasOwn(casts, name))
      return { kind: "special", name: name as "print" };
    return (
      known.get(name) ??
      (builtins.isValue(name) || builtins.isFunction(name)
        ? { kind: "builtin", name: builtins.canonical(name) }
        : undefined)
    );
  };
  for (const [name, text] of Object.entries(functions))
    known.set(name, { kind: "function", source: source(text, name) });
  const probes = handlers.map(([spec, handler, filter]): ProbeSource => {
    const [provider, ...parts] = spec.split(":");
    return {
      provider,
      parts,
      constructorName: provider,
      words: [parts.join(":")],
      parameters: ["args"],
      handler: source(handler),
      ...(filter === undefined ? {} : { filter: source(filter) }),
    };
  });
  const { program, diagnostics } = parseProbes(probes);
  assert.deepEqual(diagnostics, []);
  return ir(program);
}

test("aggregations, keys and filters", () => {
  assert.equal(
    ofHandlers(
      [
        [
          "tracepoint:syscalls:sys_enter_read",
          `(args) => {
      calls.count();
      bytes.at(comm, pid).sum(args.count);
      sizes.hist(args.count);
      last.set(tid, nsecs);
      n.value++;
      const before = n.value++;
      n.value += 2;
      mixed.set(i8(1), "ab", before);
    }`,
          "({ count }) => pid === 7 && count > 0",
        ],
        ["end", "() => { print(calls); bytes.clear(); print(last, 5, 1000); print(last.at(3)); }"],
      ],
      "calls bytes sizes last n mixed",
    ),
    ofScript(`
    tracepoint:syscalls:sys_enter_read /pid == 7 && args.count > 0/ {
      @calls = count(); @bytes[comm, pid] = sum(args.count); @sizes = hist(args.count); @last[tid] = nsecs;
      @n++; $before = @n++; @n += 2; @mixed[(int8)1, "ab"] = $before;
    }
    end { print(@calls); clear(@bytes); print(@last, 5, 1000); print(@last[3]); }`),
  );
});

test("loops", () => {
  assert.equal(
    ofHandlers(
      [
        [
          "interval:s:1",
          `() => {
      let sum = 0;
      for (let i = 0; i < 4; i++) sum += i;
      for (let i = 0; i < cpu; i++) { if (i === 3) continue; sum += i; }
      while (sum > 10) { sum--; if (sum === 12) break; }
      let seen = 0;
      for (const [key, value] of by) {
        if (key === 3) continue;
        if (value > 100) return;
        seen += value;
        print([key, value]);
      }
      print(seen);
    }`,
        ],
        ["kprobe:f", "() => by.at(pid).count()"],
      ],
      "by",
    ),
    ofScript(`
    interval:s:1 {
      $sum = 0;
      for ($i : 0..4) { $sum += $i; }
      for ($i : 0..cpu) { if ($i == 3) { continue; } $sum += $i; }
      while ($sum > 10) { $sum--; if ($sum == 12) { break; } }
      $seen = 0;
      for ($kv : @by) { if ($kv.0 == 3) { continue; } if ($kv.1 > 100) { return; } $seen += $kv.1; print(($kv.0, $kv.1)); }
      print($seen);
    }
    kprobe:f { @by[pid] = count(); }`),
  );
});

test("texts, and templates by the types of their values", () => {
  assert.equal(
    ofHandlers(
      [
        [
          "tracepoint:syscalls:sys_enter_openat",
          `({ filename }) => {
    print(\`\${comm} \${str(filename)} \${pid} \${i64(pid)} \${filename} \${kstack}\`);
    opened.at(str(filename, 32)).count();
    if (comm === "cat") console.log(strlen(str(filename)));
    const name = str(filename);
    if (name.startsWith("/etc")) etc.set(name);
    print([1, comm]);
    text.set(pid > 5 ? "big" : "small one");
  }`,
        ],
      ],
      "opened etc text",
    ),
    ofScript(`
    tracepoint:syscalls:sys_enter_openat {
      printf("%s %s %u %d %p %s\\n", comm, str(args.filename), pid, (int64)pid, args.filename, kstack);
      @opened[str(args.filename, 32)] = count();
      if (comm == "cat") { printf("%u\\n", strlen(str(args.filename))); }
      $name = str(args.filename);
      if (strncmp($name, "/etc", 4) == 0) { @etc = $name; }
      print((1, comm));
      @text = pid > 5 ? "big" : "small one";
    }`),
  );
});

test("structs", () => {
  assert.equal(
    ofHandlers(
      [
        [
          "kprobe:vfs_read",
          `(args) => {
    const file = cast(args[0], "struct file");
    printf("%d %s %d\\n", file.f_path.dentry.d_name.len, str(file.f_path.dentry.d_name.name), file.low);
    inode.at(file.f_inode?.i_sb).count();
    print(curtask.pid);
    print(curtask.real_parent.comm);
    print(deref(cast(args[1], "u32 *")));
    const i = args[2];
    print(file.numbers[i]);
    print(file.numbers[2]);
  }`,
        ],
      ],
      "inode",
    ),
    ofScript(`
    kprobe:vfs_read {
      $file = (struct file *)arg0;
      printf("%d %s %d\\n", $file->f_path.dentry.d_name.len, str($file->f_path.dentry->d_name.name), $file->low);
      @inode[$file->f_inode->i_sb] = count();
      print(curtask->pid);
      print(curtask.real_parent.comm);
      print(*((uint32 *)arg1));
      $i = arg2;
      print($file->numbers[$i]);
      print($file->numbers[2]);
    }`),
  );
});

test("functions, whose parameters have the types of their calls", () => {
  assert.equal(
    ofHandlers(
      [
        ["begin", '() => { printf("%d\\n", add(i64(1), i64(2))); exit(3); }'],
        ["kprobe:f", "(args) => { print(add(args[0], 5)); }"],
      ],
      "",
      { add: "(a, b) => { if (a > 100) return a; return a + b; }" },
    ),
    ofScript(`
    fn add($a : int64, $b : int64) : int64 { if ($a > 100) { return $a; } return $a + $b; }
    begin { printf("%d\\n", add((int64)1, (int64)2)); exit(3); }
    kprobe:f { print(add(arg0, 5)); }`),
  );
});

test("calls of a function that do not go together are refused", () => {
  const known: Record<string, Binding> = {};
  const source = (text: string, name = ""): FunctionSource => ({
    identity: { text },
    name,
    text,
    complete: true,
    resolve: (wanted) => known[wanted] ?? { kind: "builtin", name: wanted },
  });
  known["twice"] = { kind: "function", source: source("(x) => x * 2", "twice") };
  const { program } = parseProbes([
    {
      provider: "kprobe",
      parts: ["f"],
      constructorName: "kprobe",
      words: ["f"],
      parameters: ["args"],
      handler: source("() => { exit(twice(pid)); exit(twice(comm)); }"),
    },
  ]);
  const { diagnostics } = compile(program, madeUpSystem, { resolve: resolveMadeUp });
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  assert.deepEqual(
    errors.map(({ message }) => message),
    ["x of twice() is a uint64, not a string[16]"],
  );
});

test("what comes of a statistic is a member of its entry", () => {
  const handler =
    "() => { m.at(pid).observe(arg0); if (m.at(pid).max > 5) n.set(m.at(pid).sum - m.at(1).count); o.observe(1); n.set(o.avg); }";
  const text = ofHandlers([["kprobe:f", handler]], "m n o");
  // Node may read what it likes of them.
  assert.equal(text.match(/statistic\(count, sum, min, max, avg\)/g)?.length, 2);
  assert.deepEqual(
    text.match(/aggregate-read .*result \d/g)?.map((read) => read.slice(-1)),
    ["3", "1", "0", "4"],
  );
});
