// Points of times and of counted events.
import { Failure } from "../../base/failure.ts";
import { machineReasons } from "../../messages/on-demand.ts";
import { systemtap } from "../../messages/systemtap.ts";
import type { MachineGiven } from "../language.ts";
import type { Make, Reading } from "./place.ts";
import { unknown } from "./point-parts.ts";
import type { Component, Point } from "./syntax.ts";
import { ofProgram } from "./whose-points.ts";

/** Ticks of the kernel a second; where no machine is asked, what most distributions build. */
function ticksOf(machine: MachineGiven | undefined): bigint | Failure {
  const found = machine === undefined ? "250" : machine.config("CONFIG_HZ");
  if (found instanceof Failure) return found;
  return found !== undefined && /^[1-9]\d*$/.test(found) ? BigInt(found) : new Failure(machineReasons().noConfigHz());
}

export function timer(
  [unit, ...suffixes]: readonly Component[],
  point: Point,
  machine: MachineGiven | undefined,
  make: Make,
): Reading {
  const units: Readonly<Record<string, readonly [string, bigint]>> = {
    s: ["s", 1n],
    sec: ["s", 1n],
    ms: ["ms", 1n],
    msec: ["ms", 1n],
    us: ["us", 1n],
    usec: ["us", 1n],
    hz: ["hz", 1n],
  };
  const known = [...Object.keys(units), "jiffies", "ns", "nsec", "profile"];
  if (unit === undefined) return { problem: unknown(point, known, unit) };
  const left = suffixes.find(({ name }) => name !== "randomize" && name !== "tick");
  if (left !== undefined && unit.name !== "profile") return { problem: unknown(point, ["randomize"], left) };
  if (unit.name === "profile") {
    const rate = suffixes.find(({ name }) => name === "hz")?.argument;
    const each = rate ?? ticksOf(machine);
    if (each instanceof Failure)
      return { problem: systemtap.ticksUnknown(point.text, each.reason, "timer.profile.hz(250)") };
    return make("profile", ["hz", String(each)], { space: "user" });
  }
  const { argument } = unit;
  if (typeof argument !== "bigint" || argument <= 0n)
    return {
      problem: known.includes(unit.name)
        ? systemtap.expected(`a time, as in timer.${unit.name}(10)`, `\`${point.text}\``)
        : unknown(point, known, unit),
    };
  if (unit.name === "ns" || unit.name === "nsec") return make("interval", ["us", String((argument + 999n) / 1000n)]);
  if (unit.name === "jiffies") {
    const each = ticksOf(machine);
    if (each instanceof Failure) return { problem: systemtap.ticksUnknown(point.text, each.reason, "timer.ms(4)") };
    return 1000n % each === 0n
      ? make("interval", ["ms", String((argument * 1000n) / each)])
      : make("interval", ["us", String((argument * 1_000_000n) / each)]);
  }
  const found = Object.hasOwn(units, unit.name) ? units[unit.name] : undefined;
  if (found === undefined) return { problem: unknown(point, known, unit) };
  return make("interval", [found[0], String(argument * found[1])]);
}

/** How many events stap lets pass from one handler to the next. */
const everyEvents = "1000000";

/** By their numbers, of <linux/perf_event.h>. */
const perfEvents: Readonly<Record<"hardware" | "software", readonly string[]>> = {
  hardware: [
    "cpu-cycles",
    "instructions",
    "cache-references",
    "cache-misses",
    "branch-instructions",
    "branch-misses",
    "bus-cycles",
    "stalled-cycles-frontend",
    "stalled-cycles-backend",
    "ref-cycles",
  ],
  software: [
    "cpu-clock",
    "task-clock",
    "page-faults",
    "context-switches",
    "cpu-migrations",
    "minor-faults",
    "major-faults",
    "alignment-faults",
    "emulation-faults",
  ],
};

/** `perf.sw.page_faults`, `perf.type(0).config(0).sample(10000)` */
export function perf(
  [type, event, ...suffixes]: readonly Component[],
  point: Point,
  machine: MachineGiven | undefined,
  make: Make,
): Reading {
  const known = ["sample", "process"];
  const other = suffixes.find(({ name }) => !known.includes(name));
  if (other?.name === "hz" || other?.name === "counter")
    return {
      problem: systemtap.pointNotSupported(
        point.text,
        other.name === "hz" ? "a rate of events is not there" : "counters that handlers read are not there yet",
        other.name === "hz"
          ? "`.sample(N)` is each time that so many passed, timer.profile.freq.hz(N) a rate"
          : undefined,
      ),
    };
  if (other !== undefined) return { problem: unknown(point, known, other) };
  const process = suffixes.find(({ name }) => name === "process");
  if (process !== undefined) {
    const inner = suffixes.filter((one) => one !== process);
    const counted = perf([type, event, ...inner], point, machine, make);
    return typeof process.argument === "string" ? ofProgram(process.argument, point, machine, counted) : counted;
  }
  const sample = suffixes.find(({ name }) => name === "sample")?.argument;
  const count = [typeof sample === "bigint" ? String(sample) : everyEvents];
  const config = type?.name === "type" && event?.name === "config" ? event.argument : undefined;
  const kind = type?.argument === 0n ? "hardware" : type?.argument === 1n ? "software" : undefined;
  if (kind !== undefined && typeof config === "bigint") {
    const name = perfEvents[kind][Number(config)];
    if (name !== undefined) return make(kind, [name, ...count]);
  }
  if (type?.name === "sw" && event !== undefined) return make("software", [event.name.replaceAll("_", "-"), ...count]);
  if (type?.name === "hw" && event !== undefined) return make("hardware", [event.name.replaceAll("_", "-"), ...count]);
  return {
    problem: systemtap.pointNotSupported(
      point.text,
      "events by number are not there yet",
      "perf.sw.* and perf.hw.* name them",
    ),
  };
}
