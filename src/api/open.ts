import { LinuxError } from "../linux/error.ts";
import { ScriptError, type Source } from "../language/diagnostic.ts";
import { printfFormatter } from "../output/printf.ts";
import { findProvider } from "../providers/registry.ts";
import type { Consumer } from "../session/events.ts";
import { openSession, type Session } from "../session/session.ts";
import type { CompiledScript, ScriptOptions } from "./compile.ts";

// Loaded where the script is to be compiled again.
const compiling = () => require("./compile.ts") as typeof import("./compile.ts");
// Loaded when files are followed.
const followers = () => require("./follow.ts") as typeof import("./follow.ts");

export interface OpenOptions extends ScriptOptions {
  readonly consumer: Consumer;
  readonly log?: (line: string) => void;
  /** Logs what the verifier says of every program. */
  readonly verifierLog?: boolean;
  /** Attaches, and that is all. */
  readonly dryRun?: boolean;
  /** The maps are there, and nothing is attached yet. */
  readonly loaded?: (session: Session) => void;
  /** Compiles again, without direct loads; a script's text unless given. */
  readonly recompile?: (directLoads: false) => CompiledScript;
}

/** What there is to attach. */
export type Openable = Pick<CompiledScript, "plan" | "diagnostics" | "following">;

/** Attaches a compiled script. @throws LinuxError, AttachError */
export async function openScript(source: Source, compiled: Openable, options: OpenOptions): Promise<Session> {
  const open = async ({ plan, diagnostics, following }: Openable): Promise<Session> => {
    if (!plan) throw new ScriptError(source, diagnostics);
    const { consumer, pid, command, follow, unsafe, dryRun, log, verifierLog, stats, maxOverhead, loaded } = options;
    const follower = following === undefined ? undefined : new (followers().Follower)({
      following, source, pid, follow, log: (line) => log?.(line),
      trouble(line) {
        consumer.trouble({ kind: "message", text: `WARNING: ${line}` });
        consumer.flush();
      },
    });
    try {
      const session = await openSession(plan, { consumer, findProvider, formatter: printfFormatter, pid, command, follow, unsafe, dryRun, log, verifierLog, stats, maxOverhead, loaded });
      follower?.start(session);
      return session;
    } catch (error) {
      follower?.[Symbol.dispose]();
      throw error;
    }
  };
  try {
    return await open(compiled);
  } catch (error) {
    // Which typed pointers may be loaded through differs from kernel to kernel; probe reads work on all of them.
    if (!(error instanceof LinuxError) || !error.log || options.directLoads === false) throw error;
    options.log?.(`the verifier refused a direct load, compiling again with probe reads\n${error.log}`);
    return open(options.recompile?.(false) ?? compiling().compileScript(source, { ...options, directLoads: false }));
  }
}
