// Which programs of a command write how much, and in how many calls?
//
//     sudo strobe run examples/bytes-written.ts 'sh -c "dd if=/dev/zero bs=1k count=300 status=none | cat >/dev/null"'
//
// It prints a table when the command has ended: for each program the bytes of write(2), most first, and the calls.
//
//     dd    307200 bytes in 300 calls
//     cat   307200 bytes in 57 calls
import { comm, map, trace, tracepoint } from "strobe";

const bytes = map<string, "sum">();
const calls = map<string, "count">();

await using session = await trace(
  tracepoint("syscalls:sys_exit_write", ({ ret }) => {
    if (ret < 0) return;
    bytes.at(comm).sum(ret);
    calls.at(comm).count();
  }),
  { command: process.argv[2] ?? "true", follow: true },
);
await session.ended;
for (const [name, sum] of bytes.top(10)) console.log(`${name.padEnd(5)} ${sum} bytes in ${calls.get(name)} calls`);
