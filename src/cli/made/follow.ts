// `strobe follow`: one object, from the moment its address is seen until it is freed: every call of chosen functions that
// gets it as an argument, with the function, the argument's number, and what is in the object then.
import { thisMachine } from "../../api/machine.ts";
import type { Listed } from "../../providers/provider.ts";
import { findProvider, listProbes } from "../../providers/registry.ts";
import { questions } from "../../messages/questions.ts";
import { UsageError } from "../usage-error.ts";
import { chosenCondition } from "./chosen.ts";
import { writtenProbe, type Asked, type MadeScript, type Written } from "./made-script.ts";
import { readSighting, valuesIn, type Sighting } from "./sighting.ts";

/** Integer arguments in registers: six on x86-64, and more than most functions have elsewhere. */
const most = 6;

export const follow: MadeScript = {
  name: "follow",
  about: `what happens to an object, from the moment it is seen until it is freed?

The first word says where an object is first seen, and what of the event it is: retval, args.NAME, a member of those; the
first argument unless said. The others choose functions: each call that gets an object as one of its first ${most} arguments
is a line, with the argument's number. Of a program they are all of its functions unless said.
  strobe follow -c ./server 'uprobe:./server:conn_open retval' 'conn_*'
  strobe follow -c ./server 'uprobe:./server:conn_open retval' --value state
  strobe follow -p 1234 'uprobe:./server:conn_read args.c' --value state --writes state:4
  strobe follow 'kprobe:tcp_v4_connect args.sk' 'tcp_*' 'inet_*' --value sk_state --count 1
A ? behind the number: nothing tells how many arguments the function has, so that it may be what an earlier call left.
An object ends where free(), or in the kernel kfree() or a slab cache, gets its address: --free names another place.
--value is a member, or OFFSET:TYPE: 0:u16 is what is at its beginning.
Cost: one to two microseconds for each call of a chosen function, whatever it gets.
`,
  options: [
    {
      name: "value",
      takes: "text",
      fallback: '""',
      description: "a member of the object, or OFFSET:TYPE, with each call",
    },
    {
      name: "type",
      takes: "text",
      fallback: '""',
      description: "what the object is, where its probe does not tell: 'struct conn'",
    },
    { name: "if", takes: "text", fallback: '""', description: "a condition on the event that it is seen in" },
    { name: "count", takes: "number", fallback: "100", description: "so many objects, the first ones" },
    { name: "free", takes: "text", fallback: '""', description: "where an object ends: PROBE OBJECT" },
    {
      name: "writes",
      takes: "text",
      fallback: '""',
      description: "MEMBER:BYTES: who writes this member, by a hardware watchpoint",
    },
    { name: "stack", takes: "truth", fallback: "false", description: "the stack with each line" },
  ],
  write,
};

function write(asked: Asked): Written {
  const [first, ...patterns] = asked.words;
  if (first === undefined) throw new UsageError(questions.followNeeds());
  const seen = readSighting("strobe follow", first, undefined);
  if (seen.probe === undefined) throw new UsageError(questions.followTakesProbe(first));
  const user = seen.space === "user";
  const type = asked.text("type");
  const value = asked.text("value");
  const writes = asked.text("writes");
  const condition = user
    ? asked.options.command === undefined
      ? "true"
      : "pid == cpid"
    : chosenCondition(asked.options);
  const object =
    type === undefined ? seen.object : `(${type.replace(/\s*\*?$/, "")} *)${user ? "uptr" : "kptr"}(${seen.object})`;
  const space = user ? "(uint64)pid" : "(uint64)0";
  const stack = asked.has("stack") ? (user ? "ustack" : "kstack") : undefined;
  const line = (what: string, place: string, more = ""): string =>
    `printf("%12.3f %-7d %-15s %p %-4s %s${value === undefined ? "" : " %s"}${stack === undefined ? "" : "%s"}\\n", (nsecs - @began) / 1000000.0, tid, comm, (void *)$o, ${what}, ${place}${value === undefined ? "" : `, (${quotedValue(value)}=${valueOf(value)})`}${stack === undefined ? "" : `, ${stack}`});${more}`;
  const calls = callProbes(seen, patterns, asked)
    .map(
      ({ probes, known }) => `${probes.join(",\n")}
/@followed > 0/ {
${Array.from(
  { length: known ?? most },
  (_, i) => `  if (has_key(@objects, (${space}, (uint64)arg${i}))) {
    $o = (uint64)arg${i};
    $object = @objects[${space}, $o];
    ${line(`"${i}${known === undefined ? "?" : ""}"`, "func")}
  }
`,
).join("")}}
`,
    )
    .join("");
  const sighting = `${seen.probe} /${[condition, asked.text("if") ?? "true"].map((one) => `(${one})`).join(" && ")}/ {
  $o = (uint64)(${seen.object});
  if ($o != 0 && !has_key(@objects, (${space}, $o)) && @followed < ${asked.number("count", 100)}) {
    @followed++;
    @objects[${space}, $o] = ${object};
    $object = @objects[${space}, $o];
    ${line('"seen"', "func")}${writes === undefined ? "" : `\n    watch("member", &$object.${memberOf(writes)});\n    @watched[${space}, (uint64)&$object.${memberOf(writes)}] = 1;`}
  }
}
`;
  return {
    first: `${seen.probe} /${asked.text("if") ?? "true"}/ {
  $object = ${object};${value === undefined ? "" : `\n  print(${valueOf(value)});`}
}
`,
    text: `begin {
  @began = nsecs;
  printf("%12s %-7s %-15s %-14s %-4s %s\\n", "MILLISECONDS", "THREAD", "COMM", "OBJECT", "ARG", "FUNCTION");
}

// Before the object is seen, so that the call that shows it is one line.
${calls}
${sighting}
${ends(asked, user)
  .map(
    (end) => `${end.probe} {
  $o = (uint64)(${end.object});
  if (has_key(@objects, (${space}, $o))) {
    $object = @objects[${space}, $o];
    ${line('"free"', end.probe?.startsWith("tracepoint:") ? "probe" : "func")}${writes === undefined ? "" : `\n    unwatch(&$object.${memberOf(writes)});\n    delete(@watched, (${space}, (uint64)&$object.${memberOf(writes)}));`}
    delete(@objects, (${space}, $o));
  }
}
`,
  )
  .join("")}${writes === undefined ? "" : writers(writes, space, user)}
end {
  clear(@objects);
  clear(@followed);
  clear(@began);${writes === undefined ? "" : "\n  clear(@watched);"}
}
`,
    options: user ? {} : { pid: undefined, only: undefined },
  };
}

