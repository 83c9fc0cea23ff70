import { readFileSync } from "node:fs";

/** esbuild's loaders for what we import that is no TypeScript: descriptions of types and a library, as text. */
export const loader = { ".values": "text", ".stp": "text" };

/** Descriptions without what their readers alone want: comments, and columns. */
const bareDescriptions = {
  name: "bare-descriptions",
  setup: ({ onLoad }) =>
    onLoad({ filter: /\.values$/ }, ({ path }) => ({
      contents: readFileSync(path, "utf8")
        .replace(/^#.*\n/gm, "")
        .replace(/ +/g, " "),
      loader: "text",
    })),
};

/** esbuild's options for our TypeScript as a module that Node runs. */
export const asModule = {
  loader,
  plugins: [bareDescriptions],
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

/** The library, and what is started beside it: its entries and what they are called. */
export const libraryOptions = {
  entryPoints: {
    index: "src/index.ts",
    register: "src/register.ts",
    hooks: "src/rewrite/hooks.ts",
    esbuild: "src/esbuild-plugin.ts",
    rollup: "src/rollup-plugin.ts",
    "run-file": "src/cli/run-file.ts",
    "check-program": "src/cli/check-program.ts",
  },
  outExtension: { ".js": ".mjs" },
  minify: true,
  keepNames: true,
};

/** The language server, with what it is made of. */
export const serverOptions = {
  entryPoints: { lsp: "src/lsp/server.ts" },
  sourcemap: false,
  packages: "bundle",
  external: ["koffi", "iced-x86"],
};
