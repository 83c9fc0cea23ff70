// What is wrong with a rate or a period of a probe
import type { Reason } from "../base/failure.ts";
import { reason } from "./message.ts";

/** Of `profile`, `interval` and their kin, as `profile:hz:x`: what the parser passes on. */
export const quantityReasons = {
  unitOfTime: (found: string): Reason => reason(`${found} is not an accepted unit of time: use s, ms, us or hz`),
  frequency: (probe: string): Reason => reason(`${probe} frequency should be a positive integer`),
  rate: (probe: string, found: string): Reason => reason(`invalid rate of ${probe} probe: invalid integer: ${found}`),
  rateOrPeriod: (probe: string, found: string): Reason =>
    reason(`invalid rate of ${probe} probe: invalid integer: ${found}; write a number and a unit, such as \`1s\``),
  shortest: (): Reason => reason("the shortest time is 1us (a frequency is written `hz:99`)"),
};
