// Where handlers run and maps live, and why: a line each, for people.
import type { CheckedProgram } from "../language/checked-program.ts";
import type { Span } from "../language/diagnostic.ts";
import type { Capture } from "./capture/capture.ts";
import { placeIn } from "./lower/script-places.ts";

export function placementLines({ program, handlers, maps }: CheckedProgram, captured: Capture): readonly string[] {
  const { source, rules } = program;
  const line = (span: Span): string => `line ${placeIn(source, span).line}`;
  const map = (index: number): string => rules.spelling.map(maps[index].name);
  const of = handlers.map((handler): string => {
    const name = handler.probe.specs.map(({ text }) => text).join(", ");
    const part = captured.handlers.find((one) => one.handler === handler);
    if (part === undefined) return `${name}: ${handler.placement === "host" ? "on the host" : "in the kernel"}`;
    const { because } = part;
    if (because === undefined) return `${name}: captured, as was asked for`;
    return "what" in because
      ? `${name}: captured, since ${because.what} needs the host (${line(because.span)})`
      : `${name}: captured, since ${map(because.map)} is on the host`;
  });
  const moved = captured.maps.map(({ map: index, span }) =>
    span === undefined
      ? `${map(index)}: on the host`
      : `${map(index)}: on the host, since ${line(span)} asks for it there`,
  );
  // Variants of a probe are one to its author.
  return [...new Set([...of, ...moved])];
}
