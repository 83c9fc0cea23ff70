// Every probe kind and the whole language on other kernels, with exact counts. One boot a kernel.
import assert from "node:assert/strict";
import { build } from "esbuild";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { usdtSource } from "../support/programs.ts";
import { compileC, temporaryFolder } from "../support/strobe.ts";
import { languageGuestCases, probeCases, type CaseResult, type ProbeCase } from "./cases.ts";
import { kernelFiles, type KernelFiles } from "./fetch-kernel.ts";
import { complaint, runGuest } from "./guest.ts";
import { missingForGuests } from "./initramfs.ts";
import { kernels } from "./kernels.ts";
import { kernelsPage, type KernelColumn } from "./page.ts";
import { sleepersSource, workSource } from "./workload.ts";

const page = "docs/kernels.md";
const guestSeconds = 300;

const folder = temporaryFolder();
after(() => folder.remove());
const skip = missingForGuests() ?? false;
const only = process.env["STROBE_KERNEL"];
const columns: KernelColumn[] = [];
/** Kernels that could not be had. */
const unknown: string[] = [];

/** What ran in the guest and what came of it. */
async function runCases(files: KernelFiles, casesOf: (release: string) => readonly ProbeCase[]) {
  const cases = casesOf(files.release);
  const driver = join(folder.path, "driver.mjs");
  if (!existsSync(driver)) {
    await build({
      entryPoints: ["test/guest/driver.ts"], outfile: driver, bundle: true, platform: "node", target: "node20.19", format: "esm",
      packages: "external", logLevel: "warning",
    });
  }
  const list = join(folder.path, "cases.json");
  writeFileSync(list, JSON.stringify(cases.map(({ script, tool, command, args }) => ({ script, tool, command, args }))));
  const work = compileC(folder.path, "work", workSource, ["-O1", "-g", "-fno-omit-frame-pointer", "-no-pie"]);
  const sleepers = compileC(folder.path, "sleepers", sleepersSource);
  const usdt = compileC(folder.path, "usdt", usdtSource);
  const guest = await runGuest({
    kernel: files, deadline: guestSeconds, modules: ["tun"],
    files: { "/strobe/driver.mjs": driver, "/cases.json": list, "/bin/work": work, "/bin/usdt": usdt, "/bin/sleepers": sleepers },
    jobs: [{ script: "node /strobe/driver.mjs", deadline: guestSeconds }, { script: "cat /sys/kernel/tracing/kprobe_events" }],
  });
  const results = guest.lines.filter((line) => line.startsWith("case ")).map((line) => JSON.parse(line.slice(5)) as CaseResult);
  return { guest, cases, results };
}

for (const { name, belowFloor, ...of } of kernels) {
  if (belowFloor || (only !== undefined && only !== name)) continue;
  let kernel: KernelFiles | undefined;
  let absent: string | undefined;
  try {
    if (!skip) kernel = kernelFiles({ name, ...of });
  } catch (error) {
    absent = error instanceof Error ? error.message : String(error);
    unknown.push(name);
  }
  test(`Linux ${name}`, { skip: skip || absent, timeout: (guestSeconds + 60) * 1000 }, async (t) => {
    assert.ok(kernel);
    const { guest, cases, results } = await runCases(kernel, (text) => {
      const [major = 0, minor = 0] = text.split(".").map(Number);
      return [...probeCases([major, minor]), ...languageGuestCases];
    });
    const failed = new Set<string>();
    for (const [i, { name: caseName, script, output, refusal, warning }] of cases.entries()) {
      await t.test(caseName, () => {
        failed.add(caseName);
        const result = results.find(({ index }) => index === i);
        assert.ok(result, `the guest never ended this one; its console:\n${guest.console.slice(-3000)}\n${guest.jobs[0]?.stderr ?? ""}`);
        const text = `${script}\n${result.stderr}`;
        const said = refusal ?? warning;
        if (said) assert.match(result.stderr, said, text);
        else assert.equal(result.stderr, "", text);
        if (typeof output !== "string") assert.match(result.stdout.trim(), output, text);
        else assert.equal(result.stdout.trim(), output.trim(), text);
        assert.equal(result.code, refusal ? 1 : 0, text);
        failed.delete(caseName);
      });
    }
    await t.test("the kernel did not complain", () => {
      assert.doesNotMatch(guest.console, complaint);
      assert.ok(guest.complete, guest.console.slice(-3000));
    });
    await t.test("nothing is left in tracefs", () => assert.equal(guest.jobs[1]?.stdout, ""));
    t.diagnostic(`boot ${guest.bootSeconds.toFixed(1)} s, all ${guest.seconds.toFixed(1)} s, ${results.length} cases`);
    columns.push({ name, failed, probes: probeCases([0, 0]).map(({ name }) => name), language: languageGuestCases.map(({ name }) => name) });
  });
}

for (const old of kernels.filter(({ belowFloor, name }) => belowFloor && (only === undefined || only === name))) {
  test(`Linux ${old.name} is refused by name`, { skip, timeout: 300_000 }, async (t) => {
    let kernel: KernelFiles;
    try {
      kernel = kernelFiles(old);
    } catch (error) {
      t.skip(error instanceof Error ? error.message : String(error));
      return;
    }
    const { jobs: [job], console } = await runGuest({ kernel, deadline: 60, jobs: [{ script: "strobe -e 'begin { exit(); }'" }] });
    assert.ok(job, console.slice(-3000));
    assert.equal(job.code, 1);
    assert.match(job.stderr, /^strobe needs Linux 5\.15 or later, and this is 5\.10\.\S+\n$/m);
    assert.equal(job.stdout, "");
  });
}

test("docs/kernels.md says what works", { skip: skip || (only !== undefined && "not all kernels were run") || (unknown.length > 0 && `no kernel ${unknown.join(", ")}`) }, () => {
  const text = kernelsPage(columns);
  if (process.env["STROBE_UPDATE"]) {
    mkdirSync("docs", { recursive: true });
    writeFileSync(page, text);
  }
  assert.equal(text, readFileSync(page, "utf8"), "STROBE_UPDATE=1 rewrites it");
});
