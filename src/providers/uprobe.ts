// uprobe and uretprobe: functions and instructions of programs and libraries.
import type { SiteRef } from "../language/check/checked.ts";
import type { ProbeSpec } from "../language/program.ts";
import type { Provider, Resolution, ResolveOptions } from "./provider.ts";
import { parseCount } from "./quantity.ts";
import { didYouMean, missing, refused, resolved, variantsOf, wrongParts } from "./resolution.ts";
import type { Binary } from "./system.ts";
import { findBinaries, sourceName, unquote } from "./binaries.ts";
import { attachToUserSites, userContext, type UserSite } from "./user-attachment.ts";
import { hasWildcard, matches } from "./wildcard.ts";

interface Place { readonly name: string; readonly offset: bigint }

function userProbe(name: "uprobe" | "uretprobe", alias: string): Provider {
  const returns = name === "uretprobe";
  const provider: Provider = {
    name,
    aliases: [alias],
    usage: returns ? `${name}:BINARY:FUNCTION` : `${name}:BINARY:(FUNCTION[+OFFSET]|ADDRESS)`,
    doc: returns ? "Returns of functions of programs and libraries." : "Functions of programs and libraries.",

    *list(parts, system, options) {
      const [target = "*", ...rest] = parts.map(unquote);
      const cpp = rest[0] === "cpp" && rest.length > 1;
      const pattern = rest.at(-1) ?? "*";
      for (const binary of findBinaries(target, options.pid, system)) {
        const seen = new Set<string>();
        for (const symbol of binary.symbols()) {
          const shown = cpp ? sourceName(symbol.name) ?? "" : symbol.name;
          if (symbol.kind !== "function" || shown === "" || seen.has(shown) || !matches(pattern, shown)) continue;
          seen.add(shown);
          yield { probe: `${name}:${binary.shownPath}:${cpp ? "cpp:" : ""}${shown}` };
        }
      }
    },

    resolve(spec, system, options) {
      const parts = spec.parts.map(unquote);
      const [target, ...rest] = parts;
      const cpp = rest[0] === "cpp" && rest.length > 1;
      const wanted = cpp ? rest.slice(1).join(":") : rest.join(":");
      if (target === undefined || target === "" || wanted === "") {
        if (target?.includes("@")) return refused(spec, "feature", "strobe cannot probe source lines yet", "probe a function, or an address of the binary");
        return wrongParts(spec, provider.usage);
      }
      const binaries = findBinaries(target, options.pid, system);
      if (binaries.length === 0) return missing(spec, options, `there is no program or library \`${target}\``, "give a path, or a name that the shell or the loader finds");
      const sites: SiteRef[] = [];
      for (const binary of binaries) {
        const found = places(binary, wanted, cpp, returns);
        if (typeof found === "string") return refused(spec, "arguments", found);
        for (const place of found) {
          sites.push({
            name: `${name}:${binary.shownPath}:${cpp ? "cpp:" : ""}${place.name}`, func: place.name,
            data: { path: binary.path, offset: place.offset, semaphore: 0n } satisfies UserSite,
          });
        }
      }
      if (sites.length === 0) return noSymbol(spec, binaries, wanted, cpp, options);
      return resolved(variantsOf(userContext({ provider: name, returns, system }), sites, options));
    },

    attach: (request) => attachToUserSites(request, returns),
  };
  return provider;
}

/** The places that a name, a wildcard, `function+offset` or an address means; or what is wrong with it. */
function places(binary: Binary, wanted: string, cpp: boolean, returns: boolean): Place[] | string {
  const address = parseCount(wanted);
  if (address !== undefined) {
    const offset = binary.fileOffset(address);
    return offset === undefined ? `the address ${wanted} is in no code of ${binary.shownPath}` : [{ name: wanted, offset }];
  }
  if (cpp) return placesByName(binary, (symbol) => matchesSource(wanted, sourceName(symbol)), sourceName);
  if (hasWildcard(wanted)) return placesByName(binary, (symbol) => matches(wanted, symbol), (symbol) => symbol);
  const exact = binary.symbol(wanted);
  if (exact) return exact.fileOffset > 0n || exact.address > 0n ? [{ name: wanted, offset: exact.fileOffset }] : [];

  const plus = /^(.+)\+(\w+)$/.exec(wanted);
  if (!plus) return [];
  const symbol = binary.symbol(plus[1]);
  const offset = parseCount(plus[2]);
  if (symbol === undefined) return [];
  if (offset === undefined) return `\`${plus[2]}\` is not a number of bytes`;
  if (returns && offset > 0n) return "a function returns from no offset";
  if (offset >= symbol.size && symbol.size > 0n) return `\`${symbol.name}\` has only ${symbol.size} bytes`;
  return [{ name: wanted, offset: symbol.fileOffset + offset }];
}

function placesByName(binary: Binary, wanted: (symbol: string) => boolean, shown: (symbol: string) => string | undefined): Place[] {
  const found = new Map<string, Place>();
  for (const symbol of binary.symbols()) {
    if (symbol.kind !== "function" || symbol.fileOffset === 0n || !wanted(symbol.name)) continue;
    // A symbol may be in several tables, in one of them with a version.
    const key = `${symbol.name}@${symbol.fileOffset}`;
    if (!found.has(key)) found.set(key, { name: shown(symbol.name) ?? symbol.name, offset: symbol.fileOffset });
  }
  return [...found.values()];
}

/** A name without parameters means all overloads. */
function matchesSource(wanted: string, name: string | undefined): boolean {
  if (name === undefined) return false;
  return matches(wanted, name) || matches(wanted.replace(/\(.*$/s, ""), name);
}

function noSymbol(spec: ProbeSpec, binaries: readonly Binary[], wanted: string, cpp: boolean, options: ResolveOptions): Resolution {
  const where = binaries.length === 1 ? `in ${binaries[0].shownPath}` : `in any of ${binaries.length} binaries`;
  if (hasWildcard(wanted)) return missing(spec, options, `no function ${where} matches \`${wanted}\``);
  const names: string[] = [];
  for (const binary of binaries) {
    for (const symbol of binary.symbols()) {
      if (symbol.kind === "function") names.push(cpp ? sourceName(symbol.name) ?? symbol.name : symbol.name);
    }
  }
  const help = names.length === 0 ? "it has no symbols: install its debug symbols, or probe an address" : didYouMean(wanted, names);
  return missing(spec, options, `there is no function \`${wanted}\` ${where}`, help);
}

export const uprobe = userProbe("uprobe", "u");
export const uretprobe = userProbe("uretprobe", "ur");
