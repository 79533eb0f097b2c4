// SPDX-License-Identifier: MIT
#include "app/jobs/names_of_root.hpp"

namespace papfft::app {

std::vector<std::string> names_of_root(Job& job, const std::vector<std::string>& mine) {
  std::string text;  // each name with its end
  if (job.is_root()) {
    for (const std::string& name : mine) text += name + '\0';
  }
  text.resize(job.from_root(text.size()));
  job.comm().bcast<char>(text, 0, job.bcast_algorithm);
  std::vector<std::string> names;
  for (std::size_t begin = 0; begin < text.size(); begin = text.find('\0', begin) + 1) {
    names.emplace_back(text.c_str() + begin);
  }
  return names;
}

}  // namespace papfft::app
