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

/** By the name that IANA has for it. Of what is made in the kernel no number becomes a text. */
const protocolName = (of: string): string =>
  `${[
    [6, "TCP"],
    [17, "UDP"],
    [1, "ICMP"],
    [58, "IPV6-ICMP"],
    [2, "IGMP"],
    [132, "SCTP"],
  ]
    .map(([number, name]) => `${of} == ${number} ? "${name}" : `)
    .join("")}"<unknown>"`;

const ifinfo = `translator ifinfo_t < struct net_device *D > {
    if_name = D == 0 ? "<null>" : stringof(D->name);
    if_local = (int8_t)(D == 0 ? 0 : (D->flags & 8) != 0);
    if_addr = (uintptr_t)D;
  };`;

/** Of 0, which is no packet of IPv4, all is 0. */
const ofFour = (value: string, otherwise = "0"): string => `I == 0 ? ${otherwise} : ${value}`;
const ipv4info = `translator ipv4info_t < struct iphdr *I > {
    ipv4_ver = (uint8_t)(${ofFour("4")});
    ipv4_ihl = (uint8_t)(${ofFour(`(${byteAt("I")} & 0xf) << 2`)});
    ipv4_tos = (uint8_t)(${ofFour("I->tos")});
    ipv4_length = (uint16_t)(${ofFour("ntohs(I->tot_len)")});
    ipv4_ident = (uint16_t)(${ofFour("ntohs(I->id)")});
    ipv4_flags = (uint8_t)(${ofFour("ntohs(I->frag_off) >> 13")});
    ipv4_offset = (uint16_t)(${ofFour("ntohs(I->frag_off) & 0x1fff")});
    ipv4_ttl = (uint8_t)(${ofFour("I->ttl")});
    ipv4_protocol = (uint8_t)(${ofFour("I->protocol")});
    ipv4_protostr = ${ofFour(protocolName("I->protocol"), '"<null>"')};
    ipv4_checksum = (uint16_t)(${ofFour("ntohs(I->check)")});
    ipv4_src = (uint32_t)(${ofFour("I->saddr")});
    ipv4_dst = (uint32_t)(${ofFour("I->daddr")});
    ipv4_saddr = ${ofFour("__address4(&I->saddr)", '"<null>"')};
    ipv4_daddr = ${ofFour("__address4(&I->daddr)", '"<null>"')};
    ipv4_hdr = (uintptr_t)I;
  };`;
const ipv6info = `translator ipv6info_t < struct ipv6hdr *I > {
    ipv6_ver = (uint8_t)(${ofFour("6")});
    ipv6_tclass = (uint8_t)(${ofFour(`((${byteAt("I")} & 0xf) << 4) | (${byteAt("(uint64_t)I + 1")} >> 4)`)});
    ipv6_flow = (uint32_t)(${ofFour("ntohl(*(uint32_t *)I) & 0xfffff")});
    ipv6_plen = (uint16_t)(${ofFour("ntohs(I->payload_len)")});
    ipv6_nexthdr = (uint8_t)(${ofFour("I->nexthdr")});
    ipv6_nextstr = ${ofFour(protocolName("I->nexthdr"), '"<null>"')};
    ipv6_hlim = (uint8_t)(${ofFour("I->hop_limit")});
    ipv6_saddr = ${ofFour("__address6(&I->saddr)", '"<null>"')};
    ipv6_daddr = ${ofFour("__address6(&I->daddr)", '"<null>"')};
    ipv6_hdr = (uintptr_t)I;
  };`;

const udpinfo = `translator udpinfo_t < struct udphdr *U > {
    udp_sport = ntohs(U->source);
    udp_dport = ntohs(U->dest);
    udp_length = ntohs(U->len);
    udp_checksum = ntohs(U->check);
    udp_hdr = (uintptr_t)U;
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

const udpsinfo = `translator udpsinfo_t < struct sock *S > {
    udps_addr = (uintptr_t)S;
    udps_lport = (uint16_t)S->__sk_common.skc_num;
    udps_rport = ntohs(S->__sk_common.skc_dport);
    udps_laddr = ${local};
    udps_raddr = ${remote};
  };`;

/** A request (12) and what is left of a connection (6) are sockets without most members (TCP_NEW_SYN_RECV, TCP_TIME_WAIT). */
const whole = "S != 0 && S->__sk_common.skc_state != 12 && S->__sk_common.skc_state != 6 ?";

/** A probe of a change says which state comes. */
const tcpsinfo = (type: string, state: string): string => `translator ${type} < struct sock *S > {
    tcps_addr = (uintptr_t)S;
    tcps_lport = (uint16_t)S->__sk_common.skc_num;
    tcps_rport = ntohs(S->__sk_common.skc_dport);
    tcps_laddr = ${local};
    tcps_raddr = ${remote};
    tcps_state = (int)${state};
    tcps_suna = (uint32_t)(${whole} ((struct tcp_sock *)S)->snd_una : 0);
    tcps_snxt = (uint32_t)(${whole} ((struct tcp_sock *)S)->snd_nxt : 0);
    tcps_rnxt = (uint32_t)(${whole} ((struct tcp_sock *)S)->rcv_nxt : 0);
    tcps_swnd = (uint32_t)(${whole} ((struct tcp_sock *)S)->snd_wnd : 0);
    tcps_rwnd = (uint32_t)(${whole} ((struct tcp_sock *)S)->rcv_wnd : 0);
    tcps_cwnd = (uint32_t)(${whole} ((struct tcp_sock *)S)->snd_cwnd : 0);
    tcps_cwnd_ssthresh = (uint32_t)(${whole} ((struct tcp_sock *)S)->snd_ssthresh : 0);
    tcps_mss = (uint32_t)(${whole} ((struct tcp_sock *)S)->mss_cache : 0);
    tcps_rtt = (uint32_t)(${whole} ((((struct tcp_sock *)S)->srtt_us >> 3) / 1000) : 0);
    tcps_rtt_sd = (uint32_t)(${whole} ((((struct tcp_sock *)S)->mdev_us >> 2) / 1000) : 0);
  };`;

export const networkTranslators: Readonly<Record<string, string>> = {
  pktinfo_t: "translator pktinfo_t < struct sk_buff *S > { pkt_addr = (uintptr_t)S; };",
  csinfo_t: "translator csinfo_t < struct sock *S > { cs_addr = (uintptr_t)S; };",
  ipinfo_t: ipinfo,
  ifinfo_t: ifinfo,
  ipv4info_t: ipv4info,
  ipv6info_t: ipv6info,
  udpinfo_t: udpinfo,
  udpsinfo_t: udpsinfo,
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
