// How the components of probe points are read: their arguments and suffixes, patterns of functions.
import { systemtap } from "../../messages/systemtap.ts";
import type { Message } from "../../messages/message.ts";
import { nearest } from "../nearest.ts";
import type { Reading } from "./place.ts";
import type { Component, Point } from "./syntax.ts";

export function unknown(point: Point, known: readonly string[], at: Component | undefined): Message {
  const [near] = at === undefined ? [] : nearest(at.name, known);
  return systemtap.unresolvedPoint(
    point.text,
    near === undefined ? `known here: ${known.join(", ")}` : `did you mean \`${near}\`?`,
  );
}

/** `.data(ADDRESS|"NAME")[.length(N)].write` or `.rw`: on the processor's breakpoint registers. */
export function watched(
  of: Component,
  suffixes: readonly Component[],
  point: Point,
  make: (length: string | undefined, mode: string) => Reading,
): Reading {
  const known = ["length", "write", "rw"];
  const other = suffixes.find(({ name }) => !known.includes(name));
  if (other !== undefined) return { problem: unknown(point, known, other) };
  const mode = suffixes.find(({ name }) => name !== "length")?.name;
  const length = suffixes.find(({ name }) => name === "length")?.argument;
  if (mode === undefined || of.argument === undefined)
    return { problem: systemtap.expected('`.write` or `.rw` behind data("NAME")', `\`${point.text}\``) };
  return make(length === undefined ? undefined : String(length), mode === "write" ? "w" : "rw");
}

/** `.return.maxactive(100)`: how many calls may be under way at once. */
export function maxactive(
  suffixes: readonly Component[],
  { text }: Point,
): { readonly maxactive: string } | { readonly problem: Message } | undefined {
  const given = suffixes.find(({ name }) => name === "maxactive");
  if (given === undefined) return undefined;
  if (typeof given.argument !== "bigint")
    return { problem: systemtap.expected("a number, as in .maxactive(100)", `\`${text}\``) };
  if (!suffixes.some(({ name }) => name === "return"))
    return {
      problem: systemtap.pointNotSupported(
        text,
        "`.maxactive` counts calls that have not returned yet",
        "write it behind `.return`",
      ),
    };
  return { maxactive: String(given.argument) };
}

/** `func@file:line` as the tree's kinds write it; a path behind a pattern may come without its `@`. */
export function functionPattern(pattern: string): readonly [name: string, lines: string | undefined] {
  const at = pattern.indexOf("@");
  // Lines behind the function's own: `f@file.c+2`.
  if (at >= 0) return [pattern.slice(0, at), pattern.slice(at + 1).replace(/(?<!:)(\+\d+)$/, ":$1")];
  const [, name, path] = /^([\w*?:~]+)(\/.*\.\w+)$/.exec(pattern) ?? [];
  return name === undefined || path === undefined ? [pattern, undefined] : [name, path];
}

/** Of any function a line is the program's, of one the function's. */
export function statementParts(path: string, name: string, lines: string | undefined): readonly string[] {
  if (lines === undefined) return [path, name];
  const behindFile = lines.lastIndexOf(":");
  if (name !== "*" || behindFile < 0) return [path, `${name}@${lines}`];
  return [`${path}@${lines.slice(0, behindFile)}`, lines.slice(behindFile + 1)];
}

/** Inlined copies are neither called nor do they return. */
export function ofCopies(suffixes: readonly Component[], { text }: Point): { readonly problem: Message } | undefined {
  const names = suffixes.map(({ name }) => name);
  const other = names.find((name) => name === "call" || name === "return" || name === "exported");
  if (other === undefined || !names.includes("inline")) return undefined;
  return {
    problem: systemtap.pointNotSupported(text, `an inlined copy has no \`.${other}\``, "write `.inline` alone"),
  };
}

export const callSuffixes = [
  "call",
  "return",
  "inline",
  "exported",
  "maxactive",
  "callee",
  "callees",
  "label",
  "nearest",
  "absolute",
];
