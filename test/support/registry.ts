// Packages of the npm registry, for tests that hold strobe against other people's tools.
import { spawn } from "node:child_process";

export interface Ended {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number | null;
}

/** Runs a command to its end; one that takes longer than twenty minutes is killed. */
export function run(
  command: string,
  args: readonly string[],
  folder: string,
  env: NodeJS.ProcessEnv = {},
): Promise<Ended> {
  return new Promise((done, failed) => {
    const child = spawn(command, args, {
      cwd: folder,
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
      timeout: 1_200_000,
      killSignal: "SIGKILL",
    });
    let stdout = "";
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (data: string) => {
      stdout += data;
    });
    child.stderr.setEncoding("utf8").on("data", (data: string) => {
      stderr += data;
    });
    child.on("error", failed);
    child.on("close", (code) => done({ stdout, stderr, code }));
  });
}

/** Runs a command that must succeed. */
export async function succeed(
  command: string,
  args: readonly string[],
  folder: string,
  env: NodeJS.ProcessEnv = {},
): Promise<string> {
  const { stdout, stderr, code } = await run(command, args, folder, env);
  if (code !== 0) throw new Error(`${[command, ...args].join(" ")}: ${code}\n${stdout}${stderr}`);
  return stdout;
}

/** Runs a command that asks a registry: up to three times, since it may fail for a moment. */
export async function fetched(
  command: string,
  args: readonly string[],
  folder: string,
  env: NodeJS.ProcessEnv = {},
): Promise<string> {
  for (const pause of [5, 20]) {
    const { stdout, code } = await run(command, args, folder, env);
    if (code === 0) return stdout;
    await new Promise((done) => setTimeout(done, pause * 1000));
  }
  return succeed(command, args, folder, env);
}

/** Why packages cannot be had here, for a test's `skip`; false when they can. */
export async function withoutRegistry(): Promise<string | false> {
  try {
    await fetched("npm", ["view", "koffi", "version", "--fetch-retries=1", "--fetch-timeout=20000"], ".");
    return false;
  } catch (error) {
    const [, why = String(error)] = /^npm error code (\w+)$/m.exec(String(error)) ?? [];
    return `the npm registry gives no packages (${why})`;
  }
}

/** Installs packages into a folder, which becomes a package of its own if it is none. */
export async function install(folder: string, ...packages: readonly string[]): Promise<void> {
  await fetched(
    "npm",
    ["install", "--no-audit", "--no-fund", "--no-package-lock", "--prefix", folder, ...packages],
    folder,
  );
}
