// usdt: static probes that programs and libraries carry in their notes.
import { userProbes } from "../../messages/user-probes.ts";
import type { SiteRef } from "../../language/resolved-probe.ts";
import type { Argument, Context, Fetch } from "../../language/context.ts";
import { integer, type Type } from "../../language/types.ts";
import { uprobes } from "../attaching/attachers.ts";
import { findBinaries, noBinary, unquote } from "../../machine/binaries/binaries.ts";
import type { Provider, Resolution, ResolveOptions } from "../provider.ts";
import { hostMachine, type Machine } from "../../machine/contexts/registers.ts";
import { didYouMean, groupBy, missing, refused, resolved, variantsOf, wrongParts } from "../resolution.ts";
import type { Binary, System, UsdtProbe } from "../../machine/system.ts";
import { parseUsdtArguments, type UsdtArgument } from "../../machine/calls/usdt-arguments.ts";
import type { UserSite } from "../attaching/user-attachment.ts";
import { userContext } from "../../machine/contexts/user-context.ts";
import { withVariables, type PlaceContext } from "../../machine/values/user-variables.ts";
import { hasWildcard, matches } from "../../machine/wildcard.ts";
import { usesNumbered } from "../../language/check/uses.ts";
import { Failure } from "../../base/failure.ts";

interface Found {
  readonly binary: Binary;
  readonly probe: UsdtProbe;
  /** The function that it is in, where that is asked for. */
  readonly within?: string;
}

export const usdt: Provider = {
  name: "usdt",
  aliases: ["U"],
  inSearches: "in-files",
  usage: "usdt:BINARY:[NAMESPACE:]PROBE",
  doc: "Static probes of programs and libraries.",
  followsProcess: true,
  inFiles: { context: (system) => userContext({ provider: "usdt", returns: false, system }) },

  *list(parts, system, options) {
    const [target = "*", ...rest] = parts.map(unquote);
    const [namespace, name] = rest.length > 1 ? rest : ["*", rest[0] ?? "*"];
    for (const binary of findBinaries(target, options.pid, system)) {
      const seen = new Set<string>();
      for (const probe of binary.usdtProbes()) {
        const full = `usdt:${binary.shownPath}:${probe.provider}:${probe.name}`;
        if (seen.has(full) || !matches(namespace, probe.provider) || !matches(name, probe.name)) continue;
        seen.add(full);
        yield options.verbose ? { probe: full, details: describeArguments(binary, probe) } : { probe: full };
      }
    }
  },

  resolve(spec, system, options) {
    const parts = spec.parts.map(unquote);
    // `usdt::probe` and, with -p, `usdt:probe` look into the process.
    const [target, ...rest] = parts.length === 1 && options.pid !== undefined ? ["*", parts[0]] : parts;
    if (target === undefined || rest.length < 1 || rest.length > 2 || rest.at(-1) === "")
      return wrongParts(spec, usdt.usage);
    const [namespace, name] = rest.length > 1 && rest[0] !== "" ? [rest[0], rest[1]] : ["*", rest.at(-1)!];
    const binaries = findBinaries(target === "" ? "*" : target, options.pid, system);
    if (binaries.length === 0) return missing(spec, options, noBinary(target));
    // As DTrace has them, by the functions that they are in.
    const within = spec.options?.["function"];
    const found = binaries.flatMap((binary) =>
      binary
        .usdtProbes()
        .filter((probe) => matches(namespace, probe.provider) && matches(name, probe.name))
        .map((probe): Found =>
          within === undefined
            ? { binary, probe }
            : { binary, probe, within: binary.functionAt(probe.fileOffset)?.name ?? "" },
        )
        .filter((one) => within === undefined || matches(within, one.within ?? "")),
    );
    if (found.length === 0) return notFound(spec, binaries, name, options);
    return inVariants(spec, found, system, options);
  },

  ...uprobes,
};

