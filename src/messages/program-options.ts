// What is wrong with the command line of a program in TypeScript.
import { usage, type UsageMessage } from "./message.ts";

export const programOptionMessages = {
  /**
   * Only of a program: strobe top --ascii
   * @tested test/live/program-tools.test.ts
   */
  takesNo: (program: string, option: string): UsageMessage => usage(`${program} takes no ${option}`),
  /**
   * Only of a program: strobe top cat
   * @tested test/live/program-tools.test.ts
   */
  takesNoWords: (program: string, word: string): UsageMessage => usage(`${program} takes options alone, not "${word}"`),
  /**
   * Only of a program: strobe alert --above=many
   * @tested test/live/program-tools.test.ts
   */
  noNumber: (option: string, found: string): UsageMessage => usage(`--${option} takes a number, not "${found}"`),
  /**
   * Only of a program: strobe request -p 1 node
   * @tested test/live/program-tools.test.ts
   */
  wordsAreCommand: (word: string, option: string): UsageMessage =>
    usage(`"${word}" begins a command that is started and traced, and ${option} says another process`),
};
