// Where exceptions come to in a function: the landing pads in its language-specific data area, as GCC and LLVM write it
// for C++ and Rust (.gcc_except_table; the Itanium C++ ABI's exception handling tables).

/** Call sites of one function. */
const most = 1 << 16;

const OMITTED = 0xff;

/** Calls from `from` to before `to` that throw come to `pad`. */
export interface LandingPad {
  readonly from: bigint;
  readonly to: bigint;
  readonly pad: bigint;
}

/**
 * The landing pads and what leads to them. @param data the area, which may be longer than it need be
 * @param low where the function, or its part, begins. Damaged data gives what was read of it.
 */
export function landingPads(data: Uint8Array, low: bigint): LandingPad[] {
  const view = new DataView(data.buffer, data.byteOffset, data.length);
  const pads: LandingPad[] = [];
  let at = 0;
  const u8 = (): number => view.getUint8(at++);
  const uleb = (): number => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = u8();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
  };
  const encoded = (format: number): number => {
    switch (format & 0x0f) {
      case 0x01:
        return uleb();
      case 0x02:
        return view.getUint16((at += 2) - 2, true);
      case 0x03:
        return view.getUint32((at += 4) - 4, true);
      case 0x0a:
        return view.getInt16((at += 2) - 2, true);
      case 0x0b:
        return view.getInt32((at += 4) - 4, true);
      case 0x00:
      case 0x04:
      case 0x0c:
        return Number(view.getBigUint64((at += 8) - 8, true));
      default:
        throw new RangeError();
    }
  };
  try {
    // Where pads are counted from is the function's beginning in all that compilers write.
    if (u8() !== OMITTED) return [];
    if (u8() !== OMITTED) uleb();
    const format = u8();
    const length = uleb();
    const end = at + length;
    for (let i = 0; i < most; i++) {
      if (at >= end) break;
      const from = low + BigInt(encoded(format));
      const to = from + BigInt(encoded(format));
      const pad = encoded(format);
      uleb();
      if (pad !== 0) pads.push({ from, to, pad: low + BigInt(pad) });
    }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  return pads;
}
