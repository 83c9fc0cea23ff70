// Compresses and decompresses the same text at many settings of zstd's library.
#define ZSTD_STATIC_LINKING_ONLY
#define ZDICT_STATIC_LINKING_ONLY
#include "zdict.h"
#include "zstd.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = 5000 };
static char text[SIZE], packed[SIZE * 2], back[SIZE], dictionary[1024];

static void check(size_t result, const char *what)
{
  if (ZSTD_isError(result)) { printf("%s: %s\n", what, ZSTD_getErrorName(result)); exit(1); }
}

int main(void)
{
  unsigned seed = 42;
  for (int i = 0; i < SIZE; i++) {
    seed = seed * 1103515245 + 12345;
    text[i] = i > 64 && (seed >> 16) % 10 < 7 ? text[i - 1 - (seed >> 20) % 60] : (char)('a' + (seed >> 18) % 26);
  }
  size_t total = 0;
  for (int level = -3; level <= 19; level += 4) {
    size_t size = ZSTD_compress(packed, sizeof packed, text, SIZE, level);
    check(size, "compress");
    check(ZSTD_decompress(back, SIZE, packed, size), "decompress");
    total += size + (memcmp(back, text, SIZE) != 0);
  }
  size_t samples[40];
  for (int i = 0; i < 40; i++) samples[i] = 120;
  size_t length = ZDICT_trainFromBuffer(dictionary, sizeof dictionary, text, samples, 40);
  if (!ZDICT_isError(length)) total += length;
  ZSTD_CCtx *in = ZSTD_createCCtx();
  ZSTD_DCtx *out = ZSTD_createDCtx();
  for (int strategy = 1; strategy <= 9; strategy++) {
    ZSTD_CCtx_reset(in, ZSTD_reset_session_and_parameters);
    ZSTD_CCtx_setParameter(in, ZSTD_c_strategy, strategy);
    ZSTD_CCtx_setParameter(in, ZSTD_c_checksumFlag, strategy & 1);
    ZSTD_CCtx_setParameter(in, ZSTD_c_enableLongDistanceMatching, strategy == 5);
    ZSTD_CCtx_setParameter(in, ZSTD_c_useRowMatchFinder, strategy == 4 ? 1 : 2);
    if (strategy % 3 == 0 && !ZDICT_isError(length)) check(ZSTD_CCtx_loadDictionary(in, dictionary, length), "dictionary");
    ZSTD_inBuffer input = { text, SIZE, 0 };
    ZSTD_outBuffer output = { packed, sizeof packed, 0 };
    while (ZSTD_compressStream2(in, &output, &input, ZSTD_e_end) != 0) { }
    if (strategy % 3 == 0 && !ZDICT_isError(length)) check(ZSTD_DCtx_loadDictionary(out, dictionary, length), "dictionary");
    ZSTD_inBuffer again = { packed, output.pos, 0 };
    ZSTD_outBuffer whole = { back, SIZE, 0 };
    while (again.pos < again.size) { size_t left = ZSTD_decompressStream(out, &whole, &again); check(left, "stream"); if (left == 0) break; }
    total += output.pos + (memcmp(back, text, SIZE) != 0);
  }
  memset(text, 'z', SIZE);
  ZSTD_CCtx_reset(in, ZSTD_reset_session_and_parameters);
  size_t same = ZSTD_compress2(in, packed, sizeof packed, text, SIZE);
  check(ZSTD_decompress(back, SIZE, packed, same), "the same");
  ZSTD_freeCCtx(in);
  ZSTD_freeDCtx(out);
  printf("%zu\n", total + same);
  return 0;
}
