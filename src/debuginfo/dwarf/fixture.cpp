namespace app {
struct Base { long id; };
class Server : public Base {
public:
  int port;
  static int count;
  int handle(const char *path, int n) const;
  struct Route { char first; };
  Route route;
};
int Server::count = 7;
int Server::handle(const char *path, int n) const { return port + path[0] + n; }
template <class T> __attribute__((noinline)) T biggest(T a, T b) { return a > b ? a : b; }
namespace { __attribute__((noinline)) int hidden(int a) { return a + 1; } }
}
int main(int argc, char **argv) {
  app::Server server;
  server.port = argc;
  int &port = server.port;
  return server.handle(argv[0], app::biggest(1, argc)) + (int)app::biggest(1.0, 2.0) + app::hidden(port);
}
