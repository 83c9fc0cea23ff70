// What a value in memory is in an expression.
import { calls } from "../../messages/calls.ts";
import type { Message } from "../../messages/message.ts";
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
  return calls.canNotBeUsedHere(name, body.context === undefined ? undefined : body.provider, help);
}

/** For messages: "kprobe probes", "a function". */
export function where(body: Body): string {
  return body.context === undefined ? "a function" : `${body.provider} probes`;
}
