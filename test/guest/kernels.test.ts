// Every probe kind and the whole language on other kernels, with exact counts, one boot a kernel; and on this machine's
// own.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { release } from "node:os";
import { join, resolve } from "node:path";
import { after, test } from "node:test";
import { temporaryFolder } from "../support/strobe.ts";
import { languageGuestCases, probeCases, type ProbeCase } from "./cases.ts";
import { check, listOf, programs, resultsIn } from "./drive.ts";
import { complaint, runGuest } from "./guest.ts";
import { missingForGuests } from "./initramfs.ts";
import { kernels } from "./kernels.ts";
import { kernelsPage, type Cell, type KernelColumn } from "./page.ts";
import { filesToRun, only, testedKernels } from "./tested-kernels.ts";

const page = "docs/kernels.md";
// A minute or two, but for a machine that has no CPU to spare.
const guestSeconds = 3600;

const folder = temporaryFolder();
after(() => folder.remove());
const skip = missingForGuests() ?? false;
const columns: KernelColumn[] = [];
const tested = testedKernels({ own: true });
/** Kernels that could not be had. */
const unknown = tested.filter(({ files }) => typeof files === "string").map(({ name }) => name);

function versionOf(release: string): readonly [number, number] {
  const [major = 0, minor = 0] = release.split(".").map(Number);
  return [major, minor];
}

function columnOf(name: string, cells: ReadonlyMap<string, Cell>): void {
  columns.push({
    name,
    cells,
    probes: probeCases([0, 0]).map(({ name }) => name),
    language: languageGuestCases.map(({ name }) => name),
  });
}

for (const { name, files } of tested) {
  test(
    `Linux ${name}`,
    { skip: typeof files === "string" && files, timeout: (guestSeconds + 60) * 1000 },
    async (t) => {
      assert.ok(typeof files !== "string");
      const cases = [...probeCases(versionOf(files.release)), ...languageGuestCases];
      const guest = await runGuest({
        kernel: files,
        deadline: guestSeconds,
        modules: ["tun"],
        files: { ...(await programs(folder.path)), "/cases.json": listOf(folder.path, cases, "cases.json") },
        jobs: [
          { script: "node /strobe/driver.mjs", deadline: guestSeconds },
          { script: "cat /sys/kernel/tracing/kprobe_events" },
          {
            script:
              "strobe -v -e 'kprobe:vfs_r* { @a = count(); } kretprobe:vfs_r* { @b = count(); } interval:ms:100 { clear(@a); clear(@b); exit(); }'",
          },
          {
            script:
              "strobe -lv 'insn:__x64_sys_getppid:*'; strobe -l 'kprobe:tun:tun_chr_op*'; strobe -l 'fentry:tun:tun_chr_op*'",
          },
        ],
      });
      const results = resultsIn(guest.lines);
      const cells = new Map<string, Cell>();
      for (const [i, one] of cases.entries()) {
        await t.test(one.name, () => {
          cells.set(one.name, "no");
          const result = results.find(({ index }) => index === i);
          assert.ok(
            result,
            `the guest never ended this one; its console:\n${guest.console.slice(-3000)}\n${guest.jobs[0]?.stderr.slice(-3000) ?? ""}`,
          );
          check(one, result);
          cells.set(one.name, "yes");
        });
      }
      await t.test("the kernel did not complain", () => {
        assert.doesNotMatch(guest.console, complaint);
        assert.ok(guest.complete, guest.console.slice(-3000));
      });
      await t.test("nothing is left in tracefs", () => assert.equal(guest.jobs[1]?.stdout, ""));
      await t.test("entry and return share a program where the kernel can", () => {
        const [major, minor] = versionOf(files.release);
        const job = guest.jobs[2];
        assert.equal(job?.code, 0, job?.stderr);
        assert.equal(
          job.stderr.match(/^attached vfs_/gm)?.length,
          major > 6 || (major === 6 && minor >= 14) ? 1 : 2,
          job.stderr,
        );
      });
      await t.test("instructions of the running kernel and functions of a module are listed", () => {
        const job = guest.jobs[3];
        assert.match(
          job?.stdout ?? "",
          /^insn:__x64_sys_getppid:0\n {4}\w+.*\n(?:insn:__x64_sys_getppid:\d+\n {4}\w+.*\n){5,}kprobe:tun_chr_open\nfentry:tun:tun_chr_open\n$/,
          job?.stderr,
        );
      });
      t.diagnostic(
        `boot ${guest.bootSeconds.toFixed(1)} s, all ${guest.seconds.toFixed(1)} s, ${results.length} cases`,
      );
      columnOf(name, cells);
    },
  );
}

