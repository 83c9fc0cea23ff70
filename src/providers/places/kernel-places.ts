// Places of the kernel that only its debug information knows: source lines, and the copies of functions that were
// inlined. And what a handler sees there: parameters and locals.
import { places as placesMessages } from "../../messages/places.ts";
import type { SiteRef } from "../../language/resolved-probe.ts";
import type { Context } from "../../language/context.ts";
import type { Diagnostic } from "../../language/diagnostic.ts";
import type { ProbeSpec } from "../../language/probe-spec.ts";
import type { KprobeSite } from "./kernel-functions.ts";
import type { Listed, ListOptions, Resolution, ResolveOptions } from "../provider.ts";
import { withoutLacking } from "../../machine/calls/results.ts";
import { groupBy, missing, refused, variantsOf, type Variant } from "../resolution.ts";
import { variantsByFunction } from "./function-code.ts";
import type { Binary, KernelImage, System } from "../../machine/system.ts";
import { copyContext, whatBodiesHave } from "./inlined-places.ts";
import { kernelSurroundings } from "./kernel-detours.ts";
import type { Places, Wanted } from "./places.ts";
import { listLines, meansSeveral, placesOfLines, shownLine, type SourceLines } from "./source-lines.ts";
import { copiesBeside, copiesOf, placesNamed } from "./user-places.ts";
import {
  debugInfoOf,
  kernelGlobals,
  withVariables,
  type InlinedCopy,
  type PlaceContext,
} from "../../machine/values/user-variables.ts";
import { hasWildcard } from "../../machine/wildcard.ts";
import { Failure } from "../../base/failure.ts";
import { kernelImageReasons } from "../../messages/on-demand.ts";

/** What the handler mentions that no BTF tells. */
export function wantsKernelVariables(uses: ReadonlySet<string>): boolean {
  return uses.has("var") || uses.has("vars");
}

/** Most places of one probe: each is a kprobe of its own, which the kernel takes some 70 ms to remove. */
const mostPlaces = 1000;

/** Whether the parts are `[[MODULE:]FUNCTION]@FILE` and lines. */
export function meansLines(parts: readonly string[]): boolean {
  return parts.some((part) => part.includes("@"));
}

/**
 * The kernel's own code, or a module's. `MODULE@FILE` and `FUNCTION@FILE` look alike: what is the name of a module that
 * is loaded is a module.
 */
function kernelSource(
  parts: readonly string[],
  system: System,
): { readonly module: string | undefined; readonly source: SourceLines } {
  const at = parts.findIndex((part) => part.includes("@"));
  const [name = "", file = ""] = parts[at]?.split("@", 2) ?? [];
  const lines = parts.slice(at + 1);
  const isModule = at === 0 && (name === "vmlinux" || (system.loadedModules?.() ?? []).includes(name));
  const func = at === 0 && isModule ? "" : name;
  return {
    module: at > 0 ? parts[0] : isModule ? name : undefined,
    source: { ...(func === "" ? {} : { func }), file, lines: lines.length === 0 ? ["*"] : lines },
  };
}

/** What stands in front of `@` or of a function. */
function shownBefore(provider: string, module: string | undefined): string {
  return module === undefined ? provider : `${provider}:${module}`;
}

/**
 * `kprobe@FILE:LINES`, `kprobe:MODULE@FILE:LINES`, `kprobe:FUNCTION@FILE:LINES`. Where the kernel proper has no such
 * file or function, one of the loaded modules may; files with wildcards are looked for in all.
 */
export function kernelLines(spec: ProbeSpec, context: Context, system: System, options: ResolveOptions): Resolution {
  const { module, source } = kernelSource(spec.parts, system);
  const found: Resolution[] = [];
  let first: Resolution | undefined;
  for (const image of imagesOf(module, system)) {
    if (image instanceof Failure) {
      const what = module === undefined ? "the kernel" : `the module \`${module}\``;
      first ??= missing(spec, options, placesMessages.linesNotKnown(what, image.reason));
      continue;
    }
    const places = placesOfLines(image.binary, source, { most: mostPlaces, inKernel: true });
    const shown = (place: string): string => `${shownBefore(context.provider, module)}${shownLine(source, place)}`;
    const noModule =
      module !== undefined || source.func === undefined ? undefined : `no module \`${source.func}\` is loaded either`;
    const here =
      "problem" in places
        ? missing(spec, options, { ...(noModule === undefined ? {} : { help: noModule }), ...places.problem })
        : resolution(
            spec,
            shown,
            places,
            image,
            context,
            system,
            options,
            meansSeveral(source) ? spec.text : undefined,
          );
    if (here.variants.length === 0) first ??= here;
    else if (!hasWildcard(source.file)) return here;
    else found.push(here);
  }
  // There is one image at least, and what it has not is told.
  if (found.length === 0) return first!;
  return {
    variants: found.flatMap(({ variants }) => variants),
    diagnostics: found.flatMap(({ diagnostics }) => diagnostics),
  };
}

