// uprobe and uretprobe: functions, lines and instructions of programs and libraries.
import { userProbes } from "../../messages/user-probes.ts";
import type { SiteRef } from "../../language/resolved-probe.ts";
import type { Diagnostic } from "../../language/diagnostic.ts";
import { uprobes, uretprobes } from "../attaching/attachers.ts";
import type { Provider } from "../provider.ts";
import { missing, refused, variantsOf, wrongParts } from "../resolution.ts";
import type { System } from "../../machine/system.ts";
import { findBinaries, noBinary, unquote } from "../../machine/binaries/binaries.ts";
import { whatBodiesHave } from "../places/inlined-places.ts";
import { InPlace } from "../places/in-place-returns.ts";
import type { UserSite } from "../attaching/user-attachment.ts";
import { userContext } from "../../machine/contexts/user-context.ts";
import { flatFile } from "../places/flat-file.ts";
import { functionName, functionsListed, noSuchFunction, siteAt, wantedPlaces } from "../places/user-functions.ts";
import { linesInFunction, listLines, placesOfLines, shownLine, type SourceLines } from "../places/source-lines.ts";
import { sourceListed } from "../places/source-places.ts";
import { describeFunction, listInlined } from "../places/user-listing.ts";
import { placesNamed } from "../places/user-places.ts";
import { variantsAt, type FoundPlace } from "../places/user-variants.ts";
import { wantsVariables } from "../../machine/values/user-variables.ts";
import { hasWildcard } from "../../machine/wildcard.ts";

/**
 * The lines that a probe means: of `BINARY@FILE`, unless that is a file's very name, or of `FUNCTION@FILE` behind the
 * binary.
 */
function sourceLines(
  target: string,
  rest: readonly string[],
  options: { readonly pid?: number | undefined },
  system: System,
): { readonly binary: string; readonly source: SourceLines | undefined } {
  const at = target.lastIndexOf("@");
  if (at <= 0 || at === target.length - 1 || system.binary(target, options.pid) !== undefined)
    return { binary: target, source: linesInFunction(rest) };
  return { binary: target.slice(0, at), source: { file: target.slice(at + 1), lines: rest } };
}

function userProbe(name: "uprobe" | "uretprobe", aliases: readonly string[]): Provider {
  const returns = name === "uretprobe";
  const provider: Provider = {
    name,
    aliases,
    inSearches: returns ? "never" : "in-files",
    usage: returns
      ? `${name}:BINARY:FUNCTION`
      : `${name}:BINARY:(FUNCTION[+OFFSET]|ADDRESS) or ${name}:BINARY[:FUNCTION]@FILE:LINES[:COLUMN]`,
    doc: returns
      ? "Returns of functions of programs and libraries."
      : "Functions, source lines and instructions of programs and libraries.",
    followsProcess: true,
    inFiles: { context: (system) => userContext({ provider: name, returns, system }) },

    *list(parts, system, options) {
      const [target = "*", ...rest] = parts.map(unquote);
      const { binary: file, source } = sourceLines(target, rest.length === 0 ? ["*"] : rest, options, system);
      if (source !== undefined) {
        for (const binary of returns ? [] : findBinaries(file, options.pid, system))
          yield* listLines(binary, source, `${name}:${binary.shownPath}`, options);
        return;
      }
      const wanted = functionName(rest.length === 0 ? "*" : rest.join(":"));
      for (const binary of findBinaries(target, options.pid, system)) {
        let some = false;
        for (const { shown, place, symbol } of wanted.qualifier === "inlined"
          ? []
          : functionsListed(binary, wanted, options.verbose)) {
          some = true;
          const probe = `${name}:${binary.shownPath}:${shown}`;
          if (options.sources === true) yield { probe, ...sourceListed(binary, place, options.verbose, returns) };
          else
            yield options.verbose
              ? { probe, details: describeFunction(binary, symbol, returns, !hasWildcard(wanted.name)) }
              : { probe };
        }
        // A search of all names in all debug information takes its time: it is made where it is asked for.
        if (
          wanted.qualifier !== "cpp" &&
          (wanted.qualifier === "inlined" || (!some && (options.verbose || !hasWildcard(wanted.name))))
        )
          yield* listInlined(binary, wanted.name, name, options);
      }
    },

    resolve(spec, system, options) {
      const parts = spec.parts.map(unquote);
      const [target, ...rest] = parts;
      if (target === undefined || target === "" || rest.length === 0 || rest.at(-1) === "")
        return wrongParts(spec, provider.usage);
      const { binary: file, source } = sourceLines(target, rest, options, system);
      if (source !== undefined && returns) return refused(spec, userProbes.sourceLineDoesNotReturn());
      const binaries = findBinaries(file, options.pid, system);
      const flat = binaries.length === 0 && options.unsafe === true ? flatFile(target, rest) : undefined;
      if (flat !== undefined) {
        const diagnostics: Diagnostic[] = [
          { severity: "warning", span: spec.span, ...userProbes.couldNotDetermineInstructionBoundary(spec.text) },
        ];
        const site: SiteRef = {
          name: `${name}:${target}:${rest[0]}`,
          func: rest[0],
          data: { ...flat, semaphore: 0n } satisfies UserSite,
        };
        return {
          variants: variantsOf(userContext({ provider: name, returns, system, uses: options.uses }), [site], options),
          diagnostics,
        };
      }
      if (binaries.length === 0) return missing(spec, options, noBinary(file));

      const wanted = functionName(rest.join(":"));
      const own = whatBodiesHave(returns, options.uses);
      const diagnostics: Diagnostic[] = [];
      const found: FoundPlace[] = [];
      const inPlace = new InPlace(spec);
      // One name costs a look; for those of a wildcard debug information is opened where it is of use.
      const sources =
        options.sources === true &&
        (options.uses.has("probe") || wantsVariables(options.uses) || !hasWildcard(wanted.name));
      for (const binary of binaries) {
        const places =
          source === undefined
            ? placesNamed(binary, wanted.name, {
                ...wantedPlaces(wanted, returns, options),
                ...(own === undefined ? {} : { bodiesOnly: own }),
              })
            : placesOfLines(binary, source);
        if ("problem" in places) {
          // A name that one of many binaries does not know is no mistake.
          if (binaries.length > 1) continue;
          return source === undefined && places.unseen !== true
            ? refused(spec, places.problem)
            : missing(spec, options, places.problem);
        }
        for (const note of places.notes) diagnostics.push({ severity: "warning", span: spec.span, ...note });
        const shown = (place: string): string =>
          `${binary.shownPath}${source === undefined ? `:${wanted.qualifier === undefined ? "" : `${wanted.qualifier}:`}${place}` : shownLine(source, place)}`;
        const safe = returns && options.unsafe !== true ? inPlace.of(binary, places.places) : places.places;
        for (const place of safe)
          found.push({ binary, place, site: siteAt(`${name}:${shown(place.name)}`, binary, place, returns, sources) });
      }
      if (found.length === 0) return inPlace.none(options) ?? noSuchFunction(spec, binaries, wanted, options);
      const { variants, diagnostics: left } = variantsAt(
        spec,
        found,
        { provider: name, at: returns ? "return" : "entry", keeper: "uprobe" },
        system,
        options,
      );
      return { variants, diagnostics: [...diagnostics, ...inPlace.diagnostics(), ...left] };
    },

    ...(returns ? uretprobes : uprobes),
  };
  return provider;
}

export const uprobe = userProbe("uprobe", ["u", "line"]);
export const uretprobe = userProbe("uretprobe", ["ur"]);
