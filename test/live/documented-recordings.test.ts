// Every script of the documentation, live and over a recording of the same events: what they print is equal, or the script
// is refused before anything is recorded, with what is not in it.
import assert from "node:assert/strict";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { partOf } from "../support/part-of.ts";
import { bpfObjects, compileC, nothingLeft, startStrobe, strobe, temporaryFolder } from "../support/strobe.ts";
import { start } from "../support/tool-runs.ts";

const folder = temporaryFolder();
let program = "";
let objects = "";

/** Does a little of everything, once its input ends. */
const source = `
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void)
{
	char bytes[4096];
	while (read(0, bytes, 1) > 0)
		;
	for (int i = 0; i < 5; i++) {
		int from = open("/etc/passwd", O_RDONLY), to = open("/dev/null", O_WRONLY);
		read(from, bytes, 100);
		read(from, bytes, 4000);
		write(to, bytes, 777);
		close(from);
		close(to);
		open("/nonexistent", O_RDONLY);
		free(malloc(1000 * i + 1));
		syscall(SYS_getppid);
		kill(getpid(), 0);
		usleep(1000);
	}
	for (int i = 0; i < 2; i++) {
		int child = fork();
		if (child == 0 && i > 0)
			execl("/bin/true", "true", NULL);
		if (child == 0)
			_exit(3);
		waitpid(child, 0, 0);
	}
	unlink("/nonexistent");
	return 0;
}
`;

before(() => {
  objects = bpfObjects();
  program = compileC(folder.path, `all-${process.pid}`, source, ["-g", "-O1"]);
});
after(async () => {
  await nothingLeft(objects);
  folder.remove();
});

interface Documented {
  readonly at: string;
  readonly language: string;
  readonly text: string;
}

const documented: readonly Documented[] = ["README.md", ...readdirSync("docs").map((name) => join("docs", name))]
  .filter((page) => page.endsWith(".md"))
  .flatMap((page) => {
    const text = readFileSync(page, "utf8");
    const blocks = [...text.matchAll(/^```(bt|stp|d)\n(.*?)^```$/gms)];
    const lines = [...text.matchAll(/^strobe (?:-q )?-e '([^']*)'$/gm)];
    return [
      ...blocks.map((match) => ({ match, language: match[1], text: match[2] })),
      ...lines.map((match) => ({ match, language: "bt", text: match[1] })),
    ].map(({ match, ...script }) => ({ ...script, at: `${page}:${text.slice(0, match.index).split("\n").length}` }));
  });

/** Two tracers do not read the clock at the same moment: of what a script makes of times there are the words alone. */
const takesTimes = /nsecs|timestamp|gettimeofday|elapsed/;
const words = (line: string): string => line.replaceAll(/[\d|@ ]+/g, " ");

/** Lines in an order of their own: entries of equal values come in any. */
function printed({ text }: Documented, stdout: string): readonly string[] {
  const lines = stdout.split("\n").filter((line) => line !== "");
  return (takesTimes.test(text) ? [...new Set(lines.map(words))] : lines).sort();
}

/** @returns how many lines the script printed; nothing where it is refused */
async function bothWays(one: Documented, at: number): Promise<number | undefined> {
  const [script, file] = [join(folder.path, `${at}.${one.language}`), join(folder.path, `${at}.strobe`)];
  writeFileSync(script, one.text);
  const traced = start(program, []);
  const recorder = startStrobe(["record", "-o", file, "-p", String(traced.pid), script]);
  await Promise.race([recorder.attached, recorder.outcome]);
  if (recorder.child.exitCode !== null || !recorder.stderr().includes("Attached ")) {
    traced.release();
    await traced.output;
    const { stderr } = await recorder.outcome;
    const said = /error: .* (?:can be told only at the moment of the event|is not in recordings of)/.test(stderr);
    // What the machine does not have, or a page names alone, runs live no better.
    const live = await strobe(["--dry-run", "-p", String(process.pid), script]);
    assert.ok(said || live.code !== 0, `${one.at}: ${stderr}`);
    return undefined;
  }
  const live = startStrobe(["-p", String(traced.pid), script]);
  await live.attached;
  traced.release();
  await traced.output;
  const [seen, recorded] = await Promise.all([live.outcome, recorder.outcome]);
  assert.equal(recorded.code, 0, recorded.stderr);
  const replayed = await strobe([file, script]);
  assert.equal(replayed.code, seen.code, `${one.at}: ${replayed.stderr}`);
  const lines = printed(one, seen.stdout);
  assert.deepEqual(printed(one, replayed.stdout), lines, `${one.at}: ${replayed.stderr}`);
  return lines.length;
}

test("documented scripts answer over a recording as they do live", { timeout: 600_000 }, async () => {
  const chosen = partOf("recordings", documented);
  const counts: (number | undefined)[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    for (let at = next++; at < chosen.length; at = next++) counts.push(await bothWays(chosen[at], at));
  };
  await Promise.all([work(), work()]);
  const answered = counts.filter((count) => count !== undefined && count > 0).length;
  assert.ok(answered * 3 >= chosen.length, `${answered} of ${chosen.length} scripts printed something`);
});

test("what a recording does not have of its probes is refused by name", async () => {
  for (const [probe, what, of] of [
    ["uretprobe", "arg0", "arg0"],
    ["uretprobe", "args.x", "args"],
    ["uprobe", 'reg("ip")', "reg()"],
    ["uprobe", "vars", "vars"],
    ["uprobe", 'var("x")', "var()"],
  ] as const) {
    const { stderr, code } = await strobe([
      "record",
      "-o",
      join(folder.path, "no"),
      "-e",
      `${probe}:${program}:main { print(${what}); }`,
    ]);
    assert.equal(code, 1);
    assert.match(stderr, /error: (.*)$/m);
    assert.equal(/error: (.*)$/m.exec(stderr)?.[1], `${of} is not in recordings of ${probe} probes`);
  }
});
