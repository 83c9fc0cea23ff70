// What `strobe dtrace` does not take
import type { Reason } from "../base/failure.ts";
import { reason } from "./message.ts";

/** Only of `strobe dtrace`, in DTrace's words: behind `dtrace:`. */
export const dCommandReasons = {
  unknownOption: (name: string): Reason => reason(`failed to set -x ${name}: Invalid option name`),
  optionValue: (option: string): Reason => reason(`failed to set ${option}: Invalid value for specified option`),
  noVersion: (): Reason => reason("failed to set -x version: Operation not supported"),
  noProcess: (): Reason => reason("No such process"),
  invalidPid: (text: string): Reason => reason(`invalid pid: ${text}`),
  overspecified: (program: string, description: string): Reason =>
    reason(
      `invalid probe specifier ${program}: invalid probe description "${description}": Overspecified probe description`,
    ),
  noProbes: (): Reason => reason("no probes specified"),
  notSupported: (letter: string): Reason =>
    reason(`-${letter} is not supported: strobe finds static probes in the programs themselves`),
  illegalLetters: (letters: string): Reason => reason(`illegal option -- ${letters}`),
  needsArgument: (letter: string): Reason => reason(`option requires an argument -- '${letter}'`),
  unknownLetter: (letter: string): Reason => reason(`invalid option -- '${letter}'`),
  /** The usage alone is shown. */
  nothing: (): Reason => reason(""),
};