/** Places whose arguments are in the same registers share a program; when nobody looks at arguments, all do. */
function inVariants(
  spec: Parameters<Provider["resolve"]>[0],
  found: readonly Found[],
  system: System,
  options: ResolveOptions,
): Resolution {
  const reads = usesNumbered(options.uses) || options.uses.has("args");
  const variables = options.uses.has("var") || options.uses.has("vars");
  const base = userContext({ provider: "usdt", returns: false, system, uses: options.uses });
  const seenAt = ({ binary, probe }: Found): PlaceContext =>
    variables
      ? withVariables(base, { binary, offset: probe.fileOffset, returns: false }, system, {
          uses: new Set([...options.uses].filter((use) => !use.startsWith("args"))),
        })
      : { context: base, key: "" };
  const groups = groupBy(found, (one) => {
    const { binary, probe } = one;
    const { key } = seenAt(one);
    if (!reads) return key;
    // Where a symbol is differs from place to place.
    const alone = argumentsOf(binary, probe).some(({ bySymbol }) => bySymbol);
    return `${key} ${alone ? `${binary.path} ${probe.fileOffset}` : `${binary.machine} ${probe.argumentText}`}`;
  });
  const variants = [];
  for (const group of groups.values()) {
    const { binary, probe } = group[0];
    const values = reads ? argumentsOf(binary, probe) : [];
    for (const [i, { value, float, text }] of values.entries()) {
      if (!options.uses.has(`arg${i}`)) continue;
      if (value instanceof Failure)
        return refused(spec, userProbes.argumentCannotRead(i, nameOf(group[0]), value.reason, text));
      if (float) return refused(spec, userProbes.argumentFloatingPointNumber(i, nameOf(group[0])));
    }
    const context: Context = {
      ...seenAt(group[0]).context,
      numbered: values.map(({ value }): Fetch => (value instanceof Failure ? { kind: "constant", value: 0n } : value)),
      ...(options.uses.has("args") ? { args: values.map(typed) } : {}),
    };
    variants.push(
      ...variantsOf(
        context,
        group.map((one): SiteRef => ({
          name: nameOf(one),
          func: one.within ?? one.probe.name,
          data: {
            path: one.binary.path,
            offset: one.probe.fileOffset,
            semaphore: one.probe.semaphoreOffset,
          } satisfies UserSite,
        })),
        options,
      ),
    );
  }
  return resolved(variants);
}

/** `args.arg0`: of the width and sign that the note tells. */
function typed({ value, size, signed, float }: UsdtArgument, index: number): Argument {
  const type: Type =
    float && size >= 4
      ? { kind: "named", of: size === 4 ? "float32" : "float64" }
      : integer((size * 8) as 8 | 16 | 32 | 64, signed);
  const shown = { name: `arg${index}`, type };
  if (value instanceof Failure) return { ...shown, fetch: { kind: "constant", value: 0n }, absent: value.reason };
  return type.kind === "integer"
    ? { ...shown, fetch: value }
    : { ...shown, fetch: value, pieces: [{ kind: "value", offset: 0, size, fetch: value }] };
}

function nameOf({ binary, probe, within }: Found): string {
  return `usdt:${binary.shownPath}:${probe.provider}:${within === undefined ? "" : `${within}:`}${probe.name}`;
}

function argumentsOf(binary: Binary, probe: UsdtProbe): UsdtArgument[] {
  const machine: Machine = binary.machine === "other" ? hostMachine : binary.machine;
  const addressOf = (symbol: string): bigint | undefined => binary.symbol(symbol)?.address;
  return parseUsdtArguments(probe.argumentText, machine, {
    distance(symbol) {
      const [there, here] = [addressOf(symbol), binary.address(probe.fileOffset)];
      return there === undefined || here === undefined ? undefined : there - here;
    },
    address: (symbol) => (binary.fixed ? addressOf(symbol) : undefined),
  });
}

function notFound(
  spec: Parameters<Provider["resolve"]>[0],
  binaries: readonly Binary[],
  name: string,
  options: ResolveOptions,
): Resolution {
  const names = binaries.flatMap((binary) => binary.usdtProbes().map((probe) => probe.name));
  const where = binaries.length === 1 ? `in ${binaries[0].shownPath}` : `in any of ${binaries.length} binaries`;
  if (names.length === 0) return missing(spec, options, userProbes.thereNoStaticProbes(where));
  return missing(
    spec,
    options,
    userProbes.noStaticProbeMatches(where, name, hasWildcard(name) ? undefined : didYouMean(name, names)),
  );
}

/** Sizes are all that a note tells, and where the values are. */
function describeArguments(binary: Binary, probe: UsdtProbe): string[] {
  return argumentsOf(binary, probe).map(({ size, signed, float, value }, i) => {
    const type = float ? (size === 8 ? "double" : "float") : `${signed ? "" : "u"}int${size * 8}`;
    return `    ${type} arg${i}${value instanceof Failure ? ` (${value.reason})` : ""}`;
  });
}
