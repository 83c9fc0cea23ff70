// A session over what was noted of a live one prints what that printed.
import assert from "node:assert/strict";
import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { compileScript } from "../../src/api/compile.ts";
import { formats } from "../../src/output/formats.ts";
import { shownValue } from "../../src/output/values.ts";
import { printfFormatter } from "../../src/output/printf.ts";
import { findAttacher } from "../../src/providers/registry.ts";
import { LiveSource } from "../../src/session/live/live-source.ts";
import { openSession, type SessionEnd } from "../../src/session/session.ts";
import type { Source } from "../../src/session/source.ts";
import { MemorySource, NotingSource } from "../support/memory-source.ts";
import { bpfObjects, compileC, nothingLeft, temporaryFolder } from "../support/strobe.ts";

const folder = temporaryFolder();
let objects = "";
let program = "";

before(() => {
  program = compileC(
    folder.path,
    `noted-${process.pid}`,
    `
#include <fcntl.h>
#include <unistd.h>
int main(void)
{
	int fd = open("/dev/null", O_WRONLY);
	for (int i = 0; i < 1000; i++)
		write(fd, "0123456789abcdef", i % 17);
	write(fd, "\\\\ \\" \\1 b!", 9);
	return 0;
}
`,
  );
  objects = bpfObjects();
});
after(async () => {
  await nothingLeft(objects);
  folder.remove();
});

const script = `
begin { @begun = 1; }
tracepoint:syscalls:sys_enter_write /pid == cpid/ {
  @bytes[args.fd] = sum(args.count); @sizes = hist(args.count); @last = args.count; @calls = count();
  @text[args.count] = str(args.buf, 4); @spread[comm] = stats(args.count);
  printf("%s %d %d\\n", str(args.buf, args.count), args.count, pid == cpid);
  if (args.count == 16) { print((args.fd > 2, "sixteen")); print(@last); @sometimes[args.count] = count(); }
}
tracepoint:syscalls:sys_exit_write /pid == cpid && args.ret == 9/ { print(@bytes, 1); print(@sizes); time("%%\\n"); clear(@text); }
end { print(@calls); @ended = @begun + 1; }`;

for (const format of ["text", "json", "folded"]) {
  test(`what was noted of a live session and replayed is the same to the byte, as ${format}`, async () => {
    const { plan, diagnostics } = compileScript(
      { name: "script", text: script },
      { command: program, stamp: ["time", "cpu", "tid", "probe"] },
    );
    assert.ok(plan, diagnostics.map(({ message }) => message).join("\n"));
    const run = async (source: Source, path: string): Promise<SessionEnd> => {
      const output = openSync(path, "w");
      const consumer = formats
        .find(({ name }) => name === format)!
        .open({ output, messages: output, buffering: "line" });
      const session = await openSession(plan, source, { consumer, formatter: printfFormatter, shown: shownValue });
      const end = await session.ended;
      consumer.end();
      closeSync(output);
      return end;
    };
    const live = new NotingSource(new LiveSource(plan, { findAttacher, command: program }));
    const [first, second] = ["live", "replayed"].map((name) => join(folder.path, `${name}.${format}`));
    const end = await run(live, first);
    assert.deepEqual(await run(new MemorySource(plan, live.captured), second), end);
    const text = readFileSync(first, "utf8");
    assert.equal(text.match(/0123456789abcde[f]? 16 1/g)?.length, 58);
    assert.equal(readFileSync(second, "utf8"), text);
  });
}
