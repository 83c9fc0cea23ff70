/** The event that tells what a test: probe returned. No script can send one of this name. */
export const RETURNED = "strobe returned";
