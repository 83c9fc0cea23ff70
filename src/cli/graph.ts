// `strobe graph FUNCTION…`: which functions of the kernel call which, by ftrace's function graph, without BPF.
import { closeSync } from "node:fs";
import { thisMachine } from "../api/machine.ts";
import type { ScriptOption } from "../language/program.ts";
import { matcher } from "../machine/wildcard.ts";
import { counted } from "../messages/message.ts";
import { tracers } from "../messages/tracers.ts";
import { argumentsText, registerText } from "../output/register-values.ts";
import { OutputClosed } from "../output/sink.ts";
import { FunctionGraph, type CallEvent } from "../session/tracefs/function-graph.ts";
import { commandTarget, processTarget, type Target } from "../session/live/target.ts";
import { print, tell } from "./files.ts";
import { readOptions, type Options } from "./options.ts";
import { onSignal, printerOf } from "./run.ts";
import { optionLines } from "./script-help.ts";
import { UsageError } from "./usage-error.ts";

const own: readonly ScriptOption[] = [
  {
    name: "depth",
    takes: "number",
    fallback: "0",
    description: "calls within calls that are shown: 1 is the functions alone, 0 all",
  },
  {
    name: "args",
    takes: "truth",
    fallback: "false",
    description: "arguments at the entry (Linux 6.15 with CONFIG_FUNCTION_TRACE_ARGS)",
  },
  {
    name: "retval",
    takes: "truth",
    fallback: "false",
    description: "what was returned (Linux 6.5 with CONFIG_FUNCTION_GRAPH_RETVAL)",
  },
];

const about = `draws the calls of functions of the kernel, and of all that they call, by ftrace's function graph.

  strobe graph 'vfs_read' --depth 4 --args --retval -c 'cat /etc/hostname'
  strobe graph 'tcp_v4_*' --for 5s
`;

export function graphHelp(): string {
  return `graph: ${about}\nOptions of its own:\n${optionLines(own)}\nOf strobe's options (strobe -h), it takes -p, -c, --for, -f, -o and -q.\n`;
}

/** FTRACE_RETFUNC_DEPTH of include/linux/ftrace.h: what a thread has room for. */
const deepest = 50;
/** Milliseconds between two looks at the buffers. */
const nap = 20;

/** The exit code. */
export async function graph(argv: readonly string[]): Promise<number> {
  const options = readOptions(argv, { source: { name: "graph", text: "" }, options: own });
  if (options.help) {
    print(graphHelp());
    return 0;
  }
  checkOptions(options);
  const { words, pid, command, duration, named } = options;
  const depth = String(named.get("depth") ?? "0");
  if (!/^\d{1,2}$/.test(depth) || Number(depth) > deepest) throw new UsageError(tracers.graphDepth(depth));
  const opened: number[] = [];
  let target: Target | undefined;
  let calls: FunctionGraph | undefined;
  try {
    if (command !== undefined) target = commandTarget(command, undefined);
    else if (pid !== undefined) target = processTarget([pid]);
    await target?.ready;
    const kallsyms = thisMachine().kallsyms();
    const matching = words.map(matcher);
    const namesAt = (address: bigint | undefined): readonly string[] =>
      address === undefined ? [] : kallsyms.namesAt(address);
    calls = new FunctionGraph({
      functions: words,
      depth: Number(depth),
      args: named.get("args") === true,
      retval: named.get("retval") === true,
      pid: target?.pid,
      otherNames: (name) => namesAt(kallsyms.address(name)).filter((other) => other !== name),
      isRoot: (func, names) => {
        const all = namesAt(kallsyms.start(func));
        return all.length === 0 || all.some((name) => names.has(name) || matching.some((is) => is(name)));
      },
      log: options.verbose ? (line) => tell(`${line}\n`) : () => {},
    });
    const printer = printerOf(options, opened);
    const draw = drawing(words, (line) => printer.text(Buffer.from(line), "cat"));
    await follow(calls, target, duration, draw, () => printer.flush());
    const say = (text: string): void => printer.trouble({ kind: "message", text: `WARNING: ${text}` });
    const { lost, leftOut, unfinished } = calls;
    if (lost > 0)
      say(
        `${counted(lost, "entry or return was", "entries and returns were")} lost: the buffer was full (a smaller --depth writes fewer)`,
      );
    if (leftOut > 0)
      say(`${counted(leftOut, "call is", "calls are")} left out: not within a call that was seen from its beginning`);
    if (unfinished > 0)
      say(
        `${counted(unfinished, "call has", "calls have")} no return here: it had not returned at the end, or was not seen`,
      );
    printer.end();
    const why = await target?.failure?.();
    if (why === undefined) return 0;
    tell(`ERROR: ${why}\n`);
    return 1;
  } catch (error) {
    if (!(error instanceof OutputClosed)) throw error;
    return 0;
  } finally {
    calls?.[Symbol.dispose]();
    target?.[Symbol.dispose]();
    for (const descriptor of opened) closeSync(descriptor);
  }
}

