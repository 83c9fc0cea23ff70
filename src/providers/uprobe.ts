// uprobe and uretprobe: functions, lines and instructions of programs and libraries.
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { noteFile } from "../store/seen-files.ts";
import type { SiteRef } from "../language/check/checked.ts";
import type { Diagnostic } from "../language/diagnostic.ts";
import type { ProbeSpec } from "../language/program.ts";
import { uprobes, uretprobes } from "./attachers.ts";
import type { Provider, Resolution, ResolveOptions } from "./provider.ts";
import { parseCount } from "./quantity.ts";
import { didYouMean, missing, refused, variantsOf, wrongParts, type Variant } from "./resolution.ts";
import type { Binary, System } from "./system.ts";
import { cppName, findBinaries, noBinary, unquote } from "./binaries.ts";
import { asGoHasIt } from "./go-context.ts";
import { copyContext, whatBodiesHave } from "./inlined-places.ts";
import type { UserSite } from "./user-attachment.ts";
import { symbolsSeenFrom, userContext } from "./user-context.ts";
import { linesInFunction, listLines, placesOfLines, shownLine, type SourceLines } from "./source-lines.ts";
import { describeFunction, listInlined } from "./user-listing.ts";
import type { Place } from "./places.ts";
import { placesNamed } from "./user-places.ts";
import { typesNamed, wantsVariables, withVariables, type PlaceContext } from "./user-variables.ts";
import { hasWildcard, matches } from "./wildcard.ts";

/** The Go function that a place is in; C code that was linked in is none. */
function goFunctionAt(binary: Binary, offset: bigint): string | undefined {
  const address = binary.go === undefined ? undefined : binary.address(offset);
  return address === undefined ? undefined : binary.go?.at(address)?.name;
}

/** What goes before a function's name: how it is meant. */
type Qualifier = "cpp" | "inlined";

function qualified(parts: readonly string[]): { readonly qualifier: Qualifier | undefined; readonly names: readonly string[] } {
  const [first, ...rest] = parts;
  return (first === "cpp" || first === "inlined") && rest.length > 0 ? { qualifier: first, names: rest } : { qualifier: undefined, names: parts };
}

/** The lines that a probe means: of `BINARY@FILE`, unless that is a file's very name, or of `FUNCTION@FILE` behind the binary. */
function sourceLines(target: string, rest: readonly string[], options: { readonly pid?: number }, system: System): { readonly binary: string; readonly source: SourceLines | undefined } {
  const at = target.lastIndexOf("@");
  if (at <= 0 || at === target.length - 1 || system.binary(target, options.pid) !== undefined) return { binary: target, source: linesInFunction(rest) };
  return { binary: target.slice(0, at), source: { file: target.slice(at + 1), lines: rest } };
}

