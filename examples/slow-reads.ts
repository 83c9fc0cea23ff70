// Which reads of a command take long, and from which descriptor?
//
//     sudo strobe run examples/slow-reads.ts 50 'sh -c "sleep 0.2 | cat"'
//
// The parameters are milliseconds and a command. It prints a line for each read(2) of the command and its children that
// took at least so long, until the command ends.
//
//     cat: fd 0, 204 ms, 0 bytes
import { comm, event, nsecs, threadLocal, trace, tracepoint } from "strobe";

const [milliseconds = "50", command = "true"] = process.argv.slice(2);
const least = Number(milliseconds) * 1_000_000;

const started = threadLocal<number>();
const descriptor = threadLocal<number>();
const slow = event<{ name: string; fd: number; ns: number; bytes: number }>();

await using session = await trace(
  tracepoint("syscalls:sys_enter_read", ({ fd }) => {
    started.set(nsecs);
    descriptor.set(fd);
  }),
  tracepoint("syscalls:sys_exit_read", ({ ret }) => {
    const start = started.get();
    if (start === undefined) return;
    const ns = nsecs - start;
    if (ns >= least) slow.emit({ name: comm, fd: descriptor.value, ns, bytes: ret });
    started.delete();
  }),
  { command, follow: true },
);
for await (const { name, fd, ns, bytes } of slow)
  console.log(`${name}: fd ${fd}, ${Math.round(ns / 1e6)} ms, ${bytes} bytes`);
await session.ended;
