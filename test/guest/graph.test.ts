// `strobe graph` on kernels that have ftrace's function graph, beside what the same tracer writes when it is asked by hand.
import assert from "node:assert/strict";
import { after } from "node:test";
import { compileC, temporaryFolder } from "../support/strobe.ts";
import { tryOnKernels, type Trial } from "./trials.ts";
import { workSource } from "./workload.ts";

const folder = temporaryFolder();
after(() => folder.remove());

const tracing = "/sys/kernel/tracing";
/** How often each line is there, but for the columns of numbers. */
const calls = `cut -c24- | sed 's/ = .*//; s/(.*//' | sort | uniq -c | awk '$1 >= 100 { print $1, $2, $3 }' | sort`;
/** The same calls, as ftrace writes them when it is asked by hand: those that are made 100 times and more. */
const byHand = `cd ${tracing}; echo vfs_read >set_graph_function; echo 2 >max_graph_depth
sh -c 'echo $$ >set_ftrace_pid; echo function_graph >current_tracer; exec /bin/work 100'
grep -o '[a-zA-Z0-9_.]*()' trace | tr -d '()' | sort | uniq -c | awk '$1 >= 100 { print $1, ">", $2 }' | sort
echo nop >current_tracer; : >set_graph_function; echo 0 >max_graph_depth; : >set_ftrace_pid; : >trace`;

const left = `cd ${tracing}; ls instances; cat current_tracer set_graph_function max_graph_depth tracing_on trace_clock options/overwrite; cat set_ftrace_pid; [ $(sed "s/.* //; s/)//" buffer_size_kb) -ge 1408 ] && echo whole; grep -vc '^#' trace`;
const nothing = `nop
#### all functions enabled ####
0
1
[local] global counter uptime perf mono mono_raw boot tai x86-tsc
1
no pid
whole
0
`;

const counts = (text: string, mark: string): readonly string[] =>
  text.split("\n").filter((line) => line.includes(` ${mark} `));

