// What nothing uses, and what uses it. `npm run check:dead`.

/** `const floats = lazy<typeof import("./floats.ts")>(() => require("./floats.ts"));` */
const late =
  /(?:export )?const (\w+) = lazy<typeof import\("[^"]+"\)>\(\s*\(\) =>\s*(?:fromPackage\(\(\) => )?require\(\s*"([^"]+)",?\s*\)\)?,?\s*\);/g;

/** Modules that load late (src/base/lazy.ts), as imports: knip follows what of them is used. */
function withLateModules(text) {
  const names = [];
  const imports = text.replace(late, (_, name, path) => {
    names.push(name);
    return `import * as ${name} from "${path}";`;
  });
  const used = (name) => new RegExp(`(?<![.#\\w])${name}\\(\\)(?=\\s*\\.)|(?<== )${name}\\(\\)(?=;)`, "g");
  return names.reduce((code, name) => code.replaceAll(used(name), name), imports);
}

export default {
  entry: [
    "src/cli/launch.ts",
    "src/cli/main.ts",
    "src/cli/run-file.ts",
    "src/cli/check-program.ts",
    "src/esbuild-plugin.ts",
    "src/rollup-plugin.ts",
    "src/register.ts",
    "src/rewrite/hooks.ts",
    "src/lsp/server.ts",
    "src/machine/binaries/scan-worker.ts",
    "single/entry.ts",
    "editors/vscode/extension.ts",
    "editors/vscode/build.mjs",
    "src/**/*.test.ts",
    "test/**/*.test.ts",
    "test/guest/build-kernel.ts",
    "test/guest/command.ts",
    "test/guest/driver.ts",
    "test/guest/systemtap-fixtures.ts",
    "test/support/failures-reporter.mjs",
    "bench/kernel.ts",
    "bench/counts.mjs",
    "bench/dtrace.mjs",
    "test/fuzz/{campaign,worker}.ts",
    "test/live/dtrace/oracle.mjs",
  ],
  project: ["src/**/*.ts", "test/**/*.{ts,mjs}", "bench/**/*.{ts,mjs}", "editors/**/*.{ts,mjs}", "single/*.{ts,mjs}"],
  ignoreExportsUsedInFile: true,
  ignoreDependencies: ["tsx", "vscode"],
  compilers: { ts: withLateModules },
  rules: {
    types: "off",
  },
  ignoreBinaries: [
    "fish",
    "man",
    "gcc",
    "gcov",
    "perf",
    "mkfifo",
    "stdbuf",
    "mount",
    "chroot",
    "umount",
    "gdb-add-index",
    "strip",
    "unshare",
    "readlink",
    "gdb",
    "du",
    "setarch",
    "clang",
    "nm",
    "readelf",
    "setpriv",
    "bpftool",
    "objcopy",
    "go",
    "objdump",
    "ldd",
    "xz",
    "script",
    "apt-get",
    "qemu-system-x86_64",
    "make",
    "dmesg",
    "addr2line",
    "ld",
    "^g\\+\\+$",
  ],
};
