// Names of user code, also of processes that are gone when the names are asked for.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { demangle } from "../../src/linux/demangle.ts";
import {
  bpfObjects,
  compileC,
  interrupt,
  nothingLeft,
  startStrobe,
  strobe,
  temporaryFolder,
} from "../support/strobe.ts";

/** Every function pushes the frame pointer first: there the kernel finds the caller of a function that just began. */
const flags = ["-O0", "-g", "-fno-omit-frame-pointer"];

const leavesSource = `
int leaf_a(int x) { return x + 1; }
int leaf_b(int x) { return x + 2; }
int caller(int x) { return leaf_a(x) + leaf_b(x); }
int main(void) { return caller(1) == 5 ? 0 : 1; }
`;

const forksSource = `
#include <sys/wait.h>
#include <unistd.h>
int before_exec(int x) { return x; }
int in_child(int x) { return before_exec(x); }
int main(int argc, char **argv)
{
	int status;
	if (fork() == 0) {
		in_child(1);
		execv(argv[1], argv + 1);
		_exit(2);
	}
	wait(&status);
	return status;
}
`;

const librarySource = "int plug_leaf(int x) { return x; }\nint plug(int x) { return plug_leaf(x) + 1; }\n";
const loadsSource = `
#include <dlfcn.h>
int main(int argc, char **argv)
{
	void *library = dlopen(argv[1], RTLD_NOW);
	int (*plug)(int) = (int (*)(int))dlsym(library, "plug");
	int result = plug(2);
	dlclose(library);
	return result == 3 ? 0 : 1;
}
`;

const waitsSource = `
#include <unistd.h>
int leaf_late(char c) { return c; }
int caller(char c) { return leaf_late(c); }
int main(void) { char c; return read(0, &c, 1) == 1 ? caller(c) == 0 : 1; }
`;

const cppSource = `
namespace app {
struct Server { int handle(int x); int handle(const char *text); template <class T> T twice(T t); };
int Server::handle(int x) { return x; }
int Server::handle(const char *text) { return text[0]; }
template <class T> T Server::twice(T t) { return t + t; }
}
int main() { app::Server s; return s.handle(1) + s.handle("a") + s.twice(3) == 104 ? 0 : 1; }
`;

const folder = temporaryFolder();
let objects = "";

before(() => {
  objects = bpfObjects();
});
after(async () => {
  await nothingLeft(objects);
  folder.remove();
});

/** Runs a script over a command; gives what the script printed, without blank lines, offsets as N. */
async function over(command: string, script: string, ...more: readonly string[]): Promise<string> {
  const output = join(folder.path, "output");
  const { stderr, code } = await strobe(["-q", "-o", output, ...more, "-c", command, "-e", script]);
  assert.equal(stderr, "");
  assert.equal(code, 0);
  return offsetsHidden(readFileSync(output, "utf8"));
}

function offsetsHidden(text: string): string {
  return text
    .trim()
    .replaceAll(/\n+/g, "\n")
    .replaceAll(/\+[1-9]\d*/g, "+N");
}

for (const [kind, extra] of [
  ["position-independent", ["-pie", "-fPIE"]],
  ["fixed", ["-no-pie"]],
  ["static", ["-static"]],
] as const) {
  test(`a program that exits at once: ${kind}`, async () => {
    const leaves = compileC(folder.path, `leaves-${kind}`, leavesSource, [...flags, ...extra]);
    assert.equal(
      await over(leaves, `uprobe:${leaves}:leaf_a { @[ustack(4)] = count(); }`),
      ["@[", "        leaf_a+0", "        caller+N", "        main+N", "        __libc_start_call_main+N", "]: 1"].join(
        "\n",
      ),
    );
    assert.equal(
      await over(leaves, `uprobe:${leaves}:leaf_* { @[func] = count(); @ip[usym(reg("ip"))] = count(); }`),
      "@[leaf_a]: 1\n@[leaf_b]: 1\n@ip[leaf_a]: 1\n@ip[leaf_b]: 1",
    );
    const printed = await over(
      leaves,
      `uprobe:${leaves}:leaf_b { print(ustack(2)); printf("<%s|%s|%s>", ustack(1), usym(reg("ip")), func); }`,
    );
    assert.equal(printed.replaceAll(/\s+/g, " "), "leaf_b+0 caller+N < leaf_b+0 |leaf_b|leaf_b>");
  });
}

test("a child that becomes another program", async () => {
  const leaves = compileC(folder.path, "leaves", leavesSource, [...flags, "-pie", "-fPIE"]);
  const forks = compileC(folder.path, "forks", forksSource, [...flags, "-pie", "-fPIE"]);
  assert.equal(
    await over(
      `${forks} ${leaves}`,
      `
    uprobe:${forks}:before_exec { @before[ustack(3)] = count(); }
    uprobe:${leaves}:leaf_b { @then[ustack(3)] = count(); }`,
      "--follow",
    ),
    [
      "@before[",
      "        before_exec+0",
      "        in_child+N",
      "        main+N",
      "]: 1",
      "@then[",
      "        leaf_b+0",
      "        caller+N",
      "        main+N",
      "]: 1",
    ].join("\n"),
  );
});

