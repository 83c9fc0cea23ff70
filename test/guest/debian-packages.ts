// Files of Debian's packages, of any suite, without installing them. Apt runs with folders of its own, so that what the
// machine knows of packages stays as it is.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";

const keyring = "/usr/share/keyrings/debian-archive-keyring.gpg";

/** Apt of one suite: runs a command of its tools and gives the output. */
export type Apt = (command: string, ...args: string[]) => string;

/**
 * Unpacks packages of a suite into `folder`, which is there in whole or not at all. @throws Error where they cannot be
 * had.
 */
export function unpackPackages(suite: string, folder: string, choose: (apt: Apt) => readonly string[]): void {
  removeAbandoned(folder);
  const work = `${folder}.${process.pid}`;
  for (const part of ["lists/partial", "cache/archives/partial", "files"])
    mkdirSync(join(work, part), { recursive: true });
  try {
    writeFileSync(join(work, "sources.list"), `deb [signed-by=${keyring}] ${mirror()} ${suite} main\n`);
    const options = [
      ["Dir::State", work],
      ["Dir::State::lists", join(work, "lists")],
      ["Dir::State::status", "/dev/null"],
      ["Dir::Cache", join(work, "cache")],
      ["Dir::Etc::sourcelist", join(work, "sources.list")],
      ["Dir::Etc::sourceparts", "-"],
      ["APT::Sandbox::User", "root"],
      ["Acquire::Retries", "5"],
    ].flatMap(([name, value]) => ["-o", `${name}=${value}`]);
    const run = (command: string, args: readonly string[]): string =>
      execFileSync(command, args, { cwd: work, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"], timeout: 900_000 });
    const apt: Apt = (command, ...args) => run(command, [...options, ...args]);
    apt("apt-get", "update", "-qq");
    apt("apt-get", "download", "-qq", ...choose(apt));
    for (const file of readdirSync(work).filter((name) => name.endsWith(".deb")))
      run("dpkg-deb", ["-x", file, "files"]);
    renameSync(join(work, "files"), folder);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/**
 * Removes what those left who were killed while they made `folder`: folders beside it, named with a process's number.
 */
export function removeAbandoned(folder: string): void {
  const beside = dirname(folder);
  for (const name of existsSync(beside) ? readdirSync(beside) : []) {
    const pid = name.startsWith(`${basename(folder)}.`) ? name.slice(basename(folder).length + 1) : "";
    // `6.12` is no kernel 6 of process 12.
    const gone = /^\d{3,}$/.test(pid) && !existsSync(`/proc/${pid}`);
    if (gone || pid === String(process.pid)) rmSync(join(beside, name), { recursive: true, force: true });
  }
}

/** Where this machine gets Debian's packages from. */
function mirror(): string {
  const uris = execFileSync("apt-get", ["indextargets", "--format", "$(REPO_URI)", "Created-By: Packages"], {
    encoding: "utf8",
  }).split("\n");
  const uri = uris.find((line) => /\/debian\/?$/.test(line));
  if (!uri) throw new Error("apt knows no Debian mirror");
  return uri;
}
