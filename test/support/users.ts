// Programs that run as somebody who is not root: for tests that root starts.
import { spawnSync, type SpawnSyncReturns } from "node:child_process";
import { command } from "./strobe.ts";

/** The overflow user, whom every system has. */
export const nobody = 65534;

/** Whether this process can become nobody and keep some of its capabilities. */
export const canBecomeNobody =
  process.getuid?.() === 0 && spawnSync("setpriv", [...asNobody(["bpf"]), "true"]).status === 0;

/** Words for setpriv(1). */
function asNobody(capabilities: readonly string[]): string[] {
  const kept = capabilities.length === 0 ? "-all" : capabilities.map((name) => `+${name}`).join(",");
  return [
    `--reuid=${nobody}`,
    `--regid=${nobody}`,
    "--clear-groups",
    `--inh-caps=${kept}`,
    ...(capabilities.length === 0 ? [] : [`--ambient-caps=${kept}`]),
    "--",
  ];
}

/** Runs strobe as nobody, with these capabilities alone. */
export function strobeAsNobody(capabilities: readonly string[], args: readonly string[]): SpawnSyncReturns<string> {
  return spawnSync("setpriv", [...asNobody(capabilities), process.execPath, command, ...args], {
    encoding: "utf8",
    timeout: 300_000,
    env: { PATH: process.env["PATH"], HOME: "/nonexistent" },
  });
}
