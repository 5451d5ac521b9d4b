// mpirun -np 2 simcalibrate -o here.ini: measure, fit, write the machine file and the table.

#include <fmt/format.h>

#include <boost/program_options.hpp>
#include <cstdio>
#include <sstream>

#include "capture/simcalibrate/machine_file.hpp"
#include "capture/simcalibrate/measure.hpp"
#include "capture/simcalibrate/noise.hpp"
#include "common/error.hpp"
#include "common/mpi_session.hpp"
#include "common/output.hpp"

namespace {

using namespace simreplay;
namespace po = boost::program_options;

struct Options {
  std::string output = "here.ini", json, noise;
  bool force = false, quick = false, all_pairs = false;
  double quantile = calibrate::low_quantile, noise_seconds = 10;
  std::string text;  // --help or --version: to be printed instead
};

Options parse_options(int argc, char** argv) {
  Options o;
  po::options_description d("Options");
  auto option = d.add_options();
  option("output,o", po::value(&o.output)->value_name("FILE")->default_value(o.output),
         "the machine file to write");
  option("json", po::value(&o.json)->value_name("FILE"), "also measured and fitted times for programs");
  option("force", po::bool_switch(&o.force), "overwrite files that exist");
  option("quick", po::bool_switch(&o.quick), "ten seconds instead of a minute, up to 1 MiB, less exact");
  option("quantile", po::value(&o.quantile)->value_name("Q")->default_value(o.quantile, "0.1"),
         "of the samples, up to 0.5; the median where ranks share processors and disturb each other");
  option("all-pairs", po::bool_switch(&o.all_pairs),
         "all ranks exchange messages at the same time, two by two; where they share processors or adapters");
  option("noise", po::value(&o.noise)->value_name("FILE"),
         "only record what takes processors away from programs, for noise.profile of simreplay");
  option("noise-seconds", po::value(&o.noise_seconds)->value_name("S")->default_value(o.noise_seconds, "10"),
         "of every rank");
  option("help,h", "show this help");
  option("version", "show the version");
  po::variables_map values;
  po::store(po::command_line_parser(argc, argv).options(d).positional({}).run(), values);
  po::notify(values);
  if (values.count("version") != 0) o.text = "simcalibrate " SIMREPLAY_VERSION "\n";
  if (values.count("help") != 0) {
    std::ostringstream help;
    help << "Usage: mpirun -np N simcalibrate [options]\n\n"
            "Measures what messages cost on this cluster and writes a machine file for simreplay --machine.\n"
            "Two ranks measure one way; with ranks on several nodes those between and within nodes.\n\n"
            "  mpirun -np 2 simcalibrate -o here.ini\n"
            "  mpirun -np 2 simcalibrate --noise here.noise\n\n"
         << d;
    o.text = help.str();
  }
  return o;
}

void check_outputs(const Options& o, int ranks) {
  if (!o.noise.empty()) {
    if (!(o.noise_seconds > 0 && o.noise_seconds <= 3600))
      throw Error({.operation = "--noise-seconds",
                   .expected = "more than 0 and at most 3600",
                   .found = fmt::format("{:g}", o.noise_seconds)});
    return check_output(o.noise, o.force);
  }
  if (ranks < 2)
    throw Error({.problem = "two ranks are needed to measure", .remedy = "mpirun -np 2 simcalibrate"});
  check_output(o.output, o.force);
  if (!o.json.empty()) check_output(o.json, o.force);
  if (!(o.quantile >= 0 && o.quantile <= 0.5))
    throw Error(
        {.operation = "--quantile", .expected = "0 to 0.5", .found = fmt::format("{:g}", o.quantile)});
}

calibrate::Effort effort(const Options& o) {
  calibrate::Effort e = o.quick ? calibrate::quick_effort() : calibrate::Effort{};
  e.quantile = o.quantile;
  e.all_pairs = o.all_pairs;
  return e;
}

void write(const Options& o, const calibrate::Calibration& c) {
  write_file(o.output, calibrate::to_machine_file(c));
  if (!o.json.empty()) write_file(o.json, calibrate::to_json(c));
  std::fputs(calibrate::to_table(c).c_str(), stdout);
  for (const std::string& noisy : calibrate::noisy_results(c.measurement))
    std::fprintf(stderr, "simcalibrate: noisy: %s\n", noisy.c_str());
}

void write(const Options& o, const calibrate::RecordedNoise& noise) {
  write_file(o.noise, to_text(noise.profile, noise.comment));
  std::fputs(noise.comment.c_str(), stdout);
}

}  // namespace

int main(int argc, char** argv) {
  MpiSession mpi(&argc, &argv);
  try {
    Options options;
    together(MPI_COMM_WORLD, [&] {
      options = parse_options(argc, argv);
      if (options.text.empty() && mpi.rank() == 0) check_outputs(options, mpi.size());
    });
    if (!options.text.empty()) {
      if (mpi.rank() == 0) std::fputs(options.text.c_str(), stdout);
      return 0;
    }
    if (!options.noise.empty()) {
      const calibrate::RecordedNoise noise = calibrate::record_noise(MPI_COMM_WORLD, options.noise_seconds);
      together(MPI_COMM_WORLD, [&] {
        if (mpi.rank() == 0) write(options, noise);
      });
      return 0;
    }
    calibrate::Measurement measurement = calibrate::measure(MPI_COMM_WORLD, effort(options));
    together(MPI_COMM_WORLD, [&] {
      if (mpi.rank() == 0) write(options, calibrate::calibrate(std::move(measurement)));
    });
    return 0;
  } catch (const SharedFailure& failure) {
    if (!failure.message.empty()) std::fprintf(stderr, "simcalibrate: %s\n", failure.message.c_str());
    return 1;
  }
}
