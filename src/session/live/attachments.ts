// What a session has attached: programs to their sites through the providers, the sites that failed, and letting go of
// them.
import type { Plan } from "../../compiler/plan.ts";
import { InternalError } from "../../base/internal-error.ts";
import type { SiteRef } from "../../language/resolved-probe.ts";
import type { Attacher, Attachment, Measured } from "../../providers/provider.ts";
import { missedEvents } from "./counters.ts";
import { detachAll } from "./detach.ts";
import type { Trouble } from "../events.ts";
import type { LoadedProgram } from "./kernel-objects.ts";

/** Sites that could not be attached, under `missing_probes = "error"`. */
export class AttachError extends Error {
  readonly failed: readonly { readonly probe: string; readonly reason: string }[];

  constructor(failed: AttachError["failed"]) {
    const [first] = failed;
    super(
      `cannot attach ${first.probe}: ${first.reason}${failed.length > 1 ? ` (and ${failed.length - 1} more)` : ""}`,
    );
    this.name = "AttachError";
    this.failed = failed;
  }
}

export interface AttachmentsOptions {
  /** providers/registry.ts's, or fakes. */
  readonly findAttacher: (name: string) => Attacher | undefined;
  /** The only process to trace, for a kind of probe; undefined: all. */
  readonly pidFor: (attacher: Attacher) => number | undefined;
  readonly missingProbes: Plan["config"]["missingProbes"];
  readonly trouble: (trouble: Trouble) => void;
  readonly log: (line: string) => void;
}

export class Attachments {
  /** Probes attached so far, several places of one (SiteRef.among) as one; begin and end are none of them. */
  probes = 0;
  /** Those of several places, by number and name. */
  readonly #ofSeveralPlaces = new Set<string>();
  readonly #options: AttachmentsOptions;
  /** Of those that are attached still. */
  readonly #ofProgram = new Map<LoadedProgram, Attachment>();
  readonly #detaching: Promise<void>[] = [];

  constructor(options: AttachmentsOptions) {
    this.#options = options;
  }

  /** @throws AttachError, LinuxError: with what was attached before still there */
  attach(programs: readonly LoadedProgram[]): void {
    const { missingProbes, trouble, log } = this.#options;
    const failed: { probe: string; reason: string }[] = [];
    const probes = programs
      .filter(({ program }) => program.once === undefined)
      .map((loaded) => ({ loaded, attacher: this.#attacherOf(loaded) }));
    const lastFirst = ({ loaded, attacher }: (typeof probes)[number]): boolean =>
      attacher.lastRunsFirst?.(loaded.program.binding) ?? false;
    const [reversed, others] = [
      probes.filter((probe) => lastFirst(probe)),
      probes.filter((probe) => !lastFirst(probe)),
    ];
    const inOrder = [...others, ...reversed.reverse()];
    const [first, then] = [
      inOrder.filter(({ loaded }) => loaded.program.binding.first),
      inOrder.filter(({ loaded }) => !loaded.program.binding.first),
    ];
    for (const { loaded, attacher } of [...first, ...then]) this.#ofProgram.set(loaded, this.#attach(loaded, attacher));
    for (const { loaded } of probes) {
      const { program } = loaded;
      const attachment = this.#ofProgram.get(loaded)!;
      this.#count(attachment.attached);
      for (const { site, reason } of attachment.failed) failed.push({ probe: site.name, reason });
      for (const text of attachment.notes ?? []) trouble({ kind: "message", text });
      for (const { probe, reason } of attachment.skipped ?? []) trouble({ kind: "attach", probe, reason });
      log(`attached ${program.name} to ${attachment.attached.length} of ${program.sites.length} sites`);
    }
    if (failed.length === 0) return;
    switch (missingProbes) {
      case "error":
        throw new AttachError(failed);
      case "warn":
        for (const { probe, reason } of failed) trouble({ kind: "attach", probe, reason });
        return;
      case "ignore":
        return;
    }
  }

  #count(sites: readonly SiteRef[]): void {
    this.probes += sites.length;
    for (const { among, name } of sites) {
      if (among === undefined) continue;
      const probe = `${among} ${name}`;
      if (this.#ofSeveralPlaces.has(probe)) this.probes--;
      else this.#ofSeveralPlaces.add(probe);
    }
  }

  #attacherOf({ program: { provider } }: LoadedProgram): Attacher {
    const attacher = this.#options.findAttacher(provider);
    if (attacher === undefined) throw new InternalError(`the provider "${provider}" attaches nothing`);
    return attacher;
  }

  #attach({ program, descriptor }: LoadedProgram, attacher: Attacher): Attachment {
    const pid = this.#options.pidFor(attacher);
    return attacher.attach({
      program: descriptor,
      binding: program.binding,
      sites: program.sites,
      cookies: program.cookies.map(BigInt),
      report: (text) => this.#options.trouble({ kind: "message", text }),
      ...(pid === undefined ? {} : { pid }),
    });
  }

  /** What does not fire by itself: each to be called once. */
  get runs(): readonly (() => Measured | void)[] {
    return [...this.#ofProgram.values()].flatMap((attachment) => (attachment.run ? [() => attachment.run?.()] : []));
  }

  /** Whether there is anything that fires by itself. */
  get firing(): boolean {
    return [...this.#ofProgram.values()].some((attachment) => !attachment.run && attachment.attached.length > 0);
  }

  /** What waits for the command to become its program; undefined when nothing does. */
  get atExec(): ((pid: number) => void) | undefined {
    const waiting = [...this.#ofProgram.values()].filter((attachment) => attachment.executed !== undefined);
    return waiting.length === 0
      ? undefined
      : (pid) => {
          for (const attachment of waiting) attachment.executed?.(pid);
        };
  }

  /** An address is watched from now on. */
  watch(asked: Parameters<NonNullable<Attachment["watch"]>>[0]): void {
    for (const attachment of this.#ofProgram.values()) attachment.watch?.(asked);
  }

  /** Watchpoints of an address fire no more. */
  unwatch(address: bigint, pid: number): void {
    for (const attachment of this.#ofProgram.values()) attachment.unwatch?.(address, pid);
  }

  /** Asked before they are let go of. */
  missed(programs: readonly LoadedProgram[]): Trouble[] {
    return this.#ofProgram.size > 0 ? missedEvents(programs, [...this.#ofProgram.values()]) : [];
  }

  /** Lets go of one program's sites while the others go on. */
  detach(program: LoadedProgram, failed: (error: unknown) => void): void {
    const attachment = this.#ofProgram.get(program);
    if (!attachment) return;
    this.#ofProgram.delete(program);
    this.#detaching.push(detachAll([attachment]).catch(failed));
  }

  /** Lets go of all; there is nothing to do a second time. */
  async detachAll(): Promise<void> {
    const attachments = [...this.#ofProgram.values()];
    this.#ofProgram.clear();
    await detachAll(attachments);
    await Promise.all(this.#detaching);
  }
}
