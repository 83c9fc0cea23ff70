// `strobe record PROBES…`: writes events into a file, to ask them later.
import { closeSync, ftruncateSync, readFileSync, writeSync } from "node:fs";
import { hostname, machine, release } from "node:os";
import { version } from "../../package.json";
import { NotedTypes } from "../machine/contexts/recorded-types.ts";
import { thisMachine } from "../api/machine.ts";
import { openScript, type CodeChoices } from "../api/open.ts";
import { compileRecording, type RecordedScriptWish, type RecordingProgram } from "../api/record.ts";
import { compileForRecording } from "../api/replay.ts";
import { interruptsCalls } from "../linux/ffi.ts";
import { CLOCK_BOOTTIME, CLOCK_MONOTONIC, CLOCK_REALTIME, clockNs } from "../linux/processes/procfs.ts";
import { Recorder } from "../output/recorder.ts";
import { renderDiagnostic } from "../language/render-diagnostic.ts";
import { languageOf, languages } from "../language/registry.ts";
import { contextOfText } from "../machine/contexts/recorded-context.ts";
import type { ClockReading, RecordedLoss, RecordingCost, RecordingOrigin } from "../recordings/contents.ts";
import { formatVersion } from "../recordings/frames.ts";
import { RecordingWriter, type Resumed, type WrittenRing } from "../recordings/writer.ts";
import type { Session } from "../session/session.ts";
import { useColor } from "./errors.ts";
import { readText, tell } from "./files.ts";
import { readRunTime } from "./option-values.ts";
import { recordingFiles } from "../messages/recording-files.ts";
import { commandLine } from "../messages/on-demand.ts";
import { readPid, UsageError } from "./usage-error.ts";
import { readDuration, readSize } from "./quantities.ts";
import { createRecording, readRecording, reopenRecording } from "./recording-file.ts";
import { StatusLine } from "./status.ts";

interface RecordOptions {
  readonly file: string;
  readonly probes: readonly string[];
  readonly script?: RecordedScriptWish | undefined;
  readonly when?: string | undefined;
  readonly pid?: number | undefined;
  readonly command?: string | undefined;
  /** Milliseconds. */
  readonly duration?: number | undefined;
  readonly mostBytes?: number | undefined;
  /** Nanoseconds of events that are held in memory, and written at the end or when somebody asks. */
  readonly ring?: bigint | undefined;
  /** Goes on behind what the file has. */
  readonly append: boolean;
  /** Texts become hashes. */
  readonly redact: boolean;
  readonly stacks: { readonly kernel: boolean; readonly user: boolean };
  /** Measures what the handlers cost. */
  readonly stats: boolean;
  readonly quiet: boolean;
  readonly verbose: boolean;
}

/** Bytes of blocks that a ring holds unless --max-size says otherwise. */
const ringBytes = 256 << 20;

