// request: which system calls does a Node server make to answer one HTTP request?
//
// Follows a request from the read that brings it to the write that begins its answer: every system call of the process
// in between, of all its threads. Send one request at a time: what is done for others meanwhile is in the list as well.
//   strobe run tools/request.ts --pid=1234               a server that runs: its next request
//   strobe run tools/request.ts --path=/slow node server.js   starts the server: the first request whose path begins so
//   strobe run tools/request.ts --pid=1234 --count=3     three requests
// Cost: two handlers for each system call of that process; those of others only pass a comparison.
import { event, map, nsecs, programOptions, str, syscallName, threadLocal, tid, trace, tracepoint, uptr } from "strobe";

const { values, tracing, refuse } = programOptions(
  {
    path: { fallback: "/", about: "requests whose path begins so" },
    count: { fallback: 1, about: "so many requests, then the end" },
  },
  { processes: "one" },
);
if (tracing.pid === undefined && tracing.command === undefined)
  refuse("request needs a server: -p of one that runs, or the command that starts one");

// Numbers of system calls, which differ from one architecture to the other.
const [read, write, writev, sendmsg, openat, newfstatat, statx] =
  process.arch === "arm64" ? [63, 64, 66, 211, 56, 79, 291] : [0, 1, 20, 46, 257, 262, 332];
const step = 0,
  request = 1,
  answer = 2;

const entered = threadLocal<number>();
const first = threadLocal<number>();
const second = threadLocal<number>();
/** The socket whose request is being answered, and one; 0 while there is none. */
const answering = map<[], number>();
const events = event<{
  kind: number;
  at: number;
  took: number;
  tid: number;
  call: string;
  first: number;
  result: number;
  text: string;
}>();

const session = await trace(
  tracepoint("raw_syscalls:sys_enter", (args) => {
    entered.set(nsecs);
    first.set(args.args[0]);
    second.set(args.args[1]);
  }),
  tracepoint("raw_syscalls:sys_exit", {
    filter: () => entered.has(),
    handler: ({ id, ret }) => {
      const took = nsecs - entered.value;
      const call = syscallName(id);
      if (answering.value === 0) {
        if (id !== read || ret < 16) return;
        const text = str(uptr(second.value), 128);
        if (
          text.startsWith("GET ") ||
          text.startsWith("POST ") ||
          text.startsWith("PUT ") ||
          text.startsWith("HEAD ") ||
          text.startsWith("DELETE ") ||
          text.startsWith("PATCH ") ||
          text.startsWith("OPTIONS ")
        ) {
          answering.value = first.value + 1;
          events.emit({ kind: request, at: nsecs, took, tid, call, first: first.value, result: ret, text });
        }
        return;
      }
      if (id === openat || id === newfstatat || id === statx) {
        events.emit({
          kind: step,
          at: nsecs,
          took,
          tid,
          call,
          first: first.value,
          result: ret,
          text: str(uptr(second.value), 128),
        });
      } else {
        events.emit({ kind: step, at: nsecs, took, tid, call, first: first.value, result: ret, text: "" });
      }
      if (first.value + 1 === answering.value && (id === write || id === writev || id === sendmsg)) {
        answering.value = 0;
        events.emit({ kind: answer, at: nsecs, took, tid, call, first: first.value, result: ret, text: "" });
      }
    },
  }),
  tracing,
);
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => session.stop());
const target = tracing.pid ?? session.childPid;
console.log(`Waiting for a request to process ${target}`);

type Event = typeof events extends AsyncIterable<infer One> ? One : never;
let current: { readonly start: Event; readonly steps: Event[] } | undefined;
let left = values.count;
for await (const one of events) {
  if (one.kind === request) current = { start: one, steps: [] };
  else if (one.kind === step) current?.steps.push(one);
  else if (current) {
    const [method, path] = current.start.text.split(/\s/);
    if (path.startsWith(values.path)) {
      show(`${method} ${path}`, current.start, current.steps);
      if (--left === 0) break;
    }
    current = undefined;
  }
}
session.stop();
await session.ended;

function show(name: string, start: Event, steps: readonly Event[]): void {
  const milliseconds = (ns: number): string => (ns / 1e6).toFixed(3).padStart(9);
  console.log(
    `\n${name}: ${steps.length} system calls of ${new Set(steps.map(({ tid }) => tid)).size} threads, ` +
      `answered on descriptor ${start.first} after ${milliseconds((steps.at(-1) ?? start).at - start.at).trim()} ms`,
  );
  console.log("    AT MS   TOOK MS  THREAD CALL             RESULT");
  for (const { at, took, tid, call, first, result, text } of steps) {
    const what = text === "" ? (first < 4096 ? String(first) : "") : JSON.stringify(text);
    const outcome = Math.abs(result) < 1e9 ? String(result) : `0x${result.toString(16)}`;
    console.log(
      `${milliseconds(at - took - start.at)} ${milliseconds(took)} ${(tid === target ? "main" : String(tid)).padStart(7)} ${`${call}(${what})`.padEnd(16)} ${outcome}`,
    );
  }
}
