// What the network's probes have as arguments, as D text: D's own library of translators of packets and sockets. Members
// that Linux keeps nothing exact for are left out.

const byteAt = (address: string): string => `(*(uint8_t *)(${address}))`;

/** Behind a pointer to a header of either version. */
const ofVersion = (four: string, six: string): string =>
  `${byteAt("I")} >> 4 == 4 ? ${four} : ${byteAt("I")} >> 4 == 6 ? ${six} : "<unknown>"`;

const v6 = "((struct ipv6hdr *)I)";
const ipinfo = `translator ipinfo_t < struct iphdr *I > {
    ip_ver = (uint8_t)(${byteAt("I")} >> 4);
    ip_plength = (uint32_t)(${byteAt("I")} >> 4 == 4 ? ntohs(I->tot_len) - ((${byteAt("I")} & 0xf) << 2)
      : ${byteAt("I")} >> 4 == 6 ? ntohs(${v6}->payload_len) : 0);
    ip_saddr = ${ofVersion("__address4(&I->saddr)", `__address6(&${v6}->saddr)`)};
    ip_daddr = ${ofVersion("__address4(&I->daddr)", `__address6(&${v6}->daddr)`)};
  };`;

const tcpinfo = `translator tcpinfo_t < struct tcphdr *T > {
    tcp_sport = ntohs(T->source);
    tcp_dport = ntohs(T->dest);
    tcp_seq = ntohl(T->seq);
    tcp_ack = ntohl(T->ack_seq);
    tcp_offset = (uint8_t)((${byteAt("(uint64_t)T + 12")} & 0xf0) >> 2);
    tcp_flags = (uint8_t)${byteAt("(uint64_t)T + 13")};
    tcp_window = ntohs(T->window);
    tcp_checksum = ntohs(T->check);
    tcp_urgent = ntohs(T->urg_ptr);
    tcp_hdr = (uintptr_t)T;
  };`;

const family = (four: string, six: string): string =>
  `S->__sk_common.skc_family == 2 ? ${four} : S->__sk_common.skc_family == 10 ? ${six} : "<unknown>"`;
const local = family("__address4(&S->__sk_common.skc_rcv_saddr)", "__address6(&S->__sk_common.skc_v6_rcv_saddr)");
const remote = family("__address4(&S->__sk_common.skc_daddr)", "__address6(&S->__sk_common.skc_v6_daddr)");

/** Of a full socket; a probe of a change says which state comes. */
const tcpsinfo = (type: string, state: string): string => `translator ${type} < struct sock *S > {
    tcps_addr = (uintptr_t)S;
    tcps_lport = (uint16_t)S->__sk_common.skc_num;
    tcps_rport = ntohs(S->__sk_common.skc_dport);
    tcps_laddr = ${local};
    tcps_raddr = ${remote};
    tcps_state = (int)${state};
    tcps_suna = (uint32_t)((struct tcp_sock *)S)->snd_una;
    tcps_snxt = (uint32_t)((struct tcp_sock *)S)->snd_nxt;
    tcps_rnxt = (uint32_t)((struct tcp_sock *)S)->rcv_nxt;
    tcps_swnd = (uint32_t)((struct tcp_sock *)S)->snd_wnd;
    tcps_rwnd = (uint32_t)((struct tcp_sock *)S)->rcv_wnd;
    tcps_cwnd = (uint32_t)((struct tcp_sock *)S)->snd_cwnd;
    tcps_cwnd_ssthresh = (uint32_t)((struct tcp_sock *)S)->snd_ssthresh;
    tcps_mss = (uint32_t)((struct tcp_sock *)S)->mss_cache;
    tcps_rtt = (uint32_t)((((struct tcp_sock *)S)->srtt_us >> 3) / 1000);
    tcps_rtt_sd = (uint32_t)((((struct tcp_sock *)S)->mdev_us >> 2) / 1000);
  };`;

export const networkTranslators: Readonly<Record<string, string>> = {
  pktinfo_t: "translator pktinfo_t < struct sk_buff *S > { pkt_addr = (uintptr_t)S; };",
  csinfo_t: "translator csinfo_t < struct sock *S > { cs_addr = (uintptr_t)S; };",
  ipinfo_t: ipinfo,
  tcpinfo_t: tcpinfo,
  tcpsinfo_t: tcpsinfo("tcpsinfo_t", "S->__sk_common.skc_state"),
  __next_tcpsinfo_t: tcpsinfo("__next_tcpsinfo_t", "args.newstate"),
  tcplsinfo_t: "translator tcplsinfo_t < int I > { tcps_state = I; };",
  /** Of a connection rather than a packet: what leaves is from this end, what comes is from the other. */
  __connection_t: `translator __connection_t < struct sock *S > {
    ip_ver = (uint8_t)(S->__sk_common.skc_family == 2 ? 4 : S->__sk_common.skc_family == 10 ? 6 : 0);
    ip_saddr = this->__comes == 0 ? (${local}) : (${remote});
    ip_daddr = this->__comes == 0 ? (${remote}) : (${local});
  };`,
};
