// alert: which process makes a system call more often than it should?
//
// A line when a process comes above the limit, and one when it is below again; a command can be run at the first.
// Ctrl-C ends it.
//   strobe run tools/alert.ts --call=openat --above=1000
//   strobe run tools/alert.ts --call=connect --above=50 --every=5s --then='logger "$ALERT"'
//   strobe run tools/alert.ts --call=write --above=100 --comm=bash   of programs of that name
//   strobe run tools/alert.ts --call=execve --above=20 --once     ends at the first alert, with exit code 1
// Cost: small; a handler for each call of that kind.
import { spawn } from "node:child_process";
import { comm, map, pid, programOptions, trace, tracepoint } from "strobe";

const { values, tracing } = programOptions({
  call: { fallback: "openat", about: "the system call" },
  above: { fallback: 1000, about: "the limit, in calls a second" },
  every: { fallback: "1s", time: true, about: "the time that calls are counted for" },
  then: { about: "a command that is run at each alert, with ALERT, ALERT_PID, ALERT_COMM and ALERT_RATE" },
  once: { fallback: false, about: "end at the first alert, with exit code 1" },
});

const self = process.pid;
const calls = map<[pid: number, comm: string], "count">({ entries: 16_384 });
const session = await trace(
  tracepoint(`syscalls:sys_enter_${values.call}`, {
    filter: () => pid !== self,
    handler: () => calls.at(pid, comm).count(),
  }),
  tracing,
);
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => session.stop());

const above = new Map<string, string>();
let since = performance.now();
for await (const snapshot of calls.every(values.every, { clear: true })) {
  const seconds = (performance.now() - since) / 1000;
  since = performance.now();
  const rates = new Map([...snapshot].map(([[id, name], count]) => [`${id}`, { name, rate: count / seconds }]));
  for (const [id, { name, rate }] of rates) {
    if (rate <= values.above || above.has(id)) continue;
    above.set(id, name);
    const text = say("ALERT", id, name, rate);
    if (values.then !== undefined) {
      spawn("/bin/sh", ["-c", values.then], {
        stdio: "inherit",
        env: { ...process.env, ALERT: text, ALERT_PID: id, ALERT_COMM: name, ALERT_RATE: rate.toFixed(0) },
      });
    }
    if (values.once) {
      process.exitCode = 1;
      session.stop();
      break;
    }
  }
  if (process.exitCode === 1) break;
  for (const [id, name] of above) {
    const rate = rates.get(id)?.rate ?? 0;
    if (rate > values.above) continue;
    above.delete(id);
    say("over", id, name, rate);
  }
}
await session.ended;

function say(what: string, id: string, name: string, rate: number): string {
  const text = `${new Date().toTimeString().slice(0, 8)} ${what.padEnd(5)} ${name} (${id}): ${rate.toFixed(0)} ${values.call} a second, the limit is ${values.above}`;
  console.log(text);
  return text;
}
