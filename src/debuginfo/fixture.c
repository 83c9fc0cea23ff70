// Compiled by elf.test.ts: functions of every binding, data, a weak alias, and static probes as <sys/sdt.h> writes them.
#include <stdio.h>

unsigned short fixture_semaphore __attribute__((section(".probes")));
int initialised = 7;
int zeroes[100];

static __attribute__((noinline)) int hidden(int x) { return x * initialised; }
__attribute__((noinline)) int shown(int x) { return hidden(x) + zeroes[x & 3]; }
int weak_alias(int x) __attribute__((weak, alias("shown")));

#define PROBE(name, semaphore, arguments, ...)                                         \
  __asm__ volatile("990: nop\n"                                                        \
    ".pushsection .note.stapsdt,\"\",\"note\"\n.balign 4\n"                            \
    ".4byte 992f-991f, 994f-993f, 3\n991: .asciz \"stapsdt\"\n992: .balign 4\n"        \
    "993: .8byte 990b\n.8byte _.stapsdt.base\n.8byte " semaphore "\n"                  \
    ".asciz \"fixture\"\n.asciz \"" name "\"\n.asciz \"" arguments "\"\n"              \
    "994: .balign 4\n.popsection\n"                                                    \
    ".ifndef _.stapsdt.base\n"                                                         \
    ".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n"            \
    ".weak _.stapsdt.base\n.hidden _.stapsdt.base\n_.stapsdt.base: .space 1\n"         \
    ".size _.stapsdt.base, 1\n.popsection\n.endif\n" ::__VA_ARGS__)

__attribute__((noinline)) void probed(int x) {
  PROBE("plain", "0", "-4@%0", "r"(x));
  PROBE("guarded", "fixture_semaphore", "");
}

int main(int argc, char **argv) {
  (void)argv;
  probed(argc);
  printf("%d\n", shown(argc) + weak_alias(argc));
  return 0;
}
