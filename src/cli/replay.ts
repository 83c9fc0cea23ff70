// `strobe replay FILE …`: a script over a recording; `strobe info FILE`: what a recording holds.
import { closeSync } from "node:fs";
import { compileForRecording, openReplay } from "../api/replay.ts";
import { isPending } from "../linux/processes/pending-signals.ts";
import { shownText } from "../output/shown-text.ts";
import { isTerminal } from "../linux/ffi.ts";
import { OutputClosed } from "../output/sink.ts";
import { RecordedProbes, type ReplayableRecording } from "../providers/recorded.ts";
import { lossText, type RecordedPart, type RecordingCost, type RecordingOrigin } from "../recordings/contents.ts";
import { writtenNames } from "../recordings/written-names.ts";
import type { EventBlock } from "../recordings/layout.ts";
import type { Session } from "../session/session.ts";
import { print, tell } from "./files.ts";
import { readOptions, type Options } from "./options.ts";
import { recordingFiles } from "../messages/recording-files.ts";
import { UsageError } from "./usage-error.ts";
import { Progress } from "./progress.ts";
import { readDuration } from "./quantities.ts";
import { openRecording } from "./recording-file.ts";
import { onSignal, printerOf, showDiagnostics, stopNumbers } from "./run.ts";
import { readScript } from "./script.ts";

/** `strobe replay FILE [--from TIME] [--to TIME] …`: as without, over the file. */
export async function replay(argv: readonly string[]): Promise<number> {
  const options = readOptions(argv);
  const [file, ...words] = options.words;
  if (file === undefined) throw new UsageError(recordingFiles.replayTakes());
  return replayFile(file, { ...options, words });
}

export async function replayFile(file: string, options: Options): Promise<number> {
  refuseUseless(options);
  const progress = Progress.start(`replaying ${file}`);
  const opened = openRecording(file, progress);
  try {
    return await runOver(opened.recording, options, progress);
  } finally {
    progress?.hide();
    opened[Symbol.dispose]();
  }
}

/** A script over a recording that is open. */
export async function runOver(recording: ReplayableRecording, options: Options, progress?: Progress): Promise<number> {
  if (options.list) return list(recording, options);
  const { source, positional, language } = readScript(options);
  const { named, pid, only, probeFilter, stamp } = options;
  const { unsafe } = options.switches;
  const script = compileForRecording(source, recording, {
    language,
    positional,
    named,
    pid,
    only,
    unsafe,
    probeFilter,
    stamp,
  });
  showDiagnostics(source, script, options);
  if (script.plan === undefined) return 1;
  const descriptors: number[] = [];
  const consumer = printerOf(options, descriptors);
  consumer.beforeWrite = progress?.hide;
  let session: Session | undefined;
  let opening: Session | undefined;
  let stopped = false;
  onSignal(() => {
    stopped = true;
    consumer.hurry();
    (session ?? opening)?.stop();
  });
  try {
    session = await openReplay(script.plan, recording, {
      consumer,
      unsafe,
      top: options.top,
      from: timeOf("--from", options.from),
      to: timeOf("--to", options.to),
      interrupted: () => isPending(stopNumbers),
      loaded(one) {
        opening = one;
      },
    });
    if (stopped) session.stop();
    const { exitCode } = await session.ended;
    progress?.hide();
    consumer.end();
    return exitCode;
  } catch (error) {
    if (!(error instanceof OutputClosed)) throw error;
    return 0;
  } finally {
    for (const descriptor of descriptors) closeSync(descriptor);
  }
}

function timeOf(flag: string, text: string | undefined): bigint | undefined {
  return text === undefined ? undefined : BigInt(readDuration(flag, text));
}

/** What asks for a live machine. @throws UsageError */
function refuseUseless({ command, maxOverhead, dryRun, explain, emit, suite, debug, switches }: Options): void {
  const { follow, stats, warnings } = switches;
  const asked = [
    ["-c", command !== undefined],
    ["--follow", follow === true],
    ["--max-overhead", maxOverhead !== undefined],
    ["--stats", stats === true],
    ["--dry-run", dryRun],
    ["--explain", explain],
    ["-k", warnings === true],
    ["--emit", emit !== undefined],
    ["--test and --bench", suite !== undefined],
    ["-d", debug.length > 0],
  ] as const;
  const found = asked.find(([, is]) => is);
  if (found !== undefined) throw new UsageError(recordingFiles.forLiveTraces(found[0]));
}

function list(recording: ReplayableRecording, { words, verbose }: Options): number {
  let found = false;
  const line = isTerminal(1) ? shownText : (text: string): string => text;
  for (const { probe, details = [] } of new RecordedProbes(recording).list(words[0], verbose)) {
    found = true;
    print([probe, ...details].map((text) => `${line(text)}\n`).join(""));
  }
  if (!found) tell(`strobe: the recording has no probe that matches \`${words[0] ?? "*"}\`\n`);
  return found ? 0 : 1;
}

/** `strobe info FILE` */
export function recordingInfo(argv: readonly string[]): number {
  const [file] = argv;
  if (file === undefined || argv.length > 1) throw new UsageError(recordingFiles.infoTakes());
  const progress = Progress.start(`reading ${file}`);
  const opened = openRecording(file, progress);
  try {
    showInfo(opened.recording, () => progress?.hide());
  } finally {
    progress?.hide();
    opened[Symbol.dispose]();
  }
  return 0;
}

