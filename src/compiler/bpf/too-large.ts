/** What a handler needs is more than the kernel has: the script's to change. */
export class TooLarge extends Error {}
