// heat2d: how heat spreads on a square plate, by Jacobi's method on a grid cut into blocks.
//
//   mpirun -np 4 heat2d [--size N] [--steps S]
//
// The edge of the plate is kept at its temperature: the upper side hot, the others cold. In every step each
// process exchanges the borders of its block with its neighbours, and every ten steps all processes agree on
// how far the grid still is from the steady state.

#include <mpi.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

namespace {

struct Settings {
  int size = 1500;  // inner grid points along each side
  int steps = 600;
};

/// False if the arguments cannot be used.
bool parse(int argc, char** argv, Settings& settings) {
  for (int i = 1; i < argc; i += 2) {
    int* value = std::strcmp(argv[i], "--size") == 0    ? &settings.size
                 : std::strcmp(argv[i], "--steps") == 0 ? &settings.steps
                                                        : nullptr;
    if (value == nullptr || i + 1 == argc) return false;
    *value = std::atoi(argv[i + 1]);
    if (*value <= 0) return false;
  }
  return true;
}

/// The processes as a grid of rows and columns, each with its neighbours.
struct Grid {
  MPI_Comm comm = MPI_COMM_NULL;
  int dimensions[2] = {0, 0};
  int position[2] = {0, 0};
  int up = MPI_PROC_NULL, down = MPI_PROC_NULL, left = MPI_PROC_NULL, right = MPI_PROC_NULL;

  Grid() {
    int processes = 0, rank = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &processes);
    MPI_Dims_create(processes, 2, dimensions);
    const int periods[2] = {0, 0};
    MPI_Cart_create(MPI_COMM_WORLD, 2, dimensions, periods, 1, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Cart_coords(comm, rank, 2, position);
    MPI_Cart_shift(comm, 0, 1, &up, &down);
    MPI_Cart_shift(comm, 1, 1, &left, &right);
  }
};

/// Points of a side that fall to one of `parts` processes.
int share(int points, int part, int parts) { return points / parts + (part < points % parts ? 1 : 0); }

/// The block of one process, with a border of one point that belongs to its neighbours or to the edge.
class Block {
 public:
  Block(const Grid& grid, int size)
      : grid_(grid),
        rows_(share(size, grid.position[0], grid.dimensions[0])),
        columns_(share(size, grid.position[1], grid.dimensions[1])),
        width_(columns_ + 2),
        now_(static_cast<std::size_t>(rows_ + 2) * static_cast<std::size_t>(width_), 0.0) {
    if (grid.up == MPI_PROC_NULL)
      for (int c = 0; c < width_; c++) now_[at(0, c)] = 100.0;
    next_ = now_;
    MPI_Type_vector(rows_, 1, width_, MPI_DOUBLE, &column_);
    MPI_Type_commit(&column_);
  }
  ~Block() { MPI_Type_free(&column_); }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  /// One exchange of borders, one sweep. Returns the sum of squared changes in this block.
  double step() {
    exchange_borders();
    const double change = relax();
    std::swap(now_, next_);
    return change;
  }

  double sum() const {
    double total = 0.0;
    for (int r = 1; r <= rows_; r++)
      for (int c = 1; c <= columns_; c++) total += now_[at(r, c)];
    return total;
  }

 private:
  std::size_t at(int row, int column) const {
    return static_cast<std::size_t>(row) * static_cast<std::size_t>(width_) +
           static_cast<std::size_t>(column);
  }

  void exchange_borders() {
    enum Tag { upward, downward, leftward, rightward };
    double* a = now_.data();
    const MPI_Comm comm = grid_.comm;
    MPI_Request requests[8];
    MPI_Irecv(a + at(0, 1), columns_, MPI_DOUBLE, grid_.up, downward, comm, &requests[0]);
    MPI_Irecv(a + at(rows_ + 1, 1), columns_, MPI_DOUBLE, grid_.down, upward, comm, &requests[1]);
    MPI_Irecv(a + at(1, 0), 1, column_, grid_.left, rightward, comm, &requests[2]);
    MPI_Irecv(a + at(1, columns_ + 1), 1, column_, grid_.right, leftward, comm, &requests[3]);
    MPI_Isend(a + at(1, 1), columns_, MPI_DOUBLE, grid_.up, upward, comm, &requests[4]);
    MPI_Isend(a + at(rows_, 1), columns_, MPI_DOUBLE, grid_.down, downward, comm, &requests[5]);
    MPI_Isend(a + at(1, 1), 1, column_, grid_.left, leftward, comm, &requests[6]);
    MPI_Isend(a + at(1, columns_), 1, column_, grid_.right, rightward, comm, &requests[7]);
    MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
  }

  double relax() {
    double change = 0.0;
    for (int r = 1; r <= rows_; r++) {
      const double *above = &now_[at(r - 1, 0)], *row = &now_[at(r, 0)], *below = &now_[at(r + 1, 0)];
      double* result = &next_[at(r, 0)];
      for (int c = 1; c <= columns_; c++) {
        result[c] = 0.25 * (above[c] + below[c] + row[c - 1] + row[c + 1]);
        change += (result[c] - row[c]) * (result[c] - row[c]);
      }
    }
    return change;
  }

  const Grid& grid_;
  int rows_, columns_, width_;
  std::vector<double> now_, next_;
  MPI_Datatype column_ = MPI_DATATYPE_NULL;
};

double sum_of_all(double value, MPI_Comm comm) {
  double sum = 0.0;
  MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, comm);
  return sum;
}

void simulate(const Settings& settings) {
  Grid grid;
  int rank = 0;
  MPI_Comm_rank(grid.comm, &rank);
  if (rank == 0)
    std::printf("heat2d: %d x %d points on %d x %d processes, %d steps\n", settings.size, settings.size,
                grid.dimensions[0], grid.dimensions[1], settings.steps);
  {
    Block block(grid, settings.size);
    const double begin = MPI_Wtime();
    double residual = 0.0;
    for (int step = 1; step <= settings.steps; step++) {
      const double change = block.step();
      if (step % 10 == 0) residual = std::sqrt(sum_of_all(change, grid.comm));
    }
    const double mean = sum_of_all(block.sum(), grid.comm) / settings.size / settings.size;
    if (rank == 0) {
      std::printf("residual %.6e, mean temperature %.6f\n", residual, mean);
      std::fprintf(stderr, "%.3f s\n", MPI_Wtime() - begin);
    }
  }
  MPI_Comm_free(&grid.comm);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  Settings settings;
  const bool usable = parse(argc, argv, settings);
  if (usable) simulate(settings);
  MPI_Finalize();
  if (!usable) std::fprintf(stderr, "usage: heat2d [--size N] [--steps S]\n");
  return usable ? 0 : 2;
}
