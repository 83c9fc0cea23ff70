// plt and pltret: calls of imported functions, where a program or library makes them: the stubs that its calls go through,
// and their returns. Unlike a uprobe on the function, this sees one caller's calls only, and no symbols of the library
// are needed.
import { userProbes } from "../../messages/user-probes.ts";
import type { SiteRef } from "../../language/resolved-probe.ts";
import { uprobes, uretprobes } from "../attaching/attachers.ts";
import { findBinaries, noBinary, unquote } from "../../machine/binaries/binaries.ts";
import { variantsByFunction } from "../places/function-code.ts";
import type { Context } from "../../language/context.ts";
import type { Provider } from "../provider.ts";
import { didYouMean, missing, refused, wrongParts } from "../resolution.ts";
import type { System } from "../../machine/system.ts";
import type { UserSite } from "../attaching/user-attachment.ts";
import { userContext } from "../../machine/contexts/user-context.ts";
import { hasWildcard, matches } from "../../machine/wildcard.ts";

/** A stub begins with where the call returns to on the stack, as the function itself does. */
function linkage(name: "plt" | "pltret"): Provider {
  const returns = name === "pltret";
  const usage = `${name}:BINARY:FUNCTION`;
  const context = (system: System): Context => ({ ...userContext({ provider: name, returns, system }), func: "site" });
  return {
    name,
    aliases: [],
    inSearches: returns ? "never" : "in-files",
    usage,
    doc: returns
      ? "Returns of imported functions, as a program or library calls them."
      : "Calls of imported functions, as a program or library makes them.",
    followsProcess: true,
    inFiles: { context },

    *list(parts, system, { pid }) {
      const [target = "*", pattern = "*"] = parts.map(unquote);
      for (const binary of findBinaries(target, pid, system)) {
        const names = new Set((binary.imports?.() ?? []).map((one) => one.name).filter((one) => matches(pattern, one)));
        for (const function_ of names) yield { probe: `${name}:${binary.shownPath}:${function_}` };
      }
    },

    resolve(spec, system, options) {
      const [target = "", ...rest] = spec.parts.map(unquote);
      const wanted = rest.join(":");
      if (target === "" || wanted === "") return wrongParts(spec, usage);
      const binaries = findBinaries(target, options.pid, system);
      if (binaries.length === 0) return missing(spec, options, noBinary(target));
      const sites: SiteRef[] = [];
      const names: string[] = [];
      for (const binary of binaries) {
        if (binary.machine !== "x86-64" && binaries.length === 1)
          return refused(spec, userProbes.strobeKnowsLinkageTablesX());
        for (const { name: function_, fileOffset } of binary.imports?.() ?? []) {
          names.push(function_);
          if (!matches(wanted, function_)) continue;
          const data: UserSite = { path: binary.path, offset: fileOffset, semaphore: 0n };
          sites.push({ name: `${name}:${binary.shownPath}:${function_}`, func: function_, data });
        }
      }
      if (sites.length > 0) return { variants: variantsByFunction(context(system), sites, options), diagnostics: [] };
      const where = binaries.length === 1 ? binaries[0].shownPath : `any of ${binaries.length} binaries`;
      if (names.length === 0) return missing(spec, options, userProbes.noLinkageTable(where));
      if (hasWildcard(wanted)) return missing(spec, options, userProbes.noFunctionImportsMatches(where, wanted));
      return missing(
        spec,
        options,
        userProbes.noLinkageTableEntry(
          where,
          wanted,
          didYouMean(wanted, names) ??
            "it does not call it, or not through the table: probe the function in its library by `uprobe`",
        ),
      );
    },

    ...(returns ? uretprobes : uprobes),
  };
}

export const plt = linkage("plt");
export const pltret = linkage("pltret");
