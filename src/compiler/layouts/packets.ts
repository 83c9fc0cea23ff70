// A packet as skboutput() hands it out: what a handler knows of it, then the packet's bytes. Little-endian.
//
//   0  u64 nanoseconds of the boot clock
//   8  u32 index of the plan's packet file
//  12  u32 bytes at the start that are not for the file
//  16  u32 bytes of the packet that follow
//  20  u32 bytes that the packet has
export const packetTime = 0;
export const packetFile = 8;
export const packetSkipped = 12;
export const packetLength = 16;
export const packetWhole = 20;
export const packetHead = 24;

/** More of a packet is not handed out: a perf event's sample has 64 KiB, with its own head. */
export const mostPacketBytes = 65_400;
