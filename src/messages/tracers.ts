// What is wrong with a command line for one of ftrace's tracers: strobe graph.
import { usage, type UsageMessage } from "./message.ts";

const graphUsage = "strobe graph FUNCTION… [--depth N] [--args] [--retval] [-p PID | -c COMMAND] [--for TIME]";

export const tracers = {
  /** @example strobe graph */
  graphNeeds: (): UsageMessage => usage(`which functions of the kernel? ${graphUsage}`),
  /** @example strobe graph vfs-read */
  graphFunction: (found: string): UsageMessage =>
    usage(`"${found}" is no name of a function of the kernel, nor a wildcard: ${graphUsage}`),
  /** @example strobe graph vfs_read --depth deep */
  graphDepth: (found: string): UsageMessage => usage(`--depth takes a whole number from 0 (all) to 50, not "${found}"`),
  /** @example strobe graph vfs_read --comm cat */
  graphProcess: (): UsageMessage => usage("strobe graph chooses one process: -p PID, or -c COMMAND"),
  /** @example strobe graph vfs_read -e 'begin { exit(); }' */
  graphTakesNo: (option: string): UsageMessage => usage(`strobe graph runs no script: it takes no ${option}`),
  /** @example strobe timerlat sda */
  takesNoWords: (name: string, word: string): UsageMessage =>
    usage(`strobe ${name} takes options alone, not "${word}"`),
  /**
   * Only where the kernel was built without it.
   * @tested test/live/tracers.test.ts
   */
  noTracer: (name: string, tracer: string, option: string): UsageMessage =>
    usage(`strobe ${name} needs the kernel's tracer ${tracer}, which this one was built without (${option})`),
  /**
   * Only where the kernel was built without it.
   * @tested test/live/tracers.test.ts
   */
  optionNeedsTracer: (option: string): UsageMessage =>
    usage(`--${option} needs the kernel's tracer osnoise, which this one was built without (CONFIG_OSNOISE_TRACER)`),
  /**
   * Only where the kernel has the tracer: strobe timerlat --cpus all.
   * @tested test/guest/latency-tracers.test.ts
   */
  cpus: (found: string): UsageMessage => usage(`--cpus takes numbers and ranges such as 0-3,8, not "${found}"`),
  /**
   * Only where the kernel has the tracer: strobe noise --period 1000 --runtime 2000.
   * @tested test/guest/latency-tracers.test.ts
   */
  runtime: (runtime: number, period: number): UsageMessage =>
    usage(`--runtime is a part of the period: ${runtime} is more than ${period}`),
};
