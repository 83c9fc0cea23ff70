// Several descriptors as one, which is readable while any of them is: for whoever can wait for one only. (epoll(7))
import { check } from "./error.ts";
import { boundToThread, closeFd, syscall, SYS } from "./ffi.ts";
import { attempts } from "../messages/on-demand.ts";

const EPOLL_CLOEXEC = 0o2000000;
const EPOLL_CTL_ADD = 1;
const EPOLLIN = 1;

export class AnyReadable implements Disposable {
  readonly descriptor: number;

  /** Readable by nothing yet. @throws LinuxError */
  constructor() {
    const made = syscall(SYS.epollCreate1, EPOLL_CLOEXEC);
    this.descriptor = boundToThread(check(made, "epoll_create1", () => attempts().waitForDescriptors()));
  }

  /** One more, until it is closed. @throws LinuxError */
  add(descriptor: number): void {
    // struct epoll_event: the events that are asked for, and 8 bytes that nobody looks at; with a gap on some machines.
    const event = new Uint8Array(16);
    event[0] = EPOLLIN;
    const added = syscall(SYS.epollCtl, this.descriptor, EPOLL_CTL_ADD, descriptor, event);
    check(added, "epoll_ctl", () => attempts().waitForDescriptors());
  }

  [Symbol.dispose](): void {
    closeFd(this.descriptor);
  }
}
