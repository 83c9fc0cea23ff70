import type { Trouble } from "../session/events.ts";

/** A sentence for a person: what was lost or failed, and what to change. */
export function troubleText(trouble: Trouble): string {
  switch (trouble.kind) {
    case "lost": return `WARNING: lost ${trouble.count} events of ${trouble.probe} (a larger perf_rb_pages holds more)`;
    case "map-full": return `WARNING: ${trouble.count} updates of @${trouble.map} failed: the map is full (raise max_map_keys)`;
    case "cut-stacks":
      return trouble.unknown
        ? `WARNING: ${trouble.count} stacks follow frame pointers only: their processes had just begun`
        : `WARNING: ${trouble.count} stacks end early: their memory could not be followed`;
    case "missed": return `WARNING: ${trouble.probe} missed ${trouble.count} events (${trouble.help ?? "its handler was already running"})`;
    case "attach": return `WARNING: could not attach ${trouble.probe}: ${trouble.reason}`;
    case "message": return trouble.text;
  }
}
