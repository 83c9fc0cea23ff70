// Settings of `config`.
import { says, type Message, type Shown } from "./message.ts";

export const settings = {
  /** @example config = { none = 1 } begin { } */
  notKnownConfigurationOption: (name: Shown): Message => says("name", `${name}: not a known configuration option`),
};
