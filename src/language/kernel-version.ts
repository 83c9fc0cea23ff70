/** Whether the kernel has what came with a version: `kernelAtLeast(capabilities.kernel, 6, 9)`. */
export function kernelAtLeast(
  [major, minor]: readonly [number, number],
  wantedMajor: number,
  wantedMinor: number,
): boolean {
  return major > wantedMajor || (major === wantedMajor && minor >= wantedMinor);
}
