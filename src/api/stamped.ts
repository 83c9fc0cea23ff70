// Stamps of typed events, beside their fields: no name of a field is taken, and whoever copies or prints an event does not
// see them.
import type { Stamp } from "../output/stamp.ts";

const stamps = new WeakMap<object, Stamp>();

export function stamped<T extends object>(event: T, stamp: Stamp): T {
  stamps.set(event, stamp);
  return event;
}

/**
 * When and where a typed event was, as far as trace() was asked for it (`stamp`): `stampOf(opened)?.time`. Undefined for
 * what is no event, and without a stamp.
 */
export function stampOf(event: object): Stamp | undefined {
  return stamps.get(event);
}