/** What this machine's policy may keep from us: instrumenting kernel functions. */
const kernelFunctionCase = /^(?:kprobe|kretprobe|fentry|fexit|insn|ret|tools\/kernel)/;
const notAllowed =
  /EPERM|EACCES|this kernel has no kprobes|needs CONFIG_KPROBE_EVENTS|there is no \/proc\/kcore|no kernel function (?:`(?:tun_chr_open|do_int3)`|matches `kprobe:type_sho\*`)|no type information of the function `tun_chr_open`/;
const version = versionOf(release()).join(".");

test(
  `this machine's Linux ${version}`,
  { skip: only !== undefined && "another kernel was asked for", timeout: 2_000_000 },
  async (t) => {
    const places = await programs(folder.path);
    const here = (text: string): string =>
      text.replaceAll(/\/bin\/(work|frameless|usdt|sleepers)\b/g, (place) => places[place] ?? place);
    const cases = probeCases(versionOf(release())).map((one): ProbeCase => ({
      ...one,
      script: here(one.script),
      ...(one.command === undefined ? {} : { command: here(one.command) }),
    }));
    const results = join(folder.path, "results");
    writeFileSync(results, "");
    const messages = join(folder.path, "messages");
    const said = openSync(messages, "a");
    const { "/strobe/driver.mjs": driver = "" } = places;
    const { status } = spawnSync(process.execPath, [driver], {
      stdio: ["ignore", "ignore", said],
      timeout: 1_800_000,
      env: {
        ...process.env,
        NODE_PATH: resolve("node_modules"),
        STROBE_CASES: listOf(folder.path, cases, "own-cases.json"),
        STROBE_RESULTS: results,
        STROBE_TOOLS: resolve("tools"),
      },
    });
    closeSync(said);
    assert.equal(status, 0, readFileSync(messages, "utf8").slice(-3000));
    const found = resultsIn(readFileSync(results, "utf8").split("\n"));
    const cells = new Map<string, Cell>();
    for (const [i, one] of cases.entries()) {
      await t.test(one.name, () => {
        cells.set(one.name, "no");
        const result = found.find(({ index }) => index === i);
        assert.ok(result, one.name);
        if (kernelFunctionCase.test(one.name) && result.code !== 0 && notAllowed.test(result.stderr)) {
          cells.set(one.name, "refused");
          return;
        }
        check(one, result);
        cells.set(one.name, "yes");
      });
    }
    columnOf(version, cells);
  },
);

for (const old of kernels.filter(({ belowFloor, name }) => belowFloor && (only === undefined || only === name))) {
  test(`Linux ${old.name} is refused by name`, { timeout: 2_000_000 }, async (t) => {
    const kernel = filesToRun(old);
    if (typeof kernel === "string") return t.skip(kernel);
    const {
      jobs: [job],
      console,
    } = await runGuest({
      kernel,
      deadline: 1800,
      jobs: [{ script: "strobe -e 'tracepoint:raw_syscalls:sys_enter { printf(\"%d\\n\", args.id); exit(); }'" }],
    });
    assert.ok(job, console.slice(-3000));
    assert.equal(job.code, 1);
    assert.match(job.stderr, /^strobe needs Linux 5\.15 or later, and this is 5\.10\.\S+\n$/m);
    assert.equal(job.stdout, "");
  });
}

const notAll =
  skip ||
  (only !== undefined && "not all kernels were run") ||
  (unknown.length > 0 && `no kernel ${unknown.join(", ")}`);
const otherMachine =
  existsSync(page) &&
  !process.env["STROBE_UPDATE"] &&
  !readFileSync(page, "utf8").includes(`| Linux ${version} |`) &&
  `the page is not of a machine with Linux ${version}`;

test("docs/kernels.md says what works", { skip: notAll || otherMachine }, () => {
  const text = kernelsPage(columns);
  if (process.env["STROBE_UPDATE"]) {
    mkdirSync("docs", { recursive: true });
    writeFileSync(page, text);
  }
  assert.equal(text, readFileSync(page, "utf8"), "STROBE_UPDATE=1 rewrites it");
});
