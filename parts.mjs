// The command in three files: what every script runs, what compiles one, and the rest. The latter two are read when
// something in them is first asked for: V8 takes a file's compiled code in as a whole, so that what a script does not
// run would cost it its start.
import { join, relative, resolve } from "node:path";
import { build } from "esbuild";

/** What Node hands to a file of ours: launch.ts calls it. */
const wrapper = {
  banner: { js: "(function (exports, require, module, __filename, __dirname, importModule) {" },
  footer: { js: "})" },
};
const main = "src/cli/main.ts";
/** Each part has what its modules import, but for what a part before it has; `rest` is what is left. */
const entries = {
  command: [main],
  compiler: ["src/api/compile.ts", "src/cli/warm-up.ts", "src/language/bpftrace/parse.ts"],
};
const names = [...Object.keys(entries), "rest"];
const prefix = "strobe:";

/** Writes the files, named after what is in them; gives their names. `options` are esbuild's. */
export async function buildParts(options) {
  const { metafile } = await build({ ...options, entryPoints: [main], write: false, metafile: true });
  const imports = Object.entries(metafile.inputs).flatMap(([from, { imports: all }]) =>
    all.filter(({ external }) => !external).map(({ path: to, kind }) => ({ from, to, kind })),
  );
  const home = homes(imports.filter(({ kind }) => kind === "import-statement"));
  const files = {};
  for (const name of names) {
    const asked = [
      ...new Set(imports.filter(({ from, to }) => home(to) === name && home(from) !== name).map(({ to }) => to)),
    ].sort();
    const contents =
      name === "command"
        ? `export * from "./${main}";\n${present(asked)}`
        : name === "rest"
          ? table(asked)
          : present(asked);
    files[name] = await part(
      { ...options, ...wrapper, entryNames: `${name}-[hash]`, metafile: true },
      contents,
      name,
      home,
    );
  }
  return files;
}

/** Which part a module is in. */
function homes(edges) {
  const known = new Map();
  for (const [name, first] of Object.entries(entries)) {
    const seen = new Set(first);
    for (const path of seen) for (const edge of edges) if (edge.from === path) seen.add(edge.to);
    for (const path of seen) if (!known.has(path)) known.set(path, name);
  }
  return (path) => known.get(path) ?? "rest";
}

/** What other parts may ask for: all of it is there as soon as the part is. */
function present(paths) {
  const imports = paths.map((path, i) => `import * as m${i} from "./${path}";\n`).join("");
  return `${imports}export const modules = { ${paths.map((path, i) => `${JSON.stringify(path)}: () => m${i}`).join(", ")} };\n`;
}

/** The same, initialised when it is asked for. */
function table(paths) {
  return `export const modules = {\n${paths.map((path) => `${JSON.stringify(path)}: () => require("./${path}"),`).join("\n")}\n};\n`;
}

async function part(options, contents, name, home) {
  const root = resolve(".");
  const fromOthers = {
    name: "from-other-parts",
    setup({ onResolve }) {
      onResolve({ filter: /^\.{1,2}\// }, ({ path, resolveDir }) => {
        const file = relative(root, join(resolveDir, path));
        return home(file) === name ? undefined : { path: `${prefix}${home(file)}/${file}`, external: true };
      });
    },
  };
  const { metafile } = await build({
    // import() of what is here or in another part is no import for Node.
    ...options,
    stdin: { contents, resolveDir: root, sourcefile: "part" },
    supported: { "dynamic-import": false },
    plugins: [fromOthers, ...(options.plugins ?? [])],
  });
  const [output] = Object.entries(metafile.outputs).find(([, { entryPoint }]) => entryPoint !== undefined);
  return relative(resolve(options.outdir), resolve(output));
}