function userProbe(name: "uprobe" | "uretprobe", aliases: readonly string[]): Provider {
  const returns = name === "uretprobe";
  const provider: Provider = {
    name, aliases,
    usage: returns ? `${name}:BINARY:FUNCTION` : `${name}:BINARY:(FUNCTION[+OFFSET]|ADDRESS) or ${name}:BINARY[:FUNCTION]@FILE:LINES[:COLUMN]`,
    doc: returns ? "Returns of functions of programs and libraries." : "Functions, source lines and instructions of programs and libraries.",
    followsProcess: true,
    inFiles: { context: (system) => userContext({ provider: name, returns, system }) },

    *list(parts, system, options) {
      const [target = "*", ...rest] = parts.map(unquote);
      const { binary: file, source } = sourceLines(target, rest.length === 0 ? ["*"] : rest, options, system);
      if (source !== undefined) {
        for (const binary of returns ? [] : findBinaries(file, options.pid, system)) yield* listLines(binary, source, `${name}:${binary.shownPath}`, options);
        return;
      }
      const { qualifier, names } = qualified(rest);
      const cpp = qualifier === "cpp";
      const pattern = names.length > 1 ? names.join(":") : names[0] ?? "*";
      for (const binary of findBinaries(target, options.pid, system)) {
        const seen = new Set<string>();
        const symbols = [...(qualifier === "inlined" ? [] : binary.symbols())].filter(({ kind }) => kind === "function")
          .map((symbol) => ({ symbol, shown: cpp ? cppName(symbol.name)?.name ?? "" : symbol.name }))
          .filter(({ shown }) => shown !== "" && matches(pattern, shown)).sort((a, b) => a.shown < b.shown ? -1 : a.shown > b.shown ? 1 : 0);
        for (const { symbol, shown } of symbols) {
          if (seen.has(shown)) continue;
          seen.add(shown);
          const probe = `${name}:${binary.shownPath}:${cpp ? "cpp:" : ""}${shown}`;
          yield options.verbose ? { probe, details: describeFunction(binary, symbol, returns, !hasWildcard(pattern)) } : { probe };
        }
        // A search of all names in all debug information takes its time: it is made where it is asked for.
        if (!cpp && (qualifier === "inlined" || (seen.size === 0 && (options.verbose || !hasWildcard(pattern))))) yield* listInlined(binary, pattern, name, options);
      }
    },

    resolve(spec, system, options) {
      const parts = spec.parts.map(unquote);
      const [target, ...rest] = parts;
      if (target === undefined || target === "" || rest.length === 0 || rest.at(-1) === "") return wrongParts(spec, provider.usage);
      const { binary: file, source } = sourceLines(target, rest, options, system);
      if (source !== undefined && returns) return refused(spec, "arguments", "a source line does not return", "probe the function's return, or the line with uprobe");
      const binaries = findBinaries(file, options.pid, system);
      const flat = binaries.length === 0 && options.unsafe === true ? flatFile(target, rest) : undefined;
      if (flat !== undefined) {
        const diagnostics: Diagnostic[] = [{
          severity: "warning", code: "name", span: spec.span,
          message: `could not determine instruction boundary for ${spec.text}: the file is no ELF file, and a misaligned probe can crash what runs it`,
        }];
        const site: SiteRef = { name: `${name}:${target}:${rest[0]}`, func: rest[0], data: { ...flat, semaphore: 0n } satisfies UserSite };
        return { variants: variantsOf(userContext({ provider: name, returns, system, uses: options.uses }), [site], options), diagnostics };
      }
      if (binaries.length === 0) return missing(spec, options, ...noBinary(file));

      const { qualifier, names } = qualified(rest);
      const wanted = names.join(":");
      const own = whatBodiesHave(returns, options.uses);
      const bodiesOnly = own === undefined ? {} : { bodiesOnly: own };
      const diagnostics: Diagnostic[] = [];
      const found: { readonly binary: Binary; readonly place: Place; readonly site: SiteRef }[] = [];
      for (const binary of binaries) {
        const places = source === undefined
          ? placesNamed(binary, wanted, { cpp: qualifier === "cpp", inlined: qualifier === "inlined", returns, symbolsOnly: options.symbolsOnly === true, ...bodiesOnly })
          : placesOfLines(binary, source);
        if ("problem" in places) {
          // A name that one of many binaries does not know is no mistake.
          if (binaries.length > 1) continue;
          return source === undefined ? refused(spec, "arguments", places.problem, places.help) : missing(spec, options, places.problem, places.help);
        }
        for (const note of places.notes) diagnostics.push({ severity: "warning", code: "name", span: spec.span, ...note });
        const shown = (place: string): string => `${binary.shownPath}${source === undefined ? `:${qualifier === undefined ? "" : `${qualifier}:`}${place}` : shownLine(source, place)}`;
        for (const place of places.places) {
          const of = returns && place.inlined === undefined ? goFunctionAt(binary, place.offset) : undefined;
          if (of !== undefined) return refused(spec, "feature", `\`${of}\` is a Go function, and a return trampoline on its stack would crash the program`, `write ret:${binary.shownPath}:${of}`);
          found.push({ binary, place, site: {
            name: `${name}:${shown(place.name)}`, func: place.func ?? place.name,
            data: { path: binary.path, offset: place.offset, semaphore: 0n, ...(returns && place.inlined !== undefined ? { inPlace: true } : {}) } satisfies UserSite,
          } });
        }
      }
      if (found.length === 0) return noSymbol(spec, binaries, wanted, qualifier === "cpp", options);

      const context = { ...userContext({ provider: name, returns, system, uses: options.uses }), ...(binaries.length === 1 ? { typeNamed: typesNamed(binaries[0]) } : {}) };
      const plain = !options.uses.has("uaddr") && !wantsVariables(options.uses) && binaries.every(({ go }) => go === undefined) && found.every(({ place }) => place.inlined === undefined);
      if (plain) return { variants: variantsOf(context, found.map(({ site }) => site), options), diagnostics };
      const variants = new Map<string, Variant>();
      const made = found.map(({ binary, place, site }) => {
        const there = asGoHasIt(context, binary, place.offset);
        const { offset, inlined } = place;
        const seen: PlaceContext = wantsVariables(options.uses)
          ? withVariables(there.context, { binary, offset, returns, ...(inlined === undefined ? {} : { inlined }) }, system, options)
          : { context: there.context, key: "" };
        return { binary, place, site, there, seen };
      });
      const complete = made.filter(({ seen }) => seen.lacking === undefined);
      const left = made.find(({ seen }) => seen.lacking !== undefined);
      // Of many places some may lack what others have.
      if (left !== undefined && complete.length > 0) {
        const [some, all] = [made.length - complete.length, made.length];
        diagnostics.push({
          severity: "warning", code: "name", span: spec.span,
          message: `${some} of the ${all} places of \`${spec.text}\` ${some === 1 ? "is" : "are"} left out: at ${left.site.name} ${left.seen.lacking}`,
        });
      }
      for (const { binary, place, site, there, seen } of complete.length > 0 ? complete : made) {
        // Symbols are found from the place itself.
        const copy = copyContext(seen.context, place, returns);
        const key = options.uses.has("uaddr") ? `${variants.size}` : `${binary.path} ${there.key} ${seen.key} ${copy.key}`;
        const own = options.uses.has("uaddr") ? { ...copy.context, userSymbol: symbolsSeenFrom(binary, place.offset, returns && place.inlined === undefined) } : copy.context;
        const known = variants.get(key);
        variants.set(key, known === undefined ? { context: own, provider: name, sites: [site] } : { ...known, sites: [...known.sites, site] });
      }
      return { variants: [...variants.values()].flatMap((variant) => variant.context === "host" ? [variant] : variantsOf(variant.context, variant.sites, options)), diagnostics };
    },

    ...(returns ? uretprobes : uprobes),
  };
  return provider;
}

/** A place in a file of code that is no ELF file, by its offset. */
function flatFile(target: string, [offset, ...more]: readonly string[]): { readonly path: string; readonly offset: bigint } | undefined {
  const at = more.length === 0 ? parseCount(offset) : undefined;
  if (at === undefined || !target.includes("/") || hasWildcard(target)) return undefined;
  const path = resolve(target);
  noteFile(path);
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true ? { path, offset: at } : undefined;
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
  return missing(spec, options, `no matches for ${spec.provider} ${spec.parts.join(":")}: there is no function \`${wanted}\` ${where}`, help);
}

export const uprobe = userProbe("uprobe", ["u", "line"]);
export const uretprobe = userProbe("uretprobe", ["ur"]);
