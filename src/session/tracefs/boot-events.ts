// What a kernel traced while it started, by the boot configuration or the command line that strobe wrote for a script
// (compiler/tracefs/boot-lines.ts): taken over as a session's events, and removed with it.
import { existsSync, readFileSync } from "node:fs";
import { bootInstance, bootLives, bootPlace } from "../../compiler/tracefs/boot-lines.ts";
import type { TracefsEvent } from "../../compiler/tracefs/tracefs-plan.ts";
import { EINVAL, LinuxError } from "../../linux/error.ts";
import type { DynamicEvent } from "../../linux/kernel/dynamic-events.ts";
import { dynamicEvents, enableEvent, writeDefinition } from "../../linux/kernel/event-files.ts";
import { TraceInstance } from "../../linux/kernel/trace-instance.ts";
import { readFormat, tracefsRoot } from "../../linux/kernel/tracefs.ts";
import { sleepInThread } from "../../linux/sleep.ts";
import type { NamedEvent } from "./event-places.ts";
import { refusalHints, attempts, runReasons } from "../../messages/on-demand.ts";
import type { Reason } from "../../base/failure.ts";
import { RunError } from "../../base/run-error.ts";

/** Where the kernel wrote: instances of strobe's, or the top-level buffer, as a command line has it. */
export type BootPlace = "instances" | "top-level";

export interface AtBoot {
  readonly instances: readonly TraceInstance[];
  /** Events that the kernel defined for the script: they go with it. */
  readonly defined: readonly DynamicEvent[];
}

/** `live`: more is written. @throws RunError where nothing was made at boot, or for another script: then nothing of it is touched */
export function openBoot(place: BootPlace, events: readonly TracefsEvent[], live: boolean): AtBoot {
  if (place === "instances" && !existsSync(folderOf(place))) throw new RunError(runReasons().notTraced(bootInstance));
  const listed = dynamicEvents();
  const on = enabledAt(place);
  const defined: DynamicEvent[] = [];
  let isOn = false;
  for (const [number, event] of events.entries()) {
    const made = bootPlace(event, number);
    if ("why" in made) continue;
    const { group, name, definition } = made;
    isOn ||= on.has(`${group}:${name}`);
    if (definition === undefined) continue;
    const there = listed.find((one) => one.group === group && one.name === name)?.text;
    if (there === undefined) continue;
    if (!isSame(there, definition))
      throw new RunError(runReasons().otherScriptTraced(event.site.name, definition, there));
    defined.push({ group, name, [Symbol.dispose]: () => remove(group, name) });
  }
  if (!isOn) throw new RunError(runReasons().noEventTraced());
  const instances = place === "top-level" ? [""] : [bootInstance, bootLives];
  return { instances: instances.map((name) => new TraceInstance(name, live ? "running" : "made")), defined };
}

function folderOf(place: BootPlace): string {
  return place === "top-level" ? tracefsRoot() : `${tracefsRoot()}/instances/${bootInstance}`;
}

/** `category:name` of each event that is enabled, be it for its triggers alone. */
function enabledAt(place: BootPlace): ReadonlySet<string> {
  return new Set(readFileSync(`${folderOf(place)}/set_event`, "latin1").split("\n"));
}

/** What an event is called; undefined where none is made at boot. */
export function bootNameOf(event: TracefsEvent, number: number): Pick<NamedEvent, "category" | "name"> | undefined {
  const place = bootPlace(event, number);
  return "why" in place ? undefined : { category: place.group, name: place.name };
}

/** The event that was made. @throws LinuxError where it was not */
export function bootEventAt(at: BootPlace, event: TracefsEvent, number: number): NamedEvent {
  const place = bootPlace(event, number);
  const doing = attempts().readBoot(event.site.name);
  const refuse = (hint: Reason): LinuxError => new LinuxError({ call: "read", code: EINVAL, doing, hint });
  if ("why" in place) throw refuse(refusalHints().waitedForUserSpace(place.why));
  const { group: category, name } = place;
  if (!enabledAt(at).has(`${category}:${name}`)) throw refuse(refusalHints().notTracedAtBoot());
  return { category, name };
}

/**
 * The text of an event's `format` file; undefined where there is no such event. A kernel that starts may leave an event
 * of its command line without a folder: it makes the folders in a worker (tracer_init_tracefs_work_func,
 * kernel/trace/trace.c) while it takes the command line. A new instance has all of them.
 */
export function bootFormat(category: string, name: string): string | undefined {
  const text = readFormat(category, name);
  if (text !== undefined || !dynamicEvents().some((one) => one.group === category && one.name === name)) return text;
  const instance = new TraceInstance(`strobe-${process.pid}-formats`, { bytes: 0, options: {} });
  try {
    return instance.readFile(`events/${category}/${name}/format`);
  } finally {
    instance[Symbol.dispose]();
  }
}

/** The kernel enables each kprobe event that there is at boot in the top-level buffer (enable_boot_kprobe_events). */
export function disableAtTop({ group, name }: { readonly group: string; readonly name: string }): void {
  try {
    enableEvent(group, name, false);
  } catch (error) {
    if (!(error instanceof LinuxError)) throw error;
  }
}

/** Returns are shown by their letter. */
function isSame(shown: string, definition: string): boolean {
  const words = (text: string): string => text.replace("%return", "").replaceAll(/\s+/g, " ").trim();
  return words(shown) === words(definition);
}

/** Milliseconds that the kernel may still look at an event's trigger that is gone. */
const patience = 3000;
const pause = 20;

function remove(group: string, name: string): void {
  for (let waited = 0; ; waited += pause) {
    try {
      return writeDefinition("kprobe_events", `-:${group}/${name}`, () => attempts().removeEvent(`${group}/${name}`));
    } catch (error) {
      if (!(error instanceof LinuxError) || waited >= patience) throw error;
      sleepInThread(pause);
    }
  }
}
