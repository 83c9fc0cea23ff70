// What the tests of debug information look at, once per compiler and setting. Lines are counted there.
struct point { int x, y; unsigned flag : 3; struct point *next; };
enum color { RED, GREEN = 5 };
typedef struct point place;
static int counter = 3;
__thread int per_thread = 1;
enum color shade = GREEN;

static inline __attribute__((always_inline)) int twice(int v) {
  int result = v * 2;
  return result + counter;
}

__attribute__((noinline)) int add(place *p, int n) {
  int sum = 0;
  for (int i = 0; i < n; i++) {
    sum += p->x + twice(i);
  }
  return sum;
}

int main(int argc, char **argv) {
  static int hidden = 4;
  place p = { argc, 2, 1, 0 };
  per_thread = twice(argc);
  return add(&p, 10) + hidden++ + per_thread + (argv == 0);
}