function showInfo(recording: ReplayableRecording, read: () => void): void {
  const { origin, span, end, cut, size } = recording;
  const start = BigInt(origin.clock.boot);
  const events = new Map<number, number>();
  const probes = new RecordedProbes(recording);
  for (const { block } of recording.blocks(undefined, () => false)) countSites(recording, probes, block, events);
  const seconds = (nanoseconds: bigint): string => `${(Number(nanoseconds) / 1e9).toFixed(3)} s`;
  const count = span?.events ?? 0;
  const ours = origin.strobe !== "";
  const lines: (readonly [string, string])[] = [
    ...(origin.parts ?? [origin]).flatMap(recordedLines),
    ...(origin.parts === undefined ? [] : [["merged", origin.command.join(" ")] as const]),
    [
      "events",
      span === undefined ? "none" : `${count}, from ${seconds(span.first - start)} to ${seconds(span.last - start)}`,
    ],
    ["size", `${size} bytes${count === 0 ? "" : `, ${(size / count).toFixed(1)} an event`}`],
    [
      "end",
      ours && end === undefined ? `it was cut short: ${cut} bytes behind the last whole block are left out` : "whole",
    ],
  ];
  if (origin.script !== undefined) lines.push(["script", origin.script.name]);
  if (origin.redacted !== undefined) lines.push(["redacted", "texts are hashes"]);
  for (const words of origin.then ?? []) lines.push(["then", words.join(" ")]);
  const lost = [...recording.heads()].flatMap((head) => head.lost);
  if (lost.length === 0) lines.push(["lost", "nothing"]);
  for (const loss of lost) lines.push(["lost", `${lossText(loss)} (${loss.cause})`]);
  // A recording that went on has a probe's site from each run.
  const byName = new Map<string, number>();
  for (const [site, number] of events) {
    const known = recording.sites.at(site);
    const name = known?.name ?? String(site);
    const part = known === undefined ? undefined : recording.layouts[known.layout].part;
    const host = part === undefined ? undefined : origin.parts?.[part].name;
    const key = host === undefined ? name : `${name} on ${host}`;
    byName.set(key, (byName.get(key) ?? 0) + number);
  }
  for (const [name, number] of [...byName].sort((a, b) => b[1] - a[1])) lines.push(["probe", `${name}  ${number}`]);
  for (const cost of end?.costs ?? []) lines.push(...costLines(cost, origin.cpus));
  for (const [path, buildId] of filesOf(recording)) lines.push(["code", `${path}  ${buildId ?? "no build id"}`]);
  read();
  const clean = isTerminal(1) ? shownText : (text: string): string => text;
  for (const [name, text] of lines) print(`${name.padEnd(9)} ${clean(text)}\n`);
}

/** Where and by what it was made; of a merged recording, one of those that it was merged of. */
function recordedLines(of: RecordingOrigin | RecordedPart): (readonly [string, string])[] {
  // Other tools do not say the time of day.
  const when = of.strobe === "" ? "" : `${new Date(Number(BigInt(of.clock.wall) / 1_000_000n)).toISOString()} `;
  const host = "name" in of ? of.name : of.host;
  const by = of.by ?? `strobe ${of.strobe}`;
  const count = "events" in of ? `, ${of.events} events` : "";
  return [
    ["recorded", `${when}on ${host}, Linux ${of.kernel} (${of.machine}), by ${by}${count}`],
    ["command", of.command.join(" ")],
  ];
}

/** What a run of the recorder took. */
function costLines(
  { seconds, cpuSeconds, events, handlers = [] }: RecordingCost,
  cpus: number,
): (readonly [string, string])[] {
  const each = events === 0 ? "" : `, ${((cpuSeconds / events) * 1e6).toFixed(2)} us an event`;
  return [
    ["cost", `strobe used ${cpuSeconds.toFixed(3)} s of CPU time in ${seconds.toFixed(3)} s${each}`],
    ...handlers
      .filter(({ runs }) => runs > 0)
      .map(({ probe, runs, nanoseconds }) => {
        const share = (nanoseconds / 1e9 / seconds / cpus) * 100;
        const text = `${runs} runs of ${(nanoseconds / runs).toFixed(0)} ns, ${share.toFixed(2)} % of ${cpus} CPUs`;
        return ["cost", `${probe}: ${text}`] as const;
      }),
  ];
}

/** Files whose code addresses in it lie in, with their build ids. */
function filesOf(recording: ReplayableRecording): ReadonlyMap<string, string | null> {
  const files = new Map<string, string | null>();
  for (const { mappings } of writtenNames(recording.symbols()))
    for (const [, , , , path, buildId] of mappings ?? []) files.set(path, buildId);
  return new Map([...files].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function countSites(
  recording: ReplayableRecording,
  probes: RecordedProbes,
  { rows }: EventBlock,
  events: Map<number, number>,
): void {
  const add = (site: number, count: number): void => void events.set(site, (events.get(site) ?? 0) + count);
  for (const { layout, count, bytes, site } of rows) {
    const only = probes.onlySite(layout) ?? (site === undefined ? undefined : Number(BigInt.asUintN(32, site)));
    if (only !== undefined) {
      add(only, count);
      continue;
    }
    const { size } = recording.layouts[layout];
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    for (let i = 0; i < count; i++) add(probes.siteOf(layout, view, i * size), 1);
  }
}
