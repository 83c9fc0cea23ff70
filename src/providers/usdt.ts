// usdt: static probes that programs and libraries carry in their notes.
import type { SiteRef } from "../language/check/checked.ts";
import type { Context, Fetch } from "../language/context.ts";
import { findBinaries, unquote } from "./binaries.ts";
import type { Provider, Resolution, ResolveOptions } from "./provider.ts";
import { hostMachine, type Machine } from "./registers.ts";
import { didYouMean, groupBy, missing, refused, resolved, usesNumbered, variantsOf, wrongParts } from "./resolution.ts";
import type { Binary, System, UsdtProbe } from "./system.ts";
import { parseUsdtArguments, type UsdtArgument } from "./usdt-arguments.ts";
import { attachToUserSites, userContext, type UserSite } from "./user-attachment.ts";
import { withVariables, type PlaceContext } from "./user-variables.ts";
import { hasWildcard, matches } from "./wildcard.ts";

interface Found { readonly binary: Binary; readonly probe: UsdtProbe }

export const usdt: Provider = {
  name: "usdt",
  aliases: ["U"],
  usage: "usdt:BINARY:[NAMESPACE:]PROBE",
  doc: "Static probes of programs and libraries.",
  followsProcess: true,

  *list(parts, system, options) {
    const [target = "*", ...rest] = parts.map(unquote);
    const [namespace, name] = rest.length > 1 ? rest : ["*", rest[0] ?? "*"];
    for (const binary of findBinaries(target, options.pid, system)) {
      const seen = new Set<string>();
      for (const probe of binary.usdtProbes()) {
        const full = `usdt:${binary.shownPath}:${probe.provider}:${probe.name}`;
        if (seen.has(full) || !matches(namespace, probe.provider) || !matches(name, probe.name)) continue;
        seen.add(full);
        yield options.verbose ? { probe: full, details: describeArguments(probe.argumentText) } : { probe: full };
      }
    }
  },

  resolve(spec, system, options) {
    const parts = spec.parts.map(unquote);
    // `usdt::probe` and, with -p, `usdt:probe` look into the process.
    const [target, ...rest] = parts.length === 1 && options.pid !== undefined ? ["*", parts[0]] : parts;
    if (target === undefined || rest.length < 1 || rest.length > 2 || rest.at(-1) === "") return wrongParts(spec, usdt.usage);
    const [namespace, name] = rest.length > 1 && rest[0] !== "" ? [rest[0], rest[1]] : ["*", rest.at(-1)!];
    const binaries = findBinaries(target === "" ? "*" : target, options.pid, system);
    if (binaries.length === 0) return missing(spec, options, `there is no program or library \`${target}\``, "give a path, or a name that the shell or the loader finds");
    const found = binaries.flatMap((binary) => binary.usdtProbes()
      .filter((probe) => matches(namespace, probe.provider) && matches(name, probe.name))
      .map((probe): Found => ({ binary, probe })));
    if (found.length === 0) return notFound(spec, binaries, name, options);
    if (namespace === "*" && !hasWildcard(name)) {
      const spaces = new Set(found.map(({ probe }) => probe.provider));
      if (spaces.size > 1 && !hasWildcard(target)) {
        return refused(spec, "name", `several namespaces have a probe \`${name}\``, `say which: ${[...spaces].map((space) => `\`usdt:${target}:${space}:${name}\``).join(", ")}`);
      }
    }
    return inVariants(spec, found, system, options);
  },

  attach: (request) => attachToUserSites(request, false),
};

/** Places whose arguments are in the same registers share a program; when nobody looks at arguments, all do. */
function inVariants(spec: Parameters<Provider["resolve"]>[0], found: readonly Found[], system: System, options: ResolveOptions): Resolution {
  const reads = usesNumbered(options.uses) || options.uses.has("args");
  const variables = options.uses.has("var") || options.uses.has("vars");
  const base = userContext({ provider: "usdt", returns: false, system });
  const seenAt = ({ binary, probe }: Found): PlaceContext => (variables
    ? withVariables(base, { binary, offset: probe.fileOffset, returns: false }, system, { uses: new Set([...options.uses].filter((use) => !use.startsWith("args"))) })
    : { context: base, key: "" });
  const groups = groupBy(found, (one) => {
    const { binary, probe } = one;
    const { key } = seenAt(one);
    if (!reads) return key;
    // Distances from the instruction pointer differ from place to place.
    return `${key} ${probe.argumentText.includes("(%rip)") ? `${binary.path} ${probe.fileOffset}` : `${binary.machine} ${probe.argumentText}`}`;
  });
  const variants = [];
  for (const group of groups.values()) {
    const { binary, probe } = group[0];
    const values = reads ? argumentsOf(binary, probe) : [];
    const bad = values.findIndex((value, i) => value === undefined && options.uses.has(`arg${i}`));
    if (bad >= 0) {
      return refused(spec, "feature", `argument ${bad} of ${nameOf(group[0])} cannot be read`, `its place is \`${probe.argumentText.trim().split(/\s+/)[bad]}\``);
    }
    const numbered = values.map((value): Fetch => value ?? { kind: "constant", value: 0n });
    const context: Context = { ...seenAt(group[0]).context, numbered };
    variants.push(...variantsOf(context, group.map((one): SiteRef => ({
      name: nameOf(one), func: one.probe.name,
      data: { path: one.binary.path, offset: one.probe.fileOffset, semaphore: one.probe.semaphoreOffset } satisfies UserSite,
    })), options));
  }
  return resolved(variants);
}

function nameOf({ binary, probe }: Found): string {
  return `usdt:${binary.shownPath}:${probe.provider}:${probe.name}`;
}

function argumentsOf(binary: Binary, probe: UsdtProbe): UsdtArgument[] {
  const machine: Machine = binary.machine === "other" ? hostMachine : binary.machine;
  return parseUsdtArguments(probe.argumentText, machine, (symbol) => {
    const address = binary.symbol(symbol)?.address;
    const here = address === undefined ? undefined : addressOf(binary, probe.fileOffset);
    return address === undefined || here === undefined ? undefined : address - here;
  });
}

/** The virtual address of a file offset in code: counted from the function around it, or from any other of the segment. */
function addressOf(binary: Binary, fileOffset: bigint): bigint | undefined {
  for (const symbol of binary.symbols()) {
    if (symbol.kind !== "function") continue;
    const address = symbol.address + (fileOffset - symbol.fileOffset);
    if (binary.fileOffset(address) === fileOffset) return address;
  }
  return undefined;
}

function notFound(spec: Parameters<Provider["resolve"]>[0], binaries: readonly Binary[], name: string, options: ResolveOptions): Resolution {
  const names = binaries.flatMap((binary) => binary.usdtProbes().map((probe) => probe.name));
  const where = binaries.length === 1 ? `in ${binaries[0].shownPath}` : `in any of ${binaries.length} binaries`;
  if (names.length === 0) return missing(spec, options, `there are no static probes ${where}`, "it was built without them (sys/sdt.h)");
  return missing(spec, options, `no static probe ${where} matches \`${name}\``, hasWildcard(name) ? undefined : didYouMean(name, names));
}

/** Sizes are all that a note tells. */
function describeArguments(text: string): string[] {
  return [...text.matchAll(/(-?)([1248])(f?)@/g)].map(([, sign, size, float], i) => {
    const bits = Number(size) * 8;
    return `    ${float ? (bits === 64 ? "double" : "float") : `${sign ? "" : "u"}int${bits}`} arg${i}`;
  });
}
