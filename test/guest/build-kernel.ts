// `npm run guest:kernel`: builds a kernel of our own from Debian's source package, with what stock kernels leave out
// and with its debug information, into the cache. Nothing is done where the same configuration and source were built
// before; `--fresh` builds the newest source anew. Five to ten minutes on two CPUs.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { basename, join, resolve } from "node:path";
import { removeAbandoned, unpackPackages } from "./debian-packages.ts";
import { bootConfigTools, cache } from "./fetch-kernel.ts";

const suite = "trixie";
const sourcePackage = "linux-source-6.12";
const fragment = resolve("test/guest/kernel.config");
const folder = join(cache, "own");
const needs = [
  ["gcc", "gcc"],
  ["make", "make"],
  ["flex", "flex"],
  ["bison", "bison"],
  ["bc", "bc"],
  ["pahole", "dwarves"],
  ["xz", "xz-utils"],
  ["apt-get", "apt"],
  ["dpkg-deb", "dpkg"],
  ["/usr/include/libelf.h", "libelf-dev"],
  ["/usr/include/openssl/ssl.h", "libssl-dev"],
] as const;

function main(argv: readonly string[]): void {
  const wanted = createHash("sha256").update(readFileSync(fragment)).digest("hex");
  const stamp = join(folder, "fragment.sha256");
  if (!argv.includes("--fresh") && existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) {
    process.stdout.write(`${folder} is up to date\n`);
    return;
  }
  const path = (process.env["PATH"] ?? "").split(":");
  const absent = needs.filter(
    ([file]) => !(file.startsWith("/") ? existsSync(file) : path.some((place) => existsSync(join(place, file)))),
  );
  if (absent.length > 0) throw new Error(`needs the packages ${absent.map(([, name]) => name).join(", ")}`);
  const start = performance.now();
  removeAbandoned(folder);
  const work = `${folder}.${process.pid}`;
  try {
    const result = buildKernel(work);
    writeFileSync(join(result, "fragment.sha256"), wanted);
    rmSync(folder, { recursive: true, force: true });
    renameSync(result, folder);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  process.stdout.write(`${folder} built in ${((performance.now() - start) / 1000).toFixed(0)} s\n`);
}

/**
 * Gives the folder with the image, vmlinux, System.map and configuration, each named with the release, and with the
 * modules.
 */
function buildKernel(work: string): string {
  mkdirSync(work, { recursive: true });
  unpackPackages(suite, join(work, "package"), () => [sourcePackage]);
  const source = join(work, "source");
  mkdirSync(source);
  run(
    work,
    "tar",
    "-xf",
    join(work, "package/usr/src", `${sourcePackage}.tar.xz`),
    "-C",
    source,
    "--strip-components=1",
  );
  buildBootConfig(source);
  run(source, "make", "-s", "tinyconfig");
  run(source, "scripts/kconfig/merge_config.sh", "-m", ".config", fragment);
  run(source, "make", "-s", "olddefconfig");
  const config = readFileSync(join(source, ".config"), "utf8").split("\n");
  const lost = readFileSync(fragment, "utf8")
    .split("\n")
    .filter((line) => line.startsWith("CONFIG_") && !config.includes(line));
  if (lost.length > 0)
    throw new Error(`the kernel's configuration has no ${lost.join(", ")}: something that these depend on is off`);
  run(source, "nice", "make", "-s", `-j${availableParallelism()}`, "bzImage", "modules");
  const release = execFileSync("make", ["-s", "kernelrelease"], { cwd: source, encoding: "utf8" }).trim();
  const result = join(work, "result");
  mkdirSync(result);
  const files = {
    "arch/x86/boot/bzImage": "vmlinuz",
    vmlinux: "vmlinux",
    "System.map": "System.map",
    ".config": "config",
  };
  for (const [file, name] of Object.entries(files))
    copyFileSync(join(source, file), join(result, `${name}-${release}`));
  mkdirSync(join(result, "modules"));
  // One a line, as objects: drivers/net/tun.o
  const modules = readFileSync(join(source, "modules.order"), "utf8").match(/^.+(?=\.o$)/gm) ?? [];
  for (const module of modules)
    copyFileSync(join(source, `${module}.ko`), join(result, "modules", `${basename(module)}.ko`));
  return result;
}

/** The kernel's own tool for boot configurations, and the script that says them as writes to tracefs. */
function buildBootConfig(source: string): void {
  const from = join(source, "tools/bootconfig");
  mkdirSync(join(bootConfigTools, "scripts"), { recursive: true });
  const tool = join(bootConfigTools, "bootconfig");
  run(from, "gcc", "-o", tool, "main.c", "../../lib/bootconfig.c", "-Iinclude");
  for (const script of ["bconf2ftrace.sh", "xbc.sh"])
    copyFileSync(join(from, "scripts", script), join(bootConfigTools, "scripts", script));
}

function run(cwd: string, command: string, ...args: string[]): void {
  const reproducible = {
    KBUILD_BUILD_TIMESTAMP: "1970-01-01",
    KBUILD_BUILD_USER: "strobe",
    KBUILD_BUILD_HOST: "guest",
  };
  execFileSync(command, args, {
    cwd,
    stdio: ["ignore", "ignore", "inherit"],
    env: { ...process.env, ...reproducible },
  });
}

try {
  main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
