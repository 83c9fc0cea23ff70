/** esbuild's loaders for what we import that is no TypeScript: descriptions of types and a library, as text. */
export const loader = { ".values": "text", ".stp": "text" };

/** esbuild's options for our TypeScript as a module that Node runs. */
export const asModule = {
  loader,
  bundle: true,
  platform: "node",
  target: "node20.19",
  format: "esm",
  packages: "external",
  logLevel: "warning",
  // What few need is loaded by require(), which modules have no other way of.
  banner: {
    js: 'import { createRequire as createRequireHere } from "node:module"; const require = createRequireHere(import.meta.url);',
  },
};
