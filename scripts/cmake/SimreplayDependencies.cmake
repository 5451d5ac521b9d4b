# External libraries. All come from the system: clusters are offline, so nothing is downloaded.
#   MPI::MPI_C  hdf5::hdf5  Boost::program_options  fmt::fmt  nlohmann_json::nlohmann_json

find_package(MPI REQUIRED COMPONENTS C)  # before HDF5, whose parallel variant builds on it

set(HDF5_PREFER_PARALLEL TRUE)
find_package(HDF5 REQUIRED COMPONENTS C)
if(NOT HDF5_IS_PARALLEL)
  message(FATAL_ERROR
    "simreplay needs an HDF5 library with MPI support; the one found has none:\n"
    "  version ${HDF5_VERSION}, headers in ${HDF5_INCLUDE_DIRS}\n"
    "Debian, Ubuntu: apt-get install libhdf5-openmpi-dev\n"
    "Clusters: load the parallel HDF5 module, or name it with -DHDF5_ROOT=/path/to/parallel/hdf5")
endif()
if(NOT TARGET hdf5::hdf5)  # HDF5's own package files name their targets differently
  add_library(hdf5::hdf5 INTERFACE IMPORTED)
  set_target_properties(hdf5::hdf5 PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${HDF5_INCLUDE_DIRS}"
    INTERFACE_LINK_LIBRARIES "${HDF5_LIBRARIES}"
    INTERFACE_COMPILE_OPTIONS "${HDF5_DEFINITIONS}")
endif()

find_package(Boost 1.70 REQUIRED COMPONENTS program_options)
find_package(fmt REQUIRED)
find_package(nlohmann_json 3.7 REQUIRED)
