// `strobe leaks`: what was taken and not given back, by the stack that took it. Of a program: memory of the C library,
// mappings, descriptors. Of the kernel: slab objects, and what any pair of its functions takes and gives.
import { listProbes } from "../../providers/registry.ts";
import { thisMachine } from "../../api/machine.ts";
import { questions } from "../../messages/questions.ts";
import { UsageError } from "../usage-error.ts";
import { chosenCondition } from "./chosen.ts";
import { pairsScript } from "./leaks-of-functions.ts";
import type { Asked, MadeScript, Written } from "./made-script.ts";

const kinds = ["memory", "mappings", "files", "slab"] as const;

export const leaks: MadeScript = {
  name: "leaks",
  about: `what was taken and not given back, and by which code?

For each stack that took something which was not given back until the end: how much, and how many.
  strobe leaks -p 1234 --for 10s         memory of malloc and its kin
  strobe leaks -c './server --once'      of a command, and the children it starts, to its end
  strobe leaks mappings -p 1234          mmap, mremap and munmap
  strobe leaks files -p 1234             descriptors
  strobe leaks slab --for 10s            the kernel's own memory: kmalloc and slab caches
  strobe leaks --kernel get=igrab put=iput        objects that functions of the kernel take and give back
  strobe leaks --kernel 'get=fget retval' 'put=fput args.file'
  strobe leaks 'get=uprobe:./server:conn_get args.c' 'put=uprobe:./server:conn_put args.c'
Behind get= and put= stands a function of the kernel, or a probe, and what of it is the object: retval, args.NAME, a
member of those; the first argument unless said. free= ends an object: its address may be another's later. Told are
objects that were taken more often than given, with the stacks of both. What was taken before strobe began is not known, and what a process held when it executed another
program went with its memory. Where no process is chosen, what a process held when it ended is not told either.
Cost: one to two microseconds for each call; two to four with the stack.
`,
  options: [
    { name: "kernel", takes: "truth", fallback: "false", description: "of pairs of the kernel's functions" },
    {
      name: "library",
      takes: "text",
      fallback: `"libc"`,
      description: "whose malloc: a library, or a program that is linked with one",
    },
    {
      name: "older",
      takes: "text",
      fallback: `"0s"`,
      description: "only what was taken so long before the end: 10s, 500ms",
    },
    { name: "objects", takes: "truth", fallback: "false", description: "each object with its address" },
    { name: "room", takes: "number", fallback: "200000", description: "so many objects at once at most" },
  ],
  write(asked) {
    const [kind = "memory", ...more] = asked.words;
    if (asked.has("kernel") || /^(?:get|put|free)=/.test(kind)) return pairsScript(asked);
    if (!kinds.some((known) => known === kind)) throw new UsageError(questions.leaksKind(kinds, kind));
    if (more.length > 0) throw new UsageError(questions.leaksOne(kinds, more[0]));
    if (kind !== "memory" && asked.text("library") !== undefined)
      throw new UsageError(questions.libraryForMemory(kind));
    if (kind === "slab") return slabScript(asked);
    const body = kind === "memory" ? memoryProbes(asked) : kind === "mappings" ? mappingProbes : fileProbes();
    const { pid, command, only, switches } = asked.options;
    const chosen = pid !== undefined || command !== undefined || only?.pids !== undefined;
    return {
      text: `${head(asked)}${body}${processEnds(chosen)}${report(asked, { stack: "ustack", unit: kind === "files" ? "descriptors" : "bytes", comm: pid === undefined, cleared: "@call" })}`,
      // A command's probes on libraries fire in every process that has them.
      ...(command === undefined ? {} : { options: { switches: { ...switches, follow: true } } }),
    };
  },
};

function head(asked: Asked): string {
  return `config = { max_map_keys = ${asked.number("room", 200_000)} }\n\n`;
}

// ── memory of the C library ──

/** `size` and `place` (where the pointer is, unless it is returned) in arguments. */
interface Allocator {
  readonly name: string;
  readonly size: string;
  readonly old?: string;
  readonly place?: string;
}

