// Source lines, inlined copies and variables of a kernel: a small program, linked where kernels are, stands in for
// vmlinux.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { bareSystem } from "../../../test/support/bare-system.ts";
import type { Context } from "../../language/context.ts";
import { kernelImage } from "../../machine/kernel/kernel-image.ts";
import type { KprobeSite } from "./kernel-functions.ts";
import { LiveBinary } from "../../machine/binaries/live-binary.ts";
import type { Resolution, ResolveOptions } from "../provider.ts";
import { listSpec, resolveSpec, spellingOf } from "../registry.ts";
import { withOptions } from "../../language/probe-spelling.ts";
import type { KernelCode, System } from "../../machine/system.ts";
import type { Type } from "../../language/types.ts";
import { Failure } from "../../base/failure.ts";
import { reason } from "../../messages/message.ts";

const source = `
struct page { long flags; int users; };
int total;
static inline __attribute__((always_inline)) int get_page(struct page *page, int by)
{
	int now = page->users + by;
	page->users = now;
	return now;
}
__attribute__((noinline)) int read_page(struct page *page)
{
	return get_page(page, 3) + total;
}
__attribute__((noinline)) int write_page(struct page *page, int n)
{
	total += n;
	return get_page(page, n);
}
void _start(void)
{
	struct page page = { 1, 2 };
	total = read_page(&page) + write_page(&page, 4);
}
unsigned long jiffies_64 = 5;
unsigned long __per_cpu_offset[4] = { 1 };
__attribute__((section(".data..percpu"))) int running = 3;
`;
const slide = 0x1200_0000n;
const skip = process.arch !== "x64" && "the program is made for x86-64";
let folder = "";
let image: LiveBinary;
let addresses: ReadonlyMap<string, bigint>;

before(() => {
  if (skip) return;
  folder = mkdtempSync(join(tmpdir(), "strobe-kernel-"));
  writeFileSync(join(folder, "pages.c"), source);
  const path = join(folder, "vmlinux");
  execFileSync(
    "gcc",
    [
      "-O1",
      "-g",
      "-nostdlib",
      "-static",
      "-no-pie",
      "-mcmodel=kernel",
      "-fno-pic",
      "-fno-asynchronous-unwind-tables",
      "-ffreestanding",
      "-Wl,--build-id",
      "-Wl,--unique=.data..percpu",
      "-Wl,-Ttext=0xffffffff81000000",
      "-o",
      path,
      "pages.c",
    ],
    { cwd: folder },
  );
  image = new LiveBinary(path, path, "", { paths: {} });
  const table = execFileSync("nm", [path], { encoding: "utf8" }).matchAll(/^([0-9a-f]+) \w (\w+)$/gm);
  addresses = new Map([...table].map(([, address = "", name = ""]) => [name, BigInt(`0x${address}`) + slide]));
});
after(() => {
  if (folder !== "") rmSync(folder, { recursive: true });
});

const u32: Type = { kind: "integer", bits: 32, signed: false };
const infoType: Type = {
  kind: "struct",
  union: false,
  name: "thread_info",
  size: 24,
  members: [{ name: "cpu", offset: 20, type: u32 }],
};
const taskType: Type = {
  kind: "struct",
  union: false,
  name: "task_struct",
  size: 64,
  members: [{ name: "thread_info", offset: 8, type: infoType }],
};

function resolve(
  provider: string,
  parts: readonly string[],
  uses: readonly string[] = [],
  types: System["types"] = bareSystem.types,
): Resolution {
  const options: ResolveOptions = { missing: "error", uses: new Set(uses) };
  return resolveSpec(
    {
      provider,
      ...withOptions(parts, spellingOf(provider)),
      text: [provider, ...parts].join(":"),
      span: { start: 0, end: 1 },
    },
    made(types),
    options,
  );
}

