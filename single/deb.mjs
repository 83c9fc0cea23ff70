// A Debian package of the single file: `node single/deb.mjs [FILE]`. It needs nothing but the C library; there is no
// service in it, and nothing runs when it is installed.
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { gzipSync } from "node:zlib";

const { version, description } = JSON.parse(readFileSync("package.json", "utf8"));
/** Debian's names of what Node calls the processor. */
const architecture = { x64: "amd64", arm64: "arm64" }[process.arch];
if (architecture === undefined) throw new Error(`Debian has no name for ${process.arch}`);
const target = resolve(process.argv[2] ?? `dist/strobe_${version}_${architecture}.deb`);
const root = resolve("build/deb");

function run(command, ...args) {
  const { status, stdout, stderr, error } = spawnSync(command, args, { encoding: "utf8" });
  if (status !== 0) throw error ?? new Error(`${command} ${args.join(" ")} failed:\n${stderr}`);
  return stdout;
}

function put(path, content, mode = 0o644) {
  const file = join(root, path);
  mkdirSync(dirname(file), { recursive: true, mode: 0o755 });
  writeFileSync(file, content);
  chmodSync(file, mode);
}

rmSync(root, { recursive: true, force: true });
mkdirSync(join(root, "usr/bin"), { recursive: true, mode: 0o755 });
const program = join(root, "usr/bin/strobe");
run(process.execPath, "single/build.mjs", program);

put("usr/share/man/man1/strobe.1.gz", gzipSync(readFileSync("docs/strobe.1"), { level: 9 }));
const completions = {
  bash: "bash-completion/completions/strobe",
  zsh: "zsh/vendor-completions/_strobe",
  fish: "fish/vendor_completions.d/strobe.fish",
};
for (const [shell, path] of Object.entries(completions))
  put(join("usr/share", path), run(program, "completion", shell));
put("usr/share/doc/strobe/copyright", readFileSync("LICENSE"));
put("usr/share/doc/strobe/changelog.gz", gzipSync(readFileSync("CHANGELOG.md"), { level: 9 }));

const size = Math.ceil(statSync(program).size / 1024);
put(
  "DEBIAN/control",
  `Package: strobe
Version: ${version}
Architecture: ${architecture}
Maintainer: strobe
Installed-Size: ${size}
Depends: libc6 (>= 2.28), libstdc++6, libgcc-s1
Section: devel
Priority: optional
Description: ${description.split(":")[0].replace(/\.$/, "")}
 Asks a running kernel or program a question in bpftrace's language,
 SystemTap's, DTrace's D, SQL or TypeScript. Node.js is in it.
`,
);
// What strobe kept between runs (docs/store.md) goes with its configuration, of which there is none.
put("DEBIAN/postrm", '#!/bin/sh\nset -e\nif [ "$1" = purge ]; then rm -rf /var/cache/strobe; fi\n', 0o755);
mkdirSync(dirname(target), { recursive: true });
run("dpkg-deb", "--root-owner-group", "--build", "-Zgzip", root, target);
