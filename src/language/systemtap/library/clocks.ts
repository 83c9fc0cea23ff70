// When it is, and dates.
import type { Span } from "../../diagnostic.ts";
import type { Expression, Statement } from "../../program.ts";
import { computed, number, type CallingUnit, type LibraryFunction } from "./function.ts";
import * as tree from "../tree.ts";

const { call, integer, toLong } = tree;

/** A clock, divided. */
const clock = (which: string, unit: number, doc: string): LibraryFunction => ({
  parameters: [],
  result: "long",
  doc,
  value(_, span) {
    const now = toLong(call("nsecs", [tree.word(which, span)], span));
    return unit === 1 ? now : tree.binary("/", now, integer(unit, span), span);
  },
});

/** In seconds since 1970. */
function now(span: Span): Expression {
  const wall = call("nsecs", [tree.word("wall", span)], span);
  return tree.binary("/", toLong(wall), integer(1_000_000_000, span), span);
}

/** Dates are of 32 bits. */
const latest = 2n ** 31n - 1n;

const tooFar = (direction: "past" | "future"): string => `Time too far in the ${direction} to be converted`;

/** Seconds of which a date can be made; an error of others. What a clock says is never of those. */
function inRange(seconds: Expression, span: Span, unit: CallingUnit): Expression {
  if (isOfClock(seconds)) return seconds;
  const time = tree.variable(unit.fresh("time"), span);
  const unless = (operator: "<" | ">", limit: bigint, direction: "past" | "future"): Statement => ({
    kind: "if",
    condition: tree.binary(operator, time, integer(limit, span), span),
    then: tree.block([{ kind: "throw", value: tree.text(tooFar(direction), span), span }], span),
    span,
  });
  return {
    kind: "block-expression",
    statements: [
      tree.declare(time.name, seconds, tree.longType(span)),
      unless("<", -latest - 1n, "past"),
      unless(">", latest, "future"),
    ],
    value: time,
    span,
    type: seconds.type,
  };
}

function isOfClock(of: Expression): boolean {
  if (of.kind === "integer") return of.value >= -latest - 1n && of.value <= latest;
  return of.kind === "binary" && of.operator === "/" && of.left.kind === "cast" && of.left.operand.kind === "call"
    ? of.left.operand.name === "nsecs"
    : false;
}

/** Seconds since 1970 as a date; now without any. */
function calendar(
  seconds: Expression | undefined,
  span: Span,
  unit: CallingUnit,
  zone: "utc" | "wall",
  behind = "",
): Expression {
  const time =
    seconds === undefined
      ? call("nsecs", [tree.word("wall", span)], span)
      : tree.binary("*", inRange(seconds, span, unit), integer(1_000_000_000, span), span);
  return call("strftime", [tree.text(`%a %b %e %H:%M:%S %Y${behind}`, span), time, tree.word(zone, span)], span);
}

export const clocks: Readonly<Record<string, LibraryFunction>> = {
  gettimeofday_ns: clock("wall", 1, "Nanoseconds since 1970."),
  gettimeofday_us: clock("wall", 1_000, "Microseconds since 1970."),
  gettimeofday_ms: clock("wall", 1_000_000, "Milliseconds since 1970."),
  gettimeofday_s: clock("wall", 1_000_000_000, "Seconds since 1970."),
  ktime_get_ns: clock("monotonic", 1, "Nanoseconds since boot, without suspension."),
  local_clock_ns: clock("monotonic", 1, "The same."),
  local_clock_us: clock("monotonic", 1_000, "Microseconds since boot, without suspension."),
  local_clock_ms: clock("monotonic", 1_000_000, "Milliseconds since boot, without suspension."),
  local_clock_s: clock("monotonic", 1_000_000_000, "Seconds since boot, without suspension."),
  cpu_clock_ns: {
    ...clock("monotonic", 1, "Nanoseconds since boot, the same on every processor."),
    parameters: ["long"],
  },
  cpu_clock_us: {
    ...clock("monotonic", 1_000, "Microseconds since boot, the same on every processor."),
    parameters: ["long"],
  },
  cpu_clock_ms: {
    ...clock("monotonic", 1_000_000, "Milliseconds since boot, the same on every processor."),
    parameters: ["long"],
  },
  cpu_clock_s: {
    ...clock("monotonic", 1_000_000_000, "Seconds since boot, the same on every processor."),
    parameters: ["long"],
  },
  jiffies: number("jiffies", "The kernel's tick counter."),
  ctime: {
    parameters: ["long"],
    least: 0,
    result: "string",
    doc: "Seconds since 1970 as text, in UTC: `Mon Nov 23 01:30:00 2026`.",
    text: ([seconds], span, unit) => ({ format: "%s", args: [calendar(seconds, span, unit, "utc")] }),
    value: ([seconds], span, unit) => tree.hostText("dateText", [inRange(seconds ?? now(span), span, unit)], span),
  },
  tz_ctime: {
    parameters: ["long"],
    result: "string",
    doc: "The same in the local time zone, which stands behind it.",
    text: ([seconds], span, unit) => ({ format: "%s", args: [calendar(seconds, span, unit, "wall", " %Z")] }),
    value: ([seconds], span, unit) => tree.hostText("zoneDateText", [inRange(seconds, span, unit)], span),
  },
  tz_gmtoff: computed("zoneOffset", [], "long", "Seconds that the local time zone is west of UTC."),
  tz_name: {
    parameters: [],
    result: "string",
    doc: "Name of the local time zone.",
    text: (_, span) => ({
      format: "%s",
      args: [
        call(
          "strftime",
          [tree.text("%Z", span), call("nsecs", [tree.word("wall", span)], span), tree.word("wall", span)],
          span,
        ),
      ],
    }),
  },
};
