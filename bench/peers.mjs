import { spawnSync } from "node:child_process";
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
