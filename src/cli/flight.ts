// `strobe boot --flight`: a ring of events that outlives a reboot. Before: parameters of the command line; then the events that
// are written; after the next boot, what was written last, as a trace.dat.
import { commands } from "../messages/commands.ts";
import { commandLine } from "../messages/on-demand.ts";
import { flightParameters, startFlight, takeFlight } from "../session/tracefs/flight.ts";
import { print, tell } from "./files.ts";
import { writeKept } from "./kept-events.ts";
import { readSize } from "./quantities.ts";
import { UsageError } from "./usage-error.ts";

/** Bytes, of all CPUs together. */
const usualSize = "12M";

/** The exit code; `argv`: without --flight. */
export function flight(argv: readonly string[]): number {
  const words: string[] = [];
  const given = new Map<string, string>();
  for (let i = 0; i < argv.length; i++) {
    const [word, value] = argv[i].startsWith("--") ? (argv[i].split(/=(.*)/s) as [string, string?]) : [argv[i]];
    if (word === "--start" || word === "--collect") given.set(word, "");
    else if (word === "--size" || word === "-o" || word === "--output") {
      const behind = value ?? argv[++i];
      if (behind === undefined || behind === "") throw new UsageError(commandLine().needsValue(word));
      given.set(word === "--output" ? "-o" : word, behind);
    } else if (word.startsWith("-")) throw new UsageError(commands.flightHasNoOption(word));
    else words.push(word);
  }
  const output = given.get("-o");
  if (given.has("--collect")) {
    if (output === undefined || words.length > 0 || given.has("--start"))
      throw new UsageError(commands.flightCollects());
    return collect(output);
  }
  if (given.has("--start")) {
    if (words.length === 0 || !words.every((word) => /^[\w*?]+:[\w*?]+$/.test(word)))
      throw new UsageError(commands.flightStarts());
    startFlight(words);
    return 0;
  }
  if (words.length > 0 || output !== undefined) throw new UsageError(commands.flightStarts());
  print(`${flightParameters(readSize("--size", given.get("--size") ?? usualSize)).join(" ")}\n`);
  return 0;
}

function collect(output: string): number {
  const { ofThisBoot, ...kept } = takeFlight();
  const { length } = kept.events;
  if (length === 0) {
    tell("strobe: nothing is there: no events were written before, or the memory was not kept\n");
    return 1;
  }
  writeKept(output, kept);
  tell(`${output}: ${length} events of ${ofThisBoot ? "this boot" : "the boot before this one"}\n`);
  return 0;
}
