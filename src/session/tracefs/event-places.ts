// What the kernel is given for an event: the place of a site in its words, and the lines that define it.
import { InternalError } from "../../base/internal-error.ts";
import {
  argumentWords,
  eventPlaceWords,
  filePlaceWords,
  functionPlaceWords,
  kernelPlaceWords,
  tracepointOf,
} from "../../compiler/tracefs/event-lines.ts";
import type { TracefsEvent } from "../../compiler/tracefs/tracefs-plan.ts";
import { defineEvent, type DynamicEvent } from "../../linux/kernel/dynamic-events.ts";
import { inFile, type UserSite } from "../../providers/attaching/user-attachment.ts";
import { withReason } from "../../providers/attaching/kprobe-attachment.ts";
import type { KprobeSite } from "../../providers/places/kernel-functions.ts";
import { attempts } from "../../messages/on-demand.ts";
import type { Reason } from "../../base/failure.ts";

/** An event as it is enabled. */
export interface NamedEvent {
  readonly category: string;
  readonly name: string;
  /** That was defined for it. */
  readonly defined?: DynamicEvent;
}

/** The event of a site; defined where the kernel has none. @throws LinuxError */
export function eventAt({ event, site, args }: TracefsEvent): NamedEvent {
  const { name: shown, data } = site;
  if (event === "tracepoint") {
    const [category, name] = tracepointOf(site);
    return { category, name };
  }
  const words = argumentWords(args);
  const doing = (): Reason => attempts().defineEvent(shown);
  if (event === "pair") throw new InternalError("a pair has no place");
  const make = (kind: typeof event, place: string, maxactive?: number): NamedEvent => {
    const defined = defineEvent(kind, place, words, doing, maxactive);
    return { category: defined.group, name: defined.name, defined };
  };
  if (event === "uprobe" || event === "uretprobe") {
    const { path, offset, semaphore } = data as UserSite;
    // The file itself, by a descriptor: names may have spaces, and what is at the path may be another by now.
    return inFile(path, (file) => make(event, filePlaceWords({ path: `/proc/self/fd/${file}`, offset, semaphore })));
  }
  if (event === "eprobe") return make(event, eventPlaceWords(site));
  if (event === "fprobe" || event === "fretprobe") return make(event, functionPlaceWords(site, event === "fretprobe"));
  const { maxactive } = data as KprobeSite;
  return withReason(
    () => attempts().probe(shown),
    () => make(event, kernelPlaceWords(data as KprobeSite), maxactive),
  );
}
