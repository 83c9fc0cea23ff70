// What benchmarks need of test/guest, in one module that Node 20 reads.
export { cache, kernelFiles } from "../test/guest/fetch-kernel.ts";
export { runGuest } from "../test/guest/guest.ts";
export { missingForGuests } from "../test/guest/initramfs.ts";
export { kernels } from "../test/guest/kernels.ts";
