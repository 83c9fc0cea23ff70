// `strobe record PROBES…`: writes events into a file, to ask them later.
import { closeSync, writeSync } from "node:fs";
import { hostname, machine, release } from "node:os";
import { version } from "../../package.json";
import { thisMachine } from "../api/machine.ts";
import { openScript, type Way } from "../api/open.ts";
import { compileRecording } from "../api/record.ts";
import { interruptsCalls } from "../linux/ffi.ts";
import { CLOCK_BOOTTIME, CLOCK_MONOTONIC, CLOCK_REALTIME, clockNs } from "../linux/processes/procfs.ts";
import { Recorder } from "../output/recorder.ts";
import type { ClockReading, RecordingOrigin } from "../recordings/contents.ts";
import { RecordingWriter } from "../recordings/writer.ts";
import type { Session } from "../session/session.ts";
import { tell } from "./files.ts";
import { readRunTime } from "./options.ts";
import { readPid, UsageError } from "./usage-error.ts";
import { readSize } from "./quantities.ts";
import { createRecording } from "./recording-file.ts";
import { StatusLine } from "./status.ts";

interface RecordOptions {
  readonly file: string;
  readonly probes: readonly string[];
  readonly pid?: number | undefined;
  readonly command?: string | undefined;
  /** Milliseconds. */
  readonly duration?: number | undefined;
  readonly mostBytes?: number | undefined;
  readonly stacks: { readonly kernel: boolean; readonly user: boolean };
  readonly quiet: boolean;
  readonly verbose: boolean;
}

export async function record(argv: readonly string[]): Promise<number> {
  const options = readOptions(argv);
  const { pid, command, verbose, quiet } = options;
  const compileIt = (way?: Way): ReturnType<typeof compileRecording> => compileRecording(options, thisMachine(), way);
  const program = compileIt();
  const descriptor = createRecording(options.file);
  let session: Session | undefined;
  let stopped = false;
  const stop = (): void => {
    stopped = true;
    session?.stop();
  };
  for (const [signal, number] of [
    ["SIGHUP", 1],
    ["SIGINT", 2],
    ["SIGTERM", 15],
  ] as const) {
    process.on(signal, stop);
    interruptsCalls(number);
  }
  try {
    const write = (bytes: Uint8Array): void => {
      try {
        for (let at = 0; at < bytes.length;) at += writeSync(descriptor, bytes, at);
      } catch (error) {
        // What comes now could not be written either; the writer tells at the end.
        stop();
        throw error;
      }
    };
    const writer = new RecordingWriter(write);
    const consumer = new Recorder({
      writer,
      layouts: program.layouts,
      clock: readClock,
      tell: quiet ? () => {} : tell,
      mostBytes: options.mostBytes,
      full: stop,
    });
    session = await openScript(program.source, program.compiled, {
      consumer,
      pid,
      command,
      log: verbose ? (line) => tell(`${line}\n`) : undefined,
      recompile: (way) => compileIt(way).compiled,
      // The command's process is there, and waits.
      loaded({ childPid = 0 }) {
        writer.begin(originOf(argv, childPid));
        writer.describe(program.layouts, program.sites);
      },
    });
    if (stopped) session.stop();
    const timer = options.duration === undefined ? undefined : setTimeout(() => session?.stop(), options.duration);
    const status = quiet
      ? undefined
      : StatusLine.start(
          consumer,
          () => undefined,
          () => [],
        );
    await session.ended.finally(() => {
      clearTimeout(timer);
      status?.[Symbol.dispose]();
    });
    const lost = consumer.finish();
    await writer.end({ clock: readClock(), events: consumer.events, lost });
    if (!quiet) tell(summary(options.file, consumer, writer.size));
    return 0;
  } finally {
    closeSync(descriptor);
  }
}

function summary(file: string, { events, lost, lostStacks }: Recorder, bytes: number): string {
  const each = events === 0 ? "" : `, ${(bytes / events).toFixed(1)} an event`;
  return `${file}: ${events} events, ${bytes} bytes${each}${lost === 0 ? "" : `; ${lost} events were lost`}${lostStacks === 0 ? "" : `; ${lostStacks} stacks were lost`}\n`;
}

function readClock(): ClockReading {
  return {
    boot: String(clockNs(CLOCK_BOOTTIME)),
    monotonic: String(clockNs(CLOCK_MONOTONIC)),
    wall: String(clockNs(CLOCK_REALTIME)),
  };
}

function originOf(argv: readonly string[], childPid: number): RecordingOrigin {
  return {
    strobe: version,
    host: hostname(),
    kernel: release(),
    machine: machine(),
    cpus: thisMachine().capabilities.cpus,
    command: ["strobe", "record", ...argv],
    clock: readClock(),
    childPid,
  };
}

function readOptions(argv: readonly string[]): RecordOptions {
  const probes: string[] = [];
  const given = new Map<string, string>();
  for (let at = 0; at < argv.length; at++) {
    const word = argv[at];
    if (word === "--") {
      probes.push(...argv.slice(at + 1));
      break;
    }
    if (!word.startsWith("-") || word === "-") {
      probes.push(word);
      continue;
    }
    const [option, value] = word.startsWith("--") ? word.split(/=(.*)/s, 2) : [word, undefined];
    const name = names[option];
    if (name === undefined) throw new UsageError(`strobe record has no option ${option}`);
    if (switches.has(name)) {
      given.set(name, "");
      continue;
    }
    const text = value ?? argv[++at];
    if (text === undefined || text === "") throw new UsageError(`${option} needs a value`);
    given.set(name, text);
  }
  if (probes.length === 0)
    throw new UsageError("nothing to record: name probes, as in strobe record 'tracepoint:sched:*'");
  if (given.has("pid") && given.has("command"))
    throw new UsageError("cannot use both -c and -p: record a process that runs, or one that is started");
  const stacks = (given.get("stack") ?? "").split(",").filter((word) => word !== "");
  for (const word of stacks)
    if (word !== "kernel" && word !== "user")
      throw new UsageError(`--stack takes kernel, user or kernel,user, not "${word}"`);
  const [pid, time, size] = [given.get("pid"), given.get("for"), given.get("most")];
  return {
    file: given.get("file") ?? "recording.strobe",
    probes,
    pid: pid === undefined ? undefined : readPid("-p", pid),
    command: given.get("command"),
    duration: time === undefined ? undefined : readRunTime(time),
    mostBytes: size === undefined ? undefined : readSize("--max-size", size),
    stacks: { kernel: stacks.includes("kernel"), user: stacks.includes("user") },
    quiet: given.has("quiet"),
    verbose: given.has("verbose"),
  };
}

const names: Readonly<Record<string, string>> = {
  "-o": "file",
  "--output": "file",
  "-c": "command",
  "--cmd": "command",
  "-p": "pid",
  "--pid": "pid",
  "--for": "for",
  "--stack": "stack",
  "--max-size": "most",
  "-q": "quiet",
  "--quiet": "quiet",
  "-v": "verbose",
  "--verbose": "verbose",
};
const switches: ReadonlySet<string> = new Set(["quiet", "verbose"]);
