// What this machine's kernel refuses and only guests can show, beyond the counts of cases.ts: handlers at BPF programs,
// packets.
import assert from "node:assert/strict";
import { after } from "node:test";
import { compileC, temporaryFolder } from "../support/strobe.ts";
import { tryOnKernels, type Trial } from "./trials.ts";
import { workSource } from "./workload.ts";

const folder = temporaryFolder();
after(() => folder.remove());

/** Its loop over a map is a function of its own, which has type information, and so has the program then. */
const traced = 'kprobe:vfs_read /comm == "work" && arg2 == 512/ { @m[1] = 1; for ($kv : @m) { @n = count(); } }';

/** Three datagrams to itself. */
const sendsItself = [
  'const s = require("node:dgram").createSocket("udp4");',
  'const text = "0123456789".repeat(500);',
  "let n = 0;",
  's.on("message", () => ++n < 3 ? send() : s.close());',
  'const send = () => s.send(text, 9999, "127.0.0.1");',
  's.bind(9999, "127.0.0.1", send);',
].join(" ");

/** More ways through its rounds than verifiers without a budget of rounds walk: there the rounds are calls. */
const manyRounds = `
  $i = 0; $s = 0;
  while ($i < 1000) {
    if ($i % 3 == 0) { @a[$i % 7] = $i; $s += 3; }
    if ($i % 5 == 1) { @b[$i % 11] += 2; $s ^= $i; }
    if (@a[$i % 7] > 500) { $s += 1; @c[$i % 2, "x"] = $s; }
    if (@b[$i % 11] > 20) { @b[$i % 11] = 0; }
    if ($s % 2 == 0) { @even++; } else { @odd++; }
    if ($i % 13 == 12) { $s -= 7; }
    $i++;
  }
  printf("%d %d %d %d\\n", $i, $s, @even, @odd);`;

const trials: readonly Trial[] = [
  {
    name: "the end of a loop of many rounds and branches",
    script: `strobe -q -c '/bin/work 1' -e 'kprobe:vfs_read /comm == "work" && arg2 == 512 && !@done/ { @done = 1; ${manyRounds} } end { clear(@a); clear(@b); clear(@c); clear(@even); clear(@odd); clear(@done); }'`,
    check: ({ stdout, stderr }) => assert.equal(stdout.trim(), "1000 663 490 510", stderr),
  },
  {
    name: "functions of a loaded BPF program",
    script: `strobe -q -o /tmp/traced -e '${traced} interval:ms:50 { if (!@ready) { @ready = 1; printf("ready\\n"); } } end { clear(@ready); clear(@m); }' & traced=$!
      until grep -q ready /tmp/traced 2>/dev/null; do sleep 0.1; done
      strobe -l 'fentry:bpf:*'
      strobe -q -c '/bin/work 10' -e 'fentry:bpf:vfs_read /comm == "work"/ { @in = count(); } fexit:bpf:*:vfs_rea? /comm == "work"/ { @out[func] = count(); } fentry:bpf:each_1 { @each = count(); }'
      kill -INT $traced; wait $traced; cat /tmp/traced`,
    check: ({ stdout, stderr }) => {
      const lines = stdout.split("\n").filter((line) => line !== "");
      const [main, each, ...rest] = lines;
      assert.match(main ?? "", /^fentry:bpf:\d+:vfs_read$/, stdout + stderr);
      assert.match(each ?? "", /^fentry:bpf:\d+:each_1$/);
      const counts = Object.fromEntries(
        rest.filter((line) => line.startsWith("@")).map((line) => line.split(": ") as [string, string]),
      );
      assert.equal(counts["@n"], "10", stdout + stderr);
      assert.equal(counts["@each"], "10");
      // It runs at each read of all processes, and decides itself; the reads of the loader are work's, too.
      assert.equal(counts["@in"], counts["@out[vfs_read]"]);
      assert.ok(Number(counts["@in"]) >= 10, stdout);
    },
  },
  {
    name: "packets at a function of the kernel",
    script: `ip link set lo up; echo '${sendsItself}' > /tmp/send.js
      strobe -q -c 'node /tmp/send.js' -e 'fentry:__dev_queue_xmit /pid == cpid/ { @[skboutput("/tmp/sent.pcap", args.skb, args.skb.len, 14)] = count(); }'
      wc -c < /tmp/sent.pcap`,
    check: ({ stdout, stderr }) => {
      // Three packets of 28 bytes of headers and 5000 more, each with 16 before it; the file's own are 24.
      assert.deepEqual(
        stdout.split("\n").filter((line) => line !== ""),
        ["@[0]: 3", `${24 + 3 * (16 + 28 + 5000)}`],
        stderr,
      );
    },
  },
];

tryOnKernels({
  verb: "reaches",
  trials: () => trials,
  deadline: 3000,
  files: () => ({ "/bin/work": compileC(folder.path, "work", workSource, ["-O1", "-no-pie"]) }),
});
