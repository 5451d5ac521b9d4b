// main() of the serial test programs.

#define CATCH_CONFIG_RUNNER
#include "tests/support/catch.hpp"

int main(int argc, char** argv) { return Catch::Session().run(argc, argv); }
