// Aliases: names for probe points, with what runs before and behind the probe's own handler.
import { systemtap } from "../../messages/systemtap.ts";
import { componentsText } from "./parse-script.ts";
import { baseNames } from "./points.ts";
import type { Alias, Component, Point, Stmt } from "./syntax.ts";
import { syscallAliases, type Asks } from "./syscalls.ts";
import { wildcard } from "./wildcard.ts";
import type { Report } from "./declared.ts";

/** A point that is no alias, and what runs around the handler there, the outermost first. */
export interface Expanded {
  readonly point: Point;
  readonly before: readonly Stmt[];
  readonly behind: readonly Stmt[];
  /** Of the alias's points too. */
  readonly conditions: NonNullable<Point["condition"]>[];
  /** It is wanted where none of these exists. */
  readonly unless: readonly Point[];
}

/** Points of one list: behind a sufficient one (`!`) that exists the others are not wanted. */
export function expandList(points: readonly Point[], expand: (point: Point) => readonly Expanded[]): Expanded[] {
  const enough: Point[] = [];
  return points.flatMap((point) => {
    const found = expand(point).map((one) => ({ ...one, unless: [...enough, ...one.unless] }));
    if (point.sufficient) enough.push(...found.map((one) => one.point));
    return found;
  });
}

const deepest = 20;

export function expandPoint(
  point: Point,
  aliases: readonly Alias[],
  library: (point: Point) => readonly Alias[],
  report: Report,
  asks: Asks,
  depth = 0,
): Expanded[] {
  const conditions = point.condition === undefined ? [] : [point.condition];
  const own = longest(aliases.filter((alias) => matches(alias.name, point.components)));
  const system = own.length > 0 ? undefined : syscallAliases(point, asks);
  const found =
    system !== undefined
      ? system
      : own.length > 0 || baseNames.includes(point.components[0].name)
        ? own
        : longest(library(point).filter((alias) => matches(alias.name, point.components)));
  if (found.length === 0) return [{ point, before: [], behind: [], conditions, unless: [] }];
  if (depth > deepest) {
    report(point.span, systemtap.unresolvedPoint(point.text, "its alias leads back to itself"));
    return [];
  }
  return found.flatMap((alias) =>
    expandList(alias.points, (of) => {
      // Suffixes behind the alias's name are those of its points.
      const components = [...of.components, ...point.components.slice(alias.name.length)];
      const next: Point = {
        ...of,
        components,
        text: system === undefined ? componentsText(components) : of.text,
        span: point.span,
        optional: of.optional || point.optional,
        sufficient: of.sufficient || point.sufficient,
      };
      return expandPoint(next, aliases, library, report, asks, depth + 1).map((inner) => ({
        ...inner,
        before: alias.epilogue ? inner.before : [...inner.before, alias.body],
        behind: [
          ...(alias.epilogue ? [alias.body] : []),
          ...(alias.behind === undefined ? [] : [alias.behind]),
          ...inner.behind,
        ],
        conditions: [...conditions, ...inner.conditions],
      }));
    }),
  );
}

/** `vfs.read.return` is the library's own, not `vfs.read` with a suffix. */
function longest(found: readonly Alias[]): readonly Alias[] {
  const continues = (one: Alias, other: Alias): boolean =>
    one.name.length > other.name.length && other.name.every(({ name }, i) => name === one.name[i].name);
  return found.filter((other) => !found.some((one) => continues(one, other)));
}

/** The alias's name is the point's beginning; stars of the point stand for a component, two for any number. */
function matches(alias: readonly Component[], point: readonly Component[]): boolean {
  return (
    alias.length <= point.length &&
    alias.every(({ name, argument }, i) => argument === point[i].argument && wildcard(point[i].name).test(name))
  );
}
