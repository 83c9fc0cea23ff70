// Letting go of everything a session holds. Closing a perf event waits for the kernel (some 70 ms for a tracepoint),
// so all descriptors that detach are closed at once.
import { closeAllParallel, closeFd } from "../../linux/ffi.ts";
import type { Attachment } from "../../providers/provider.ts";

/**
 * Detaches. An attachment that names descriptors is over when they are closed, and is not disposed as well (that would
 * close numbers that may be someone else's by then); one that names none disposes itself.
 */
export async function detachAll(attachments: readonly Attachment[]): Promise<void> {
  const descriptors: number[] = [];
  let failure: unknown;
  for (const attachment of attachments) {
    if (attachment.descriptors.length > 0) {
      for (const descriptor of attachment.descriptors) descriptors.push(descriptor);
      continue;
    }
    try {
      attachment[Symbol.dispose]();
    } catch (error) {
      failure ??= error;
    }
  }
  await closeAllParallel(descriptors);
  for (const attachment of attachments) {
    try {
      if (attachment.descriptors.length > 0) attachment.closed?.();
    } catch (error) {
      failure ??= error;
    }
  }
  if (failure !== undefined) throw failure;
}

/** Closes programs and maps: none of these waits. */
export function closeAll(descriptors: readonly number[]): void {
  for (const descriptor of descriptors) closeFd(descriptor);
}
