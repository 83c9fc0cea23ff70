// The commands of system(): one after the other, each before the events behind it. The event loop goes on meanwhile, so
// that signals are heard.
import { sessions } from "../messages/on-demand.ts";
import type { Consumer } from "./events.ts";
import type { SessionMessage } from "../messages/message.ts";

/**
 * Milliseconds that commands have once the session is to end: those that wait may still begin, and what runs then is
 * ended.
 */
const grace = 200;
/** In bytes: of what one command writes. */
const mostOutput = 1 << 30;

/** Steady, in milliseconds (see live/clock.ts). */
function uptime(): number {
  return process.uptime() * 1000;
}

export class Commands {
  /** Resolves when the command that runs has ended; undefined when none does. */
  running: Promise<void> | undefined;
  readonly #consumer: Consumer;
  readonly #ended: (error?: unknown) => void;
  /** When those that have not begun are left out. */
  #until = Infinity;
  #left = 0;
  #timer: NodeJS.Timeout | undefined;
  #end: (() => void) | undefined;

  /** `ended`: one has, or telling what it wrote has failed. */
  constructor(consumer: Consumer, ended: (error?: unknown) => void) {
    this.#consumer = consumer;
    this.#ended = ended;
  }

  /** Starts a command, of which none may run. */
  run(command: string): void {
    if (uptime() >= this.#until) {
      this.#left++;
      return;
    }
    this.#consumer.flush();
    this.running = this.#run(command).finally(() => {
      this.running = undefined;
      this.#end = undefined;
      clearTimeout(this.#timer);
    });
    this.running.then(() => this.#ended(), this.#ended);
    if (this.#until !== Infinity) this.#endInTime();
  }

  #endInTime(): void {
    this.#timer = setTimeout(() => this.#end?.(), this.#until - uptime());
  }

  async #run(command: string): Promise<void> {
    const consumer = this.#consumer;
    // Loaded only here, for the sake of the start.
    const { spawn } = process.getBuiltinModule("node:child_process");
    const child = spawn("/bin/sh", ["-c", command], { stdio: ["inherit", "pipe", "inherit"] });
    const written: Buffer[] = [];
    let bytes = 0;
    let why: string | undefined;
    const status = await new Promise<number | NodeJS.Signals | undefined>((resolve) => {
      this.#end = () => {
        why = "strobe was told to end";
        child.kill("SIGTERM");
        // What it started may go on, and hold the pipe.
        child.once("exit", () => resolve("SIGTERM"));
        setTimeout(() => child.kill("SIGKILL"), grace).unref();
      };
      child.on("error", (error) => {
        why = error.message;
        resolve(undefined);
      });
      child.stdout?.on("data", (more: Buffer) => {
        written.push(more);
        bytes += more.length;
        if (bytes <= mostOutput) return;
        why = "it writes more than a GiB";
        child.kill("SIGKILL");
      });
      child.on("close", (code, signal) => resolve(signal ?? code ?? 0));
    });
    child.stdout?.destroy();
    if (bytes > 0) consumer.text(written.length === 1 ? written[0] : Buffer.concat(written), "system");
    const tell = ({ message }: SessionMessage): void =>
      consumer.trouble({ kind: "message", text: `ERROR: ${message}` });
    if (status === undefined) tell(sessions().commandNotRun(command, why));
    else if (typeof status === "string") tell(sessions().commandEnded(status, why));
    else if (status !== 0) tell(sessions().commandFailed(status));
  }

  /** The session is to end: soon, no command runs any more, until `resume`. */
  hurry(): void {
    if (this.#until !== Infinity) return;
    this.#until = uptime() + grace;
    if (this.running) this.#endInTime();
  }

  /** Commands run again: those of `end`. How many were left out. */
  resume(): number {
    this.#until = Infinity;
    const left = this.#left;
    this.#left = 0;
    return left;
  }
}
