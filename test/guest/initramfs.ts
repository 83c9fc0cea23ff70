// The guest's file system: busybox, Node, the built project, the test's programs, and the jobs to run.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { Archive } from "./cpio.ts";
import type { KernelFiles } from "./fetch-kernel.ts";

export interface Job {
  /** A line or lines of shell. */
  readonly script: string;
  /** Seconds until it is killed. */
  readonly deadline?: number;
}

export interface GuestContents {
  readonly jobs: readonly Job[];
  /** Files of the host that the guest has at the same place (with the libraries they need), or at another one. */
  readonly files?: Readonly<Record<string, string>>;
  /** Kernel modules to load at start, by name, in this order. */
  readonly modules?: readonly string[];
}

// They exist to end what hangs: emulation on a busy machine takes its time.
const jobSeconds = 600;
const busybox = "/bin/busybox";

export function initramfs(
  kernel: KernelFiles,
  { jobs, files = {}, modules = [] }: GuestContents,
): readonly Uint8Array[] {
  const archive = new Archive();
  for (const folder of ["/proc", "/sys", "/dev", "/tmp", "/run", "/root", "/var", "/var/cache", "/modules", "/jobs"])
    archive.folder(folder);
  archive.file(busybox, readFileSync(realpathSync(busybox)), true);
  for (const applet of execFileSync(busybox, ["--list"], { encoding: "utf8" }).trim().split("\n"))
    archive.link(`/bin/${applet}`, "busybox");
  archive.link("/usr/bin/env", "/bin/busybox");
  program(archive, "/bin/node", process.execPath);
  project(archive);
  for (const [place, path] of Object.entries(files)) program(archive, place, path);
  for (const name of modules) archive.file(`/modules/${name}.ko`, moduleOf(kernel, name));
  jobs.forEach(({ script, deadline = jobSeconds }, i) =>
    archive.file(`/jobs/${String(i).padStart(5, "0")}`, `#deadline ${deadline}\n${script}\n`),
  );
  archive.file("/init", init(modules), true);
  return archive.parts();
}

/** Each job's output and status go to the second serial port, so that what the kernel says stays apart. */
function init(modules: readonly string[]): string {
  return `#!/bin/busybox sh
export PATH=/bin HOME=/root TERM=dumb
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
mount -t tmpfs tmpfs /tmp
mount -t tracefs tracefs /sys/kernel/tracing
mount -t bpf bpf /sys/fs/bpf
mount -t cgroup2 cgroup2 /sys/fs/cgroup
ln -s /proc/self/fd /dev/fd
ip link set lo up
stty -F /dev/ttyS1 raw
${modules.map((name) => `insmod /modules/${name}.ko\n`).join("")}cd /root
echo ready >/dev/ttyS1
for job in /jobs/*; do
  read -r _ deadline <$job
  start=$(cut -d ' ' -f 1 /proc/uptime)
  timeout -s KILL $deadline sh $job >/tmp/.stdout 2>/tmp/.stderr </dev/null
  status=$?
  { echo "job \${job##*/} $status $start $(cut -d ' ' -f 1 /proc/uptime)"; base64 /tmp/.stdout; echo -; base64 /tmp/.stderr; echo .; } >/dev/ttyS1
done
echo done >/dev/ttyS1
stty -F /dev/ttyS1 sane
poweroff -f
`;
}

/** The built command and what it needs at run time, as a package would be installed. */
function project(archive: Archive): void {
  // The command's compiled code, which is slow to make under emulation.
  if (!readdirSync("dist").some((name) => name.endsWith(".cache"))) {
    spawnSync(process.execPath, ["dist/strobe.js", "-q", "-e", "begin { exit(); }"], {
      stdio: "ignore",
      timeout: 300_000,
    });
  }
  const take = (path: string): void =>
    archive.file(`/strobe/${path}`, readFileSync(resolve(path)), path.endsWith("strobe.js"));
  const built = readdirSync("dist", { withFileTypes: true }).filter(
    (file) => file.isFile() && !/\.map$|^strobe-linux-/.test(file.name),
  );
  for (const { name } of built) take(`dist/${name}`);
  for (const name of readdirSync("tools", { recursive: true, encoding: "utf8" })) {
    if (/\.\w+$/.test(name)) take(`tools/${name}`);
  }
  take("node_modules/koffi/package.json");
  for (const name of readdirSync("node_modules/koffi", { recursive: true, encoding: "utf8" })) {
    if (/^(?:index|indirect|lib\/|src\/koffi\/).*js$/.test(name)) take(`node_modules/koffi/${name}`);
  }
  for (const name of ["package.json", "index.js", "linux_x64/koffi.node"])
    take(`node_modules/@koromix/koffi-linux-x64/${name}`);
  for (const name of ["package.json", "iced_x86.js", "iced_x86_bg.wasm"]) take(`node_modules/iced-x86/${name}`);
  for (const [name, file] of [
    ["acorn", "acorn.mjs"],
    ["acorn", "acorn.js"],
    ["magic-string", "index.mjs"],
    ["@jridgewell/sourcemap-codec", "sourcemap-codec.mjs"],
  ]) {
    for (const path of ["package.json", `dist/${file}`]) take(`node_modules/${name}/${path}`);
  }
  archive.link("/bin/strobe", "/strobe/dist/strobe.js");
}

/** A program and its libraries; a script or data file alone. */
function program(archive: Archive, place: string, path: string): void {
  const content = readFileSync(path);
  archive.file(place, content, true);
  if (content.readUInt32BE(0) !== 0x7f454c46) return;
  let libraries = "";
  try {
    libraries = execFileSync("ldd", [path], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  } catch {
    // Static programs have none.
  }
  for (const [, library = ""] of libraries.matchAll(/(\/\S+) \(0x/g)) {
    if (!archive.has(library)) archive.file(library, readFileSync(realpathSync(library)), true);
  }
}

/** A module as it is loaded: newer suites ship them compressed. */
function moduleOf(kernel: KernelFiles, name: string): Uint8Array {
  const found = readdirSync(kernel.modules, { recursive: true, encoding: "utf8" }).find((path) =>
    new RegExp(`(^|/)${name}\\.ko(\\.xz)?$`).test(path),
  );
  if (!found) throw new Error(`the ${kernel.release} kernel has no module ${name}`);
  const path = join(kernel.modules, found);
  return path.endsWith(".xz") ? execFileSync("xz", ["-dc", path], { maxBuffer: 1 << 28 }) : readFileSync(path);
}

/** Why no guest can be run on this machine; nothing where it can. */
export function missingForGuests(): string | undefined {
  if (process.arch !== "x64") return "guests are x86-64 only";
  const absent = [
    ["qemu-system-x86_64", "qemu-system-x86"],
    ["busybox", "busybox-static"],
    ["xz", "xz-utils"],
  ].filter(([name = ""]) => !(process.env["PATH"] ?? "").split(":").some((folder) => existsSync(join(folder, name))));
  if (absent.length > 0) return `needs the packages ${absent.map(([, name]) => name).join(", ")}`;
  return existsSync(busybox) && existsSync(dirname(resolve("dist/strobe.js"))) ? undefined : "the project is not built";
}
