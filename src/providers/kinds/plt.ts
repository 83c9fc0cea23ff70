// plt: calls of imported functions, where a program or library makes them: the stubs that its calls go through. Unlike
// a uprobe on the function, this sees one caller's calls only, and no symbols of the library are needed.
import { userProbes } from "../../messages/user-probes.ts";
import type { SiteRef } from "../../language/resolved-probe.ts";
import { uprobes } from "../attaching/attachers.ts";
import { findBinaries, noBinary, unquote } from "../../machine/binaries/binaries.ts";
import { variantsByFunction } from "../places/function-code.ts";
import type { Context } from "../../language/context.ts";
import type { Provider } from "../provider.ts";
import { didYouMean, missing, refused, wrongParts } from "../resolution.ts";
import type { System } from "../../machine/system.ts";
import type { UserSite } from "../attaching/user-attachment.ts";
import { userContext } from "../../machine/contexts/user-context.ts";
import { hasWildcard, matches } from "../../machine/wildcard.ts";

const usage = "plt:BINARY:FUNCTION";

function context(system: System): Context {
  return { ...userContext({ provider: "plt", returns: false, system }), func: "site" };
}

export const plt: Provider = {
  name: "plt",
  aliases: [],
  inSearches: "in-files",
  usage,
  doc: "Calls of imported functions, as a program or library makes them.",
  followsProcess: true,
  inFiles: { context },

  *list(parts, system, { pid }) {
    const [target = "*", pattern = "*"] = parts.map(unquote);
    for (const binary of findBinaries(target, pid, system)) {
      const names = new Set(
        (binary.imports?.() ?? []).map(({ name }) => name).filter((name) => matches(pattern, name)),
      );
      for (const name of names) yield { probe: `plt:${binary.shownPath}:${name}` };
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
      for (const { name, fileOffset } of binary.imports?.() ?? []) {
        names.push(name);
        if (!matches(wanted, name)) continue;
        const data: UserSite = { path: binary.path, offset: fileOffset, semaphore: 0n };
        sites.push({ name: `plt:${binary.shownPath}:${name}`, func: name, data });
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

  ...uprobes,
};