/** Lines with code, of the kernel proper and of modules. */
export function* listKernelLines(
  provider: string,
  parts: readonly string[],
  system: System,
  options: ListOptions,
): Iterable<Listed> {
  const { module, source } = kernelSource(parts, system);
  for (const image of imagesOf(module, system)) {
    if (image instanceof Failure) continue;
    let some = false;
    for (const listed of listLines(image.binary, source, shownBefore(provider, module), options, true)) {
      some = true;
      yield listed;
    }
    if (some && !hasWildcard(source.file)) return;
  }
}

/** The copies of a function that was inlined wherever it is called; nothing where debug information knows none. */
export function inlinedKernelFunction(
  spec: ProbeSpec,
  name: string,
  returns: boolean,
  context: Context,
  system: System,
  options: ResolveOptions,
  image = kernelImageOf(system),
): Resolution | undefined {
  if (image instanceof Failure) return undefined;
  const places = placesNamed(image.binary, name, wantedOf(image, returns, system, options));
  if ("places" in places && places.places.length === 0) return undefined;
  return resolution(spec, (place) => `${context.provider}:${place}`, places, image, context, system, options);
}

/**
 * A resolution with the copies of a function beside its body, which that is of; where no debug information is
 * installed, as it is.
 */
export function withKernelCopies(
  body: Resolution,
  spec: ProbeSpec,
  name: string,
  returns: boolean,
  context: Context,
  system: System,
  options: ResolveOptions,
): Resolution {
  const image = kernelImageOf(system);
  const address = image instanceof Failure ? undefined : system.symbolAddress(name);
  if (image instanceof Failure || address === undefined) return body;
  const offset = image.binary.fileOffset(address - image.slide);
  const known =
    offset === undefined
      ? undefined
      : copiesBeside(image.binary, name, offset, { ...wantedOf(image, returns, system, options), inlined: false });
  if (known === undefined) return body;
  const copies = resolution(spec, (place) => `${context.provider}:${place}`, known, image, context, system, options);
  return {
    variants: [...body.variants, ...copies.variants],
    diagnostics: [...body.diagnostics, ...copies.diagnostics],
  };
}

function wantedOf(image: KernelImage, returns: boolean, system: System, { uses }: ResolveOptions): Wanted {
  const bodiesOnly = whatBodiesHave(returns, uses);
  return {
    cpp: false,
    inlined: true,
    returns,
    kernel: () => kernelSurroundings(image, system),
    ...(bodiesOnly === undefined ? {} : { bodiesOnly }),
  };
}

/** A context with what debug information tells of the variables at an address of the running kernel. */
export function withKernelVariables(
  context: Context,
  address: bigint,
  returns: boolean,
  system: System,
  options: Pick<ResolveOptions, "uses">,
  inlined?: InlinedCopy,
): PlaceContext {
  const image = imageAt(address, system);
  if (image instanceof Failure) return { context: { ...context, variables: image }, key: image.reason };
  const { binary, slide } = image;
  const offset = binary.fileOffset(address - slide);
  if (offset === undefined)
    return {
      context: { ...context, variables: new Failure(kernelImageReasons().placeInNoCode(binary.shownPath)) },
      key: "",
    };
  return withVariables(
    context,
    { binary, offset, returns, kernelSlide: slide, ...(inlined === undefined ? {} : { inlined }) },
    system,
    options,
  );
}

/** With the kernel's globals, where handlers run in the kernel and are at no place of its code that has variables. */
export function withKernelGlobals(
  { variants, ...rest }: Resolution,
  system: System,
  { uses }: ResolveOptions,
): Resolution {
  if (!variants.some(({ context }) => lacksGlobals(context))) return { variants, ...rest };
  const image = kernelImageOf(system);
  const variables = image instanceof Failure ? image : kernelGlobals(image, system, uses);
  const known = variants.map((variant) => {
    const { context } = variant;
    return lacksGlobals(context) ? { ...variant, context: { ...context, variables } } : variant;
  });
  return { variants: known, ...rest };
}

function lacksGlobals(context: Context | "host"): context is Context {
  return (
    context !== "host" &&
    context.variables === undefined &&
    context.inProgram !== true &&
    context.recorded === undefined
  );
}

/**
 * Sites at addresses by what debug information tells of the variables there. Those where something is not there that
 * the handler names are left out.
 */
export function withVariablesAt(
  spec: ProbeSpec,
  context: Context,
  sites: readonly SiteRef[],
  system: System,
  options: ResolveOptions,
): Resolution {
  if (!options.uses.has("args") && !wantsKernelVariables(options.uses))
    return { variants: variantsByFunction(context, sites, options), diagnostics: [] };
  const seen = sites.map((site) => ({
    site,
    ...withKernelVariables(context, (site.data as KprobeSite).offset, false, system, options),
  }));
  const { complete, diagnostics } = withoutLacking(spec, seen, options.uses, ({ site }) => site.name);
  const alike = [...groupBy(complete, ({ key }) => key).values()];
  const variants = alike.flatMap((group) =>
    variantsByFunction(
      group[0].context,
      group.map(({ site }) => site),
      options,
    ),
  );
  return { variants, diagnostics };
}

