// uprobe and uretprobe: functions and instructions of programs and libraries.
import { instructionAt } from "../debuginfo/instructions.ts";
import type { SiteRef } from "../language/check/checked.ts";
import type { ProbeSpec } from "../language/program.ts";
import type { Provider, Resolution, ResolveOptions } from "./provider.ts";
import { parseCount } from "./quantity.ts";
import { didYouMean, missing, refused, resolved, variantsOf, wrongParts, type Variant } from "./resolution.ts";
import type { Binary } from "./system.ts";
import { cppName, findBinaries, unquote, type CppName } from "./binaries.ts";
import { attachToUserSites, symbolsSeenFrom, userContext, type UserSite } from "./user-attachment.ts";
import { hasWildcard, matches } from "./wildcard.ts";

/** Bytes of the longest x86-64 instruction. */
const longestInstruction = 15;

interface Place { readonly name: string; readonly offset: bigint }

function userProbe(name: "uprobe" | "uretprobe", alias: string): Provider {
  const returns = name === "uretprobe";
  const provider: Provider = {
    name,
    aliases: [alias],
    usage: returns ? `${name}:BINARY:FUNCTION` : `${name}:BINARY:(FUNCTION[+OFFSET]|ADDRESS)`,
    doc: returns ? "Returns of functions of programs and libraries." : "Functions of programs and libraries.",
    followsProcess: true,

    *list(parts, system, options) {
      const [target = "*", ...rest] = parts.map(unquote);
      const cpp = rest[0] === "cpp" && rest.length > 1;
      const pattern = rest.at(-1) ?? "*";
      for (const binary of findBinaries(target, options.pid, system)) {
        const seen = new Set<string>();
        for (const symbol of binary.symbols()) {
          const shown = cpp ? cppName(symbol.name)?.name ?? "" : symbol.name;
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
      const looking: Variant[] = [];
      for (const binary of binaries) {
        const found = places(binary, wanted, cpp, returns);
        if (typeof found === "string") return refused(spec, "arguments", found);
        for (const place of found) {
          const site: SiteRef = {
            name: `${name}:${binary.shownPath}:${cpp ? "cpp:" : ""}${place.name}`, func: place.name,
            data: { path: binary.path, offset: place.offset, semaphore: 0n } satisfies UserSite,
          };
          sites.push(site);
          if (options.uses.has("uaddr")) {
            const context = { ...userContext({ provider: name, returns, system }), userSymbol: symbolsSeenFrom(binary, place.offset, returns) };
            looking.push({ context, provider: name, sites: [site] });
          }
        }
      }
      if (sites.length === 0) return noSymbol(spec, binaries, wanted, cpp, options);
      if (looking.length > 0) return resolved(...looking);
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
    if (offset === undefined) return `the address ${wanted} is in no code of ${binary.shownPath}`;
    const within = binary.functionAt(offset);
    const inside = within && insideInstruction(binary, offset - BigInt(within.offset), within.offset);
    return inside === undefined ? [{ name: wanted, offset }] : `${wanted} is inside an instruction of \`${within?.name}\`, which begins at ${within?.name}+${inside}`;
  }
  if (cpp) return placesByName(binary, (symbol) => matchesSource(wanted, cppName(symbol)), (symbol) => cppName(symbol)?.name);
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
  const inside = insideInstruction(binary, symbol.fileOffset, Number(offset));
  if (inside !== undefined) return `\`${wanted}\` is inside an instruction, which begins at ${symbol.name}+${inside}`;
  return [{ name: wanted, offset: symbol.fileOffset + offset }];
}

/**
 * Where the instruction begins that a place is in the middle of; undefined when the place is a beginning. A breakpoint in the
 * middle of an instruction would corrupt the program.
 */
function insideInstruction(binary: Binary, functionOffset: bigint, offset: number): number | undefined {
  if (offset === 0) return undefined;
  if (binary.machine === "arm64") return offset % 4 === 0 ? undefined : offset - (offset % 4);
  const start = instructionAt(binary.read(functionOffset, offset + longestInstruction), offset);
  return start === offset ? undefined : start ?? 0;
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

/** A name without parameters means all overloads; a template's name without arguments, all that were made of it. */
function matchesSource(wanted: string, cpp: CppName | undefined): boolean {
  if (cpp === undefined) return false;
  const { name, signature, full } = cpp;
  if (!wanted.includes("(")) return matches(wanted, name) || (!wanted.includes("<") && matches(wanted, name.replace(/<.*>$/, "")));
  const spaced = wanted.replaceAll(/\s*,\s*/g, ", ");
  if (matches(spaced, signature) || matches(spaced, full)) return true;
  // Where nothing demangles, parameters are unknown.
  return signature === name && matches(wanted.replace(/\(.*$/s, ""), name);
}

function noSymbol(spec: ProbeSpec, binaries: readonly Binary[], wanted: string, cpp: boolean, options: ResolveOptions): Resolution {
  const where = binaries.length === 1 ? `in ${binaries[0].shownPath}` : `in any of ${binaries.length} binaries`;
  if (hasWildcard(wanted)) return missing(spec, options, `no function ${where} matches \`${wanted}\``);
  const names: string[] = [];
  for (const binary of binaries) {
    for (const symbol of binary.symbols()) {
      if (symbol.kind === "function") names.push(cpp ? cppName(symbol.name)?.name ?? symbol.name : symbol.name);
    }
  }
  const help = names.length === 0 ? "it has no symbols: install its debug symbols, or probe an address" : didYouMean(wanted, names);
  return missing(spec, options, `there is no function \`${wanted}\` ${where}`, help);
}

export const uprobe = userProbe("uprobe", "u");
export const uretprobe = userProbe("uretprobe", "ur");
