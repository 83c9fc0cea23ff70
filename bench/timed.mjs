// A command's CPU time, that of all processes that it starts.
import { spawnSync } from "node:child_process";

/** Runs it; CPU seconds of all of its processes, and what it printed. */
export function timed(words, output = "pipe") {
  const script = '"$@"; code=$?; times >&2; exit $code';
  const { status, stdout, stderr } = spawnSync("bash", ["-c", script, "bash", ...words], {
    encoding: "utf8",
    stdio: ["ignore", output, "pipe"],
    maxBuffer: 2 ** 31,
  });
  if (status !== 0) throw new Error(`${words.join(" ")}: ${stderr}`);
  const [user, system] = stderr.trim().split("\n").at(-1).split(" ").map(secondsOf);
  return { cpu: user + system, text: stdout ?? "" };
}

function secondsOf(text) {
  const [, minutes, rest] = /^(\d+)m([\d.]+)s$/.exec(text);
  return Number(minutes) * 60 + Number(rest);
}