/** Whether debug information of the kernel proper knows a function, but as copies in others alone. */
export function isInlinedInKernel(name: string, system: System): boolean {
  const image = kernelImageOf(system);
  const info = image instanceof Failure ? image : debugInfoOf(image.binary);
  return !(info instanceof Failure) && copiesOf(info.functionsNamed(name)).length > 0;
}

/** What debug information's binary has at an address of the running kernel. */
export function kernelPlaceAt(
  address: bigint,
  system: System,
):
  | {
      readonly binary: Binary;
      /** The address as the binary has it. */
      readonly linked: bigint;
      readonly within: { readonly name: string; readonly offset: number } | undefined;
    }
  | undefined {
  const image = imageAt(address, system);
  if (image instanceof Failure) return undefined;
  const { binary, slide } = image;
  const offset = binary.fileOffset(address - slide);
  return {
    binary,
    linked: address - slide,
    within: offset === undefined ? undefined : binary.functionAt(offset),
  };
}

/** The copies of a function that was inlined in a module; of any loaded one that has some, where none is named. */
export function inlinedModuleFunction(
  spec: ProbeSpec,
  name: string,
  module: string | undefined,
  returns: boolean,
  context: Context,
  system: System,
  options: ResolveOptions,
): Resolution | undefined {
  for (const image of module === undefined ? moduleImages(system) : [moduleImageOf(module, system)]) {
    const found = inlinedKernelFunction(spec, name, returns, context, system, options, image);
    if (found !== undefined) return found;
  }
  return undefined;
}

function kernelImageOf(system: System): KernelImage | Failure {
  return system.kernelImage?.() ?? new Failure(kernelImageReasons().noImage());
}

function imageAt(address: bigint, system: System): KernelImage | Failure {
  const module = system.moduleAt?.(address);
  return module === undefined ? kernelImageOf(system) : moduleImageOf(module, system);
}

function moduleImageOf(name: string, system: System): KernelImage | Failure {
  return system.moduleImage?.(name) ?? new Failure(kernelImageReasons().noModules());
}

/** One by one, as each takes time to open: the kernel proper and its modules, or one of them. */
function* imagesOf(module: string | undefined, system: System): Iterable<KernelImage | Failure> {
  if (module === undefined || module === "vmlinux") yield kernelImageOf(system);
  else yield moduleImageOf(module, system);
  if (module === undefined) yield* moduleImages(system);
}

/** Modules that have debug information. */
function* moduleImages(system: System): Iterable<KernelImage> {
  for (const name of system.loadedModules?.() ?? []) {
    const image = moduleImageOf(name, system);
    if (!(image instanceof Failure)) yield image;
  }
}

/** `wildcard`: what places came from together, those of which that the kernel refuses are left out. */
function resolution(
  spec: ProbeSpec,
  shown: (place: string) => string,
  places: Places,
  { binary, slide }: KernelImage,
  context: Context,
  system: System,
  options: ResolveOptions,
  wildcard?: string,
): Resolution {
  if ("problem" in places) return refused(spec, places.problem);
  const diagnostics = places.notes.map((note): Diagnostic => ({
    severity: "warning",
    span: spec.span,
    ...note,
  }));
  const variants = new Map<string, Variant>();
  // Several places: the kernel would name the functions that copies are in.
  const named: Context = { ...context, func: "site" };
  for (const place of places.places) {
    const { name, offset, func, inlined } = place;
    const linked = binary.address(offset);
    if (linked === undefined) continue;
    const address = linked + slide;
    const ends = inlined !== undefined && context.retval !== undefined;
    const site: SiteRef = {
      name: shown(name),
      func: func ?? name,
      data: {
        offset: address,
        ...(wildcard === undefined ? {} : { wildcard }),
        ...(ends ? { inPlace: true } : {}),
      } satisfies KprobeSite,
    };
    const wanted = !ends && (options.uses.has("args") || wantsKernelVariables(options.uses));
    const seen = wanted
      ? withKernelVariables(named, address, false, system, options, inlined)
      : { context: named, key: "" };
    const copy = copyContext(seen.context, place, ends);
    const key = `${seen.key} ${copy.key}`;
    const known = variants.get(key);
    variants.set(
      key,
      known === undefined
        ? { context: copy.context, provider: context.provider, sites: [site] }
        : { ...known, sites: [...known.sites, site] },
    );
  }
  return {
    variants: [...variants.values()].flatMap((variant) =>
      variant.context === "host" ? [variant] : variantsOf(variant.context, variant.sites, options),
    ),
    diagnostics,
  };
}
