// The file format of packet captures, as libpcap's pcap-savefile(5) describes it: a head, and records of packets.

/** Of files whose times are in nanoseconds. */
const MAGIC = 0xa1b2_3c4d;
/** LINKTYPE_RAW: packets begin with their IP header. */
const RAW = 101;
const nanoseconds = 1_000_000_000n;

/** What a file begins with. `most`: bytes of a packet that it has at most. */
export function fileHead(most: number): Uint8Array {
  const head = new Uint8Array(24);
  const view = new DataView(head.buffer);
  view.setUint32(0, MAGIC, true);
  // Version 2.4; the two words behind it mean nothing.
  view.setUint16(4, 2, true);
  view.setUint16(6, 4, true);
  view.setUint32(16, most, true);
  view.setUint32(20, RAW, true);
  return head;
}

/** A packet: when it was seen (nanoseconds since the epoch), the bytes there are of it, and how many it had. */
export function packetRecord(time: bigint, bytes: Uint8Array, whole: number): Uint8Array {
  const record = new Uint8Array(16 + bytes.length);
  const view = new DataView(record.buffer);
  view.setUint32(0, Number(BigInt.asUintN(32, time / nanoseconds)), true);
  view.setUint32(4, Number(time % nanoseconds), true);
  view.setUint32(8, bytes.length, true);
  view.setUint32(12, Math.max(whole, bytes.length), true);
  record.set(bytes, 16);
  return record;
}
