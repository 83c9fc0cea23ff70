import { readFileSync } from "node:fs";

/** What uname(2) calls the release: `6.12.48+deb13-cloud-amd64`. Empty without /proc. */
export function kernelRelease(): string {
  try {
    return readFileSync("/proc/sys/kernel/osrelease", "latin1").trim();
  } catch {
    return "";
  }
}

/** What the machine is called (sethostname(2)). Empty without /proc. */
export function hostName(): string {
  try {
    return readFileSync("/proc/sys/kernel/hostname", "utf8").trim();
  } catch {
    return "";
  }
}
