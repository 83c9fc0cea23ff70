// Declarations of this machine: written in time, whole, and right in the eyes of the TypeScript compiler.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { after, before, test } from "node:test";
import { compileC, strobe, temporaryFolder } from "../support/strobe.ts";

const folder = temporaryFolder();
const types = join(folder.path, "types");
let program = "";

before(async () => {
  program = compileC(
    folder.path,
    "prog",
    `
    #include <sys/sdt.h>
    static void weighed(int x, long y) { DTRACE_PROBE2(prog, weighed, x, y); }
    struct point { int x; unsigned char tag; struct point *next; };
    __attribute__((noinline)) long weigh(const struct point *p, const char *name, unsigned short n) { return p->x + name[0] + n; }
    int main(void) { weighed(3, 4); struct point p = { 1, 2, 0 }; return (int)weigh(&p, "a", 3) & 1; }`,
    ["-O0", "-g"],
  );
  const { stdout, stderr, code } = await strobe(["types", "-o", types, "--binary", program], { deadline: 300_000 });
  assert.deepEqual([stderr, code], ["", 0]);
  assert.match(
    stdout,
    /: \d+ tracepoints, \d+ raw tracepoints, \d+ functions, \d+ iterators, \d+ structs, \d+ constants\n$/,
  );
});
after(() => folder.remove());

/** The compiler's complaints about a program, as `line: code`. */
function complaints(text: string, declarations = types): string[] {
  const project = join(folder.path, "project");
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
        skipLibCheck: false,
      },
      include: ["program.ts", join(relative(project, declarations), "index.d.ts")],
    }),
  );
  const { stdout } = spawnSync(resolve("node_modules/.bin/tsc"), ["--noEmit", "-p", project], {
    encoding: "utf8",
    timeout: 1_200_000,
  });
  // The library's own sources have `npm run check`.
  return stdout
    .split("\n")
    .filter((line) => line !== "" && !/(^|\/)src\/.*\.ts\(/.test(line))
    .map((line) => {
      const match = /(\w+\.(?:d\.)?ts)\((\d+),\d+\): error (TS\d+)/.exec(line);
      return match === null ? line : `${match[1]}:${match[2]} ${match[3]}`;
    });
}

test("the declarations are whole: nothing in them is unknown, and what they say fits the kernel", () => {
  assert.deepEqual(
    complaints(`
    import { map, uprobe, uretprobe, usdt } from "strobe";
    import { enums, fentry, rawTracepoint, tracepoint } from "strobe";
    import type { ArgumentsOf, Enums, Iterators, KernelFunctions, RawTracepoints, ReturnOf, Structs, Tracepoints, UserFunctions } from "strobe";
    declare const switched: Tracepoints["sched:sched_switch"];
    const pid: number = switched.next_pid;
    const name: string = switched.prev_comm;
    declare const read: ArgumentsOf<KernelFunctions, "vfs_read">;
    const device: number = read.file.f_inode.i_sb.s_dev + read.count + read.pos[0];
    declare const got: ReturnOf<KernelFunctions, "vfs_read">;
    const whole: number = got;
    declare const nothing: ArgumentsOf<KernelFunctions, "schedule">;
    const none: [keyof typeof nothing] extends [never] ? true : false = true;
    declare const raw: RawTracepoints["sched_switch"];
    const parent: number = raw.prev.parent.parent.tgid;
    declare const task: Structs["task_struct"];
    declare const other: Iterators["task"];
    const same: number = other.task.pid + task.pid;
    const listening: 10 = enums.TCP_LISTEN;
    const closed: Enums["TCP_CLOSE"] = 7;
    declare const weigh: UserFunctions[${JSON.stringify(program)}]["weigh"];
    const x: number = weigh.args.p.next.next.x;
    const n: number = weigh.args.n + weigh.retval + weigh.args.name[0];
    const sizes = map<string, "sum">();
    tracepoint("sched:sched_switch", (args) => { if (args.prev_comm === "node") sizes.at(args.next_comm).sum(args.next_pid); });
    fentry("vfs_read", ({ file, count }) => sizes.at(file.f_path.dentry.d_name.name[0] === 0 ? "" : "x").sum(count + enums.TCP_LISTEN));
    rawTracepoint("sched_switch", ({ prev, next }) => sizes.at(prev.comm).sum(next?.parent.tgid));
    uprobe(${JSON.stringify(program)}, "weigh", ({ p, n }) => sizes.at("x").sum(p.next.x + n));
    uretprobe(${JSON.stringify(program)}, "weigh", (retval) => sizes.at("y").sum(retval));
    usdt(${JSON.stringify(program)}, "prog:weighed", ([first, second]) => sizes.at("z").sum(first + second));
  `),
    [],
  );
});

