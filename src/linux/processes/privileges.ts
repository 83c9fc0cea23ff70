// What this process may do: its effective capabilities, whoever it runs as.
import { readFileSync } from "node:fs";

/** Bits of capabilities(7). */
const bits = { CAP_SYS_ADMIN: 21n, CAP_SYSLOG: 34n, CAP_PERFMON: 38n, CAP_BPF: 39n } as const;

export function hasCapability(name: keyof typeof bits): boolean {
  const effective = effectiveCapabilities();
  // The kernel takes CAP_SYS_ADMIN for both of those that were split off it.
  const whole = name === "CAP_SYSLOG" ? 0n : effective >> bits.CAP_SYS_ADMIN;
  return (((effective >> bits[name]) | whole) & 1n) === 1n;
}

/** Those of CAP_BPF and CAP_PERFMON that are missing: no tracing without both. */
export function missingToTrace(): readonly string[] {
  return (["CAP_BPF", "CAP_PERFMON"] as const).filter((name) => !hasCapability(name));
}

function effectiveCapabilities(): bigint {
  try {
    return BigInt(`0x${/^CapEff:\s*([0-9a-f]+)$/m.exec(readFileSync("/proc/self/status", "latin1"))?.[1]}`);
  } catch {
    // Without /proc: root has them.
    return process.geteuid?.() === 0 ? ~0n : 0n;
  }
}
