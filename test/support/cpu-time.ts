// How much work something is, however busy the machine: time of the CPU, not of the clock.

/**
 * Seconds of CPU time that this process takes for it. Tests compare it with ten seconds and more, where what they guard
 * against takes hours: work that grows with the square of its input.
 */
export function cpuSeconds(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}
