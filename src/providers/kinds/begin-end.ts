// begin and end: once before everything else is attached, once after everything is detached. They run in strobe itself,
// or as a test run of a kernel program when they look at what only the kernel sees.
import { probes } from "../../messages/probes.ts";
import type { Context } from "../../language/context.ts";
import type { Provider } from "../provider.ts";
import { matches } from "../../machine/wildcard.ts";
import { refused, resolved } from "../resolution.ts";

function once(name: "begin" | "end", doc: string): Provider {
  return {
    name,
    aliases: [name.toUpperCase()],
    usage: name,
    doc,
    followsProcess: true,
    inNoProcess: true,
    *list(parts) {
      if (matches(parts[0] ?? "*", name)) yield { probe: name };
    },
    resolve(spec) {
      const context: Context = {
        provider: name,
        program: { type: "raw_tracepoint", cookie: false },
        runsInStrobe: name,
        defaultSpace: "kernel",
        stacks: true,
      };
      if (spec.parts.some((part) => part !== ""))
        return refused(spec, probes.probeTypeRequiresArgumentsFound(name, spec.parts.length));
      return resolved({ context, provider: name, sites: [{ name, data: null }] });
    },
  };
}

export const begin = once("begin", "Once, before all other probes.");
export const end = once("end", "Once, after all other probes.");
