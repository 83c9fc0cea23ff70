// Faults of strobe's own, told apart from what a script's author, a file or the kernel got wrong.
import { version } from "../../package.json";

/**
 * strobe itself is at fault: nothing in the script, in a file or on the machine explains it. Its message says so, and
 * what to report.
 */
export class InternalError extends Error {
  /** What is wrong, without what to report. */
  declare readonly fault: string;

  /** @param during what strobe was doing, behind "while": `compiling \`kprobe:f\`` */
  constructor(fault: string, { cause, during }: { readonly cause?: unknown; readonly during?: string } = {}) {
    const whole = during === undefined ? fault : `${fault}, while ${during}`;
    super(
      `internal error: ${whole}. This is a fault of strobe's; please report it with the script and the lines of -d, ` +
        `strobe v${version}, Linux ${kernelRelease()} ${process.arch}, Node.js ${process.version}`,
      cause === undefined ? {} : { cause },
    );
    this.name = "InternalError";
    // Not enumerable: the message has said it all, and Node prints what is.
    Object.defineProperty(this, "fault", { value: whole });
  }
}

// Loaded only here: most starts meet no error.
function kernelRelease(): string {
  return process.getBuiltinModule("node:os").release();
}

/**
 * Whether an error is one that no part of strobe throws on purpose: JavaScript's own, or something that is no error at
 * all.
 */
export function isUnexpected(error: unknown): boolean {
  if (!(error instanceof Error)) return true;
  return ["TypeError", "RangeError", "ReferenceError", "SyntaxError", "EvalError", "AssertionError"].includes(
    error.name,
  );
}

/** A fault as an InternalError, with the place where it came up; what is one already is passed on. */
export function asInternal(error: unknown, during?: string): InternalError {
  if (error instanceof InternalError) return error;
  const fault = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  const wrapped = new InternalError(fault, { cause: error, ...(during === undefined ? {} : { during }) });
  if (error instanceof Error && error.stack !== undefined) wrapped.stack = error.stack;
  return wrapped;
}