// reallocarray is left out: it calls realloc, in every C library.
const allocators: readonly Allocator[] = [
  { name: "malloc", size: "arg0" },
  { name: "calloc", size: "arg0 * arg1" },
  { name: "realloc", size: "arg1", old: "arg0" },
  { name: "posix_memalign", size: "arg2", place: "arg0" },
  { name: "memalign", size: "arg1" },
  { name: "aligned_alloc", size: "arg1" },
  { name: "valloc", size: "arg0" },
  { name: "pvalloc", size: "arg0" },
];
const givers = ["free", "cfree", "free_sized", "free_aligned_sized"];

function memoryProbes(asked: Asked): string {
  const library = asked.text("library") ?? "libc";
  const names = functionsOf(library, asked);
  const missing = ["malloc", "free"].filter((name) => !names.has(name));
  if (missing.length > 0) throw new UsageError(questions.noAllocator(missing, library));
  // A function that another one calls, or jumps to, for the same piece is not one more: \`under\` is the stack pointer of
  // the outermost. A lower one is within it, an equal one of another function was jumped to; anything else means that the
  // end of the earlier call was not seen.
  // With its return address taken off the stack, x86's pointer is a word higher.
  const popped = process.arch === "x64" ? " + 8" : "";
  return allocators
    .filter(({ name }) => names.has(name))
    .map(({ name, size, old, place }, id) => {
      const pointer = place === undefined ? "(uint64)retval" : "*(uint64 *)uptr(@call[tid].other)";
      const failed = place === undefined ? "retval != 0" : "(int32)retval == 0";
      // At its entry, since another thread may have been given the same address before this one returns.
      const moves =
        old === undefined
          ? ""
          : `
    if (${old} != 0 && has_key(@held, (pid, ${old}))) {
      @moved[tid] = @held[pid, ${old}];
      delete(@held, (pid, ${old}));
    }`;
      const restores =
        old === undefined
          ? ""
          : ` else if (@call[tid].size != 0 && has_key(@moved, tid)) {
      @held[pid, @call[tid].other] = @moved[tid];
    }
    delete(@moved, tid);`;
      return `uprobe:${library}:${name} {
  if (!has_key(@call, tid) || @call[tid].under < reg("sp") || (@call[tid].under == reg("sp") && @call[tid].by == ${id})) {
    @call[tid] = (under=reg("sp"), by=${id}, size=(uint64)(${size}), other=(uint64)(${old ?? place ?? "0"}));${moves}
  }
}
uretprobe:${library}:${name} {
  if (has_key(@call, tid) && @call[tid].by == ${id} && @call[tid].under${popped} == reg("sp")) {
    if (${failed}) {
      @held[pid, ${pointer}] = (size=@call[tid].size, stack=ustack, at=nsecs, comm=comm);
    }${restores}
    delete(@call, tid);
  }
}
`;
    })
    .concat(
      givers
        .filter((name) => names.has(name))
        .map((name) => `uprobe:${library}:${name} /arg0 != 0/ { delete(@held, (pid, (uint64)arg0)); }\n`),
    )
    .join("");
}

