// What a person writes of a dynamic event (strobe events add).
import { says, type Message, type Shown } from "./message.ts";

export const eventMessages = {
  /**
   * Of `strobe events add`.
   *
   * @tested test/live/events.test.ts
   */
  cannotCarry: (what: Shown): Message =>
    says(
      "feature",
      `an event cannot carry ${what}`,
      "events carry registers, what memory holds behind them, and texts",
    ),
  /**
   * Of `strobe events add`.
   *
   * @tested test/live/events.test.ts
   */
  noPredicate: (): Message =>
    says(
      "feature",
      "an event has no predicate",
      "whoever uses it sets a filter: perf record --filter, or the event's file `filter`",
    ),
  /**
   * Of `strobe events add`.
   *
   * @tested test/live/events.test.ts
   */
  notClosed: (): Message =>
    says("syntax", "expected `}` at the end", "an event is written `PROBE { NAME = VALUE; … }`"),
  /**
   * Of `strobe events add`.
   *
   * @tested test/live/events.test.ts
   */
  noValue: (): Message => says("syntax", "expected a value behind `=`"),
  /**
   * Of `strobe events add`.
   *
   * @tested test/live/events.test.ts
   */
  noName: (most: Shown): Message =>
    says("syntax", `expected a name of at most ${most} letters, digits and _`, "a value is written `NAME = VALUE`"),
  /**
   * Of `strobe events add`.
   *
   * @tested test/live/events.test.ts
   */
  nameTwice: (name: Shown): Message => says("name", `the event has two values of the name ${name}`),
};
