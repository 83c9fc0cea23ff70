// The command in two files: what every script runs, and the rest, which is read when something in it is first asked for. V8 takes a
// file's compiled code in as a whole, so that what a script does not run would cost it a third of its start.
import { join, relative, resolve } from "node:path";
import { build } from "esbuild";

/** What Node hands to a file of ours: launch.ts calls it. */
const wrapper = { banner: { js: "(function (exports, require, module, __filename, __dirname, importModule) {" }, footer: { js: "})" } };
const main = "src/cli/main.ts";
const prefix = "strobe:";

/** Writes both files, named after what is in them; gives their names. `options` are esbuild's. */
export async function buildParts(options) {
  const { metafile } = await build({ ...options, entryPoints: [main], write: false, metafile: true });
  const imports = Object.entries(metafile.inputs).flatMap(([from, { imports: all }]) => all.filter(({ external }) => !external).map(({ path: to, kind }) => ({ from, to, kind })));
  const first = reached(main, imports.filter(({ kind }) => kind === "import-statement"));
  const across = (from) => [...new Set(imports.filter((edge) => first.has(edge.from) === from && first.has(edge.to) !== from).map(({ to }) => to))].sort();
  const wanted = { first: across(false), rest: across(true) };
  const named = (name, contents, mine) => part({ ...options, ...wrapper, entryNames: `${name}-[hash]`, metafile: true }, contents, mine);
  return {
    command: await named("command", `export * from "./${main}";\n${present(wanted.first)}`, (path) => first.has(path)),
    rest: await named("rest", table(wanted.rest), (path) => !first.has(path)),
  };
}

function reached(from, edges) {
  const seen = new Set([from]);
  for (const path of seen) for (const edge of edges) if (edge.from === path) seen.add(edge.to);
  return seen;
}

/** What the rest may ask for: all of it is there. */
function present(paths) {
  const imports = paths.map((path, i) => `import * as m${i} from "./${path}";\n`).join("");
  return `${imports}export const modules = { ${paths.map((path, i) => `${JSON.stringify(path)}: () => m${i}`).join(", ")} };\n`;
}

/** What the rest has, initialised when it is asked for. */
function table(paths) {
  return `export const modules = {\n${paths.map((path) => `${JSON.stringify(path)}: () => require("./${path}"),`).join("\n")}\n};\n`;
}

async function part(options, contents, mine) {
  const root = resolve(".");
  const fromTheOther = {
    name: "from-the-other-part",
    setup({ onResolve }) {
      onResolve({ filter: /^\.{1,2}\// }, ({ path, resolveDir }) => {
        const file = relative(root, join(resolveDir, path));
        return mine(file) ? undefined : { path: prefix + file, external: true };
      });
    },
  };
  const { metafile } = await build({
    // import() of what is here or in the other part is no import for Node.
    ...options, stdin: { contents, resolveDir: root, sourcefile: "part" }, supported: { "dynamic-import": false }, plugins: [fromTheOther],
  });
  const [name] = Object.entries(metafile.outputs).find(([, { entryPoint }]) => entryPoint !== undefined);
  return relative(resolve(options.outdir), resolve(name));
}