function functionsOf(library: string, { options: { pid } }: Asked): ReadonlySet<string> {
  if (/[:*?\s"]/.test(library)) throw new UsageError(questions.libraryName(library));
  return new Set(
    [
      ...listProbes(`uprobe:${library}:*`, thisMachine({}), { verbose: false, ...(pid === undefined ? {} : { pid }) }),
    ].map(({ probe }) => probe.slice(probe.lastIndexOf(":") + 1)),
  );
}

// ── mappings ──

// What lies in a range that is unmapped, or mapped anew, is cut out of what is held: of a mapping, both ends may stay.
const mappingProbes = `fn cut($from: uint64, $length: uint64): void {
  $to = $from + ($length + 4095) / 4096 * 4096;
  for ($kv : @held) {
    if ($kv.0.0 == pid && $kv.0.1 < $to && $kv.0.1 + $kv.1.size > $from) {
      $start = $kv.0.1;
      $end = $start + $kv.1.size;
      if ($start < $from) {
        @held[pid, $start] = (size=$from - $start, stack=$kv.1.stack, at=$kv.1.at, comm=$kv.1.comm);
      } else {
        delete(@held, $kv.0);
      }
      if ($end > $to) {
        @held[pid, $to] = (size=$end - $to, stack=$kv.1.stack, at=$kv.1.at, comm=$kv.1.comm);
      }
    }
  }
}

tracepoint:syscalls:sys_enter_mmap { @call[tid] = (length=(uint64)args.len, old=(uint64)0, oldlength=(uint64)0); }
tracepoint:syscalls:sys_exit_mmap /has_key(@call, tid)/ {
  if (args.ret > 0) {
    cut((uint64)args.ret, @call[tid].length);
    @held[pid, (uint64)args.ret] =
      (size=(@call[tid].length + 4095) / 4096 * 4096, stack=ustack, at=nsecs, comm=comm);
  }
  delete(@call, tid);
}
// As it begins: another thread may be given the same place before it ends.
tracepoint:syscalls:sys_enter_munmap /(args.addr & 4095) == 0 && args.len != 0/ { cut((uint64)args.addr, (uint64)args.len); }
tracepoint:syscalls:sys_enter_mremap {
  @call[tid] = (length=(uint64)args.new_len, old=(uint64)args.addr, oldlength=(uint64)args.old_len);
}
tracepoint:syscalls:sys_exit_mremap /has_key(@call, tid)/ {
  if (args.ret > 0) {
    cut(@call[tid].old, @call[tid].oldlength);
    cut((uint64)args.ret, @call[tid].length);
    @held[pid, (uint64)args.ret] =
      (size=(@call[tid].length + 4095) / 4096 * 4096, stack=ustack, at=nsecs, comm=comm);
  }
  delete(@call, tid);
}
`;

// ── descriptors ──

/** System calls whose result is a new descriptor. */
const openers =
  "open openat openat2 creat open_by_handle_at socket accept accept4 dup eventfd eventfd2 epoll_create epoll_create1 timerfd_create signalfd signalfd4 inotify_init inotify_init1 memfd_create memfd_secret userfaultfd fanotify_init perf_event_open pidfd_open pidfd_getfd io_uring_setup mq_open fsopen fsmount fspick open_tree landlock_create_ruleset".split(
    " ",
  );

function fileProbes(): string {
  const there = new Set(
    [...listProbes("tracepoint:syscalls:sys_exit_*", thisMachine({}), { verbose: false })].map(({ probe }) =>
      probe.slice("tracepoint:syscalls:sys_exit_".length),
    ),
  );
  const taken = (descriptor: string): string =>
    `@held[pid, ${descriptor}] = (size=(uint64)1, stack=ustack, at=nsecs, comm=comm);`;
  const each = openers
    .filter((name) => there.has(name))
    .map((name) => `tracepoint:syscalls:sys_exit_${name} /args.ret >= 0/ { ${taken("(uint64)args.ret")} }\n`);
  const pairs = [
    ["pipe", "args.fildes"],
    ["pipe2", "args.fildes"],
    ["socketpair", "args.usockvec"],
  ]
    .filter(([name]) => there.has(name))
    .map(
      ([name, place]) => `tracepoint:syscalls:sys_enter_${name} { @call[tid] = (uint64)${place}; }
tracepoint:syscalls:sys_exit_${name} /has_key(@call, tid)/ {
  if (args.ret == 0) {
    $two = (int32 *)uptr(@call[tid]);
    ${taken("(uint64)*$two")}
    ${taken("(uint64)*($two + 1)")}
  }
  delete(@call, tid);
}
`,
    );
  // dup2 of a descriptor onto itself changes nothing; onto an open one it closes that.
  const onto = ["dup2", "dup3"]
    .filter((name) => there.has(name))
    .map(
      (name) => `tracepoint:syscalls:sys_enter_${name} /args.oldfd != args.newfd/ { @call[tid] = 1; }
tracepoint:syscalls:sys_exit_${name} /has_key(@call, tid)/ {
  if (args.ret >= 0) {
    ${taken("(uint64)args.ret")}
  }
  delete(@call, tid);
}
`,
    );
  return `${each.join("")}${pairs.join("")}${onto.join("")}// F_DUPFD and F_DUPFD_CLOEXEC
tracepoint:syscalls:sys_enter_fcntl /args.cmd == 0 || args.cmd == 1030/ { @call[tid] = 1; }
tracepoint:syscalls:sys_exit_fcntl /has_key(@call, tid)/ {
  if (args.ret >= 0) {
    ${taken("(uint64)args.ret")}
  }
  delete(@call, tid);
}
// As it begins: another thread may be given the same number before it ends.
tracepoint:syscalls:sys_enter_close { delete(@held, (pid, (uint64)args.fd)); }
${
  there.has("close_range")
    ? `// But for CLOSE_RANGE_CLOEXEC.
tracepoint:syscalls:sys_enter_close_range /(args.flags & 4) == 0/ {
  for ($kv : @held) {
    if ($kv.0.0 == pid && $kv.0.1 >= args.fd && $kv.0.1 <= args.max_fd) {
      delete(@held, $kv.0);
    }
  }
}
`
    : ""
}`;
}

// ── slab objects ──

function slabScript(asked: Asked): Written {
  const there = new Set(
    [...listProbes("tracepoint:kmem:*", thisMachine({}), { verbose: false })].map(({ probe }) => probe.split(":")[2]),
  );
  const taking = ["kmalloc", "kmalloc_node", "kmem_cache_alloc", "kmem_cache_alloc_node"].filter((name) =>
    there.has(name),
  );
  const condition = chosenCondition(asked.options);
  return {
    text: `${head(asked)}${taking
      .map(
        (name) => `tracepoint:kmem:${name} /args.ptr != 0 && ${condition}/ {
  @held[(uint64)0, (uint64)args.ptr] = (size=(uint64)args.bytes_alloc, stack=kstack, at=nsecs, comm=comm);
}
`,
      )
      .join("")}tracepoint:kmem:kfree, tracepoint:kmem:kmem_cache_free { delete(@held, ((uint64)0, (uint64)args.ptr)); }
${report(asked, { stack: "kstack", unit: "bytes", comm: asked.options.pid === undefined, cleared: undefined })}`,
    options: { pid: undefined, only: undefined },
  };
}

// ── at the end ──

function processEnds(chosen: boolean): string {
  const drop = (probe: string): string => `${probe} {
  for ($kv : @held) {
    if ($kv.0.0 == pid) {
      delete(@held, $kv.0);
    }
  }
}
`;
  return `${drop("tracepoint:sched:sched_process_exec")}${chosen ? "" : drop("tracepoint:sched:sched_process_exit /pid == tid/")}`;
}

interface Reported {
  readonly stack: "ustack" | "kstack";
  readonly unit: "bytes" | "descriptors";
  /** Whether it is told who took it. */
  readonly comm: boolean;
  /** What the handlers kept for themselves. */
  readonly cleared: string | undefined;
}

/** The sums by stack, largest last. */
function report(asked: Asked, { stack, unit, comm, cleared }: Reported): string {
  const older = asked.time("older", "s");
  const key = [
    ...(comm ? [...(stack === "ustack" ? ["$kv.0.0"] : []), "$kv.1.comm"] : []),
    ...(asked.has("objects") ? [unit === "descriptors" ? "$kv.0.1" : "(void *)$kv.0.1"] : []),
    "$kv.1.stack",
  ];
  const parts = key.length === 1 ? "$kv.0" : key.map((_, i) => `$kv.0.${i}`).join(", ");
  const kept =
    unit === "descriptors"
      ? `  for ($kv : @sizes) {
    @kept[${parts}] = $kv.1;
  }
`
      : `  for ($kv : @sizes) {
    @kept[${parts}] = (bytes=$kv.1, pieces=@pieces[${parts}]);
  }
`;
  return `end {
  for ($kv : @held) {
    if (${older === undefined ? "true" : `nsecs - $kv.1.at >= ${older}`}) {
      @sizes[${key.join(", ")}] += $kv.1.size;
      @pieces[${key.join(", ")}] += 1;
    }
  }
${kept}  clear(@sizes);
  clear(@pieces);
  clear(@held);
${cleared === undefined ? "" : `  clear(${cleared});\n`}}
`;
}
