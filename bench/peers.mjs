import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const strobe = fileURLToPath(new URL("../dist/strobe.js", import.meta.url));

/** strobe, and the peer where there is one: a name, and the words that start it. */
export function findPeers(peerCommand) {
  const peers = [{ name: "strobe", command: [process.execPath, strobe] }];
  const words = (peerCommand ?? "bpftrace").split(/\s+/);
  const version = spawnSync(words[0], [...words.slice(1), "-V"], { encoding: "utf8" });
  if (version.status === 0) peers.push({ name: version.stdout.trim(), command: words, isPeer: true });
  else if (peerCommand) throw new Error(`${peerCommand} does not run: ${version.error?.message ?? version.stderr}`);
  return peers;
}

/** The words that start SystemTap, where there is one. */
export function findSystemTap(command) {
  const words = (command ?? "stap").split(/\s+/);
  const version = spawnSync(words[0], [...words.slice(1), "-V"], { encoding: "utf8" });
  if (version.status === 0) return words;
  if (command) throw new Error(`${command} does not run: ${version.error?.message ?? version.stderr}`);
  return undefined;
}

/**
 * strobe in the ways it can be started: on this Node, on others that are given or installed as a package, and as one
 * file.
 */
export function findBuilds(nodes) {
  const here = (path) => fileURLToPath(new URL(path, import.meta.url));
  const packaged = here(`../node_modules/node-linux-${process.arch}/bin/node`);
  const single = here(`../dist/strobe-linux-${process.arch}`);
  const builds = [process.execPath, ...nodes, ...(existsSync(packaged) ? [packaged] : [])].map((node) => {
    const { stdout, status, error } = spawnSync(node, ["--version"], { encoding: "utf8" });
    if (status !== 0) throw new Error(`${node} does not run: ${error?.message ?? status}`);
    return {
      name: `strobe on Node ${stdout.trim()}`,
      node,
      command: [node, strobe],
      files: [node, ...installedFiles()],
    };
  });
  if (existsSync(single)) builds.push({ name: "strobe as one file", command: [single], files: [single] });
  return builds;
}

/** What npm installs: the package's files, maps aside, and those that it depends on. */
export function installedFiles() {
  const root = fileURLToPath(new URL("..", import.meta.url));
  const packed = spawnSync("npm", ["pack", "--dry-run", "--ignore-scripts", "--json"], { cwd: root, encoding: "utf8" });
  if (packed.status !== 0) throw new Error(packed.stderr);
  const own = JSON.parse(packed.stdout)[0].files.map(({ path }) => join(root, path));
  const { dependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const others = [...Object.keys(dependencies), `@koromix/koffi-linux-${process.arch}`].flatMap((name) =>
    filesIn(join(root, "node_modules", name)),
  );
  return [...own, ...others];
}

function filesIn(folder) {
  return readdirSync(folder, { recursive: true })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile());
}
