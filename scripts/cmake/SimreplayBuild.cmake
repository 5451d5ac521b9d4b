# How everything is compiled and where it is put.

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 11)
  message(FATAL_ERROR "simreplay needs GCC 11 or later (or Clang), found GCC ${CMAKE_CXX_COMPILER_VERSION}")
endif()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

get_property(multi_config GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
if(NOT multi_config AND NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release, RelWithDebInfo or MinSizeRel" FORCE)
endif()

if(SIMREPLAY_NATIVE)
  add_compile_options(-march=native)
endif()

# The C API of MPI only: the C++ bindings left the standard in 2012. The same for every source.
add_compile_definitions(OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
include_directories("${PROJECT_SOURCE_DIR}")  # includes are written from the top: "common/units.hpp"

# Linked privately by every target of ours. C programs get the part that C knows.
add_library(simreplay_warnings INTERFACE)
set(cxx_only "$<COMPILE_LANGUAGE:CXX>")
target_compile_options(simreplay_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow
  $<${cxx_only}:-Wnon-virtual-dtor> $<${cxx_only}:-Wold-style-cast>
  $<$<BOOL:${SIMREPLAY_WERROR}>:-Werror>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC bug 105651: std::string("literal") + string warns about an overlap that cannot be.
  target_compile_options(simreplay_warnings INTERFACE $<${cxx_only}:-Wno-restrict>)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  if(CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)  # wrong about std::string: gcc.gnu.org/PR105651
    target_compile_options(simreplay_warnings INTERFACE -Wno-restrict)
  endif()
  if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=")  # hides initialisations, then wrong about the standard library
    target_compile_options(simreplay_warnings INTERFACE -Wno-maybe-uninitialized)
  endif()
endif()

# The build tree looks like an installed one: bin/, lib/ and share/ side by side.
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/share/simreplay")
file(CREATE_LINK "${PROJECT_SOURCE_DIR}/common/machines" "${PROJECT_BINARY_DIR}/share/simreplay/machines"
     SYMBOLIC)

# Programs find their libraries relative to themselves, so both trees can be moved.
file(RELATIVE_PATH lib_from_bin "/${CMAKE_INSTALL_BINDIR}" "/${CMAKE_INSTALL_LIBDIR}")
set(CMAKE_INSTALL_RPATH "$ORIGIN/${lib_from_bin}")
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)
