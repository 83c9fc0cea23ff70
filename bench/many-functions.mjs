// Ten thousand kernel functions, attached and detached: in a guest, as many machines' kernels must not be probed, and
// side by side with the peer there. Emulation makes all of it slow, and slower while the host does something else: what
// counts is the ratio of two runs next to each other, of which the median is taken. Who is first changes from pair to
// pair; the first pair only warms up.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { asModule } from "../modules.mjs";
import { spread } from "./statistics.mjs";

const kernelName = "6.12";
const pairs = 3;
const deadline = 1200;
const functions = "abcdef"
  .split("")
  .map((letter) => `kprobe:${letter}*`)
  .join(",");
const program = `config = { max_probes = 100000 } ${functions} { @ = count(); } interval:ms:10 { exit(); } end { clear(@); }`;
const title = `12,000 kernel functions, in a guest with Linux ${kernelName}`;

/** Rows of the table of weight.mjs. */
export async function manyFunctions(peers, rounds) {
  const outfile = fileURLToPath(new URL("../build/bench-guest.mjs", import.meta.url));
  await build({ ...asModule, entryPoints: [fileURLToPath(new URL("guest.ts", import.meta.url))], outfile });
  const { cache, kernelFiles, kernels, missingForGuests, runGuest } = await import(outfile);
  const peer = peers.find(({ isPeer }) => isPeer);
  const missing =
    missingForGuests() ??
    (existsSync(join(cache, kernelName))
      ? undefined
      : `the kernel is not in the cache: npm run guest -- --kernel ${kernelName} -- true`) ??
    (peer === undefined ? "there is no peer" : undefined);
  if (missing !== undefined) return [[title, `skipped: ${missing}`, ...peers.map(() => ""), ""]];

  const guest = await runGuest({
    kernel: kernelFiles(kernels.find(({ name }) => name === kernelName)),
    memory: "3G",
    deadline: deadline + 60,
    files: filesOf(peer),
    jobs: [{ script: script(Math.min(rounds, pairs)), deadline }],
  });
  const [job] = guest.jobs;
  if (job?.code !== 0)
    throw new Error(`the guest did not end well:\n${job?.stderr ?? ""}\n${guest.console.slice(-2000)}`);
  const results = peers.map(() => ({ attach: [], detach: [], probes: 0 }));
  const seen = peers.map(() => 0);
  for (const [, index, start, attached, probes, end] of job.stdout.matchAll(
    /^(\d) (\S+)\n(?:.*\n)*?(\S+) Attached (\d+) probes\n(?:.*\n)*?end (\S+)$/gm,
  )) {
    if (seen[index]++ === 0) continue;
    const result = results[index];
    result.attach.push(Number(attached) - Number(start));
    result.detach.push(Number(end) - Number(attached));
    result.probes = Number(probes);
  }
  const silent = peers.find((_, i) => results[i].attach.length === 0);
  if (silent !== undefined) throw new Error(`${silent.name} attached nothing:\n${job.stdout.slice(-2000)}`);
  const ratio = (kind) =>
    spread(
      results[0][kind].map((seconds, i) => seconds / results[1][kind][i]),
      2,
    );
  return [
    [title, "probes", ...results.map(({ probes }) => String(probes)), ""],
    ["", "s from the shell to attached", ...results.map(({ attach }) => spread(attach, 1)), ratio("attach")],
    ["", "s from attached to the prompt", ...results.map(({ detach }) => spread(detach, 1)), ratio("detach")],
  ];
}

/** The peer in a root of its own, as its libraries may be others than ours. */
function filesOf({ command }) {
  const [root, before] = command[0] === "chroot" ? [command[1], command.slice(0, 2)] : ["", []];
  const ask = (...words) => {
    const [first, ...rest] = [...before, ...words];
    return spawnSync(first, rest, { encoding: "utf8" }).stdout.trim();
  };
  const binary = ask("sh", "-c", `command -v ${command.at(-1)}`);
  const libraries = ask("ldd", binary).match(/\/\S+/g) ?? [];
  return Object.fromEntries(
    [["/peer/bin/peer", binary], ...libraries.map((path) => [`/peer${path}`, path])].map(([place, path]) => [
      place,
      `${root}${ask("readlink", "-f", path)}`,
    ]),
  );
}

/** Each line that a tracer says begins with the time. */
function script(rounds) {
  const run = (index, words) =>
    `echo "${index} $(now)"; ${words} -e '${program}' 2>&1 | while read -r line; do echo "$(now) $line"; done; echo "end $(now)"`;
  return `now() { cut -d ' ' -f 1 /proc/uptime; }
mkdir -p /peer/proc /peer/sys /peer/dev /peer/tmp
mount --bind /proc /peer/proc; mount --rbind /sys /peer/sys; mount --rbind /dev /peer/dev
export BPFTRACE_MAX_PROBES=100000 BPFTRACE_MAX_BPF_PROGS=100000
strobe -q -e 'begin { exit(); }'; chroot /peer /bin/peer -V
${Array.from({ length: rounds + 1 }, (_, i) => {
  const both = [run(0, "strobe"), run(1, "chroot /peer /bin/peer")];
  return (i % 2 === 0 ? both : both.reverse()).join("\n");
}).join("\n")}
`;
}
