#include "capture/recorder/next.hpp"

#include <dlfcn.h>
#include <link.h>

#include <cstdlib>
#include <cstring>

#include "capture/recorder/spool_writer.hpp"

namespace simreplay::recorder {
namespace {

struct Search {
  const char* name;
  void* found;
};

/// Looks into a library that was loaded for one module alone (dlopen without RTLD_GLOBAL, as mpi4py is).
int look_into(dl_phdr_info* object, std::size_t, void* data) {
  auto* search = static_cast<Search*>(data);
  const char* slash = std::strrchr(object->dlpi_name, '/');
  const char* file = slash != nullptr ? slash + 1 : object->dlpi_name;
  if (std::strncmp(file, "libmpi", 6) != 0) return 0;
  void* library = dlopen(object->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return 0;
  search->found = dlsym(library, search->name);
  dlclose(library);
  return search->found != nullptr ? 1 : 0;
}

void* look_for(void* scope, const char* name) {
  Search search{name, dlsym(scope, name)};
  if (search.found == nullptr) dl_iterate_phdr(look_into, &search);
  return search.found;
}

void* find(void* scope, const char* name) {
  void* found = look_for(scope, name);
  if (found == nullptr) {
    warn("no library of this program defines %s (if the recorder is linked in: link with -Wl,--no-as-needed)",
         name);
    std::abort();
  }
  return found;
}

}  // namespace

void* find_next(const char* name) { return find(RTLD_NEXT, name); }

bool library_fits() {
#if defined(OPEN_MPI)
  constexpr bool is_for_open_mpi = true;
#else
  constexpr bool is_for_open_mpi = false;
#endif
  constexpr const char* names[] = {"mpich", "openmpi"};
  const bool is_open_mpi = look_for(RTLD_DEFAULT, "ompi_mpi_comm_world") != nullptr;
  if (is_open_mpi == is_for_open_mpi) return true;
  warn(
      "this recorder is for %s, but the program uses %s: nothing is recorded; 'simcapture --mpi %s' would "
      "record it",
      names[is_for_open_mpi], names[is_open_mpi], names[is_open_mpi]);
  if (sizeof(MPI_Comm) < sizeof(void*)) std::_Exit(EXIT_FAILURE);
  return false;
}

void find_predefined() {
#if defined(OPEN_MPI)
  // Not RTLD_NEXT: a program that is not position-independent has copies of these variables, and then it is
  // the addresses of the copies that count.
  const auto set = [](auto& handle, const char* name) {
    handle = reinterpret_cast<std::remove_reference_t<decltype(handle)>>(find(RTLD_DEFAULT, name));
  };
  set(predefined.world, "ompi_mpi_comm_world");
  set(predefined.self, "ompi_mpi_comm_self");
  set(predefined.null_communicator, "ompi_mpi_comm_null");
  set(predefined.null_request, "ompi_request_null");
  set(predefined.byte, "ompi_mpi_byte");
  set(predefined.null_type, "ompi_mpi_datatype_null");
  set(predefined.no_group, "ompi_mpi_group_empty");
#else
  predefined = {MPI_COMM_WORLD, MPI_COMM_SELF,     MPI_COMM_NULL,  MPI_REQUEST_NULL,
                MPI_BYTE,       MPI_DATATYPE_NULL, MPI_GROUP_EMPTY};
#endif
}

}  // namespace simreplay::recorder
