// Scripts in D: lines with `#`, options, macros, in DTrace's words and with its tags.
import type { Reason } from "../base/failure.ts";
import { reason, says, tagged, type Message } from "./message.ts";

export const dPreprocessor = {
  /**
   * @example
   * #error nothing works
   * BEGIN { exit(0); }
   */
  stopped: (text: string): Message =>
    tagged("D_PRAGERR", "syntax", `#error: ${text.trim()}${text.trim() === "" ? "" : " "}`),
  /**
   * @example
   * #nosuch
   * BEGIN { exit(0); }
   */
  unknownDirective: (name: string): Message =>
    tagged("D_PRAGCTL_INVAL", "syntax", `invalid control directive: #${name}`),
  /**
   * @example
   * #pragma D binding "1.0" x
   * BEGIN { exit(0); }
   */
  pragmaUnused: (name: string): Message => tagged("D_PRAGMA_UNUSED", "syntax", `unused #pragma ${name}`),
  /**
   * @example
   * #pragma D depends_on library nosuch.d
   * BEGIN { exit(0); }
   */
  pragmaLibrary: (): Message =>
    tagged("D_PRAGMA_DEPEND", "syntax", "main program may not explicitly depend on a library"),
  /**
   * @on small-kernel
   * @example
   * #pragma D depends_on module nosuch
   * BEGIN { exit(0); }
   */
  pragmaModule: (what: string, name: string): Message =>
    tagged("D_PRAGMA_DEPEND", "name", `program requires ${what} ${name}`),
  /**
   * @example
   * #pragma D binding "x" y
   * BEGIN { exit(0); }
   */
  pragmaValue: (name: string, what: string): Message =>
    tagged("D_PRAGMA_INVAL", "syntax", `invalid ${what} specified by #pragma ${name}`),
  /**
   * @example
   * #include <stdio.h>
   * BEGIN { exit(0); }
   */
  directive: (name: string, why: string): Message => tagged("D_PRAGMA_INVAL", "feature", `#${name}: ${why}`),
  /**
   * @example
   * #if 1
   * BEGIN { exit(0); }
   */
  unclosedCondition: (name: string): Message => tagged("D_SYNTAX", "syntax", `#${name} without an #endif`),
  /**
   * @example
   * #endif
   * BEGIN { exit(0); }
   */
  strayDirective: (name: string): Message => tagged("D_SYNTAX", "syntax", `#${name} without an #if in front of it`),
  /**
   * @example
   * #pragma D option
   * BEGIN { exit(0); }
   */
  pragmaOption: (): Message => tagged("D_PRAGMA_MALFORM", "syntax", "malformed #pragma option <option>=<val>"),
  /**
   * @example
   * #pragma D option quiet = 1
   * BEGIN { exit(0); }
   */
  pragmaSuperfluous: (name: string): Message =>
    tagged("D_PRAGMA_MALFORM", "syntax", `superfluous arguments specified for #pragma ${name}`),
  /**
   * @example
   * #pragma D attributes Stable/Stable/Common
   * BEGIN { exit(0); }
   */
  pragmaMalformed: (name: string, what: string): Message =>
    tagged("D_PRAGMA_MALFORM", "syntax", `malformed #pragma ${name} ${what} <ident>`),
  /**
   * @example
   * #pragma D depends_on module
   * BEGIN { exit(0); }
   */
  pragmaDependence: (): Message => tagged("D_PRAGMA_MALFORM", "syntax", "malformed #pragma depends_on <class> <name>"),
  /**
   * @example
   * #line x
   * BEGIN { exit(0); }
   */
  lineDirective: (): Message => tagged("D_PRAGMA_MALFORM", "syntax", 'malformed #line <line> [ ["file"] state ]'),
  /**
   * @example
   * #pragma D nosuch
   * BEGIN { exit(0); }
   */
  pragma: (text: string): Message => tagged("D_PRAGMA_INVAL", "syntax", `invalid D pragma: ${text}`),
  /**
   * @example
   * #pragma D option nosuch
   * BEGIN { exit(0); }
   */
  unknownOption: (name: string, value?: string, help?: string): Message =>
    tagged(
      "D_PRAGMA_OPTSET",
      "name",
      `failed to set option '${name}'${value === undefined ? "" : ` to '${value}'`}: Invalid option name`,
      help,
    ),
  /**
   * @example
   * #pragma D option stackindent=4
   * BEGIN { exit(0); }
   */
  optionWithoutEffect: (name: string): Message => says("feature", `option '${name}' has no effect here yet`),
  /**
   * @example
   * #pragma D option strsize=x
   * BEGIN { exit(0); }
   */
  optionValue: (name: string, value: string): Message =>
    tagged(
      "D_PRAGMA_OPTSET",
      "type",
      `failed to set option '${name}' to '${value}': Invalid value for specified option`,
    ),
  /** @example BEGIN { setopt("strsize", "10"); } */
  optionSwitched: (name: string): Message =>
    says(
      "feature",
      `option '${name}' cannot be set while the script runs`,
      `set it before: \`#pragma D option ${name}\``,
    ),
  /**
   * @example
   * #define a0 1+1
   * ⟨#define a{i+1} a{i} a{i}
   *  × 30⟩BEGIN { x = a30; }
   */
  expansion: (): Message => says("limit", "the macros of the script expand to too much"),
  /** @example BEGIN { x = $1; } */
  macroUndefined: (name: string): Message =>
    tagged("D_MACRO_UNDEF", "name", `macro ${/\d$/.test(name) ? "argument" : "variable"} ${name} is not defined`),
  /**
   * @on large-argument
   * @example BEGIN { x = $1; }
   */
  macroOverflow: (name: string, text: string): Message =>
    tagged("D_MACRO_OFLOW", "syntax", `macro argument ${name} constant ${text} results in integer overflow`),
  /**
   * @on argument
   * @example BEGIN { exit(0); }
   */
  macroUnused: (text: string, number: number): Message =>
    tagged("D_MACRO_UNUSED", "unused", `extraneous argument '${text}' ($${number} is not referenced)`),
} as const;

/** Only of `strobe dtrace -C`: behind the script's name. */
export const preprocessingReasons = {
  failed: (): Reason => reason("Preprocessor failed to process input program"),
  notFound: (): Reason => reason("Preprocessor not found"),
  /** Of -L. */
  library: (file: string, needed: string): Reason => reason(`Invalid library dependency in ${file}: ${needed}`),
  includesItself: (name: string): Reason => reason(`${name}: too many files include each other`),
  noFile: (name: string): Reason => reason(`${name}: No such file or directory`),
};
