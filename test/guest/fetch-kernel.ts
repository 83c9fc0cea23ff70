// Debian's kernels, unpacked into the cache folder and never installed. Apt runs with folders of its own, so that what the
// machine knows of packages stays as it is.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Kernel } from "./kernels.ts";

const cache = resolve(".cache/kernels");
const keyring = "/usr/share/keyrings/debian-archive-keyring.gpg";

export interface KernelFiles {
  /** `6.12.9+deb13-cloud-amd64` */
  readonly release: string;
  readonly image: string;
  /** The folder of its modules. */
  readonly modules: string;
}

/** The kernel's files, fetched where they are not in the cache yet. @throws Error where it cannot be had. */
export function kernelFiles(kernel: Kernel): KernelFiles {
  const folder = join(cache, kernel.name);
  if (!existsSync(folder)) fetchKernel(kernel, folder);
  const modules = ["usr/lib/modules", "lib/modules"].map((path) => join(folder, path)).find((path) => existsSync(path));
  const release = modules && readdirSync(modules)[0];
  if (!release) throw new Error(`${folder} has no kernel: remove the folder to fetch it anew`);
  // Newer suites keep the image with the modules.
  const image = [join(folder, "boot", `vmlinuz-${release}`), join(modules, release, "vmlinuz")].find((path) => existsSync(path));
  if (!image) throw new Error(`${folder} has no kernel image: remove the folder to fetch it anew`);
  return { release, image, modules: join(modules, release) };
}

function fetchKernel(kernel: Kernel, folder: string): void {
  const work = `${folder}.${process.pid}`;
  rmSync(work, { recursive: true, force: true });
  for (const part of ["lists/partial", "cache/archives/partial", "files"]) mkdirSync(join(work, part), { recursive: true });
  try {
    writeFileSync(join(work, "sources.list"), `deb [signed-by=${keyring}] ${mirror()} ${kernel.suite} main\n`);
    const options = [
      ["Dir::State", work], ["Dir::State::lists", join(work, "lists")], ["Dir::State::status", "/dev/null"], ["Dir::Cache", join(work, "cache")],
      ["Dir::Etc::sourcelist", join(work, "sources.list")], ["Dir::Etc::sourceparts", "-"], ["APT::Sandbox::User", "root"],
    ].flatMap(([name, value]) => ["-o", `${name}=${value}`]);
    const run = (command: string, ...args: string[]): string =>
      execFileSync(command, args, { cwd: work, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"], timeout: 300_000 });
    run("apt-get", ...options, "update", "-qq");
    const packages = imagePackages(kernel.package, (name) => run("apt-cache", ...options, "depends", "--important", name));
    run("apt-get", ...options, "download", "-qq", ...packages);
    for (const file of readdirSync(work).filter((name) => name.endsWith(".deb"))) run("dpkg-deb", "-x", file, "files");
    renameSync(join(work, "files"), folder);
  } catch (error) {
    throw new Error(`the ${kernel.name} kernel of Debian ${kernel.suite} cannot be fetched: ${(error as Error).message}`, { cause: error });
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** The packages that the image is in: newer suites keep the kernel and its modules apart. */
function imagePackages(first: string, depends: (name: string) => string): readonly string[] {
  const found = new Set<string>();
  const visit = (name: string): void => {
    for (const [, next = ""] of depends(name).matchAll(/^ +(?:Pre)?Depends: (linux-(?:image|binary|modules|base)-\d\S*)$/gm)) {
      if (found.has(next)) continue;
      found.add(next);
      visit(next);
    }
  };
  visit(first);
  return [...found];
}

/** Where this machine gets Debian's packages from. */
function mirror(): string {
  const uris = execFileSync("apt-get", ["indextargets", "--format", "$(REPO_URI)", "Created-By: Packages"], { encoding: "utf8" }).split("\n");
  const uri = uris.find((line) => /\/debian\/?$/.test(line));
  if (!uri) throw new Error("apt knows no Debian mirror");
  return uri;
}