const trials = (kernel: string): readonly Trial[] => [
  {
    name: "a function alone, as often as it is called",
    script: `strobe graph __x64_sys_getppid --depth 1 -c '/bin/work 100' | ${calls}`,
    check: ({ stdout, stderr }) => assert.equal(stdout, "100 < __x64_sys_getppid\n100 > __x64_sys_getppid\n", stderr),
  },
  {
    name: "the same calls as by hand",
    script: `strobe graph vfs_read --depth 2 -c '/bin/work 100' | ${calls}; echo ---; ${byHand}`,
    check: ({ stdout, stderr }) => {
      const [ours, ftraces] = stdout.split("---\n");
      assert.match(ours, /^100 > vfs_read$/m, stderr);
      assert.deepEqual(counts(ours, ">"), counts(ftraces, ">"), stderr);
      assert.deepEqual(
        counts(ours, "<"),
        counts(ours, ">").map((line) => line.replace(">", "<")),
        stderr,
      );
    },
  },
  {
    name: "of everybody, calls that had begun are left out or whole",
    script: `(while :; do /bin/work 20; sleep 0.05; done) & busy=$!; sleep 1
strobe graph vfs_read --depth 2 --for 500ms >/tmp/all 2>/tmp/said; kill $busy; wait $busy 2>/dev/null
cut -c24- /tmp/all | grep -v '^ ' | cut -d' ' -f2 | sort -u
echo $(cut -c24- /tmp/all | grep -c '^ *> ') $(cut -c24- /tmp/all | grep -c '^ *< '); cat /tmp/said`,
    check: ({ stdout, stderr }) => {
      const [title, roots, both, ...said] = stdout.trim().split("\n");
      assert.deepEqual([title, roots], ["FUNCTION", "vfs_read"], stdout + stderr);
      const [entered, returned] = both.split(" ").map(Number);
      const unfinished = Number(/(\d+) calls? ha(?:s|ve) no return here/.exec(said.join("\n"))?.[1] ?? 0);
      assert.ok(returned > 100, stdout);
      assert.equal(entered - returned, unfinished, stdout);
    },
  },
  {
    name: "what the kernel has no words for is said",
    script: `strobe graph vfs_read --args --retval --depth 1 -c '/bin/work 100' >/tmp/told 2>/tmp/why; echo $?
grep -c 'vfs_read(file=0x[0-9a-f]*, buf=0x[0-9a-f]*, count=512, pos=' /tmp/told; cat /tmp/why`,
    check: ({ stdout }) =>
      assert.equal(
        stdout,
        kernel === "own" || kernel.startsWith("6")
          ? "1\n0\nstrobe: cannot tell arguments (--args): this kernel's function graph has none (Linux 6.15 with CONFIG_FUNCTION_TRACE_ARGS)\n"
          : "1\n0\nstrobe: cannot tell return values (--retval): this kernel's function graph has none (Linux 6.5 with CONFIG_FUNCTION_GRAPH_RETVAL)\n",
      ),
  },
  ...(kernel === "7"
    ? [
        {
          name: "arguments",
          script: `strobe graph vfs_read --args --depth 1 -c '/bin/work 100' | grep -c '> vfs_read(file=0x[0-9a-f]*, buf=0x[0-9a-f]*, count=512, pos=0x[0-9a-f]*)$'; cat ${tracing}/options/funcgraph-args`,
          check: ({ stdout, stderr }) => assert.equal(stdout, "100\n0\n", stderr),
        } satisfies Trial,
      ]
    : []),
  ...(kernel === "own"
    ? [
        {
          name: "return values",
          script: `strobe graph vfs_read vfs_write --retval --depth 1 -c '/bin/work 100' >/tmp/told; grep -c '< vfs_read = 512$' /tmp/told; grep -c '< vfs_write = 64$' /tmp/told`,
          check: ({ stdout, stderr }) => assert.equal(stdout, "100\n100\n", stderr),
        } satisfies Trial,
      ]
    : []),
  {
    name: "there is one choice of functions: a second strobe is refused, and takes nothing away",
    script: `strobe graph vfs_write --depth 1 >/tmp/first & first=$!
while ! grep -q vfs_write ${tracing}/set_graph_function; do sleep 0.1; done; sleep 1
strobe graph vfs_read --for 1s; echo $?; cat ${tracing}/set_graph_function; kill -INT $first; wait $first; echo $?; ls ${tracing}/instances`,
    check: ({ stdout, stderr }) => {
      assert.equal(stdout, "1\nvfs_write\n0\n", stderr);
      assert.match(
        stderr,
        /cannot trace the calls of vfs_read: another strobe traces calls \(instance strobe-\d+-graph/,
      );
    },
  },
  {
    name: "somebody's choice stays",
    script: `echo vfs_open >${tracing}/set_graph_function; strobe graph vfs_read --for 1s; echo $?; cat ${tracing}/set_graph_function; : >${tracing}/set_graph_function; ls ${tracing}/instances`,
    check: ({ stdout, stderr }) => {
      assert.equal(stdout, "1\nvfs_open\n");
      assert.match(stderr, /set_graph_function has functions that somebody else chose/);
    },
  },
  {
    name: "functions that are not there",
    script: `strobe graph no_such_function --for 1s; echo $?; ls ${tracing}/instances`,
    check: ({ stdout, stderr }) => {
      assert.equal(stdout, "1\n", stderr);
      assert.match(stderr, /ftrace can trace no function of that name/);
    },
  },
  {
    name: "a killed one is cleaned up by the next",
    script: `strobe graph vfs_write --depth 3 >/dev/null & first=$!
while ! grep -q vfs_write ${tracing}/set_graph_function; do sleep 0.1; done; sleep 1
kill -KILL $first; wait $first; strobe clean | sed 's/[0-9][0-9]*/N/'; ${left}`,
    check: ({ stdout, stderr }) =>
      assert.equal(
        stdout,
        `removed instance strobe-N-graph${kernel === "6.1" ? "top" : ""} of tracefs\n${nothing}`,
        stderr,
      ),
  },
  {
    name: "nothing is left in tracefs",
    script: left,
    check: ({ stdout }) => assert.equal(stdout, nothing),
  },
];

tryOnKernels({
  verb: "draws calls by function graph",
  own: true,
  files: () => ({ "/bin/work": compileC(folder.path, "work", workSource, ["-O1", "-static"]) }),
  deadline: 900,
  trials,
});
