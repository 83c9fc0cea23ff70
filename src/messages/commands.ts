// What is wrong with the command line of a subcommand.
import { usage, type UsageMessage } from "./message.ts";

const eventsUsage =
  "strobe events list | add [--name NAME] [--dry-run] 'PROBE { NAME = VALUE; … }' | remove [--force] EVENT… | enable EVENT… | disable EVENT…";
const emitUsage = "strobe emit NAME FIELD=VALUE… (FIELD:TYPE=VALUE for another type than the value's own)";
const bootUsage =
  "strobe boot [--append-to INITRD | --cmdline | --check | --collect [--live]] SCRIPT, strobe boot --remove-from INITRD";
const flightUsage = "strobe boot --flight [--size SIZE] | --flight --start EVENT… | --flight --collect -o FILE";

export const commands = {
  /** @example strobe run */
  nothingToRun: (): UsageMessage => usage("nothing to run: give a program's path behind `run`"),
  /** @example strobe run --watch program.ts */
  runHasNoOption: (option: string): UsageMessage =>
    usage(`strobe run has no option ${option}: what is behind the program's path goes to the program`),
  /** @example strobe run script.bt */
  runTakesProgram: (file: string): UsageMessage =>
    usage(`strobe run takes a program in TypeScript or JavaScript (a script runs as strobe ${file})`),
  /** @example strobe check */
  nothingToCheck: (): UsageMessage => usage("nothing to check: give scripts' paths, or a program behind -e"),
  /** @example strobe fmt --all */
  fmtHasNoOption: (option: string): UsageMessage => usage(`fmt has no option ${option}`),
  /** @example strobe fmt examples/slow-reads.ts */
  fmtWithout: (file: string, title: string): UsageMessage => usage(`${file}: fmt does not lay out ${title}`),
  /** @example strobe clean all */
  cleanTakesNothing: (word: string): UsageMessage => usage(`strobe clean takes nothing, not "${word}"`),
  /** @example strobe completion tcsh */
  completionTakes: (shells: readonly string[]): UsageMessage =>
    usage(`strobe completion takes a shell: ${shells.join(", ")}`),
  /** @example strobe types --all */
  typesDoesNotKnow: (word: string): UsageMessage => usage(`types does not know ${word}`),
  /** Only of a folder that has other files: `strobe types --output src`. */
  folderInUse: (folder: string): UsageMessage =>
    usage(`${folder} holds something else than declarations of strobe types`),
  /** Only of a program that is not there: what its declarations are refused with. */
  typesOf: (why: string): UsageMessage => usage(why),
  /** @example strobe emit */
  emitNeedsName: (): UsageMessage => usage(`emit needs a name: ${emitUsage}`),
  /** @example strobe emit app:request size */
  emitTakesFields: (word: string): UsageMessage => usage(`\`${word}\` is no FIELD=VALUE: ${emitUsage}`),
  /** @example strobe emit app:request size:u7=1 */
  emitUnknownType: (word: string, type: string, types: readonly string[]): UsageMessage =>
    usage(`\`${word}\`: unknown type ${type}; there are ${types.join(", ")}`),
  /**
   * Only where the event is there already, with other fields.
   * @tested test/guest/user-events.test.ts
   */
  emitOtherFields: (event: string, fields: string, found: string): UsageMessage =>
    usage(`user_events:${event} has the fields ${fields}; got ${found || "none"}`),
  /** @example strobe emit app:request size:u32=many */
  emitInteger: (field: string, type: string, found: string): UsageMessage =>
    usage(`${field} is an integer (${type}), got \`${found}\``),
  /** @example strobe emit app-request size=1 */
  emitRefused: (why: string): UsageMessage => usage(why),
  /** @example strobe events rename a b */
  eventsHasNo: (action: string): UsageMessage => usage(`events has no ${action}: ${eventsUsage}`),
  /** @example strobe events list --all */
  eventsHasNoOption: (option: string): UsageMessage => usage(`events has no option ${option}: ${eventsUsage}`),
  /** @example strobe events add */
  eventsAddNeeds: (): UsageMessage => usage(`events add needs a probe: ${eventsUsage}`),
  /** @example strobe events add --name a-b 'kprobe:vfs_read { n = arg2; }' */
  eventName: (name: string): UsageMessage => usage(`"${name}" is no name for an event: letters, digits and _`),
  /** Only where a probe means several events. */
  eventNameForOne: (names: readonly string[]): UsageMessage =>
    usage(`--name is for one event, got ${names.length}: ${names.join(", ")}`),
  /** Only where the event is there. */
  eventThere: (event: string): UsageMessage =>
    usage(`there is an event ${event} already: strobe events remove ${event}`),
  /** @example strobe events remove */
  eventsRemoveNeeds: (group: string): UsageMessage =>
    usage(`events remove needs an event, or ${group}:* for all of strobe's: ${eventsUsage}`),
  /** @example strobe events enable */
  eventsNeedsEvent: (action: string): UsageMessage => usage(`events ${action} needs an event: ${eventsUsage}`),
  /**
   * Only of a RAM disk that is damaged, or no file.
   * @tested test/live/regressions/a-damaged-ram-disk-is-no-fault-of-strobes.test.ts
   */
  diskNotChanged: (disk: string, why: string): UsageMessage => usage(`cannot change ${disk}: ${why}`),
  /** @example strobe boot -p 1 -e 'kprobe:vfs_read { @ = count(); }' */
  bootWithoutProcesses: (): UsageMessage =>
    usage("processes cannot be chosen at boot (-p, -c, --comm and their kin): there are none yet"),
  /** Only of a script whose probes all wait for user space. */
  bootNothing: (): UsageMessage => usage("nothing of the script can be traced at boot"),
  /** @example strobe boot --append-to */
  bootNeedsDisk: (option: string): UsageMessage => usage(`${option} needs an initial RAM disk: ${bootUsage}`),
  /** @example strobe boot --check --collect script.bt */
  bootOneThing: (): UsageMessage => usage(`boot does one thing at a time: ${bootUsage}`),
  /** @example strobe boot --flight --cmdline */
  flightHasNoOption: (option: string): UsageMessage => usage(`boot --flight has no option ${option}: ${flightUsage}`),
  /** @example strobe boot --flight --collect */
  flightCollects: (): UsageMessage => usage(`--collect needs a file: ${flightUsage}`),
  /** @example strobe boot --flight --start */
  flightStarts: (): UsageMessage => usage(`--start needs events, CATEGORY:EVENT, with wildcards: ${flightUsage}`),
  /** @example strobe boot --live script.bt */
  bootLiveCollects: (): UsageMessage => usage(`--live goes with --collect: ${bootUsage}`),
  /** @example strobe stap -G name */
  stapGlobal: (found: string): UsageMessage => usage(`-G takes NAME=VALUE, not "${found}"`),
  /** @example strobe stap -p 6 */
  stapPass: (found: string): UsageMessage => usage(`-p takes a pass from 1 to 5, not "${found}"`),
  /** @example strobe stap -T soon */
  stapSeconds: (found: string): UsageMessage => usage(`-T takes a number of seconds, not "${found}"`),
  /** @example strobe stap --example */
  stapNotThere: (option: string, instead: string): UsageMessage =>
    usage(`stap: there is no ${option} here: ${instead}`),
  /** @example strobe stap --frobnicate */
  stapUnknownOption: (option: string): UsageMessage => usage(`stap: unrecognized option '${option}'`),
  /** @example strobe stap -e */
  stapRequiresArgument: (letter: string): UsageMessage => usage(`stap: option requires an argument -- '${letter}'`),
  /** @example strobe stap -Z */
  stapUnknownLetter: (letter: string): UsageMessage => usage(`stap: invalid option -- '${letter}'`),
};
