// self: what happens to strobe's own process.
import { userProbes } from "../../messages/user-probes.ts";
import { matches } from "../../machine/wildcard.ts";
import type { Provider } from "../provider.ts";
import { didYouMean, hostVariant, refused, wrongParts } from "../resolution.ts";

/** The only signal that has no other meaning here. */
const signals = ["SIGUSR1"];

export interface SignalSite {
  readonly signal: NodeJS.Signals;
}

export const self: Provider = {
  name: "self",
  aliases: [],
  usage: "self:signal:SIGUSR1",
  doc: "When strobe itself gets a signal.",
  *list(parts) {
    for (const signal of signals) {
      if (matches(parts[0] ?? "*", "signal") && matches(parts[1] ?? "*", signal))
        yield { probe: `self:signal:${signal}` };
    }
  },
  resolve(spec) {
    const [kind, signal] = spec.parts;
    if (kind !== "signal" || signal === undefined || spec.parts.length !== 2) return wrongParts(spec, self.usage);
    if (!signals.includes(signal)) {
      return refused(
        spec,
        userProbes.notSignalStrobeCanProbed(signal, didYouMean(signal, signals) ?? "the signal is SIGUSR1"),
      );
    }
    const data: SignalSite = { signal: "SIGUSR1" };
    return hostVariant("self", { name: `self:signal:${signal}`, data });
  },
};
