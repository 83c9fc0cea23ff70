// README's section on installing, as written: in a clean Debian folder, by a user who is not root, with Node from the
// system and from a version manager.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { missing } from "../support/compilers.ts";
import { fetched, run, succeed, withoutRegistry, type Ended } from "../support/registry.ts";
import { temporaryFolder } from "../support/strobe.ts";

const folder = temporaryFolder();
after(() => folder.remove());
const root = join(folder.path, "debian");
const skip = missing("debootstrap") || missing("dpkg-deb") || (await withoutRegistry()) || (await withoutCleanDebian());
const clone = "/home/ada/strobe";
/** Node where a version manager has it, and where the system has it. */
const versioned = "/home/ada/.nvm/versions/node/current";
const system = "/usr/local";
const plain = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";

/** Makes the folder. Why it cannot be made here (no mirror of Debian, a machine without mknod), or false. */
async function withoutCleanDebian(): Promise<string | false> {
  try {
    await fetched(
      "debootstrap",
      ["--variant=minbase", "--include=sudo,ca-certificates", "bookworm", root],
      folder.path,
    );
    return false;
  } catch (error) {
    return `debootstrap makes no Debian folder: ${String(error).trim().split("\n").at(-1)}`;
  }
}

/** The blocks of README's section, by the words before each. */
const section = /^## Install\n(.*?)^## /ms.exec(readFileSync("README.md", "utf8"))?.[1] ?? "";
const blocks = new Map(
  [...section.matchAll(/^(\S[^\n]*):\n\n```shell\n(.*?)^```$/gms)].map(([, words, lines]) => [words, lines]),
);

/** Runs lines in the folder, by ada unless `user` says so. Mounts are its own, and gone with it. */
function inside(lines: string, path = plain, user = "ada"): Promise<Ended> {
  const mounts = ["proc", "sys", "dev"].map((name) => `mount --rbind /${name} ${root}/${name}`).join(" && ");
  writeFileSync(join(root, "script"), `set -e\ncd ${clone}\n${lines}`, { mode: 0o755 });
  const start = `chroot ${root} /usr/bin/env -i HOME=/home/ada TERM=dumb PATH=${path} setpriv --reuid=${user} --regid=${user} --init-groups bash /script`;
  return run("unshare", ["--mount", "--propagation", "private", "sh", "-c", `${mounts} && ${start}`], folder.path);
}

/** This Node and its npm, below a folder. */
function putNode(prefix: string): void {
  const npm = dirname(dirname(realpathSync(execFileSync("sh", ["-c", "command -v npm"], { encoding: "utf8" }).trim())));
  const target = join(root, prefix);
  mkdirSync(join(target, "bin"), { recursive: true });
  cpSync(process.execPath, join(target, "bin/node"));
  cpSync(npm, join(target, "lib/node_modules/npm"), { recursive: true });
  for (const name of ["npm", "npx"])
    execFileSync("ln", ["-s", `../lib/node_modules/npm/bin/${name}-cli.js`, join(target, "bin", name)]);
}

/** What the registry takes to be reached from there. */
function putNetwork(): void {
  for (const file of ["/etc/resolv.conf", "/etc/hosts", "/etc/ssl/certs/ca-certificates.crt"])
    if (existsSync(file)) cpSync(realpathSync(file), join(root, file));
  const settings = "cafile=/etc/ssl/certs/ca-certificates.crt\naudit=false\nfund=false\nupdate-notifier=false\n";
  for (const home of ["home/ada", "root"]) writeFileSync(join(root, home, ".npmrc"), settings);
}

before(async () => {
  if (skip) return;
  const user = "useradd --create-home --shell /bin/bash ada";
  execFileSync("chroot", [root, "sh", "-c", `${user} && echo 'ada ALL=(ALL) NOPASSWD: ALL' > /etc/sudoers.d/ada`]);
  putNetwork();
  mkdirSync(join(root, clone, "dist"), { recursive: true });
  await succeed("npm", ["pack", "--ignore-scripts", "--pack-destination", join(root, clone)], ".");
  await succeed(process.execPath, ["single/deb.mjs", join(root, clone, "dist/strobe_0.1.0_amd64.deb")], resolve("."));
  cpSync("build/deb/usr/bin/strobe", join(root, clone, "dist/strobe-linux-x64"));
  execFileSync("chroot", [root, "chown", "-R", "ada:ada", "/home/ada"]);
});

async function worksAsWritten(words: string, path = plain): Promise<void> {
  const lines = blocks.get(words);
  assert.ok(lines !== undefined, `README has no block behind "${words}:"`);
  const { stdout, stderr, code } = await inside(lines, path);
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^strobe works\n*$/m, stderr);
}

test("README's blocks are the ones that are tried", () => {
  assert.deepEqual(
    [...blocks.keys()],
    [
      "With a Node that root has, too",
      "With Node from a version manager, of which sudo knows nothing",
      "Without installing anything",
      "Without Node, on this or any other machine with glibc 2.28 or later",
      "On Debian and its kin",
    ],
  );
});

test("the single file runs where there is no Node", { skip }, async () => {
  assert.notEqual((await inside("node --version")).code, 0);
  await worksAsWritten("Without Node, on this or any other machine with glibc 2.28 or later");
});

test("the Debian package is installed, runs, and is removed", { skip }, async () => {
  await worksAsWritten("On Debian and its kin");
  cpSync("examples/first-hour.sh", join(root, clone, "first-hour.sh"));
  const hour = await inside("sudo sh first-hour.sh");
  assert.deepEqual([hour.stdout.split("\n").at(-2), hour.stderr, hour.code], ["done", "", 0], hour.stdout);
  const files = (await inside("dpkg -L strobe")).stdout.trim().split("\n");
  for (const path of [
    "/usr/bin/strobe",
    "/usr/share/man/man1/strobe.1.gz",
    "/usr/share/bash-completion/completions/strobe",
    "/usr/share/zsh/vendor-completions/_strobe",
    "/usr/share/fish/vendor_completions.d/strobe.fish",
  ])
    assert.ok(files.includes(path), path);
  assert.equal((await inside("stat -c '%U:%G %a' /usr/bin/strobe")).stdout, "root:root 755\n");
  // No service, no configuration.
  assert.deepEqual(
    files.filter((path) => /^\/(etc|lib|usr\/lib|var)\//.test(path)),
    [],
  );
  assert.equal((await inside("sudo test -d /var/cache/strobe && sudo apt purge -y strobe")).code, 0);
  const left = files.filter((path) => path.includes("strobe") && existsSync(join(root, path)));
  assert.deepEqual([left, existsSync(join(root, "var/cache/strobe"))], [[], false]);
});

test("Node from a version manager: npm install -g, and npx without it", { skip }, async () => {
  putNode(versioned);
  execFileSync("chroot", [root, "chown", "-R", "ada:ada", "/home/ada"]);
  const path = `${versioned}/bin:${plain}`;
  await worksAsWritten("Without installing anything", path);
  await worksAsWritten("With Node from a version manager, of which sudo knows nothing", path);
});

test("Node that root has, too: npm install -g", { skip }, async () => {
  putNode(system);
  await worksAsWritten("With a Node that root has, too");
});
