// Probe points: which kind of probe of the tree each is, and what its handler sees.
import { systemtap } from "../../messages/systemtap.ts";
import type { ProbeSpec, SpecOptions } from "../probe-spec.ts";
import { kernel } from "./kernel-points.ts";
import type { Place, PointGiven, Reading } from "./place.ts";
import { maxactive, unknown } from "./point-parts.ts";
import { processPoint } from "./process-points.ts";
import type { Point } from "./syntax.ts";
import { perf, timer } from "./timed-points.ts";
import { guardOf, withProgram } from "./whose-points.ts";

const host: Place = { variables: "none", returns: false, space: "kernel" };

/** Kinds of probes whose first part is a file. */
const ofFiles: ReadonlySet<string> = new Set(["uprobe", "uretprobe", "usdt", "plt", "pltret"]);

/** A base point; aliases are expanded before. "nothing" for `never`. */
export function placeOf(point: Point, given: PointGiven = {}): Reading {
  const { machine } = given;
  const { components, text, span } = point;
  const [first, ...rest] = components;
  const spec = (provider: string, parts: readonly string[], sequence?: bigint, options?: SpecOptions): ProbeSpec => ({
    provider,
    parts,
    ...(options === undefined ? {} : { options }),
    ...(point.optional ? { optional: true as const } : {}),
    ...(sequence === undefined ? {} : { sequence: Number(sequence) }),
    text,
    span,
  });
  const wild = /[*?[]/.test(text);
  const place = (of: Partial<Place>): Place => ({ ...host, ...(wild ? {} : { text }), ...of });
  switch (first.name) {
    case "begin":
    case "end":
    case "error": {
      if (rest.length > 0) return { problem: unknown(point, baseNames, rest[0]) };
      if (typeof first.argument === "string")
        return { problem: systemtap.expected(`a number, as in ${first.name}(10)`, `\`${text}\``) };
      const sequence = typeof first.argument === "bigint" ? first.argument : undefined;
      return {
        spec: spec(first.name === "begin" ? "begin" : "end", [], sequence),
        place: place({ phase: first.name }),
      };
    }
    case "never":
      return "nothing";
    case "timer":
      return timer(rest, point, machine, (provider, parts) => ({ spec: spec(provider, parts), place: place({}) }));
    case "kernel":
    case "module":
      return kernel(
        first,
        rest,
        point,
        (provider, parts, of, entry, options) => ({
          spec: spec(provider, parts, undefined, options),
          place: place({ ...(typeof first.argument === "string" ? { module: first.argument } : {}), ...of }),
          ...(entry === undefined ? {} : { entry: spec(...entry) }),
        }),
        given,
      );
    case "kprobe": {
      const module = rest[0]?.name === "module" && typeof rest[0].argument === "string" ? [rest[0].argument] : [];
      const [of, ...suffixes] = module.length > 0 ? rest.slice(1) : rest;
      if (of?.name === "statement" && typeof of.argument === "bigint")
        return { spec: spec("kprobe", [`0x${of.argument.toString(16)}`]), place: place({ variables: "args" }) };
      if (of?.name !== "function" || typeof of.argument !== "string")
        return { problem: unknown(point, ["function", "module", "statement"], of) };
      const parts = [...module, of.argument];
      const returns = suffixes[0]?.name === "return";
      const options = maxactive(suffixes, point);
      if (options !== undefined && "problem" in options) return options;
      return {
        spec: spec(returns ? "kretprobe" : "kprobe", parts, undefined, options),
        place: place({ returns, variables: "args" }),
        ...(returns ? { entry: spec("kprobe", parts) } : {}),
      };
    }
    case "process":
      return processPoint(
        withProgram(first, rest, given),
        rest,
        point,
        (provider, parts, of, entry) => ({
          spec: spec(provider, parts),
          place: place({ space: "user", ...(ofFiles.has(provider) ? { program: parts[0] } : {}), ...of }),
          ...guardOf(first, given, span),
          ...(entry === undefined ? {} : { entry: spec(...entry) }),
        }),
        given,
        guardOf(first, given, span).guard !== undefined,
      );
    case "perf":
      return perf(rest, point, machine, (provider, parts) => ({
        spec: spec(provider, parts),
        place: place({ space: "user" }),
      }));
    case "procfs":
    case "input":
    case "netfilter":
    case "java":
    case "python3":
    case "python2":
    case "debuginfod":
    case "xdp":
      return {
        problem: systemtap.pointNotSupported(
          text,
          `strobe has no \`${first.name}\` probes yet`,
          first.name === "procfs"
            ? "a probe timer.s(1) prints it, to a file with -o; -G NAME=VALUE gives a global its first value"
            : undefined,
        ),
      };
    default:
      return { problem: unknown(point, baseNames, first) };
  }
}

export const baseNames = ["begin", "end", "error", "never", "timer", "kernel", "module", "kprobe", "process", "perf"];
