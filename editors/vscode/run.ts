// Runs a script as the button above a probe does. Knows nothing of VS Code.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

export interface Running {
  /** As with Ctrl-C: the script prints what it has gathered. */
  stop(): void;
}

/** A script ends after that time unless it does so itself. */
const longest = "60s";

/**
 * `command` is cut at white space and gets the file. `line` is called for each line of output and of errors, `ended` once,
 * with how it ended.
 */
export function runScript(
  command: string,
  file: string,
  line: (text: string) => void,
  ended: (how: string) => void,
): Running {
  const [program = "", ...words] = command.trim().split(/\s+/);
  const child = spawn(program, [...words, "--for", longest, file], { stdio: ["ignore", "pipe", "pipe"] });
  for (const stream of [child.stdout, child.stderr])
    createInterface({ input: stream }).on("line", (text) => {
      if (text !== "") line(text);
    });
  let told = false;
  const end = (how: string): void => {
    if (!told) ended(how);
    told = true;
  };
  child.on("error", (error) => {
    if (child.pid === undefined) end(`"${command}" does not start: ${error.message}`);
  });
  child.once("close", (code, signal) => end(signal === null ? `ended with ${code}` : `ended by ${signal}`));
  return {
    stop() {
      if (child.kill("SIGINT")) return;
      // Behind sudo it is another user's: it ends when it next writes, or when its time is over.
      child.stdout.destroy();
      child.stderr.destroy();
      end(`left alone: it ends within ${longest}`);
    },
  };
}
