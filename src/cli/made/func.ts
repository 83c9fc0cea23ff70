// `strobe func`: how often functions are called and how long they take, or each call with its arguments and its result.
import { thisMachine } from "../../api/machine.ts";
import { listProbes } from "../../providers/registry.ts";
import { questions } from "../../messages/questions.ts";
import { UsageError } from "../usage-error.ts";
import { valuesIn } from "./sighting.ts";
import { compiles, writtenProbe, type Asked, type MadeScript, type Written } from "./made-script.ts";

/** Each has a handler of its own, for its own arguments. */
const mostLines = 200;

export const func: MadeScript = {
  name: "func",
  about: `how often are functions called, how long do they take, and with which arguments?

Each word is a function, with wildcards: one of the kernel, or behind BINARY: one of a program or library.
  strobe func -c './server --once' './server:handle_*'
  strobe func -p 1234 libc:getaddrinfo --lines
  strobe func 'vfs_*' --least 10ms
For each function, once it has returned: how often, and the average and sum of its nanoseconds, with all that it calls.
--lines shows each call when it returns: its microseconds, its arguments as they were when it began, and what it returned,
as far as debug information or the kernel's types tell.
@unfinished counts what had not returned at the end, or left without returning, as by an exception.
Cost: about two microseconds for each call.
`,
  options: [
    {
      name: "lines",
      takes: "truth",
      fallback: "false",
      description: "a line for each call, with its arguments and its result",
    },
    { name: "hist", takes: "truth", fallback: "false", description: "how the times of each function are distributed" },
    { name: "least", takes: "text", fallback: '""', description: "only calls that take so long: 50us, 10ms, 2s" },
    { name: "stack", takes: "truth", fallback: "false", description: "by stack, or with each line its stack" },
  ],
  write,
};

interface Place {
  readonly space: "kernel" | "user";
  /** Behind the kind. */
  readonly functions: string;
}

function write(asked: Asked): Written {
  if (asked.words.length === 0) throw new UsageError(questions.whichFunctions());
  const places = asked.words.map(placeOf);
  const [{ space }] = places;
  if (places.some((one) => one.space !== space)) throw new UsageError(questions.functionsOfOneSpace());
  if (asked.has("lines") && asked.has("hist")) throw new UsageError(questions.linesOrHist());
  const parts = asked.has("lines") ? shown(places, asked) : [{ functions: places.map(({ functions }) => functions) }];
  const heading = `begin {
  printf("%-8s %-7s %-15s %12s %s\\n", "TIME", "THREAD", "COMM", "MICROSECONDS", "CALL");
}

`;
  return {
    text: `${asked.has("lines") ? heading : ""}${parts.map((part) => handlers(space, part, asked)).join("\n")}
end {
  for ($one : @from) {
    @unfinished[$one.0.1] = count();
  }
  clear(@from);${space === "kernel" ? "\n  clear(@level);" : ""}
}
`,
  };
}

