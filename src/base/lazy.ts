// Modules that few runs need: loaded when they are first asked for.

/**
 * A module, or a package, that is loaded by the first call and kept. `load` is a `require()` of a literal path, which
 * marks a border between the parts of the bundled command (parts.mjs) and which the dead-code check follows
 * (knip.config.js): `const floats = lazy<typeof import("./floats.ts")>(() => require("./floats.ts"));`
 */
export function lazy<Module>(load: () => Module): () => Module {
  let loaded: Module | undefined;
  return () => (loaded ??= load());
}
