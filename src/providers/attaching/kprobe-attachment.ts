// Attaching to kernel functions and instructions: many at once by a kprobe-multi link, else a perf event a place.
import { BPF_TRACE_KPROBE_SESSION, linkCreateKprobeMulti, linkMisses } from "../../linux/bpf/bpf.ts";
import { LinuxError, type Doing } from "../../linux/error.ts";
import { cString } from "../../linux/ffi.ts";
import { defineKretprobe, type KprobeEvent } from "../../linux/kernel/kprobe-events.ts";
import { openPerfEvent, PERF_TYPE_TRACEPOINT } from "../../linux/perf/perf.ts";
import { pmuReturnBit, pmuType } from "../../linux/kernel/tracefs.ts";
import type { SiteRef } from "../../language/resolved-probe.ts";
import { Attaching, attachToPerfEvent, withoutRefused } from "./attachment.ts";
import type { KprobeSite } from "../places/kernel-functions.ts";
import type { Attachment, AttachRequest } from "../provider.ts";
import { refusalHints, attempts } from "../../messages/on-demand.ts";
import type { Reason } from "../../base/failure.ts";

/** KRETPROBE_MAXACTIVE_MAX */
export const MAXACTIVE_LIMIT = 4096;

export function attachToKernelSites(request: AttachRequest, returns: boolean): Attachment {
  const attaching = new Attaching(request);
  const links: { readonly descriptor: number; readonly sites: readonly SiteRef[] }[] = [];
  const missed: Attachment["missed"] = () =>
    links.flatMap(({ descriptor, sites: [site, ...more] }) => {
      const count = linkMisses(descriptor);
      if (count === 0) return [];
      const name = more.length === 0 ? site.name : `${site.name} and ${more.length} more`;
      return [
        {
          site: { ...site, name },
          count,
          help: whyMissed(name, returns),
        },
      ];
    });
  if (request.binding.load) {
    const session = request.binding.load.attachType === BPF_TRACE_KPROBE_SESSION;
    const functions = session ? request.sites.length / 2 : request.sites.length;
    // A link takes either names or addresses.
    const named: number[] = [];
    const placed: number[] = [];
    for (let i = 0; i < functions; i++)
      ((request.sites[i].data as KprobeSite).symbol === undefined ? placed : named).push(i);
    for (const indices of [named, placed].filter(({ length }) => length > 0)) {
      attaching.together(indices, (sites, cookies) => {
        const places = sites.map((site) => site.data as KprobeSite);
        const functions =
          indices === named
            ? { symbols: places.map(({ symbol = "" }) => symbol) }
            : { addresses: places.map(({ offset }) => offset) };
        const asked = cookies.some((cookie) => cookie !== 0n) ? { cookies } : {};
        const descriptor = linkCreateKprobeMulti(request.program, {
          ...functions,
          ...asked,
          isReturn: returns,
          session,
        });
        links.push({ descriptor, sites });
        return descriptor;
      });
    }
    const attachment = attaching.done({ missed });
    return withoutRefused(session ? ofBothEnds(attachment, request.sites) : attachment, request.sites, wildcardOf);
  }
  const definitions: KprobeEvent[] = [];
  attaching.each((site, cookie) => {
    const event = openKprobe(site, returns, definitions);
    // By a link, which tells what was missed.
    const descriptors = attachToPerfEvent(request.program, event, cookie, "link");
    links.push({ descriptor: descriptors.at(-1)!, sites: [site] });
    return descriptors;
  });
  const closed = (): void => {
    for (const definition of definitions) definition[Symbol.dispose]();
  };
  return withoutRefused(attaching.done({ missed, closed }), request.sites, wildcardOf);
}

/**
 * The perf event of a site's kprobe; those with room of their own need a definition, which is to be removed after it.
 */
function openKprobe({ name, data }: SiteRef, returns: boolean, definitions: KprobeEvent[]): number {
  const { symbol, offset, maxactive, inPlace = false } = data as KprobeSite;
  const everywhere = { pid: -1, cpu: 0 };
  return withReason(
    () => attempts().probe(name),
    () => {
      if (maxactive !== undefined) {
        const definition = defineKretprobe(symbol ?? `0x${offset.toString(16)}`, maxactive);
        definitions.push(definition);
        return openPerfEvent({ type: PERF_TYPE_TRACEPOINT, config: definition.id, samplePeriod: 1, ...everywhere });
      }
      const type = pmuType("kprobe");
      if (type === undefined)
        throw new LinuxError({
          call: "perf_event_open",
          code: 2,
          doing: attempts().attach(name),
          hint: refusalHints().noKprobes(),
        });
      return openPerfEvent({
        type,
        config: returns && !inPlace ? 1 << pmuReturnBit("kprobe") : 0,
        config1: symbol === undefined ? 0 : cString(symbol),
        config2: offset,
        ...everywhere,
      });
    },
  );
}

/** Why events of a kprobe were missed, and what to do. */
export function whyMissed(name: string, returns: boolean): string {
  if (!returns) return "they happened while the CPU was handling another kprobe";
  return `more calls were under way than the kernel had room for, or another kprobe was being handled: try ${name}:maxactive=${MAXACTIVE_LIMIT}, or fexit, which has no such limit, where --info has it`;
}

/** Says what the kernel's refusal of a probe means. @throws LinuxError */
export function withReason<T>(doing: Doing, open: () => T): T {
  try {
    return open();
  } catch (error) {
    if (!(error instanceof LinuxError)) throw error;
    const { call, code } = error;
    const hint = refusal(error.errno) ?? error.hint;
    throw new LinuxError({ call, code, doing: doing(), ...(hint === undefined ? {} : { hint }) });
  }
}

function refusal(errno: string): Reason | undefined {
  switch (errno) {
    case "EINVAL":
      return refusalHints().mustNotBeProbed();
    case "EADDRNOTAVAIL":
      return refusalHints().severalFunctions();
    case "EILSEQ":
      return refusalHints().insideInstruction();
    case "ENOENT":
      return refusalHints().functionGone();
    default:
      return undefined;
  }
}

/** As withoutRefused() wants it. */
function wildcardOf({ data }: SiteRef): string | undefined {
  return (data as KprobeSite).wildcard;
}

/** A session's link stands for two probes at each function: the entries are the first half of the sites. */
function ofBothEnds(attachment: Attachment, sites: readonly SiteRef[]): Attachment {
  const functions = sites.length / 2;
  const returned = attachment.failed.map((one) => ({ ...one, site: sites[sites.indexOf(one.site) + functions] }));
  const failed = new Set(attachment.failed.map(({ site }) => site));
  return {
    ...attachment,
    attached: sites.filter((_, i) => !failed.has(sites[i % functions])),
    failed: [...attachment.failed, ...returned],
  };
}