function made(types: System["types"] = bareSystem.types): System {
  return {
    ...bareSystem,
    types,
    capabilities: { ...bareSystem.capabilities, btf: false },
    kernelFunctions: () => ["read_page", "write_page"],
    functionModule: () => "vmlinux",
    symbolAddress: (name) => addresses.get(name),
    kernelImage: () => ({ binary: image, slide }),
    kernelCode: codeOf,
  };
}

function codeOf(name: string): KernelCode | Failure {
  const symbol = image.symbol(name);
  if (symbol === undefined) return new Failure(reason(`there is no code of ${name}`));
  const { address, fileOffset, size } = symbol;
  return {
    name,
    ranges: [{ address: address + slide, bytes: image.read(fileOffset, Number(size)) }],
    forbidden: () => false,
    nameAt: () => undefined,
  };
}

/** Of all sites: the name, what `func` says, and which function they are in. */
function sites({ variants }: Resolution): string[] {
  const functions = ["read_page", "write_page", "_start"];
  return variants
    .flatMap((variant) =>
      variant.sites.map(({ name, func, data }) => {
        const at = (data as KprobeSite).offset;
        const within = functions
          .filter((one) => (addresses.get(one) ?? 0n) <= at)
          .sort((a, b) => Number((addresses.get(b) ?? 0n) - (addresses.get(a) ?? 0n)))[0];
        return `${name} ${func} in ${within}`;
      }),
    )
    .sort();
}

test("a line of the kernel is every place that has code of it, moved to where the kernel is", { skip }, () => {
  const found = resolve("kprobe", ["@pages.c", "16"]);
  assert.deepEqual(found.diagnostics, []);
  assert.deepEqual(sites(found), ["kprobe@pages.c:16 write_page in write_page"]);
  assert.deepEqual(
    [...new Set(sites(resolve("kprobe", ["@pages.c", "6"])))],
    ["kprobe@pages.c:6 read_page in read_page", "kprobe@pages.c:6 write_page in write_page"],
  );
});

test("an inlined function is its copies", { skip }, () => {
  for (const parts of [["get_page"], ["inlined", "get_page"]]) {
    const found = resolve("kprobe", parts);
    const [{ severity, message }, ...more] = found.diagnostics;
    assert.deepEqual([severity, more], ["warning", []]);
    assert.match(
      message,
      /^`get_page` is inlined: probing its 2 copies, in `(read_page`, `write_page|write_page`, `read_page)`$/,
    );
    assert.deepEqual(sites(found), ["kprobe:get_page get_page in read_page", "kprobe:get_page get_page in write_page"]);
  }
});

test("copies have their parameters in different places", { skip }, () => {
  const { variants } = resolve("kprobe", ["get_page"], ["var", "var.by"]);
  assert.equal(variants.length, 2);
  const values = variants.map(({ context }) => {
    const { variables } = context as Context;
    assert.ok(variables !== undefined && !(variables instanceof Failure));
    const by = variables.find("by");
    assert.ok(by !== undefined && !(by instanceof Failure));
    return by.fetch.kind;
  });
  // Three is a constant in one copy, and in a register in the other.
  assert.deepEqual(values.sort(), ["constant", "context"]);
});

test("a copy ends where control leaves it, and has no result or parameters by number", { skip }, () => {
  const found = resolve("kretprobe", ["get_page"]);
  assert.deepEqual(sites(found), [
    "kretprobe:get_page get_page in read_page",
    "kretprobe:get_page get_page in write_page",
  ]);
  assert.ok(found.variants.every(({ sites: all }) => all.every(({ data }) => (data as KprobeSite).inPlace === true)));
  assert.match(found.diagnostics[0]?.message ?? "", /^`get_page` is inlined: probing where its 2 copies end, in /);
  const said = (provider: string, use: string): string =>
    resolve(provider, ["get_page"], [use])
      .diagnostics.map(({ message }) => message)
      .join("\n");
  assert.match(said("kretprobe", "retval"), /and where a copy ends, its result is in no register of its own$/);
  assert.match(said("kprobe", "arg0"), /and the parameters of a copy are in no registers by number$/);
});