/** Until the time is over, the process has ended, or a signal came. */
async function follow(
  calls: FunctionGraph,
  target: Target | undefined,
  duration: number | undefined,
  draw: (event: CallEvent) => void,
  flush: () => void,
): Promise<void> {
  const state = { stopped: false };
  let wake = (): void => {};
  const stop = (): void => {
    state.stopped = true;
    wake();
  };
  onSignal(stop);
  void target?.ended.then(stop);
  calls.go();
  const timer = duration === undefined ? undefined : setTimeout(stop, duration);
  try {
    target?.go();
    while (!state.stopped) {
      if (calls.drain(draw) > 0) flush();
      await new Promise<void>((resolve) => {
        const sleep = setTimeout(resolve, nap);
        wake = () => {
          clearTimeout(sleep);
          resolve();
        };
      });
    }
  } finally {
    clearTimeout(timer);
  }
  calls.end();
  calls.drain(draw);
  flush();
}

function checkOptions({ words, only, execute, language, suite, recording, engine, boot }: Options): void {
  const given = { "-e": execute, "--lang": language, "--test": suite, "--in": recording, "--engine": engine, boot };
  const taken = Object.entries(given).find(([, value]) => value !== undefined);
  if (taken !== undefined) throw new UsageError(tracers.graphTakesNo(taken[0]));
  if (only !== undefined) throw new UsageError(tracers.graphProcess());
  if (words.length === 0) throw new UsageError(tracers.graphNeeds());
  const wrong = words.find((word) => !/^[\w.$*?[\]-]+$/.test(word) || !/[\w*?]/.test(word) || /^[^[]*-/.test(word));
  if (wrong !== undefined) throw new UsageError(tracers.graphFunction(wrong));
}

const step = "  ";

/** As the call-tree tools draw: a line where a function is entered, and one where it returns. */
function drawing(words: readonly string[], write: (line: string) => void): (event: CallEvent) => void {
  const machine = thisMachine();
  const kallsyms = machine.kallsyms();
  const known = new Map<bigint, { readonly name: string; readonly type: ReturnType<typeof machine.kernelFunction> }>();
  const functionAt = (address: bigint) => {
    let found = known.get(address);
    if (found === undefined) {
      const start = kallsyms.start(address);
      // Of several names of a function, the one that was asked for.
      const asked = start === undefined ? undefined : kallsyms.namesAt(start).find((one) => words.includes(one));
      const name = asked ?? kallsyms.lookup(address)?.symbol;
      found = { name: name ?? `0x${address.toString(16)}`, type: name === undefined ? undefined : typeOf(name) };
      known.set(address, found);
    }
    return found;
  };
  const typeOf = (name: string) => {
    // Of several of a name it is not told which.
    return (machine.functionsSharing?.(name) ?? []).length > 0 ? undefined : machine.kernelFunction(name);
  };
  const line = (thread: string, microseconds: string, text: string): void =>
    write(`${thread.padEnd(8)} ${microseconds.padStart(12)}  ${text}\n`);
  line("THREAD", "MICROSECONDS", "FUNCTION");
  return ({ thread, func, within, registers, nanoseconds, retval }) => {
    const { name, type } = functionAt(func);
    const indent = step.repeat(within);
    if (nanoseconds === undefined) {
      const args =
        registers === undefined ? "" : type === undefined ? "(…)" : `(${argumentsText(type.parameters, registers)})`;
      line(String(thread), "", `${indent}> ${name}${args}`);
      return;
    }
    const result =
      retval === undefined || type?.result.kind === "void"
        ? ""
        : ` = ${type === undefined ? `0x${retval.toString(16)}` : registerText(type.result, retval)}`;
    line(String(thread), (nanoseconds / 1000).toFixed(3), `${indent}< ${name}${result}`);
  };
}
