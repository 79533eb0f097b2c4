// SPDX-License-Identifier: MIT
#include "app/jobs/distributed_output.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "app/cli/version.hpp"
#include "app/io/atomic_file.hpp"
#include "app/io/json.hpp"

namespace papfft::app {

std::string path_of_rank(const std::string& path, int rank) {
  const std::filesystem::path whole(path);
  return (whole.parent_path() /
          fmt::format("{}.rank{}{}", whole.stem().string(), rank, whole.extension().string()))
      .string();
}

std::string path_of_index(const std::string& path) {
  const std::filesystem::path whole(path);
  return (whole.parent_path() / (whole.stem().string() + ".index.json")).string();
}

void write_index(const std::string& path, const DistributedResult& result) {
  io::Json json;
  json["papfft"] = kVersion;
  json["rows"] = result.rows;
  json["length"] = result.length;
  json["element"] = result.element;
  json["sample_rate_hz"] = result.sample_rate_hz;
  json["ranks"] = result.ranks;
  json["layout"] = std::string(io::to_string(result.layout));
  if (result.layout == io::Layout::contiguous) json["part"] = result.part;
  json["files"] = io::Json::array();
  for (int r = 0; r < result.ranks; ++r) {
    json["files"].push_back(std::filesystem::path(path_of_rank(path, r)).filename().string());
  }
  io::AtomicFile file(path_of_index(path));
  file.write(json.dump(2) + "\n");
  file.commit();
}

}  // namespace papfft::app
