import type { ScriptPlace } from "../compiler/layouts/counted-places.ts";
import type { Trouble } from "../session/events.ts";
import { count, percent } from "./overhead.ts";
import { lazy } from "../base/lazy.ts";

// Loaded for the first name.
const systemNames = lazy<typeof import("./system-names.ts")>(() => require("./system-names.ts"));

/** A sentence for a person: what was lost or failed, and what to change. */
export function troubleText(trouble: Trouble): string {
  switch (trouble.kind) {
    case "lost":
      return `WARNING: lost ${trouble.count} events of ${trouble.probe} (a larger perf_rb_pages holds more)`;
    case "map-full": {
      const failed = `${trouble.count} update${trouble.count === 1 ? "" : "s"} of ${trouble.map} failed`;
      switch (trouble.why) {
        case "full":
          return (
            `WARNING: Map full; can't update element: ${failed} ` +
            `(raise max_map_keys${trouble.larger === undefined ? "" : `, or declare how many entries it has: ${trouble.larger}`})`
          );
        case "memory":
          return (
            `WARNING: Can't update element: ${failed}: the kernel had no memory for a new entry at that moment ` +
            "(ENOMEM; the map was not full: only one of up to 256 MB has its memory from the start)"
          );
        case "busy":
          return (
            `WARNING: Can't update element: ${failed}: the handler interrupted another one, or was kept waiting, in the same part of the map ` +
            "(EBUSY; one probe for each map avoids that)"
          );
      }
    }
    case "failed": {
      const {
        watched: { call, place, line },
        code,
        count: times,
      } = trouble;
      return (
        `${startOf(place)}: WARNING: ${failure(code)}\n` +
        `Additional Info - helper: ${call}, retcode: ${code}${times > 1 ? `, ${times} times` : ""}\n${marked(place, line)}`
      );
    }
    case "loop-cut": {
      const {
        loop: { place, line },
        count: times,
      } = trouble;
      return (
        `${startOf(place)}: WARNING: the kernel cut this loop short ${times === 1 ? "once" : `${times} times`}: ` +
        `it had as many rounds, or took as long, as a loop may there\n${marked(place, line)}`
      );
    }
    case "cut-stacks":
      return `WARNING: ${cutStacksText(trouble.why, trouble.count)}`;
    case "missed":
      return `WARNING: ${trouble.probe} missed ${trouble.count} events (${trouble.help ?? "its handler was already running"})`;
    case "attach":
      return `WARNING: could not attach ${trouble.probe}: ${trouble.reason}`;
    case "throttled": {
      const { probe, rate, share, limit, every } = trouble;
      return (
        `WARNING: ${probe} fires ${count(rate)} times a second and takes ${percent(share)} of the CPUs (the limit is ${percent(limit)}): ` +
        `its handler runs for one event in ${count(every)} now`
      );
    }
    case "detached": {
      const { probe, rate, share, limit } = trouble;
      return (
        `WARNING: detached ${probe}: ${count(rate)} events a second take ${percent(share)} of the CPUs even without the handler ` +
        `(the limit is ${percent(limit)}); its events are not seen any more`
      );
    }
    case "skipped":
      return `WARNING: ${count(trouble.count)} events of ${trouble.probe} left out to keep within --max-overhead`;
    case "message":
      return trouble.text;
  }
}

function startOf({ source, line, column, endColumn }: ScriptPlace): string {
  return `${source}:${line}:${column}-${endColumn}`;
}

/** The line of the script, and below it where the place is. */
function marked({ column, endColumn }: ScriptPlace, line: string): string {
  return `${line}\n${" ".repeat(column - 1)}${"~".repeat(Math.max(1, Math.min(endColumn, line.length + 1) - column))}`;
}

/** Whether it is a warning, which `--no-warnings` leaves out: all but errors that are told as messages. */
export function warns(trouble: Trouble): boolean {
  return trouble.kind !== "message" || trouble.text.startsWith("WARNING");
}

/** Why a call of the kernel's, or a look-up, failed. */
export function failure(code: number): string {
  return code === 0
    ? "Can't lookup map element because it does not exist."
    : (systemNames().errorMessages.get(-code) ?? `Error ${-code}`);
}

function cutStacksText(why: Extract<Trouble, { readonly kind: "cut-stacks" }>["why"], count: number): string {
  const stacks = (one: string, several: string): string =>
    count === 1 ? `1 stack ${one}` : `${count} stacks ${several}`;
  switch (why) {
    case "unknownProcess":
      return `${stacks("follows", "follow")} frame pointers only: what the process runs was not known yet`;
    case "broken":
      return `${stacks("ends", "end")} early: the memory could not be followed`;
    case "functions":
      return `${stacks("lacks", "lack")} frames of interpreted functions: there is no room for the names of more`;
  }
}
