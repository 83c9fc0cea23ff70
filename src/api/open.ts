import { kernelFeatures, kernelHas, kernelVersion } from "../base/kernel-features.ts";
import { E2BIG, EPERM, LinuxError } from "../linux/error.ts";
import { ScriptError, type Source } from "../language/diagnostic.ts";
import { printfFormatter } from "../output/printf.ts";
import { shownValue } from "../output/values.ts";
import { findAttacher } from "../providers/registry.ts";
import type { Consumer } from "../session/events.ts";
import { LiveSource } from "../session/live/live-source.ts";
import { kernelRelease } from "../linux/kernel/running-kernel.ts";
import { openSession, type Session } from "../session/session.ts";
import type { Source as EventSource } from "../session/source.ts";
import type { KeptWish } from "../session/tracefs/running-tracer.ts";
import type { CompiledScript, ScriptOptions } from "./compile.ts";
import { lazy } from "../base/lazy.ts";
import { searchPaths } from "./search-paths.ts";
import { RunError } from "../base/run-error.ts";
import { runReasons, sessions } from "../messages/on-demand.ts";

// Loaded where the script is to be compiled again.
const features = lazy<typeof import("../linux/kernel/features.ts")>(() => require("../linux/kernel/features.ts"));
const compiling = lazy<typeof import("./compile.ts")>(() => require("./compile.ts"));
// Loaded when the verifier gave up.
const complexity = lazy<typeof import("./too-complex.ts")>(() => require("./too-complex.ts"));
// Loaded for that engine, and to see whether it can be.
const tracefsSources = lazy<typeof import("../session/tracefs/tracefs-source.ts")>(() =>
  require("../session/tracefs/tracefs-source.ts"),
);
const tracefs = lazy<typeof import("../linux/kernel/tracefs.ts")>(() => require("../linux/kernel/tracefs.ts"));
// Loaded when files are followed.
const followers = lazy<typeof import("./follow.ts")>(() => require("./follow.ts"));

export interface OpenOptions extends ScriptOptions {
  readonly consumer: Consumer;
  /** See SessionOptions. */
  readonly top?: number | undefined;
  readonly log?: ((line: string) => void) | undefined;
  /** Logs what the verifier says of every program. */
  readonly verifierLog?: boolean | undefined;
  /** Of a plan for tracefs: its events were made at boot, and what they wrote there is handled. */
  readonly boot?: "instances" | "top-level" | undefined;
  /** With `boot`: what comes from now on is handled as well. */
  readonly bootLive?: boolean | undefined;
  /** See TracefsOptions. */
  readonly kept?: KeptWish | undefined;
  /** What the kernel's tracer is told whose events the plan has, by the files of tracefs that take it. */
  readonly tracerSettings?: readonly (readonly [file: string, text: string])[] | undefined;
  /** Attaches, and that is all. */
  readonly dryRun?: boolean | undefined;
  /** See SessionOptions. */
  readonly interrupted?: (() => boolean) | undefined;
  /** The maps are there, and nothing is attached yet. */
  readonly loaded?: ((session: Session) => void) | undefined;
  /** Compiles again, in another way; a script's text unless given. */
  readonly recompile?: ((way: CodeChoices) => CompiledScript) | undefined;
}

/** How to compile for a verifier that refused a program. */
export type CodeChoices = Pick<ScriptOptions, "directLoads" | "easyToVerify" | "engine">;

/** What there is to attach. */
export type Openable = Pick<CompiledScript, "plan" | "diagnostics" | "following">;

/** Attaches a compiled script. @throws LinuxError, AttachError */
export async function openScript(source: Source, compiled: Openable, options: OpenOptions): Promise<Session> {
  const open = async ({ plan, diagnostics, following }: Openable): Promise<Session> => {
    if (!plan) throw new ScriptError(source, diagnostics);
    const {
      consumer,
      pid,
      only,
      command,
      follow,
      unsafe,
      dryRun,
      log,
      verifierLog,
      stats,
      maxOverhead,
      interrupted,
      loaded,
      top,
    } = options;
    const follower =
      following === undefined
        ? undefined
        : new (followers().Follower)({
            following,
            source,
            pid,
            follow,
            log: (line) => log?.(line),
            trouble(line) {
              consumer.trouble({ kind: "message", text: `WARNING: ${line}` });
              consumer.flush();
            },
          });
    try {
      const live = (): EventSource =>
        new LiveSource(plan, {
          findAttacher,
          pid,
          pids: only?.pids,
          command,
          follow,
          maxOverhead,
          stats,
          dryRun,
          verifierLog,
          searchPaths: searchPaths(options),
          log,
        });
      const events = (): EventSource => {
        const flag =
          maxOverhead !== undefined
            ? "--max-overhead"
            : stats
              ? "--stats"
              : options.warnings
                ? "--warnings"
                : undefined;
        if (flag !== undefined) throw new RunError(runReasons().needsBpf(flag));
        return new (tracefsSources().TracefsSource)(plan, {
          pid,
          pids: only?.pids,
          command,
          searchPaths: searchPaths(options),
          log,
          interrupted,
          boot: options.boot,
          live: options.bootLive,
          tracerSettings: options.tracerSettings,
          kept: options.kept,
        });
      };
      const session = await openSession(plan, plan.tracefs === undefined ? live() : events(), {
        consumer,
        formatter: printfFormatter,
        shown: shownValue,
        unsafe,
        stats,
        top,
        dryRun,
        interrupted,
        loaded,
      });
      follower?.start(session);
      return session;
    } catch (error) {
      follower?.[Symbol.dispose]();
      throw error;
    }
  };
  const { directLoads, easyToVerify: before, engine } = options;
  let way: CodeChoices = { directLoads, easyToVerify: before, engine };
  for (let again: CompiledScript | undefined; ;) {
    try {
      return await open(again ?? compiled);
    } catch (error) {
      if (!(error instanceof LinuxError)) throw error;
      if (way.engine === undefined && error.code === EPERM && error.call.startsWith("bpf(") && canUseTracefs()) {
        way = { ...way, engine: "tracefs" };
        options.consumer.trouble({ kind: "message", text: `strobe: ${sessions().usingTracefs().message}` });
        options.consumer.flush();
      } else if (error.code === E2BIG && error.call === "bpf(BPF_PROG_LOAD)") {
        const easyToVerify = easier(way);
        if (easyToVerify === undefined) throw (again && complexity().tooComplex(error, again)) ?? error;
        way = { ...way, easyToVerify };
        options.log?.(`the verifier gave up on a program, compiling again to make it easier: ${error.message}`);
      } else {
        if (!error.log) throw error;
        // Which typed pointers may be loaded through differs from kernel to kernel; probe reads work on all of them.
        if (way.directLoads === false) throw error;
        way = { ...way, directLoads: false };
        options.log?.(`the verifier refused a direct load, compiling again with probe reads\n${error.log}`);
      }
      again = options.recompile?.(way) ?? compiling().compileScript(source, { ...options, ...way });
    }
  }
}

/** What to try next where the verifier gave up; nothing where there is no other way. */
function easier({ easyToVerify }: CodeChoices): CodeChoices["easyToVerify"] {
  if (!easyToVerify) return true;
  // Without may_goto, rounds are calls already.
  return easyToVerify === true && new (features().Features)().capabilities().mayGoto ? "calls" : undefined;
}

/** Whether instances can be made where tracefs is. Kernels that are too old for strobe may refuse BPF as well. */
function canUseTracefs(): boolean {
  try {
    return kernelHas(kernelVersion(kernelRelease()), kernelFeatures.baseline) && tracefs().isWritable();
  } catch {
    return false;
  }
}
