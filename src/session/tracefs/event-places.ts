// What the kernel is given for an event: the place of a site in its words, and the lines that define it.
import type { TracefsEvent } from "../../compiler/tracefs/tracefs-plan.ts";
import { InternalError } from "../../base/internal-error.ts";
import { defineEvent, type DynamicEvent } from "../../linux/kernel/dynamic-events.ts";
import { inFile, type UserSite } from "../../providers/attaching/user-attachment.ts";
import type { KprobeSite } from "../../providers/places/kernel-functions.ts";

/** An event as it is enabled. */
export interface NamedEvent {
  readonly category: string;
  readonly name: string;
  /** That was defined for it. */
  readonly defined?: DynamicEvent;
}

/** The event of a site; defined where the kernel has none. @throws LinuxError */
export function eventAt({ event, site, args }: TracefsEvent): NamedEvent {
  const { name: shown, found = shown, data } = site;
  if (event === "tracepoint") {
    const [, category, name, ...more] = found.split(":");
    if (name === undefined || more.length > 0) throw new InternalError(`${found} is no tracepoint's name`);
    return { category, name };
  }
  const words = args.map(({ words: fetched, type }, i) => `a${i}=${fetched}:${type}`);
  const doing = `define an event for ${shown}`;
  const make = (kind: typeof event, place: string): NamedEvent => {
    const defined = defineEvent(kind, place, words, doing);
    return { category: defined.group, name: defined.name, defined };
  };
  if (event === "uprobe" || event === "uretprobe") {
    const { path, offset, semaphore } = data as UserSite;
    // The file itself, by a descriptor: names may have spaces, and what is at the path may be another by now.
    return inFile(path, (file) =>
      make(
        event,
        `/proc/self/fd/${file}:0x${offset.toString(16)}${semaphore === 0n ? "" : `(0x${semaphore.toString(16)})`}`,
      ),
    );
  }
  return make(event, kernelPlace(data as KprobeSite));
}

function kernelPlace({ symbol, offset }: KprobeSite): string {
  if (symbol === undefined) return `0x${offset.toString(16)}`;
  return offset === 0n ? symbol : `${symbol}+${offset}`;
}
