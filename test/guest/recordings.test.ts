// A recording reads the same wherever it was made: what other kernels recorded is replayed here, and what was recorded here
// is replayed there, names of functions included.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after } from "node:test";
import { compileC, temporaryFolder } from "../support/strobe.ts";
import { tryOnKernels, type Trial } from "./trials.ts";

const folder = temporaryFolder();
after(() => folder.remove());

const source = `
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>
__attribute__((noinline)) static void ask(void) { for (int i = 0; i < 100; i++) syscall(SYS_getppid); }
int main(void)
{
	ask();
	for (int i = 0; i < 7; i++) close(open("/dev/zero", O_RDONLY));
	for (int i = 0; i < 5; i++) open("/nowhere/at all", O_RDONLY);
}
`;
const recorded = ["--stack", "kernel,user", "-c"];
const probes = ["tracepoint:syscalls:sys_enter_getppid", "tracepoint:syscalls:sys_enter_openat"];
const script = `
  tracepoint:syscalls:sys_enter_getppid /comm == "asks"/ { @calls = count(); @stacks[kstack, ustack] = count(); }
  tracepoint:syscalls:sys_enter_openat /comm == "asks" && str(args.filename) != "/etc/ld.so.cache"/ {
    @files[str(args.filename)] = count();
  }`;
const known = ["@calls: 100", "@files[/dev/zero]: 7", "@files[/nowhere/at all]: 5"];

interface Answer {
  readonly stdout: string;
  readonly stderr: string;
}

function here(...words: readonly string[]): Answer {
  const { stdout, stderr } = spawnSync(process.execPath, ["dist/strobe.js", ...words], {
    encoding: "utf8",
    timeout: 60_000,
  });
  return { stdout, stderr };
}

/** Counts are the program's, and stacks have the names that they have where they were recorded. */
function told({ stdout, stderr }: Answer): void {
  for (const line of known) assert.ok(stdout.split("\n").includes(line), `${line}\n${stdout}\n${stderr}`);
  assert.match(stdout, /^\s+ask\+\d+$/m);
  assert.match(stdout, /^\s+do_syscall_64\+\d+$/m);
}

const program = (): string => compileC(folder.path, "asks", source, ["-O1", "-g", "-static"]);
let ours: { readonly file: string; readonly answer: Answer } | undefined;

/** The recording that is made on this machine, and what it answers here. */
function recordedHere(): { readonly file: string; readonly answer: Answer } {
  if (ours !== undefined) return ours;
  const file = join(folder.path, "here.strobe");
  const { stderr } = here("record", "-q", "-o", file, ...recorded, program(), ...probes);
  assert.equal(stderr, "");
  return (ours = { file, answer: here("replay", file, "-e", script) });
}

tryOnKernels({
  verb: "reads recordings of this machine, which reads those that it makes",
  files: () => ({ "/bin/asks": program(), "/recorded.strobe": recordedHere().file }),
  deadline: 180,
  trials: (kernel): readonly Trial[] => [
    {
      name: "what it records is replayed here",
      script: `strobe record -q -o /there.strobe ${recorded.join(" ")} /bin/asks ${probes.join(" ")} &&
        strobe replay /there.strobe -e '${script}' && echo === && base64 /there.strobe`,
      check: ({ stdout, stderr }) => {
        const [answer, bytes] = stdout.split("===\n");
        told({ stdout: answer, stderr });
        const file = join(folder.path, `${kernel}.strobe`);
        writeFileSync(file, Buffer.from(bytes, "base64"));
        assert.deepEqual(here("replay", file, "-q", "-e", script), { stdout: answer, stderr: "" });
      },
    },
    {
      name: "what was recorded here is replayed there",
      script: `strobe replay /recorded.strobe -e '${script}'`,
      check: ({ stdout, stderr }) => {
        told({ stdout, stderr });
        assert.equal(stdout, recordedHere().answer.stdout);
      },
    },
  ],
});
