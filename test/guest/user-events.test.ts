// User events, on the kernel that has them: emitted by a program and from a shell, traced by scripts, and counted by the
// kernel's own tracing beside them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { complaint, runGuest } from "./guest.ts";
import type { Job } from "./initramfs.ts";
import { kernels } from "./kernels.ts";
import { filesToRun } from "./tested-kernels.ts";

/** Emits when it is told to; says what became of it. */
const program = `
import { userEvent } from "/strobe/dist/index.mjs";
import { existsSync } from "node:fs";
const request = userEvent("app:request", { id: "u64", small: "i8", path: "string", method: "string" });
const quiet = userEvent("app:quiet", { id: "u32" });
console.log(request.kernelName, request.absent, request.enabled);
while (!existsSync("/tmp/go")) await new Promise((done) => setTimeout(done, 50));
for (let i = 0; i < 1000; i++) {
  request({ id: 2n ** 63n + BigInt(i), small: -(i % 100), path: "/p" + (i % 2) + "☕", method: i < 700 ? "GET" : "PUT" });
  quiet({ id: i });
}
console.log(request.enabled, request.lost, request.cut, quiet.enabled);
request({ id: 1, small: 1, path: "x".repeat(10_000), method: "" });
console.log(request.lost, request.cut);
const other = userEvent("app:request", { id: "u32" });
console.log(other.absent, other.enabled);
other({ id: 1 });
const beside = userEvent("app:request", { id: "u32" }, { multiFormat: true });
console.log(beside.absent);
beside[Symbol.dispose]();
request[Symbol.dispose]();
request({ id: 1, small: 1, path: "", method: "" });
console.log(request.enabled, request.absent);
`;

const start = `rm -f /tmp/go; cat >/tmp/app.mjs <<'END'
${program}
END
node /tmp/app.mjs >/tmp/app.out 2>&1 &
app=$!
until [ -d /sys/kernel/tracing/events/user_events/app_quiet ]; do sleep 0.1; done
`;
const attached =
  "until grep -q Attached /tmp/strobe.err; do kill -0 $tracer || { cat /tmp/strobe.err >&2; exit 1; }; sleep 0.2; done; rm /tmp/strobe.err";
/** Ends with the event that was cut. */
const script = `user_events:app:request /str(args.method) != ""/ { @[str(args.path), str(args.method)] = count(); @low = min(args.small); @last = max(args.id); } user_events:app_request /str(args.method) == ""/ { exit(); }`;

const maps = `@[/p0☕, GET]: 350
@[/p0☕, PUT]: 150
@[/p1☕, GET]: 350
@[/p1☕, PUT]: 150
@last: 9223372036854776807
@low: -99
`;

