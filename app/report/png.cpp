// SPDX-License-Identifier: MIT
#include "app/report/png.hpp"

#include <png.h>

#include <stdexcept>

namespace papfft::app::report {
namespace {

std::string encode(png_image& image, const std::uint8_t* pixels, const Rgb* palette) {
  // An upper bound: asking libpng for the exact size would compress everything twice.
  png_alloc_size_t file_bytes = PNG_IMAGE_PNG_SIZE_MAX(image);
  std::string file(file_bytes, '\0');
  if (png_image_write_to_memory(&image, file.data(), &file_bytes, 0, pixels, 0, palette) == 0) {
    throw std::runtime_error(std::string("PNG: ") + image.message);
  }
  file.resize(file_bytes);
  return file;
}

png_image header(std::size_t width, std::size_t height, png_uint_32 format) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(width);
  image.height = static_cast<png_uint_32>(height);
  image.format = format;
  return image;
}

}  // namespace

std::string encode_png(std::size_t width, std::size_t height, std::span<const std::uint8_t> rgb) {
  if (rgb.size() != width * height * 3) throw std::invalid_argument("PNG: pixels do not match the size");
  png_image image = header(width, height, PNG_FORMAT_RGB);
  return encode(image, rgb.data(), nullptr);
}

std::string encode_png(const IndexedImage& indexed) {
  static_assert(sizeof(Rgb) == 3);
  if (indexed.index.size() != indexed.width * indexed.height || indexed.palette.empty() ||
      indexed.palette.size() > 256) {
    throw std::invalid_argument("PNG: pixels do not match the size, or no palette");
  }
  png_image image = header(indexed.width, indexed.height, PNG_FORMAT_RGB | PNG_FORMAT_FLAG_COLORMAP);
  image.colormap_entries = static_cast<png_uint_32>(indexed.palette.size());
  return encode(image, indexed.index.data(), indexed.palette.data());
}

}  // namespace papfft::app::report