interface Calls {
  readonly probes: readonly string[];
  /** How many arguments these functions have in registers; undefined where nothing tells. */
  readonly known: number | undefined;
}

/** More functions are taken by their wildcard, as it is. */
const mostNamed = 2000;

/** Registers beyond a function's own arguments hold what was left in them. */
function callProbes(seen: Sighting, patterns: readonly string[], { options: { pid } }: Asked): readonly Calls[] {
  const user = seen.space === "user";
  const [, binary = ""] = seen.probe?.split(":") ?? [];
  if (!user && patterns.length === 0) throw new UsageError(questions.whichCalls());
  const byArguments = new Map<number | undefined, Set<string>>();
  const add = (known: number | undefined, probe: string): void => {
    const probes = byArguments.get(known) ?? new Set();
    byArguments.set(known, probes.add(probe));
  };
  for (const pattern of patterns.length === 0 ? ["*"] : patterns) {
    if (!pattern.includes(":") && !/^[\w.*?]+$/.test(pattern)) throw new UsageError(questions.noFunctionName(pattern));
    const [kind = "", ...rest] = pattern.split(":");
    const probe =
      rest.length === 0
        ? user
          ? `uprobe:${binary}:${pattern}`
          : `kprobe:${pattern}`
        : findProvider(kind) === undefined
          ? `uprobe:${pattern}`
          : pattern;
    const found: Listed[] = [];
    for (const one of listProbes(probe, thisMachine({}), { verbose: true, ...(pid === undefined ? {} : { pid }) })) {
      found.push(one);
      if (found.length > mostNamed) break;
    }
    // What is not there is told as for any script.
    if (found.length === 0 || found.length > mostNamed) add(undefined, probe);
    else
      for (const { probe: name, details = [] } of found)
        add(details.length === 0 ? undefined : Math.min(most, valuesIn(details).length), writtenProbe(name));
  }
  return [...byArguments].map(([known, probes]) => ({ known, probes: [...probes] }));
}

/** Where an object ends. */
function ends(asked: Asked, user: boolean): readonly Sighting[] {
  const text = asked.text("free");
  if (text !== undefined) {
    const end = readSighting("--free", text, user ? undefined : "kprobe");
    if (end.probe === undefined) throw new UsageError(questions.freeTakesProbe(text));
    return [end];
  }
  if (user) return [{ probe: "uprobe:libc:free", object: "arg0", space: "user" }];
  return [{ probe: "tracepoint:kmem:kfree,\ntracepoint:kmem:kmem_cache_free", object: "args.ptr", space: "kernel" }];
}

/** `state`, `sk.sk_state`; `0:u16`: what is so many bytes behind its beginning. */
function valueOf(text: string): string {
  const [, offset, type] = /^(\d+):([us])(?:8|16|32|64)$/.exec(text) ?? [];
  if (offset !== undefined && type !== undefined)
    return `*(${type === "u" ? "uint" : "int"}${/\d+$/.exec(text)?.[0]} *)((uint8 *)$object + ${offset})`;
  if (!/^[A-Za-z_]\w*(?:(?:\.|->)[A-Za-z_]\w*|\[\d+\])*$/.test(text)) throw new UsageError(questions.member(text));
  return `$object.${text.replaceAll("->", ".")}`;
}

function quotedValue(text: string): string {
  return /^\d/.test(text) ? "value" : text.replaceAll(/\W+/g, "_");
}

function memberOf(writes: string): string {
  const [, member] = /^([A-Za-z_][\w.]*):[1248]$/.exec(writes) ?? [];
  if (member === undefined) throw new UsageError(questions.written(writes));
  return member;
}

/** What is written once it was freed is another's. */
function writers(writes: string, space: string, user: boolean): string {
  const bytes = writes.split(":")[1];
  return `watchpoint:member:${bytes}:w /has_key(@watched, (${space}, (uint64)args.address))/ {
  printf("%12.3f %-7d %-15s %-14p %-4s %s %s\\n", (nsecs - @began) / 1000000.0, tid, comm, args.address, "set", ${user ? 'usym(reg("ip"))' : 'ksym(reg("ip"))'}, (${writes.split(":")[0].replaceAll(/\W+/g, "_")}=args.value));
}
`;
}
