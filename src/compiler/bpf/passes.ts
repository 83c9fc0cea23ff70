// What the generator does beyond writing each instruction down, by name: left out one at a time, by the bench and by
// tests (fixtures/), to see what each is worth.

/**
 * - `late-fields`: what only an event's fields want is computed when those are written (late.ts).
 * - `short-ways`: jumps go where they end up, endings that are alike are one (straighten.ts).
 * - `join-copies`: a register and its copy are one where they are never needed apart (allocate.ts).
 */
export const machinePasses = ["late-fields", "short-ways", "join-copies"] as const;

export type MachinePass = (typeof machinePasses)[number];
