// Kernel functions that share a name, on a made-up machine.
import assert from "node:assert/strict";
import { test } from "node:test";
import { bareSystem } from "../../../test/support/bare-system.ts";
import type { SiteRef } from "../../language/resolved-probe.ts";
import { i64 } from "../../language/types.ts";
import { withoutRefused } from "../attaching/attachment.ts";
import type { KprobeSite } from "./kernel-functions.ts";
import type { Attachment, Resolution } from "../provider.ts";
import { resolveSpec, splitPattern } from "../registry.ts";
import type { FunctionPlace, System } from "../../machine/system.ts";

const shared: Record<string, readonly FunctionPlace[]> = {
  show: [
    { address: 0x1000n, module: "vmlinux" },
    { address: 0x2000n, module: "vmlinux" },
    { address: 0x9000n, module: "tun" },
  ],
  // The other one was only there while the kernel started.
  setup: [{ address: 0x3000n, module: "vmlinux" }],
};
const names = ["only", "setup", "show", "register_fprobe_ips"];
const system: System = {
  ...bareSystem,
  capabilities: { ...bareSystem.capabilities, kernel: [6, 14] },
  kernelFunction: (name) =>
    names.includes(name) ? { name, btfId: 1, module: "vmlinux", parameters: [], result: i64 } : undefined,
  kernelFunctions: () => names,
  functionModule: (name) => (names.includes(name) ? "vmlinux" : undefined),
  functionsSharing: (name) => shared[name] ?? [],
};

function resolve(text: string): Resolution {
  const [provider, ...parts] = splitPattern(text);
  return resolveSpec({ provider, parts, text, span: { start: 0, end: text.length } }, system, {
    missing: "error",
    uses: new Set(),
  });
}
const placesOf = (text: string): string[] =>
  resolve(text).variants.flatMap(({ sites }) =>
    sites.map(({ name, func, data }) => {
      const { symbol, offset, wildcard } = data as KprobeSite;
      return `${name} ${func} ${symbol ?? ""}${symbol === undefined ? `0x${offset.toString(16)}` : ""}${wildcard === undefined ? "" : ` of ${wildcard}`}`;
    }),
  );

test("all functions of a name are probed, by their addresses, and that is said", () => {
  assert.deepEqual(
    placesOf("kretprobe:show"),
    ["1000", "2000", "9000"].map((address) => `kretprobe:show show 0x${address} of kretprobe:show`),
  );
  assert.deepEqual(
    resolve("kretprobe:show").diagnostics.map(({ severity, message }) => [severity, message]),
    [["warning", "`show` is the name of 3 functions: probing all of them"]],
  );
  // What a wildcard takes in may be refused in part, though it be of one name.
  assert.deepEqual(
    placesOf("kretprobe:sho*"),
    ["1000", "2000", "9000"].map((address) => `kretprobe:show show 0x${address} of kretprobe:sho*`),
  );
  assert.deepEqual(placesOf("kretprobe:only"), ["kretprobe:only only only"]);
  // Nothing to choose from, but the kernel would not know that.
  assert.deepEqual(placesOf("kretprobe:setup"), ["kretprobe:setup setup 0x3000"]);
  assert.deepEqual(resolve("kretprobe:setup").diagnostics, []);
});

test("a module's is one of them", () => {
  assert.deepEqual(placesOf("kretprobe:tun:show"), ["kretprobe:tun:show show 0x9000"]);
  assert.deepEqual(resolve("kretprobe:tun:show").diagnostics, []);
  assert.equal(placesOf("kretprobe:vmlinux:show").length, 2);
  assert.match(
    resolve("kretprobe:tap:show").diagnostics[0]?.message ?? "",
    /there is no kernel function `show` in the module `tap`/,
  );
});

test("a wildcard means all of them, and does not mention it", () => {
  assert.deepEqual(
    placesOf("kretprobe:s*"),
    ["setup setup 0x3000", "show show 0x1000", "show show 0x2000", "show show 0x9000"].map(
      (place) => `kretprobe:${place} of kretprobe:s*`,
    ),
  );
  assert.deepEqual(resolve("kretprobe:s*").diagnostics, []);
});

test("an offset is of one function, and fentry's name means the first", () => {
  const {
    variants,
    diagnostics: [refusal],
  } = resolve("kprobe:show+5");
  assert.deepEqual(variants, []);
  assert.equal(refusal?.message, "`show` is the name of 3 functions, whose code differs");
  assert.equal(refusal.help, "choose among kprobe:0x1005, kprobe:0x2005, kprobe:0x9005");
  const fentry = resolve("fentry:show");
  assert.equal(fentry.variants.length, 1);
  assert.deepEqual(
    fentry.diagnostics.map(({ severity, message }) => [severity, message]),
    [["warning", "`show` is the name of 3 functions, of which the kernel takes the first, at 0x1000"]],
  );
  assert.deepEqual(resolve("fentry:s*").diagnostics, []);
});

