// strobe as package managers install it, links and all: the command starts and a program finds the library, wherever
// the output goes.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { fetched, install, run, succeed, withoutRegistry } from "../support/registry.ts";
import { temporaryFolder } from "../support/strobe.ts";

const skip = await withoutRegistry();
const folder = temporaryFolder();
after(() => folder.remove());

/** Where a way of installing put the command, and a folder whose programs find the library. */
interface Installed {
  readonly command: string;
  readonly project: string;
}

const packed = skip
  ? ""
  : join(
      folder.path,
      (
        JSON.parse(
          await succeed("npm", ["pack", "--ignore-scripts", "--json", "--pack-destination", folder.path], "."),
        ) as { readonly filename: string }[]
      )[0].filename,
    );

function project(name: string, more: object = {}): string {
  const path = join(folder.path, name);
  mkdirSync(path, { recursive: true });
  writeFileSync(
    join(path, "package.json"),
    JSON.stringify({ name: name.replaceAll("/", "-"), version: "1.0.0", private: true, ...more }),
  );
  return path;
}

/** The package, taken out of what is published. */
async function unpacked(path: string): Promise<string> {
  mkdirSync(path, { recursive: true });
  await succeed("tar", ["-xzf", packed, "-C", path, "--strip-components=1"], folder.path);
  return path;
}

const quiet = ["--no-audit", "--no-fund"];

const ways: Readonly<Record<string, () => Promise<Installed>>> = {
  "npm install": async () => {
    const path = project("npm");
    await install(path, packed);
    return { command: join(path, "node_modules/.bin/strobe"), project: path };
  },
  "npm install -g": async () => {
    const prefix = join(folder.path, "global");
    await fetched("npm", ["install", ...quiet, "--global", "--prefix", prefix, packed], folder.path);
    // A global package is none that programs find.
    const path = join(prefix, "lib/node_modules/strobe");
    return { command: join(prefix, "bin/strobe"), project: path };
  },
  "npm link": async () => {
    const source = await unpacked(join(folder.path, "linked"));
    await install(source, "--omit=dev", "--ignore-scripts");
    // npm's own folder of what is installed for all stays as it is.
    const env = { npm_config_prefix: join(folder.path, "link-prefix") };
    await fetched("npm", ["link", ...quiet, "--ignore-scripts"], source, env);
    const path = project("links");
    await fetched("npm", ["link", ...quiet, "--ignore-scripts", "strobe"], path, env);
    return { command: join(path, "node_modules/.bin/strobe"), project: path };
  },
  "npm workspaces": async () => {
    const path = project("workspaces", { workspaces: ["packages/*"] });
    const source = await unpacked(join(path, "packages/strobe"));
    const manifest = JSON.parse(readFileSync(join(source, "package.json"), "utf8")) as object;
    // As a checkout of the workspace has it, but that nothing is built anew.
    writeFileSync(join(source, "package.json"), JSON.stringify({ ...manifest, scripts: {}, devDependencies: {} }));
    const app = project("workspaces/packages/app", { dependencies: { strobe: "*" } });
    await install(path);
    return { command: join(path, "node_modules/.bin/strobe"), project: app };
  },
  pnpm: async () => {
    const tools = project("pnpm-itself");
    await install(tools, "pnpm@10");
    const path = project("pnpm");
    // Nobody finds a package that it does not name as its own: what ours needs is behind links.
    await fetched(
      join(tools, "node_modules/.bin/pnpm"),
      ["add", "--config.hoist=false", "--store-dir", join(folder.path, "pnpm-store"), packed],
      path,
    );
    return { command: join(path, "node_modules/.bin/strobe"), project: path };
  },
  yarn: async () => {
    const tools = project("yarn-itself");
    await install(tools, "yarn@1");
    const path = project("yarn");
    await fetched(
      join(tools, "node_modules/.bin/yarn"),
      ["add", "--cache-folder", join(folder.path, "yarn-cache"), `file:${packed}`],
      path,
    );
    return { command: join(path, "node_modules/.bin/strobe"), project: path };
  },
};

const program = `
  import { fstatSync } from "node:fs";
  import { begin, exit, print, trace } from "strobe";
  fstatSync(1);
  const session = await trace(begin(() => { print(6 * 7); exit(); }));
  await session.ended;
`;

for (const [way, installed] of Object.entries(ways)) {
  const done = skip ? undefined : installed();
  done?.catch(() => {});
  test(`${way}: strobe starts, with its output in a pipe, a file and a terminal`, { skip }, async () => {
    const { command, project: path } = await done!;
    writeFileSync(join(path, "program.mjs"), program);
    const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
    const node = quoted(process.execPath);
    for (const line of [
      `${quoted(command)} -q -e 'begin { print(6 * 7); exit(); }'`,
      `${quoted(command)} run program.mjs`,
      `${node} --import strobe/register program.mjs`,
    ]) {
      const outputs = {
        pipe: `${line} 2>&1 | cat`,
        file: `${line} > output 2>&1; cat output`,
        terminal: `script -qec ${quoted(line)} /dev/null`,
      };
      for (const [output, shell] of Object.entries(outputs)) {
        const { stdout, stderr } = await run("sh", ["-c", shell], path);
        // A terminal turns a new line into two characters, and may be told how to show what is written.
        assert.deepEqual([way, output, line, stdout.trim(), stderr], [way, output, line, "42", ""]);
      }
    }
  });
}