export async function record(argv: readonly string[]): Promise<number> {
  const options = readOptions(argv);
  const { pid, command, verbose, quiet, ring, redact } = options;
  const compileIt = (way?: CodeChoices): ReturnType<typeof compileRecording> =>
    compileRecording(options, thisMachine(), way);
  const program = compileIt();
  const types = new NotedTypes(thisMachine().types);
  if (!canReplay(options, program, types)) return 1;
  const before = options.append ? continued(options.file) : undefined;
  const descriptor = before?.descriptor ?? createRecording(options.file);
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
  // Else Node would open its debugger, to anybody on this machine.
  process.on("SIGUSR1", () => {});
  try {
    const write = (bytes: Uint8Array): void => {
      try {
        writeAll(descriptor, bytes);
      } catch (error) {
        // What comes now could not be written either; the writer tells at the end.
        stop();
        throw error;
      }
    };
    const writer = new RecordingWriter(
      write,
      ring === undefined ? undefined : { nanoseconds: ring, bytes: options.mostBytes ?? ringBytes },
    );
    const consumer = new Recorder({
      writer,
      clock: readClock,
      tell: quiet ? () => {} : tell,
      mostBytes: ring === undefined ? options.mostBytes : undefined,
      full: stop,
      before: before && { layouts: before.resumed.layouts.length, sites: before.resumed.sites },
      ring,
      redact,
      when: stop,
    });
    let snapshots = 0;
    const snapshot = async (): Promise<void> => {
      consumer.handOver();
      const path = numbered(options.file, ++snapshots);
      const into = createRecording(path);
      try {
        const written = await writer.writeHeld((bytes) => writeAll(into, bytes), readClock(), [consumer.cost]);
        if (!quiet) tell(ringSummary(path, written));
      } finally {
        closeSync(into);
      }
    };
    if (ring !== undefined)
      process.on("SIGUSR2", () => {
        snapshot().catch((error: Error) => tell(`WARNING: ${error.message}\n`));
      });
    session = await openScript(program.source, program.compiled, {
      consumer,
      pid,
      command,
      stats: options.stats,
      log: verbose ? (line) => tell(`${line}\n`) : undefined,
      recompile: (way) => compileIt(way).compiled,
      // The command's process is there, and waits.
      loaded({ childPid = 0 }) {
        if (before === undefined) writer.begin(originOf(argv, childPid, { ...options, types: types.said }));
        else writer.resume(before.resumed);
        const { layouts, sites } = writer;
        const known = layouts.length;
        if (before !== undefined && sites > 0) writer.clock(readClock());
        writer.describe(
          program.layouts,
          program.sites.map((site) => ({ ...site, layout: site.layout + known })),
          before === undefined ? undefined : types.said,
        );
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
    if (ring === undefined) {
      await writer.end({
        clock: readClock(),
        events: consumer.events + (before?.events ?? 0),
        lost: [...(before?.lost ?? []), ...lost],
        costs: [...(before?.costs ?? []), consumer.cost],
      });
      if (!quiet) tell(summary(options.file, consumer, writer.size - (before?.resumed.size ?? 0)));
    } else {
      const written = await writer.writeHeld(write, readClock(), [consumer.cost]);
      if (!quiet) tell(ringSummary(options.file, written));
    }
    return 0;
  } finally {
    closeSync(descriptor);
  }
}

function writeAll(descriptor: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length;) at += writeSync(descriptor, bytes, at);
}

/** `run.strobe` as `run.2.strobe`. */
function numbered(file: string, number: number): string {
  return file.endsWith(".strobe") ? `${file.slice(0, -".strobe".length)}.${number}.strobe` : `${file}.${number}`;
}

/**
 * Whether the script could run over what would be recorded; else says why it could not. `types` notes what it asks of the
 * kernel's types.
 */
function canReplay({ script }: RecordOptions, program: RecordingProgram, types: NotedTypes): boolean {
  if (script === undefined) return true;
  const { layouts, sites } = program;
  const contexts = layouts.map((layout) => contextOfText(layout.data, layout));
  const { source, language, positional } = script;
  const recording = { layouts, sites, contexts, origin: originOf([], 1, {}) };
  const { diagnostics } = compileForRecording(source, recording, { language, positional, types });
  for (const one of diagnostics) tell(renderDiagnostic(source, one, { color: useColor() }));
  return !diagnostics.some(({ severity }) => severity === "error");
}

interface Continued {
  readonly descriptor: number;
  readonly resumed: Resumed;
  readonly events: number;
  readonly lost: readonly RecordedLoss[];
  readonly costs: readonly RecordingCost[];
}

/** The recording that is to go on; what says where it ended is taken away. @throws UsageError, RecordingError */
function continued(file: string): Continued {
  const descriptor = reopenRecording(file);
  try {
    const recording = readRecording(descriptor, file);
    const { origin, resumed, span } = recording;
    if (origin.boot !== bootId() || origin.host !== hostname())
      throw new UsageError(recordingFiles.ofAnotherMachine(file));
    if (recording.version !== formatVersion)
      throw new UsageError(recordingFiles.ofAnotherVersion(file, recording.version));
    if (origin.redacted !== undefined) throw new UsageError(recordingFiles.hasHashes(file));
    const lost = [...recording.heads()].flatMap((head) => head.lost);
    ftruncateSync(descriptor, resumed.size);
    return { descriptor, resumed, events: span?.events ?? 0, lost, costs: recording.end?.costs ?? [] };
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

function bootId(): string {
  return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
}

function ringSummary(file: string, { events, lost, size, nanoseconds }: WrittenRing): string {
  const gone = lost.filter(({ cause }) => cause !== "stack").reduce((sum, { count }) => sum + count, 0);
  const seconds = (Number(nanoseconds) / 1e9).toFixed(1);
  return `${file}: ${events} events of the last ${seconds} s, ${size} bytes${gone === 0 ? "" : `; ${gone} events were lost`}\n`;
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

function originOf(
  argv: readonly string[],
  childPid: number,
  {
    script,
    redact,
    types,
  }: Partial<Pick<RecordOptions, "script" | "redact">> & { readonly types?: object | undefined },
): RecordingOrigin {
  return {
    strobe: version,
    host: hostname(),
    kernel: release(),
    machine: machine(),
    cpus: thisMachine().capabilities.cpus,
    command: ["strobe", "record", ...argv],
    clock: readClock(),
    childPid,
    boot: bootId(),
    ...(script === undefined ? {} : { script: script.source }),
    ...(types === undefined ? {} : { types }),
    ...(redact === true ? { redacted: "strings" } : {}),
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
    if (name === undefined) throw new UsageError(recordingFiles.recordHasNoOption(option));
    if (switches.has(name)) {
      given.set(name, "");
      continue;
    }
    const text = value ?? argv[++at];
    if (text === undefined || text === "") throw new UsageError(commandLine().needsValue(option));
    given.set(name, text);
  }
  const script = scriptOf(probes, given.get("execute"));
  if (probes.length === 0 && script === undefined) throw new UsageError(recordingFiles.nothingToRecord());
  if (given.has("pid") && given.has("command")) throw new UsageError(commandLine().commandAndPid("record"));
  const stacks = (given.get("stack") ?? "").split(",").filter((word) => word !== "");
  for (const word of stacks) if (word !== "kernel" && word !== "user") throw new UsageError(recordingFiles.stack(word));
  const redact = given.get("redact");
  if (redact !== undefined && redact !== "strings") throw new UsageError(recordingFiles.redact(redact));
  const [pid, time, size, ring] = [given.get("pid"), given.get("for"), given.get("most"), given.get("ring")];
  const append = given.has("append");
  if (append && ring !== undefined) throw new UsageError(recordingFiles.appendAndRing());
  if (append && given.has("command")) throw new UsageError(recordingFiles.appendAndCommand());
  if (append && redact !== undefined) throw new UsageError(recordingFiles.appendAndRedact());
  if (given.has("when") && ring === undefined) throw new UsageError(recordingFiles.whenWithoutRing());
  return {
    file: given.get("file") ?? "recording.strobe",
    probes,
    script,
    when: given.get("when"),
    ring: ring === undefined ? undefined : BigInt(readDuration("--ring", ring)),
    append,
    redact: redact !== undefined,
    pid: pid === undefined ? undefined : readPid("-p", pid),
    command: given.get("command"),
    duration: time === undefined ? undefined : readRunTime(time),
    mostBytes: size === undefined ? undefined : readSize("--max-size", size),
    stacks: { kernel: stacks.includes("kernel"), user: stacks.includes("user") },
    stats: given.has("stats"),
    quiet: given.has("quiet"),
    verbose: given.has("verbose"),
  };
}

/** The script among the words, taken out of them: a file of a language that strobe has, or a program behind -e. */
function scriptOf(words: string[], execute: string | undefined): RecordedScriptWish | undefined {
  const at = words.findIndex((word) =>
    languages.some(({ endings, parse }) => parse !== undefined && endings.some((ending) => word.endsWith(ending))),
  );
  const scripts = (at < 0 ? 0 : 1) + (execute === undefined ? 0 : 1);
  if (scripts === 0) return undefined;
  if (scripts === 2) throw new UsageError(recordingFiles.oneScript());
  // Behind it are its own words.
  const [name = "-e", ...positional] = at < 0 ? [] : words.splice(at);
  const source = { name, text: execute ?? readText(name) };
  return { source, language: languageOf(source.name, source.text), positional };
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
  "--ring": "ring",
  "--when": "when",
  "--append": "append",
  "--redact": "redact",
  "-e": "execute",
  "--execute": "execute",
  "--stats": "stats",
  "-q": "quiet",
  "--quiet": "quiet",
  "-v": "verbose",
  "--verbose": "verbose",
};
const switches: ReadonlySet<string> = new Set(["quiet", "verbose", "append", "stats"]);
