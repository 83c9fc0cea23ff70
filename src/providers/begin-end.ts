// begin and end: once before everything else is attached, once after everything is detached. They run in strobe itself.
import type { Provider } from "./provider.ts";
import { matches } from "./wildcard.ts";
import { hostVariant, refused } from "./resolution.ts";

function once(name: "begin" | "end", doc: string): Provider {
  return {
    name,
    aliases: [name.toUpperCase()],
    usage: name,
    doc,
    *list(parts) { if (matches(parts[0] ?? "*", name)) yield { probe: name }; },
    resolve(spec) {
      if (spec.parts.some((part) => part !== "")) return refused(spec, "syntax", `\`${name}\` stands alone`, `write \`${name} { … }\``);
      return hostVariant(name, { name, data: null });
    },
  };
}

export const begin = once("begin", "Once, before all other probes.");
export const end = once("end", "Once, after all other probes.");
