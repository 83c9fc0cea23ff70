// Makes the extension: grammar with the table's builtins, client, server, and the one native package that the server
// loads. `node editors/vscode/build.mjs FOLDER` leaves a folder that VS Code installs (`code --install-extension` takes
// it packed).
import { cpSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";
import { loader } from "../../modules.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const root = resolve(here, "../..");
const target = resolve(process.argv[2] ?? join(here, "out"));
const shared = {
  loader,
  bundle: true,
  platform: "node",
  format: "cjs",
  target: "node20.19",
  minifySyntax: true,
  minifyWhitespace: true,
  logLevel: "warning",
};

mkdirSync(join(target, "dist"), { recursive: true });
await build({
  ...shared,
  entryPoints: [join(here, "extension.ts")],
  outfile: join(target, "dist/extension.js"),
  external: ["vscode"],
});
await build({
  ...shared,
  outfile: join(target, "dist/server.js"),
  external: ["koffi", "iced-x86"],
  define: { "import.meta.url": "__filename" },
  stdin: { contents: 'import { serve } from "./src/lsp/server.ts"; void serve();', resolveDir: root },
});
for (const file of ["package.json", "language-configuration.json", "README.md"])
  cpSync(join(here, file), join(target, file));
cpSync(join(root, "LICENSE"), join(target, "LICENSE"));

// Names of builtins come from the table that the compiler reads.
const table = join(root, "build/vscode/table.mjs");
await build({
  ...shared,
  format: "esm",
  outfile: table,
  stdin: { contents: 'export { builtins } from "./src/language/builtins/table.ts";', resolveDir: root },
});
const { builtins } = await import(pathToFileURL(table).href);
const values = builtins()
  .filter(({ form, name }) => (form === "value" || form === "both") && name !== "argN")
  .flatMap(({ name, spelling }) => spelling?.bpftrace ?? [name])
  .sort();
const grammar = readFileSync(join(here, "syntaxes/bpftrace.tmLanguage.json"), "utf8");
cpSync(join(here, "syntaxes"), join(target, "syntaxes"), { recursive: true });
writeFileSync(join(target, "syntaxes/bpftrace.tmLanguage.json"), grammar.replace("BUILTIN_VALUES", values.join("|")));

const platforms = readdirSync(join(root, "node_modules/@koromix")).map((name) => `@koromix/${name}`);
// Beside the server: at the top, the packer would take them for what development needs, and leave them out. Only what
// runs, and its licences.
const runs = /(\.(c?js|json|wasm|node)|LICENSE\.txt)$/;
for (const name of ["koffi", "iced-x86", ...platforms]) {
  const from = join(root, "node_modules", name);
  cpSync(from, join(target, "dist/node_modules", name), {
    recursive: true,
    dereference: true,
    filter: (path) =>
      statSync(path).isDirectory()
        ? !/^(doc|lib|tests|vendor|src\/koffi\/src\/abi)$/.test(relative(from, path))
        : runs.test(path),
  });
}
