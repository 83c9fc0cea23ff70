// GFP flags as the kernel's %pGg prints them: well-known combinations first, then single bits (Linux 6.x numbering).

const bits = [
  "__GFP_DMA",
  "__GFP_HIGHMEM",
  "__GFP_DMA32",
  "__GFP_MOVABLE",
  "__GFP_RECLAIMABLE",
  "__GFP_HIGH",
  "__GFP_IO",
  "__GFP_FS",
  "__GFP_ZERO",
  "",
  "__GFP_DIRECT_RECLAIM",
  "__GFP_KSWAPD_RECLAIM",
  "__GFP_WRITE",
  "__GFP_NOWARN",
  "__GFP_RETRY_MAYFAIL",
  "__GFP_NOFAIL",
  "__GFP_NORETRY",
  "__GFP_MEMALLOC",
  "__GFP_COMP",
  "__GFP_NOMEMALLOC",
  "__GFP_HARDWALL",
  "__GFP_THISNODE",
  "__GFP_ACCOUNT",
  "__GFP_ZEROTAGS",
];

function of(...names: string[]): bigint {
  return names.reduce((sum, name) => sum | (1n << BigInt(bits.indexOf(name))), 0n);
}

const reclaim = ["__GFP_DIRECT_RECLAIM", "__GFP_KSWAPD_RECLAIM"];
const kernel = [...reclaim, "__GFP_IO", "__GFP_FS"];
const user = [...kernel, "__GFP_HARDWALL"];
const highUser = [...user, "__GFP_HIGHMEM"];
const huge = [...highUser, "__GFP_MOVABLE", "__GFP_COMP", "__GFP_NOMEMALLOC", "__GFP_NOWARN"].filter(
  (n) => n !== "__GFP_DIRECT_RECLAIM" && n !== "__GFP_KSWAPD_RECLAIM",
);

/** Largest first: the first that is contained wins. */
const combinations: readonly (readonly [string, bigint])[] = [
  ["GFP_TRANSHUGE", of(...huge, "__GFP_DIRECT_RECLAIM")],
  ["GFP_TRANSHUGE_LIGHT", of(...huge)],
  ["GFP_HIGHUSER_MOVABLE", of(...highUser, "__GFP_MOVABLE")],
  ["GFP_HIGHUSER", of(...highUser)],
  ["GFP_USER", of(...user)],
  ["GFP_KERNEL_ACCOUNT", of(...kernel, "__GFP_ACCOUNT")],
  ["GFP_KERNEL", of(...kernel)],
  ["GFP_NOFS", of(...reclaim, "__GFP_IO")],
  ["GFP_ATOMIC", of("__GFP_HIGH", "__GFP_KSWAPD_RECLAIM")],
  ["GFP_NOIO", of(...reclaim)],
  // It has promised not to warn since Linux 6.16.
  ["GFP_NOWAIT", of("__GFP_KSWAPD_RECLAIM", "__GFP_NOWARN")],
  ["GFP_NOWAIT", of("__GFP_KSWAPD_RECLAIM")],
  ["GFP_DMA", of("__GFP_DMA")],
  ["GFP_DMA32", of("__GFP_DMA32")],
];

export function gfpFlags(value: bigint): string {
  if (value === 0n) return "0";
  const names: string[] = [];
  for (const [name, flags] of combinations) {
    if ((value & flags) === flags) {
      names.push(name);
      value &= ~flags;
    }
  }
  bits.forEach((name, bit) => {
    const flag = 1n << BigInt(bit);
    if (name !== "" && (value & flag) !== 0n) {
      names.push(name);
      value &= ~flag;
    }
  });
  if (value !== 0n) names.push(`0x${value.toString(16)}`);
  return names.join("|");
}