test("what the kernel refuses of a wildcard is left out, unless that is all of it or not about the place", () => {
  const site = (name: string, wildcard?: string): SiteRef => ({
    name,
    data: { offset: 0n, ...(wildcard === undefined ? {} : { wildcard }) } satisfies KprobeSite,
  });
  const wildcardOf = ({ data }: SiteRef): string | undefined => (data as KprobeSite).wildcard;
  const [a, b, c, alone] = [
    site("kprobe:a", "kprobe:*"),
    site("kprobe:b", "kprobe:*"),
    site("kprobe:c", "kprobe:*"),
    site("kprobe:alone"),
  ];
  const left = (failed: Attachment["failed"]): unknown => {
    const attachment: Attachment = { attached: [c], failed, descriptors: [], [Symbol.dispose]() {} };
    const { failed: stillFailed, skipped = [] } = withoutRefused(attachment, [a, b, c, alone], wildcardOf);
    return [
      stillFailed.map((one) => `${one.site.name}: ${one.reason}`),
      skipped.map(({ probe, reason }) => `${probe}: ${reason}`),
    ];
  };
  const refused = (one: SiteRef): Attachment["failed"][number] => ({ site: one, reason: "no", ofPlace: true });
  assert.deepEqual(left([refused(b), refused(alone)]), [
    ["kprobe:alone: no"],
    ["kprobe:*: the kernel refuses 1 of its 3 places (b): code that it patches at run time or must not probe"],
  ]);
  assert.deepEqual(left([refused(a), refused(b), refused(c)]), [["kprobe:*: no"], []]);
  assert.deepEqual(left([{ site: a, reason: "too many open files", ofPlace: false }]), [
    ["kprobe:a: too many open files"],
    [],
  ]);
});

test("where the kernel tells the places, a wildcard means those, and needs no symbols", () => {
  const places = [
    { name: "sa", address: 0x14n },
    { name: "sb", address: 0x24n },
    { name: "sb", address: 0x34n },
    { name: "sc", address: 0x44n },
  ];
  const asked: string[] = [];
  const telling: System = {
    ...system,
    hasKernelFunction: () => true,
    functionsAt: ({ name }, place) => {
      asked.push(`${name} ${place}`);
      return places
        .slice(0, name === "s*" ? 4 : 3)
        .map((one) => (place === "start" ? { ...one, address: one.address - 4n } : one));
    },
    kernelFunctions: () => ["sa", "sb", "sc"],
    functionsSharing: () => [],
  };
  const sitesOf = (text: string, uses: readonly string[], of = telling): string[] => {
    const [provider, ...parts] = splitPattern(text);
    const spec = { provider, parts, text, span: { start: 0, end: text.length } };
    return resolveSpec(spec, of, { missing: "error", uses: new Set(uses) }).variants.flatMap(({ context, sites }) =>
      sites.map(
        ({ name, data }) =>
          `${name} ${(data as KprobeSite).symbol ?? (data as KprobeSite).offset} ${context === "host" || context.program.load === undefined ? "alone" : "linked"}`,
      ),
    );
  };
  assert.deepEqual(sitesOf("kprobe:s*", []), [
    "kprobe:sa 20 linked",
    "kprobe:sb 36 linked",
    "kprobe:sb 52 linked",
    "kprobe:sc 68 linked",
  ]);
  // The kernel finds a probe's number by where its function begins.
  assert.deepEqual(sitesOf("kprobe:s*", ["probe"]), [
    "kprobe:sa 16 linked",
    "kprobe:sb 32 linked",
    "kprobe:sb 48 linked",
    "kprobe:sc 64 linked",
  ]);
  // Entries of a few go one by one; returns are missed less by a link.
  assert.deepEqual(sitesOf("kretprobe:[s]*", []), [
    "kretprobe:sa 20 linked",
    "kretprobe:sb 36 linked",
    "kretprobe:sb 52 linked",
  ]);
  assert.deepEqual(asked, ["s* traced", "s* start", "[s]* traced"]);
  // Elsewhere by their names.
  assert.deepEqual(sitesOf("kretprobe:s*", [], { ...telling, functionsAt: () => undefined }), [
    "kretprobe:sa sa linked",
    "kretprobe:sb sb linked",
    "kretprobe:sc sc linked",
  ]);
});
