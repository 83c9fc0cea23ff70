import { existsSync } from "node:fs";
import { asInternal, InternalError, isUnexpected } from "../base/internal-error.ts";
import { ScriptError } from "../language/diagnostic.ts";
import { kernelFeatures, kernelHas, kernelVersion, needsOf } from "../base/kernel-features.ts";
import { renderDiagnostic } from "../language/render-diagnostic.ts";
import { decorates } from "../linux/ffi.ts";
import { EACCES, EPERM, LinuxError } from "../linux/error.ts";
import { missingToTrace } from "../linux/processes/privileges.ts";
import { kernelRelease } from "../linux/kernel/running-kernel.ts";
import { isDamage } from "../providers/registry.ts";
import { shownText } from "../output/shown-text.ts";
import { AttachError } from "../session/live/attachments.ts";

/** What a person is told about an error; `verbose` adds the verifier's log or the place in strobe. */
export function errorText(error: unknown, verbose: boolean): string {
  if (error instanceof ScriptError) {
    return error.diagnostics.map((d) => renderDiagnostic(error.source, d, { color: useColor() })).join("");
  }
  const text = plainErrorText(error, verbose);
  return process.stderr.isTTY ? shownText(text, true) : text;
}

function plainErrorText(error: unknown, verbose: boolean): string {
  const privileges =
    error instanceof LinuxError && (error.code === EPERM || error.code === EACCES) ? howToBePrivileged() : "";
  // Without a log it was not the verifier who refused.
  if (error instanceof LinuxError && error.log) {
    return (
      `strobe: ${error.message}\nThe kernel's verifier refused a program that strobe made: this is a bug in strobe. ` +
      (verbose ? `Its log:\n${error.log}\n` : "Its log is shown with -v.\n")
    );
  }
  if (isDamage(error)) {
    const place = verbose ? `${error.stack}\n` : "";
    return `strobe: ${error.message}\n${place}${error.file === undefined ? "A program that is probed, or its debug file," : "The file"} is damaged or cut short: build it again, or copy it anew.\n`;
  }
  if (error instanceof LinuxError) return `${privileges}strobe: ${error.message}\n${kernelTooOld()}`;
  if (error instanceof AttachError) {
    return (
      error.failed.map(({ probe, reason }) => `strobe: cannot attach ${probe}: ${reason}\n`).join("") +
      '(config = { missing_probes = "warn" } goes on without them)\n'
    );
  }
  // What was read is walked through in many places, some of them not until it has been written out anew.
  if (error instanceof RangeError && error.message.startsWith("Maximum call stack")) {
    return `strobe: the script is too large: its nesting or unrolling exceeds what can be compiled\n${verbose ? `${error.stack}\n` : ""}`;
  }
  if (
    error instanceof Error &&
    "path" in error &&
    String(error.path).startsWith("/proc/") &&
    !existsSync("/proc/self")
  ) {
    return `strobe: ${error.message}\n/proc must be mounted: mount -t proc proc /proc\n`;
  }
  if (!(error instanceof Error) || error instanceof InternalError || isUnexpected(error)) {
    const fault = asInternal(error);
    return `strobe: ${fault.message}\n${verbose ? `${fault.stack}\n` : "(-v shows where in strobe)\n"}`;
  }
  return `strobe: ${error.message}\n${verbose ? `${error.stack}\n` : ""}`;
}

/** What tracing takes, where it is missing; with a command that gives just that, to those who may. */
function howToBePrivileged(): string {
  const missing = missingToTrace();
  if (missing.length === 0) return "";
  const which = missing.length === 1 ? `${missing[0]} capability` : `${missing.join(" and ")} capabilities`;
  const wanted = ["bpf", "perfmon", "dac_read_search", "syslog"].map((name) => `+${name}`).join(",");
  return (
    `strobe: Missing ${which}, please run strobe as the root user, or with what it needs of root's privileges:\n` +
    `  sudo setpriv --reuid=${process.getuid?.()} --regid=${process.getgid?.()} --init-groups --inh-caps=${wanted} --ambient-caps=${wanted} strobe …\n`
  );
}

/** What is behind most refusals of kernels older than those that strobe is made for. */
function kernelTooOld(): string {
  return kernelHas(kernelVersion(kernelRelease()), kernelFeatures.baseline)
    ? ""
    : `strobe needs ${needsOf(kernelFeatures.baseline)} or later, and this is ${kernelRelease()}\n`;
}

/** Messages are coloured on a terminal, unless the environment says otherwise. */
export function useColor(): boolean {
  const wish = process.env["STROBE_COLOR"] ?? process.env["BPFTRACE_COLOR"] ?? "auto";
  if (wish !== "auto") return wish === "always";
  return process.stderr.isTTY && decorates();
}
