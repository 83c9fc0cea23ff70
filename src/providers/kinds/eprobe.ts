// eprobe: an event on an event. On tracefs it is one of strobe's own: what it carries is read of the other's fields and of
// memory behind them, where that one happens. A BPF program at the event reads them itself.
// (Documentation/trace/eprobetrace.rst)
import { kernelFeatures, needsOf } from "../../base/kernel-features.ts";
import { probes } from "../../messages/probes.ts";
import type { SiteRef } from "../../language/resolved-probe.ts";
import type { Provider } from "../provider.ts";
import { refused, type Variant } from "../resolution.ts";
import { tracepoint } from "./tracepoint.ts";

export const eprobe: Provider = {
  name: "eprobe",
  aliases: ["ep"],
  usage: "eprobe:CATEGORY:EVENT",
  doc: "An event on an event of the kernel.",
  inSearches: "never",
  seenOfOneProcess: (parts, system) => tracepoint.seenOfOneProcess!(parts, system),

  *list(parts, system, options) {
    for (const { probe, ...rest } of tracepoint.list(parts, system, options)) yield { ...rest, probe: renamed(probe) };
  },

  resolve(spec, system, options) {
    if (options.asEvents === true && system.eventsOnEvents?.() !== true)
      return refused(spec, probes.noEventsOnEvents(needsOf(kernelFeatures.eventsOnEvents)));
    const { variants, diagnostics } = tracepoint.resolve(spec, system, options);
    return { variants: variants.map(asOwn), diagnostics };
  },

  attach: (request) => tracepoint.attach!(request),
};

function asOwn({ context, sites, ...variant }: Variant): Variant {
  return {
    ...variant,
    provider: eprobe.name,
    context: context === "host" ? context : { ...context, provider: eprobe.name },
    sites: sites.map((site): SiteRef => ({ ...site, name: renamed(site.name), found: site.found ?? site.name })),
  };
}

function renamed(probe: string): string {
  return probe.replace(/^\w+/, eprobe.name);
}