test("a program in a root of its own", async () => {
  const leaves = compileC(folder.path, "rooted", leavesSource, [...flags, "-static"]);
  assert.equal(
    await over(`chroot ${folder.path} /rooted`, `uprobe:${leaves}:leaf_a { @[ustack(2)] = count(); }`),
    ["@[", "        leaf_a+0", "        caller+N", "]: 1"].join("\n"),
  );
});

test("a library loaded and unloaded again", async () => {
  const library = compileC(folder.path, "plug.so", librarySource, [...flags, "-shared", "-fPIC"]);
  const loads = compileC(folder.path, "loads", loadsSource, [...flags, "-pie", "-fPIE"]);
  assert.equal(
    await over(`${loads} ${library}`, `uprobe:${library}:plug_leaf { @[ustack(3)] = count(); }`),
    ["@[", "        plug_leaf+0", "        plug+N", "        main+N", "]: 1"].join("\n"),
  );
});

test("a program that ran already, called once and ended", async () => {
  const waits = compileC(folder.path, "waits", waitsSource, [...flags, "-pie", "-fPIE"]);
  const child = spawn(waits, { stdio: ["pipe", "ignore", "ignore"] });
  const running = startStrobe(["-e", `uprobe:${waits}:leaf_late { @[ustack(3)] = count(); }`]);
  await running.attached;
  await new Promise((done) => setTimeout(done, 300));
  child.stdin.end("x");
  await once(child, "exit");
  const { stdout } = await interrupt(running);
  assert.match(offsetsHidden(stdout), /@\[\n {8}leaf_late\+0\n {8}caller\+N\n {8}main\+N\n\]: 1$/);
});

test("many programs that exit at once", async () => {
  const leaves = compileC(folder.path, "many", leavesSource, [...flags, "-pie", "-fPIE"]);
  assert.equal(
    await over(
      `/bin/sh -c 'for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do ${leaves}; done'`,
      `uprobe:${leaves}:leaf_a { @[ustack(1), pid] = 1; @n = count(); }`,
      "--follow",
    ).then((text) => text.replaceAll(/, \d+\]/g, ", PID]")),
    [...Array.from({ length: 20 }, () => "@[\n        leaf_a+0\n, PID]: 1"), "@n: 20"].join("\n"),
  );
});

test(
  "C++ functions by their source names",
  { skip: demangle("_Z1fv") === undefined && "there is no C++ runtime" },
  async () => {
    const cpp = compileC(folder.path, "cpp", cppSource, [...flags, "-pie", "-fPIE", "-x", "c++"]);
    const stacks = await over(cpp, `uprobe:${cpp}:cpp:"app::Server::handle" { print(ustack(2)); }`);
    assert.equal(
      stacks.replaceAll(/\s+/g, " "),
      "app::Server::handle(int)+0 main+N app::Server::handle(char const*)+0 main+N",
    );
    assert.equal(
      await over(
        cpp,
        `uprobe:${cpp}:cpp:"app::Server::handle(int)", uprobe:${cpp}:cpp:"app::Server::twice" { @[usym(reg("ip"))] = count(); }`,
      ),
      "@[app::Server::handle(int)]: 1\n@[int app::Server::twice<int>(int)]: 1",
    );
    assert.equal(
      await over(
        cpp,
        `config = { cpp_demangle = false } uprobe:${cpp}:cpp:"app::Server::handle(int)" { print(usym(reg("ip"))); }`,
      ),
      "_ZN3app6Server6handleEi",
    );
  },
);

/**
 * Strips a binary as Fedora does: names of its functions stay, compressed, in a section. False where the tools are
 * missing.
 */
function stripped(binary: string): boolean {
  const steps = [
    ["objcopy", "-S", "--keep-symbol=leaf_a", "--keep-symbol=caller", "--keep-symbol=main", binary, `${binary}.mini`],
    ["xz", "-f", `${binary}.mini`],
    ["strip", "-s", binary],
    ["objcopy", "--add-section", `.gnu_debugdata=${binary}.mini.xz`, binary],
  ];
  return steps.every(([tool, ...args]) => spawnSync(tool, args).status === 0);
}

test("a stripped binary that embeds its functions' names", async (t) => {
  const leaves = compileC(folder.path, "stripped", leavesSource, [...flags, "-pie", "-fPIE"]);
  if (!stripped(leaves)) return t.skip("there is no objcopy, strip or xz");
  assert.equal(
    await over(leaves, `uprobe:${leaves}:leaf_a { @[ustack(3)] = count(); }`),
    ["@[", "        leaf_a+0", "        caller+N", "        main+N", "]: 1"].join("\n"),
  );
});
