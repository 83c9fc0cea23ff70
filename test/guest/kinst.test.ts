// Any instruction of the kernel, any copy of a function that was inlined there, with the variables of its source: on our
// own kernel, beside plain kprobes, objdump and gdb.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { after, test } from "node:test";
import { temporaryFolder } from "../support/strobe.ts";
import { programs } from "./drive.ts";
import { complaint, runGuest } from "./guest.ts";
import type { Job } from "./initramfs.ts";
import { kernels } from "./kernels.ts";
import { filesToRun } from "./tested-kernels.ts";

const guestSeconds = 3600;
const folder = temporaryFolder();
after(() => folder.remove());

interface Disassembled {
  readonly offset: number;
  readonly text: string;
}

/** A function's instructions, as objdump has them. */
function disassembly(vmlinux: string, name: string): readonly Disassembled[] {
  const text = execFileSync("objdump", ["-dw", "--no-show-raw-insn", `--disassemble=${name}`, vmlinux], {
    encoding: "utf8",
  });
  const lines = [...text.matchAll(/^([0-9a-f]{16}):\t(.*)$/gm)].map(([, address = "", insn = ""]) => ({
    address: BigInt(`0x${address}`),
    text: insn,
  }));
  const [first] = lines;
  assert.ok(first);
  return lines.map(({ address, text: insn }) => ({ offset: Number(address - first.address), text: insn }));
}

/** Where gdb puts a breakpoint on a function that was inlined: `ksys_read+58`. */
function placesOfGdb(vmlinux: string, name: string): readonly string[] {
  const gdb = (...commands: readonly string[]): string =>
    execFileSync("gdb", ["-batch", "-nx", ...commands.flatMap((one) => ["-ex", one]), vmlinux], { encoding: "utf8" });
  const addresses = [...gdb(`break ${name}`, "info breakpoints").matchAll(/ y +(0x[0-9a-f]+) in /g)].map(
    ([, address = ""]) => address,
  );
  assert.ok(addresses.length > 0);
  const symbols = gdb(...addresses.map((address) => `info symbol ${address}`));
  return [...symbols.matchAll(/^(\w+) \+ (\d+) in section/gm)].map(([, func, offset]) => `${func}:${offset}`);
}

/** `@name[insn:f:12]: 3` as `f:12` and 3. */
function counts(stdout: string, map: string): ReadonlyMap<string, number> {
  const lines = [...stdout.matchAll(new RegExp(`^@${map}\\[\\w+:([\\w.:+]+)\\]: (\\d+)$`, "gm"))];
  return new Map(
    lines.map(([, place = "", count]) => [/[+:]/.test(place) ? place.replace("+", ":") : `${place}:0`, Number(count)]),
  );
}

/** The probes that a listing names, with the lines under each. */
function listed(stdout: string): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  let lines: string[] = [];
  for (const line of stdout.split("\n")) {
    if (line.startsWith("insn:")) found.set(line.slice(5), (lines = []));
    else if (line !== "") lines.push(line.trim());
  }
  return found;
}

const own = kernels.find(({ source }) => source === "own");
const found = own === undefined ? "there is no kernel of our own" : filesToRun(own);
const inD = "strobe --lang d -q -c '/bin/work 1000'";
const strobe = "strobe -q -c '/bin/work 1000'";

