// Watching a descriptor from a worker thread. A worker may be ended at any moment, and takes the whole process along
// when koffi still has a watch under way then. A timer just ends: so there, the kernel is asked every few milliseconds.

/** Watches a descriptor for readability from Node's own event loop. */
export interface PollHandle {
  start(callback: (status: number) => void): void;
  stop(): void;
  close(): void;
}

const milliseconds = 4;

/** `isReady` asks whether the descriptor is readable. */
export function timedPoll(isReady: () => boolean, callback: (status: number) => void): PollHandle {
  let timer: NodeJS.Timeout | undefined;
  const stop = (): void => clearInterval(timer);
  const start = (call: (status: number) => void): void => {
    stop();
    timer = setInterval(() => {
      if (isReady()) call(0);
    }, milliseconds);
  };
  start(callback);
  return { start, stop, close: stop };
}
