import type { ScriptPlace } from "../compiler/layouts/counted-places.ts";
import type { Trouble } from "../session/events.ts";
import type { SessionMessage } from "../messages/message.ts";
import { sessions } from "../messages/sessions.ts";
import { count, percent } from "./overhead.ts";
import { lazy } from "../base/lazy.ts";

// Loaded for the first name.
const systemNames = lazy<typeof import("./system-names.ts")>(() => require("./system-names.ts"));

/** A sentence for a person: what was lost or failed, and what to change. */
export function troubleText(trouble: Trouble): string {
  switch (trouble.kind) {
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
      const { place, line } = trouble.loop;
      return `${startOf(place)}: WARNING: ${sessions.loopCut(trouble.count).message}\n${marked(place, line)}`;
    }
    case "message":
      return trouble.text;
    default:
      return `WARNING: ${warning(trouble).message}`;
  }
}

function warning(trouble: Exclude<Trouble, { readonly kind: "failed" | "loop-cut" | "message" }>): SessionMessage {
  switch (trouble.kind) {
    case "lost":
      return sessions.lost(trouble.probe, trouble.count, trouble.help);
    case "map-full":
      switch (trouble.why) {
        case "full":
          return sessions.mapFull(trouble.map, trouble.count, trouble.larger);
        case "memory":
          return sessions.mapWithoutMemory(trouble.map, trouble.count);
        case "busy":
          return sessions.mapBusy(trouble.map, trouble.count);
      }
    case "cut-stacks":
      return sessions[cutStacks[trouble.why]](trouble.count);
    case "missed":
      return sessions.missed(trouble.probe, trouble.count, trouble.help);
    case "attach":
      return sessions.notAttached(trouble.probe, trouble.reason);
    case "throttled": {
      const { probe, rate, share, limit, every } = trouble;
      return sessions.throttled(probe, count(rate), percent(share), percent(limit), count(every));
    }
    case "detached": {
      const { probe, rate, share, limit } = trouble;
      return sessions.detached(probe, count(rate), percent(share), percent(limit));
    }
    case "skipped":
      return sessions.skipped(trouble.probe, count(trouble.count));
  }
}

const cutStacks = {
  unknownProcess: "stacksOfUnknownProcess",
  broken: "stacksBroken",
  functions: "stacksWithoutFunctions",
} as const satisfies Record<Extract<Trouble, { readonly kind: "cut-stacks" }>["why"], keyof typeof sessions>;

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