function placeOf(word: string): Place {
  const [, kind, functions = ""] = /^(?:(uprobe|u|kprobe|k):)?(.+)$/s.exec(word) ?? [];
  if (/[\s{},;"]/.test(functions)) throw new UsageError(questions.functionName(word));
  const user = kind === undefined ? functions.includes(":") : kind.startsWith("u");
  if (user && !functions.includes(":")) throw new UsageError(questions.functionOfProgram(word));
  return { space: user ? "user" : "kernel", functions };
}

/** Functions whose calls are told alike. */
interface Part {
  readonly functions: readonly string[];
  /** What a line shows of a call: a format and its values. */
  readonly line?: { readonly format: string; readonly values: readonly string[] };
}

function handlers(space: Place["space"], { functions, line }: Part, asked: Asked): string {
  const kind = space === "user" ? "u" : "k";
  const specs = (returns: string): string => functions.map((name) => `${kind}${returns}probe:${name}`).join(",\n");
  const stack = asked.has("stack") ? `${kind}stack` : undefined;
  const least = asked.time("least", "us");
  const key = stack === undefined ? "func" : `func, ${stack}`;
  const told =
    line === undefined
      ? asked.has("hist")
        ? `@us[${key}] = hist($ns / 1000);`
        : `@ns[${key}] = stats($ns);`
      : `printf("%-8s %-7d %-15s %8d.%03d ${line.format}${stack === undefined ? "" : "%s"}\\n", ${[`strftime("%H:%M:%S", nsecs)`, "tid", "comm", "$ns / 1000", "$ns % 1000", ...line.values, ...(stack === undefined ? [] : [stack])].join(", ")});`;
  // Of a command's processes, the command's own.
  const guard = asked.options.command === undefined || asked.options.switches.follow ? "" : "\n/pid == cpid/";
  // On x86-64 a return takes its address from the stack. Levels would not stand functions that exceptions and longjmp() leave.
  const [enter, leave, ended] =
    space === "user"
      ? ["", `(tid, func, (uint64)reg("sp")${process.arch === "x64" ? " - 8" : ""})`, ""]
      : [
          "\n  @level[$thread, func]++;",
          "($thread, func, (uint64)@level[$thread, func])",
          "\n    @level[$thread, func]--;",
        ];
  const begun = space === "user" ? `(tid, func, (uint64)reg("sp"))` : leave;
  // Whoever was there before has left without returning.
  const left = space === "user" ? `\n  if (has_key(@from, $call)) {\n    @unfinished[func] = count();\n  }` : "";
  // Each CPU has an idle thread with the number 0.
  const thread = space === "user" ? "" : "\n  $thread = tid == 0 ? -1 - (int64)cpu : (int64)tid;";
  return `${specs("")}${guard} {${thread}${enter}
  $call = ${begun};${left}
  @from[$call] = nsecs;
}

${specs("ret")} {${thread}
  $call = ${leave};
  if (has_key(@from, $call)) {
    $ns = nsecs - @from[$call];
    ${least === undefined ? told : `if ($ns >= ${least}) {\n      ${told}\n    }`}
    delete(@from, $call);${ended}
  }
}
`;
}

/** How a value of a call is printed: a format, and what fills it. */
interface Value {
  readonly probe: string;
  readonly format: string;
  readonly values: readonly string[];
}

/** A part for each function, with what it is given and gives back. */
function shown(places: readonly Place[], { options: { pid } }: Asked): readonly Part[] {
  const listed = (probe: string): ReadonlyMap<string, readonly string[]> => {
    const found = new Map<string, readonly string[]>();
    const options = { verbose: true, ...(pid === undefined ? {} : { pid }) };
    for (const { probe: name, details = [] } of listProbes(probe, thisMachine({}), options)) {
      const written = writtenProbe(name);
      found.set(written.slice(written.indexOf(":") + 1), valuesIn(details));
      if (found.size > mostLines) throw new UsageError(questions.tooManyForLines(probe, mostLines));
    }
    return found;
  };
  const functions = places.flatMap(({ space, functions: pattern }) => {
    const kind = space === "user" ? "u" : "k";
    const results = listed(`${kind}retprobe:${pattern}`);
    const found = [...listed(`${kind}probe:${pattern}`)].filter(([name]) => results.has(name));
    // What is not there is told as for any script.
    if (found.length === 0) return [{ name: pattern, given: [], results: [] }];
    return found.map(([name, details]) => ({
      name,
      given: details.map((text) => valueOf(`${kind}probe:${name}`, text, "args.")),
      results: (results.get(name) ?? []).map((text) => valueOf(`${kind}retprobe:${name}`, text, "")),
    }));
  });
  const all = functions.flatMap(({ given, results }) => [...given, ...results]);
  const readable = compiles("func", all.map(reading).join("\n"))
    ? all
    : all.filter((one) => compiles("func", reading(one)));
  const told = (value: Value): Value => (readable.includes(value) ? value : { ...value, format: "?", values: [] });
  return functions.map(({ name, given, results }) => {
    const [inside, behind] = [given.map(told), results.map(told)];
    return {
      functions: [name],
      line: {
        format: `%s(${inside.map(({ format }) => format).join(", ")})${behind.map(({ format }) => ` = ${format}`).join("")}`,
        values: ["func", ...[...inside, ...behind].flatMap(({ values }) => values)],
      },
    };
  });
}

/** Some values are where no probe can read them, as in vector registers. */
function reading({ probe, values }: Value): string {
  return `${probe} { print((${values.join(", ")}, 0)); }`;
}

/** `const char* path`: how it is printed. */
function valueOf(probe: string, text: string, before: string): Value {
  const [, type = "", name = ""] = /^(.*?)\s*(\w+)$/s.exec(text) ?? [];
  const value = `${before}${name}`;
  if (/^(?:const )?char(?: const)?\s*\*$/.test(type)) return { probe, format: "%s", values: [`str(${value})`] };
  if (type.endsWith("*")) return { probe, format: "%p", values: [value] };
  if (/\b(?:int|long|short|unsigned|[us]?int\d+_t|size_t|ssize_t|pid_t|u\d+|s\d+|__u\d+|off_t|loff_t)$/.test(type))
    return { probe, format: "%d", values: [value] };
  // A record of one member can be printed whatever it is.
  return { probe, format: "%s", values: [`(${name}=${value})`] };
}
