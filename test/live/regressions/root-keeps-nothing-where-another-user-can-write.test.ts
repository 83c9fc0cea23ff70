// With the home or the cache folder of another user in the environment (sudo that keeps HOME, su without a dash),
// root's strobe neither reads, nor writes, nor deletes anything there.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, lchownSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { after, before, test, type TestContext } from "node:test";
import { stranger, strangerId, type Stranger } from "../../support/hostile-user.ts";
import { command, compileC, strobe, temporaryFolder, type Outcome } from "../../support/strobe.ts";

const deadline = { timeout: 300_000, skip: process.geteuid?.() !== 0 && "needs root" };
const { STROBE_CACHE: _store, XDG_CACHE_HOME: _cache, DEBUGINFOD_CACHE_PATH: _debug, ...env } = process.env;
const script = 'begin { printf("%d\\n", sizeof(struct task_struct) > 0); exit(); }';

function hostile(t: TestContext): Stranger {
  const other = stranger();
  t.after(() => other.remove());
  return other;
}

const tools = temporaryFolder();
let swap = "";
before(() => {
  chmodSync(tools.path, 0o755);
  swap = compileC(
    tools.path,
    "swap",
    `
    #define _GNU_SOURCE
    #include <fcntl.h>
    #include <stdio.h>
    int main(void) { for (;;) renameat2(AT_FDCWD, "strobe", AT_FDCWD, "theirs", RENAME_EXCHANGE); }`,
  );
});
after(() => tools.remove());

let runs = 0;
/** A script that was not run before: what is compiled is kept, and tidied up after. */
async function run(more: NodeJS.ProcessEnv, ...args: string[]): Promise<Outcome> {
  const outcome = await strobe([...args, "-e", `${script} // ${process.pid} ${runs++}`], { env: { ...env, ...more } });
  assert.deepEqual([outcome.stdout, outcome.code], ["1\n\n\n", 0], outcome.stderr);
  return outcome;
}

/** All ways in which a folder of theirs gets into the environment. */
const ways: Readonly<Record<string, (home: string) => NodeJS.ProcessEnv>> = {
  HOME: (home) => ({ HOME: home }),
  XDG_CACHE_HOME: (home) => ({ XDG_CACHE_HOME: join(home, ".cache") }),
  STROBE_CACHE: (home) => ({ STROBE_CACHE: join(home, ".cache/strobe") }),
};

for (const [name, environment] of Object.entries(ways)) {
  test(`no file is deleted behind links that they made (${name})`, deadline, async (t) => {
    const other = hostile(t);
    other.run(
      `mkdir -p .cache/strobe && for name in plans types unwind function-names modules debug code; do ln -s ${other.victim} .cache/strobe/$name; done`,
    );
    await run(environment(other.home));
    other.checkVictim();
  });

  test(`no FIFO of theirs is opened (${name})`, deadline, async (t) => {
    const other = hostile(t);
    const own = temporaryFolder();
    t.after(() => own.remove());
    // Which names there are is not known but by trying.
    await strobe(["-q", "-e", script], { env: { ...env, STROBE_CACHE: own.path } });
    for (const kind of readdirSync(own.path)) {
      for (const file of readdirSync(join(own.path, kind)))
        other.run(`mkdir -p .cache/strobe/${kind} && mkfifo .cache/strobe/${kind}/${file}`);
    }
    const { stdout } = await strobe(["-q", "-e", script], { env: { ...env, ...environment(other.home) } });
    assert.equal(stdout, "1\n\n\n");
  });

  test(`nothing is made in their home (${name})`, deadline, async (t) => {
    const other = hostile(t);
    await run(environment(other.home));
    assert.deepEqual(readdirSync(other.home), []);
  });

  test(`nothing of theirs is opened, whatever they swap meanwhile (${name})`, deadline, async (t) => {
    const other = hostile(t);
    // What root itself could have made there, and what takes its place again and again.
    mkdirSync(join(other.home, ".cache/strobe/plans"), { recursive: true, mode: 0o700 });
    lchownSync(join(other.home, ".cache"), strangerId, strangerId);
    other.run("mkdir -p .cache/theirs/plans");
    const swapping = spawn(swap, {
      cwd: join(other.home, ".cache"),
      uid: strangerId,
      gid: strangerId,
      stdio: "ignore",
    });
    const ended = once(swapping, "exit");
    try {
      for (let i = 0; i < 3; i++) {
        const words = [process.execPath, command, "-q", "-e", script]
          .map((word) => `'${word.replaceAll("'", "")}'`)
          .join(" ");
        const opens =
          'tracepoint:syscalls:sys_enter_openat /pid == cpid/ { printf("opens %s\\n", str(args.filename)); }';
        const { stdout, stderr } = await strobe(["-q", "-c", words, "-e", opens], {
          env: { ...env, ...environment(other.home) },
        });
        assert.match(stdout, /^opens .*strobe\.js$/m, stderr);
        assert.equal(stdout.includes(`opens ${other.home}`), false, stdout);
      }
    } finally {
      swapping.kill("SIGKILL");
      await ended;
    }
  });
}

test("a store is taken only where root alone decides what is there", deadline, async (t) => {
  const own = temporaryFolder();
  t.after(() => own.remove());
  const other = hostile(t);
  const at = (...names: string[]): string => join(own.path, ...names);
  mkdirSync(at("shared"));
  chmodSync(at("shared"), 0o777);
  mkdirSync(at("sticky"));
  chmodSync(at("sticky"), 0o1777);
  symlinkSync(at("own"), at("sticky/link"));
  lchownSync(at("sticky/link"), strangerId, strangerId);
  chmodSync(own.path, 0o755);
  other.run(`mkdir ${at("sticky/theirs")}`);
  const refused: Readonly<Record<string, string>> = {
    [at("shared/strobe")]: `others can write to ${at("shared")}`,
    [at("sticky/theirs")]: `${at("sticky/theirs")} belongs to another user (uid 65534)`,
    [at("sticky/theirs/strobe")]: `${at("sticky/theirs")} belongs to another user (uid 65534)`,
    [at("sticky/link/strobe")]: `the link ${at("sticky/link")} belongs to another user (uid 65534)`,
    [join(other.home, "strobe")]: `${other.home} belongs to another user (uid 65534)`,
    relative: "relative is not an absolute path",
  };
  for (const [path, why] of Object.entries(refused)) {
    const { stderr } = await run({ STROBE_CACHE: path }, "-v");
    assert.ok(stderr.includes(`nothing is kept between runs in ${path}: ${why}\n`), stderr);
    assert.equal(existsSync(path) && path !== at("sticky/theirs"), false);
  }
  assert.deepEqual(readdirSync(at("sticky/theirs")), []);
  await run({ STROBE_CACHE: at("sticky/own/store") });
  assert.ok(readdirSync(at("sticky/own/store")).includes("plans"));
});