test("programs in C++ are declared whole, whatever their types are called", async () => {
  const source = join(folder.path, "shapes.cpp");
  writeFileSync(
    source,
    `
    #include <cstdint>
    namespace shapes {
      template <class T> struct Box { T value; virtual ~Box() {} virtual T get(int times) const { return value * times; } };
      struct Named : Box<int> { const char *name; struct { int inner; }; union { long a; double b; }; };
    }
    enum class Color : uint8_t { red, green };
    __attribute__((noinline)) int use(shapes::Named &named, Color color, shapes::Box<double> *other) { return named.get(2) + (int)color + (int)other->value; }
    int main() { shapes::Named n; n.value = 1; n.inner = 2; shapes::Box<double> b; b.value = 3; return use(n, Color::green, &b) & 1; }`,
  );
  const shapes = join(folder.path, "shapes");
  const built = spawnSync("g++", ["-g", "-O0", "-o", shapes, source], { encoding: "utf8" });
  assert.equal(built.status, 0, built.stderr);
  const declarations = join(folder.path, "types-of-two");
  const { stderr, code } = await strobe(["types", "-o", declarations, "--binary", program, "--binary", shapes], {
    deadline: 300_000,
  });
  assert.deepEqual([stderr, code], ["", 0]);
  assert.deepEqual(
    complaints(
      `
    import { map, uprobe } from "strobe";
    import type { Structs } from "strobe";
    const sizes = map<string, "sum">();
    uprobe(${JSON.stringify(shapes)}, "_Z3useRN6shapes5NamedE5ColorPNS_3BoxIdEE", ({ named, color }) => sizes.at("x").sum(named.inner + color));
    uprobe(${JSON.stringify(shapes)}, "use", ({ named, color }) => sizes.at("x").sum(named.inner + color));
    declare const named: Structs["shapes::Named"];
    const inner: number = named.inner + named.a;
    named.outer;
  `,
      declarations,
    ),
    ["program.ts:9 TS2339"],
  );
});

test("a misspelt event, function, argument or member is red", () => {
  assert.deepEqual(
    complaints(`
    import { enums, fentry, rawTracepoint, tracepoint, uprobe, usdt, type ArgumentsOf, type KernelFunctions, type Tracepoints, type UserFunctions } from "strobe";
    type A = Tracepoints["sched:sched_swich"];
    type B = KernelFunctions["vfs_raed"];
    declare const a: Tracepoints["sched:sched_switch"];
    a.next_pdi;
    declare const b: ArgumentsOf<KernelFunctions, "vfs_read">;
    b.file.f_inod;
    declare const c: UserFunctions[${JSON.stringify(program)}]["weigh"]["args"];
    c.p.z;
    uprobe(${JSON.stringify(program)}, "weight", () => {});
    uprobe(${JSON.stringify(program)}, "weigh", ({ q }) => q);
    usdt(${JSON.stringify(program)}, "prog:wieghed", () => {});
    fentry("vfs_raed", () => {});
    fentry("vfs_read", ({ fiel }) => fiel);
    fentry("vfs_read", ({ file }) => file.f_inode.i_sbb);
    fentry("vfs_read", (args) => args.cuont);
    tracepoint("sched:sched_swich", () => {});
    tracepoint("sched:sched_switch", (args) => args.next_pdi);
    rawTracepoint("sched_switch", ({ perv }) => perv);
    enums.TCP_LISTNE;
  `),
    [
      "program.ts:3 TS2339",
      "program.ts:4 TS2339",
      "program.ts:6 TS2551",
      "program.ts:8 TS2551",
      "program.ts:10 TS2339",
      "program.ts:11 TS2345",
      "program.ts:12 TS2339",
      "program.ts:13 TS2345",
      "program.ts:14 TS2345",
      "program.ts:15 TS2339",
      "program.ts:16 TS2551",
      "program.ts:17 TS2551",
      "program.ts:18 TS2345",
      "program.ts:19 TS2551",
      "program.ts:20 TS2339",
      "program.ts:21 TS2551",
    ],
  );
});

test("a program that is not there is said", async () => {
  const { stderr, code } = await strobe(["types", "-o", join(folder.path, "none"), "--binary", "/no/such/program"]);
  assert.match(stderr, /target file '\/no\/such\/program' does not exist or is not executable/);
  assert.equal(code, 1);
  assert.equal(existsSync(join(folder.path, "none")), false);
});