test("the ends of copies go by the functions that they are in and by bytes", { skip }, () => {
  for (const [ends, provider] of [
    ["entry", "kprobe"],
    ["return", "kretprobe"],
  ] as const) {
    const copies = resolve(provider, ["get_page"]);
    const found = resolve("kinst", ["", "get_page", ends]);
    assert.deepEqual(
      found.diagnostics.map(({ message }) => message),
      copies.diagnostics.map(({ message }) => message),
    );
    const places = ({ variants }: Resolution): bigint[] =>
      variants.flatMap((variant) => variant.sites.map(({ data }) => (data as KprobeSite).offset));
    assert.deepEqual(places(found), places(copies));
    const named = found.variants.flatMap((variant) => variant.sites.map(({ name, func }) => ({ name, func })));
    assert.deepEqual(
      named,
      places(copies).map((address) => {
        const func = address < (addresses.get("write_page") ?? 0n) ? "read_page" : "write_page";
        return { name: `insn:${func}:${address - (addresses.get(func) ?? 0n)}`, func };
      }),
    );
    assert.ok(found.variants.every(({ provider: kind }) => kind === provider));
  }
});

test("variables at instructions, but where they are not there", { skip }, () => {
  const all = resolve("insn", ["write_page", "*"]).variants.flatMap((variant) => variant.sites);
  assert.ok(all.length > 3);
  const here = resolve("insn", ["write_page", "0"], ["var", "var.n"]);
  const { variables } = here.variants[0].context as Context;
  assert.ok(variables !== undefined && !(variables instanceof Failure));
  const n = variables.find("n");
  assert.ok(n !== undefined && !(n instanceof Failure));
  assert.deepEqual([n.type, n.fetch.kind], [{ kind: "integer", bits: 32, signed: true }, "context"]);
  // `now` has a value behind the addition.
  const some = resolve("insn", ["write_page", "*"], ["var", "var.now"]);
  const count = some.variants.flatMap((variant) => variant.sites).length;
  assert.ok(count > 0 && count < all.length, `${count} of ${all.length}`);
  assert.match(
    some.diagnostics[0]?.message ?? "",
    new RegExp(
      `^${all.length - count} of the ${all.length} places of \`insn:write_page:\\*\` are left out: at insn:write_page:0 `,
    ),
  );
});

test("instructions are listed with the lines that they come from", { skip }, () => {
  const lines = [...listSpec({ provider: "insn", parts: ["read_page", "*"] }, made(), { verbose: true })];
  assert.equal(lines[0]?.probe, "insn:read_page:0");
  const details = lines.flatMap((line) => line.details?.slice(1) ?? []);
  assert.ok(details.some((line) => /^ {4}at \S*pages\.c:6:\d+ in get_page$/.test(line)));
  assert.ok(details.some((line) => /^ {4}inlined into read_page at \S*pages\.c:12:\d+$/.test(line)));
  assert.match(details.at(-1) ?? "", /^ {4}at \S*pages\.c:13:\d+$/);
  const copies = [...listSpec({ provider: "insn", parts: ["get_page", "entry"] }, made(), { verbose: false })];
  assert.deepEqual(copies.map(({ probe }) => probe.replace(/\d+$/, "N")).sort(), [
    "insn:read_page:N",
    "insn:write_page:N",
  ]);
});

test("globals are where the kernel is now", { skip }, () => {
  const [{ context }] = resolve("kprobe", ["@pages.c", "16"], ["var", "var.total"]).variants;
  const { variables } = context as Context;
  assert.ok(variables !== undefined && !(variables instanceof Failure));
  const total = variables.find("total");
  assert.ok(total !== undefined && !(total instanceof Failure));
  const base = { kind: "constant", value: addresses.get("total") };
  assert.deepEqual(total.fetch, { kind: "pointed", base, offset: 0, size: 4, signed: true, space: "kernel" });
});