const trials: readonly (Job & { readonly name: string; readonly output: RegExp })[] = [
  {
    name: "a script and the kernel's own tracing see the same events",
    script: `${start}
cd /sys/kernel/tracing; echo 8192 >buffer_size_kb; echo 1 >events/user_events/app_request/enable
strobe -e '${script}' >/tmp/strobe.out 2>/tmp/strobe.err & tracer=$!
${attached}; touch /tmp/go; wait $tracer; wait $app
sort /tmp/strobe.out | grep .; cat /tmp/app.out
grep -c ' app_request: id=' trace; echo 0 >events/user_events/app_request/enable; echo >trace; cat dynamic_events; ls events/user_events`,
    output: new RegExp(
      `^${maps.replaceAll(/[[\]^$.*+?()|]/g, "\\$&")}app_request undefined false
true 0 0 false
0 1
cannot register the user event app_request: ioctl\\(DIAG_IOCSREG\\): .*EADDRINUSE.*other fields false
undefined
false it was disposed of
1001
`,
    ),
  },
  {
    name: "the kind lists them, with their fields; tracepoints and TypeScript take them as well",
    script: `${start}
strobe -lv 'user_events:*'
strobe -e 'tracepoint:user_events:app_re* /args.id == 1/ { printf("%s %d\\n", probe, args.small); exit(); }' 2>/tmp/strobe.err & tracer=$!
${attached}; touch /tmp/go; wait $tracer; wait $app; strobe -e 'user_events:app_requets { }'`,
    output:
      /^user_events:app_quiet\n {4}u32 id\nuser_events:app_request\n {4}u64 id\n {4}s8 small\n {4}__rel_loc char\[\] path\n {4}__rel_loc char\[\] method\ntracepoint:user_events:app_request 1\n[^]*no user event `app_requets`/,
  },
  {
    name: "from a shell, by the types of the event that is there",
    // The kernel removes an event some time after the last program that has it: one of another name is there in no one's way.
    script: `strobe emit app:other id=7; echo 'u:app_job u32 id; char[8] kind; __data_loc char[] path' >>/sys/kernel/tracing/dynamic_events
strobe emit app:job id=7; strobe emit -q app:job id=1 kind=a path=b
cd /sys/kernel/tracing; echo 1 >events/user_events/app_job/enable
strobe -e 'user_events:app:job { printf("%u %s %s\\n", args.id, args.kind, str(args.path)); exit(); }' 2>/tmp/strobe.err & tracer=$!
${attached}; strobe emit app:job id=-1 kind=longer-than-it path='a b'; wait $tracer
strobe emit app:job id=x kind=a path=b; grep -o 'app_job: id=.*' trace
echo 0 >events/user_events/app_job/enable; echo '-:user_events/app_job u32 id; char[8] kind; __data_loc char[] path' >>dynamic_events; echo >trace; cat dynamic_events`,
    output:
      /^4294967295 longer- a b\n+app_job: id=0xffffffff \(-1\) kind=longer- path=a b\nstrobe: nobody listens to user_events:app_other; nothing was written\nstrobe: user_events:app_job has the fields id, kind, path; got id\n[^]*a text of app_job was cut[^]*id is an integer \(u32\), got `x`\n/,
  },
  {
    name: "what a script prints, for another tracer and the kernel's own",
    script: `cd /sys/kernel/tracing; echo 'u:app_lines __rel_loc char[] text' >>dynamic_events
strobe -q -f user_events=app:lines -e 'begin { printf("unheard\\n"); exit(); }'
echo 'u:app_taken u32 id' >>dynamic_events; strobe -f user_events=app:taken -e 'begin { exit(); }'
echo 1 >events/user_events/app_lines/enable
strobe -e 'user_events:app:lines { printf("heard %s\\n", str(args.text)); } user_events:app:lines /str(args.text) == "@n: 3"/ { exit(); }' 2>/tmp/strobe.err >/tmp/heard & tracer=$!
${attached}; strobe -q -f user_events=app:lines -f text -e 'begin { printf("a\\n%s\\n", "b"); @n = 3; exit(); }'; wait $tracer
grep heard /tmp/heard; grep -o 'app_lines: .*' trace
echo 0 >events/user_events/app_lines/enable; echo '-:user_events/app_lines __rel_loc char[] text' >>dynamic_events; echo '-:user_events/app_taken u32 id' >>dynamic_events; echo >trace; cat dynamic_events`,
    output:
      /^a\nb\n+@n: 3\n+heard a\nheard b\nheard @n: 3\napp_lines: text=a\napp_lines: text=b\napp_lines: text=@n: 3\nstrobe: cannot register the user event app_taken: .*EADDRINUSE.*other fields\n/,
  },
];

const own = kernels.find(({ source }) => source === "own");
const found = own === undefined ? "there is no kernel of our own" : filesToRun(own);

test("user events", { skip: typeof found === "string" && found, timeout: 1_200_000 }, async (t) => {
  assert.ok(typeof found !== "string");
  const guest = await runGuest({
    kernel: found,
    deadline: 1080,
    jobs: trials.map((trial) => ({ deadline: 300, ...trial })),
  });
  for (const [i, { name, output }] of trials.entries()) {
    await t.test(name, () => {
      const job = guest.jobs[i];
      assert.ok(job, guest.console.slice(-3000));
      assert.match(job.stdout + job.stderr, output);
    });
  }
  await t.test("the kernel did not complain", () => {
    assert.doesNotMatch(guest.console, complaint);
    assert.ok(guest.complete, guest.console.slice(-3000));
  });
});