test(
  "instructions of the kernel and inlined copies",
  { skip: typeof found === "string" && found, timeout: (guestSeconds + 120) * 1000 },
  async (t) => {
    assert.ok(typeof found !== "string" && found.vmlinux !== undefined);
    const { vmlinux } = found;
    const reading = disassembly(vmlinux, "ksys_read");
    const virtual = disassembly(vmlinux, "vfs_read");
    const throughMemory = virtual.filter(({ text }) => /^(?:call|jmp) +\*[^%]/.test(text));
    assert.ok(throughMemory.length > 0);
    const inside = virtual.find(({ offset }, i) => offset > 20 && (virtual[i + 1]?.offset ?? 0) > offset + 1);
    assert.ok(inside);
    const plain = reading.map(({ offset }) => `kprobe:ksys_read+${offset}`).join(",");
    const jobs: Readonly<Record<string, Job>> = {
      listing: { script: "strobe -lv 'kinst:vfs_read:'" },
      all: {
        script: `${strobe} -e 'kinst::ksys_read: /pid == cpid/ { @insn[probe] = count(); } ${plain} /pid == cpid/ { @plain[probe] = count(); }'`,
      },
      one: {
        script: `${strobe} -e 'kprobe:vfs_read /pid == cpid && arg2 == 512/ { @buffer[tid] = arg1; }
          kinst:vmlinux:vfs_read:12 /pid == cpid && var("count") == 512/ { @one = count(); @same = sum(reg("si") == @buffer[tid]); @name[str(var("file").f_path.dentry.d_name.name)] = count(); }'`,
      },
      copies: {
        script: `${strobe} -e 'kinst::file_ppos:entry /pid == cpid/ { @in[probe] = count(); @func[func] = count(); }
          kinst::file_ppos:return /pid == cpid/ { @out[func] = count(); }
          kprobe:ksys_read,kprobe:ksys_write /pid == cpid/ { @calls[func] = count(); }'`,
      },
      parameters: {
        script: `${strobe} -e 'kinst::file_ppos:entry /pid == cpid/ { @[str(var("file").f_path.dentry.d_name.name)] = count(); }'`,
      },
      // As the document about kinst has them, in its language.
      oneInD: {
        script: `${inD} -e 'kinst::vfs_read:12 /pid == $target && locals->count == 512 && (regs[R_RIP] & 15) == 12 && regs[R_RDX] == 512/ { @[probeprov, probefunc, probename] = count(); }'`,
      },
      allInD: { script: `${inD} -e 'kinst::ksys_read: /pid == $target/ { @[probename] = count(); }'` },
      copiesInD: {
        script: `${inD} -e 'kinst::file_ppos:entry /pid == $target/ { @[probefunc, probename] = count(); }'`,
      },
      ends: { script: "strobe -lv kinst::file_ppos:entry" },
      body: {
        script: `${strobe} -e 'kinst::__x64_sys_getppid:entry,kinst::__x64_sys_getppid:return /pid == cpid/ { @[probe] = count(); }'`,
      },
      within: { script: `strobe -e 'kinst::vfs_read:${inside.offset + 1} { }'` },
      memory: { script: `strobe -e 'kinst::vfs_read:${throughMemory[0]?.offset} { }'` },
      inlined: { script: "strobe -e 'kinst::file_ppos:0 { }'" },
      forbidden: { script: "strobe -e 'kinst::do_int3:0 { }'" },
      module: { script: "strobe -l 'kinst:tun:tun_chr_open:0'; strobe -l 'insn:tun:vfs_read:0'" },
    };
    const names = Object.keys(jobs);
    const guest = await runGuest({
      kernel: found,
      deadline: guestSeconds,
      kaslr: true,
      memory: "2G",
      modules: ["tun"],
      files: { ...(await programs(folder.path)), [`/usr/lib/debug/boot/vmlinux-${found.release}`]: vmlinux },
      jobs: Object.values(jobs),
    });
    const said = (name: string): { readonly stdout: string; readonly stderr: string } => {
      const job = guest.jobs[names.indexOf(name)];
      assert.ok(job, guest.console.slice(-3000));
      return job;
    };

    await t.test("a listing has objdump's instructions, their lines, and what cannot be probed", () => {
      const all = listed(said("listing").stdout);
      assert.deepEqual(
        [...all.keys()],
        virtual.map(({ offset }) => `vfs_read:${offset}`),
      );
      for (const { offset, text } of virtual) {
        const [insn = "", ...rest] = all.get(`vfs_read:${offset}`) ?? [];
        // With a suffix for the width, or without.
        const [ours = "", theirs = ""] = [insn, text].map((one) => one.split(/\s/)[0]);
        // The kernel has patched some away as it started.
        if (!ours.startsWith("nop"))
          assert.ok(ours.startsWith(theirs) || theirs.startsWith(ours), `${offset}: ${ours}, ${theirs}`);
        assert.ok(
          rest.some((line) => /^at \S+\.[ch]:\d+/.test(line)),
          `${offset}: ${rest.join("; ")}`,
        );
      }
      for (const { offset } of throughMemory)
        assert.ok(
          all.get(`vfs_read:${offset}`)?.includes("cannot be probed: the kernel cannot imitate calls through memory"),
        );
    });
    await t.test("every instruction of a function, as often as plain kprobes there", () => {
      const { stdout, stderr } = said("all");
      const instructions = counts(stdout, "insn");
      assert.deepEqual(instructions, counts(stdout, "plain"), stderr);
      const first = instructions.get("ksys_read:0") ?? 0;
      assert.ok(first >= 1000, stdout);
      // Each call ends at one of the returns.
      const returns = reading.filter(({ text }) => text.startsWith("ret"));
      const ended = returns.map(({ offset }) => instructions.get(`ksys_read:${offset}`) ?? 0);
      const all = ended.reduce((sum, count) => sum + count, 0);
      // The command was in one while the probes were put there: it reads when it may begin.
      assert.ok(all === first || all === first + 1, `${all} of ${first}`);
    });
    await t.test("one instruction, with registers and variables", () => {
      const { stdout, stderr } = said("one");
      assert.match(stdout, /^@one: 1000$/m, stderr);
      assert.match(stdout, /^@same: 1000$/m);
      assert.match(stdout, /^@name\[zero\]: 1000$/m);
    });
    await t.test("the copies of an inlined function are entered where gdb says, as often as their callers", () => {
      const { stdout, stderr } = said("copies");
      const entered = counts(stdout, "in");
      const gdb = placesOfGdb(vmlinux, "file_ppos");
      for (const place of entered.keys()) assert.ok(gdb.includes(place), `${place} of ${gdb.join(", ")}\n${stderr}`);
      const byName = (map: string): ReadonlyMap<string, number> =>
        new Map(
          [...stdout.matchAll(new RegExp(`^@${map}\\[(\\w+)\\]: (\\d+)$`, "gm"))].map(([, name = "", count]) => [
            name,
            Number(count),
          ]),
        );
      assert.deepEqual(byName("func"), byName("out"));
      assert.deepEqual(byName("func"), byName("calls"));
      assert.ok((byName("func").get("ksys_write") ?? 0) >= 1000, stdout);
    });
    await t.test("a copy's parameter", () => {
      const { stdout, stderr } = said("parameters");
      assert.match(stdout, /^@\[zero\]: 1000$/m, stderr);
      assert.match(stdout, /^@\[null\]: 1000$/m);
    });
    await t.test("the same in D", () => {
      assert.match(said("oneInD").stdout, /\bkinst\W+vfs_read\W+12\W+1000\b/, said("oneInD").stderr);
      const all = new Map(
        [...said("allInD").stdout.matchAll(/^\W*(\d+)\W+(\d+)$/gm)].map(([, at, count]) => [
          `ksys_read:${at}`,
          Number(count),
        ]),
      );
      assert.deepEqual(all, counts(said("all").stdout, "insn"), said("allInD").stderr);
      const gdb = placesOfGdb(vmlinux, "file_ppos");
      const copies = [...said("copiesInD").stdout.matchAll(/\b(\w+)\W+(\d+)\W+(\d+)$/gm)];
      assert.ok(copies.length >= 2, said("copiesInD").stderr);
      for (const [, func, at, count] of copies) {
        assert.ok(gdb.includes(`${func}:${at}`), `${func}:${at}`);
        assert.ok(func !== "ksys_read" || count === "1001");
      }
    });
    await t.test("a listing of copies", () => {
      const { stdout, stderr } = said("ends");
      const all = listed(stdout);
      assert.deepEqual([...all.keys()].sort(), [...placesOfGdb(vmlinux, "file_ppos")].sort(), stderr);
      const lines = all.get([...all.keys()].find((place) => place.startsWith("ksys_read:")) ?? "") ?? [];
      assert.ok(
        lines.some((line) => /^at \S*fs\/read_write\.c:\d+:\d+ in file_ppos$/.test(line)),
        stdout,
      );
      assert.ok(
        lines.some((line) => /^inlined into ksys_read at \S*fs\/read_write\.c:\d+:\d+$/.test(line)),
        stdout,
      );
    });
    await t.test("a function that was not inlined is entered and left as always", () => {
      const { stdout, stderr } = said("body");
      assert.match(stdout, /^@\[kprobe:__x64_sys_getppid\]: 1000$/m, stderr);
      assert.match(stdout, /^@\[kretprobe:__x64_sys_getppid\]: 1000$/m);
    });
    await t.test("what cannot be probed is refused by name", () => {
      const next = virtual[virtual.indexOf(inside) + 1];
      assert.ok(
        said("within").stderr.includes(
          `vfs_read:${inside.offset + 1} is inside an instruction, which begins at vfs_read:${inside.offset}; the next begins at vfs_read:${next?.offset}`,
        ),
        said("within").stderr,
      );
      assert.match(said("memory").stderr, /cannot be probed: the kernel cannot imitate calls through memory/);
      assert.match(said("inlined").stderr, /`file_ppos` has no code of its own: it was inlined into others/);
      assert.match(said("forbidden").stderr, /do_int3:0[^]* must not be probed/);
    });
    await t.test("functions of modules", () => {
      assert.equal(said("module").stdout, "insn:tun_chr_open:0\n");
    });
    await t.test("the kernel did not complain", () => {
      assert.doesNotMatch(guest.console, complaint);
      assert.ok(guest.complete, guest.console.slice(-3000));
    });
  },
);