test("mistakes are named", { skip }, () => {
  const said = (provider: string, ...parts: string[]): string =>
    resolve(provider, parts)
      .diagnostics.map(({ message }) => message)
      .join("\n");
  assert.match(said("kprobe", "@nothing.c", "3"), /comes from a file nothing\.c/);
  assert.match(
    said("kprobe", "@pages.c", "999"),
    /is there: line 999 of pages\.c has no code; the nearest line that has some is 22/,
  );
  assert.match(said("kprobe", "@pages.c", "x"), /`x` is not a line/);
  assert.match(said("kretprobe", "@pages.c", "16"), /a source line does not return/);
  assert.match(
    said("kretprobe", "read_page", "maxactive=0"),
    /maxactive is how many calls may be under way at once: 1 to 4096/,
  );
  assert.match(said("kretprobe", "read_page", "maxactive=many"), /maxactive is how many calls/);
  assert.match(said("insn", "get_page", "0"), /^`get_page` has no code of its own: it was inlined into others$/);
  assert.match(said("kprobe", "get_pages"), /there is no kernel function `get_pages`/);
});

test("a vmlinux that is of another kernel, or none, is refused by name", { skip }, () => {
  const problem = (file: string): string => {
    const found = kernelImage(() => 0n, { paths: { vmlinux: join(folder, file) } });
    return found instanceof Failure ? found.reason : "";
  };
  assert.match(
    problem("vmlinux"),
    /vmlinux is of another kernel than the one that runs \(build id [0-9a-f]{40}, not [0-9a-f]+\)$/,
  );
  assert.match(problem("pages.c"), /pages\.c: /);
  assert.equal(problem("absent"), `there is no file ${join(folder, "absent")}`);
});

test("globals of each CPU, and what the linker calls otherwise", { skip }, () => {
  const types: System["types"] = {
    ...bareSystem.types,
    find: (name) => (name === "task_struct" ? taskType : undefined),
  };
  const {
    variants: [variant],
  } = resolve("kprobe", ["vmlinux@pages.c", "12"], ["var"], types);
  assert.ok(variant !== undefined && variant.context !== "host");
  const { variables } = variant.context;
  assert.ok(variables !== undefined && !(variables instanceof Failure));
  const fetched = (name: string): unknown => {
    const found = variables.find(name);
    return found instanceof Failure ? found.reason : found?.fetch;
  };
  const total = {
    kind: "pointed",
    base: { kind: "constant", value: addresses.get("total") },
    offset: 0,
    size: 4,
    signed: true,
    space: "kernel",
  };
  assert.deepEqual(fetched("total"), total);
  // Wherever handlers run in the kernel its globals are, but no locals; at places of programs a name means theirs.
  for (const parts of [
    ["interval", "s", "1"],
    ["profile", "hz", "99"],
  ]) {
    const [provider, ...rest] = parts;
    const [{ context }] = resolve(provider, rest, ["var"], types).variants;
    assert.ok(context !== "host" && context.variables !== undefined && !(context.variables instanceof Failure));
    const there = context.variables.find("total");
    assert.deepEqual(there instanceof Failure ? there.reason : there?.fetch, total);
    assert.equal(context.variables.find("page"), undefined);
    assert.deepEqual(context.variables.inScope, []);
  }
  assert.deepEqual(fetched("jiffies"), {
    ...total,
    base: { kind: "constant", value: addresses.get("jiffies_64") },
    size: 8,
    signed: false,
  });
  assert.equal(fetched("nothing"), undefined);
  // The address and what __per_cpu_offset says for task_struct's thread_info.cpu.
  const cpu = { kind: "pointed", base: { kind: "task" }, offset: 28, size: 4, signed: false, space: "kernel" };
  const own = {
    kind: "pointed",
    base: { kind: "constant", value: addresses.get("__per_cpu_offset") },
    index: cpu,
    scale: 8,
    offset: 0,
    size: 8,
    signed: false,
    space: "kernel",
  };
  assert.deepEqual(fetched("running"), {
    kind: "pointed",
    base: own,
    offset: Number(BigInt.asIntN(64, addresses.get("running")!)),
    size: 4,
    signed: true,
    space: "kernel",
  });
});
