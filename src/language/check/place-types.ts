// What a value in memory is in an expression.
import { calls } from "../../messages/calls.ts";
import type { Message } from "../../messages/message.ts";
import { recordings } from "../../messages/recordings.ts";
import type { Type } from "../types.ts";
import type { Body } from "./pass.ts";

/** A char array in memory is text. */
export function placeType(type: Type): Type {
  if (
    type.kind === "array" &&
    type.element.kind === "integer" &&
    type.element.bits === 8 &&
    type.element.signed &&
    type.length > 0
  ) {
    return { kind: "string", capacity: type.length + 1 };
  }
  return type;
}

/** A function that a probe does not have: `reg can not be used with "begin" probes`. */
export function notHere(name: string, body: Body, help?: string): Message {
  return (
    notRecorded(`${name}()`, body) ??
    calls.canNotBeUsedHere(name, body.context === undefined ? undefined : body.provider, help)
  );
}

/** Where the events are a recording's: it lacks what the same probe may have in a live trace. */
export function notRecorded(what: string, body: Body): Message | undefined {
  const { context } = body;
  if (context === undefined || context === "host" || context.recorded === undefined) return undefined;
  return recordings.notOfThese(what, where(body));
}

/** For messages: "kprobe probes", "a function". */
export function where(body: Body): string {
  return body.context === undefined ? "a function" : `${body.provider} probes`;
}
