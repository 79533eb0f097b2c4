// SPDX-License-Identifier: MIT
#include "app/io/source.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <limits>
#include <thread>

#include "app/io/npy.hpp"
#include "app/io/sigmf.hpp"
#include "app/io/writer.hpp"
#include "tests/support/repository.hpp"
#include "tests/support/scratch_folder.hpp"

namespace papfft::app::io {
namespace {

using test::bytes_of;
using test::ScratchFolder;
using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

SourceOptions raw(std::string_view type) { return {.raw_type = raw_type_from(type).value(), .channel = {}}; }

template <typename Action>
std::string error_of(const Action& action) {
  try {
    action();
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(), Not(HasSubstr("\n")));
    return error.what();
  }
  return "no error";
}

std::string open_error(const std::string& path, const SourceOptions& options = {}) {
  return error_of([&] { (void)open_source(path, options); });
}

/// A pipe with `content`, written by a thread; path() is its reading end.
class Pipe {
 public:
  explicit Pipe(std::string content) {
    if (::pipe(ends_) != 0) throw std::runtime_error("no pipe");
    writer_ = std::thread([this, text = std::move(content)] {
      // In small pieces, as a program's output comes.
      for (std::size_t done = 0; done < text.size();) {
        const ssize_t wrote =
            ::write(ends_[1], text.data() + done, std::min<std::size_t>(1000, text.size() - done));
        if (wrote <= 0) break;
        done += static_cast<std::size_t>(wrote);
      }
      ::close(ends_[1]);
    });
  }
  ~Pipe() {
    writer_.join();
    ::close(ends_[0]);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  [[nodiscard]] std::string path() const { return "/dev/fd/" + std::to_string(ends_[0]); }
  [[nodiscard]] int fd() const { return ends_[0]; }

 private:
  int ends_[2] = {-1, -1};
  std::thread writer_;
};

TEST(RawSource, ReadsAnyRangeInAnyPrecision) {
  const ScratchFolder folder;
  std::vector<float> components(2000);
  for (std::size_t i = 0; i < components.size(); ++i) components[i] = static_cast<float>(i);
  const auto source = open_source(folder.file("a.cf32", bytes_of(components)), raw("cf32_le"));
  EXPECT_EQ(source->info().length, 1000U);
  EXPECT_TRUE(source->info().is_complex && source->info().any_order && source->info().from_threads);
  EXPECT_EQ(source->info().kind, "raw cf32_le");

  std::vector<std::complex<float>> same(3);
  EXPECT_EQ(source->read(10, std::span(same)), 3U);
  EXPECT_THAT(same, ElementsAre(std::complex<float>(20, 21), std::complex<float>(22, 23),
                                std::complex<float>(24, 25)));
  std::vector<std::complex<double>> other(3);
  EXPECT_EQ(source->read(998, std::span(other)), 2U);
  EXPECT_EQ(other[1], std::complex<double>(1998, 1999));
  EXPECT_EQ(source->read(1000, std::span(other)), 0U);
  EXPECT_EQ(source->read(std::numeric_limits<std::uint64_t>::max(), std::span(other)), 0U);
  EXPECT_EQ(read_all<std::complex<double>>(*source).size(), 1000U);

  std::vector<float> real(3);
  EXPECT_EQ(error_of([&] { (void)source->read(0, std::span(real)); }),
            folder.file("a.cf32") + ": holds complex samples (raw cf32_le) where real ones are needed");
}

TEST(RawSource, RealSamplesReadAsComplexHaveNoImaginaryPart) {
  const ScratchFolder folder;
  std::vector<std::int16_t> values(70001);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::int16_t>(i * 7919);
  const auto source = open_source(folder.file("a.bin", bytes_of(values)), raw("ri16_le"));
  const auto samples = read_all<std::complex<double>>(*source);
  ASSERT_EQ(samples.size(), values.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    ASSERT_EQ(samples[i], std::complex<double>(values[i], 0)) << i;
  EXPECT_EQ(read_all<float>(*source)[12345], values[12345]);
}

TEST(RawSource, BigEndianOfTheSamePrecisionIsSwappedInPlace) {
  const ScratchFolder folder;
  const std::string bytes("\x3f\x80\0\0\xc0\0\0\0", 8);
  const auto source = open_source(folder.file("a.bin", bytes), raw("rf32_be"));
  EXPECT_THAT(read_all<float>(*source), ElementsAre(1, -2));
}

TEST(RawSource, NamesWhatIsWrong) {
  const ScratchFolder folder;
  EXPECT_EQ(open_error(folder.file("a.bin", "1234567"), raw("cf32_le")),
            folder.file("a.bin") + ": has 7 bytes, which is no multiple of the 8 bytes of a cf32_le sample");
  EXPECT_EQ(open_error(folder.file("b.npy", "12345678"), raw("cf32_le")),
            folder.file("b.npy") + ": names its own sample format; leave --format out");
  EXPECT_THAT(open_error(folder.file("c.dat", "1234567890123456789")),
              AllOf(StartsWith(folder.file("c.dat") +
                               ": is no .npy, .wav, .flac, .ogg, .aiff or SigMF file; raw samples "
                               "need --format, one of cf32_le, cf32_be"),
                    EndsWith("cu32_le, cu32_be, ru32_le, ru32_be")));
}

TEST(Files, ThatCannotBeOpenedAreNamed) {
  const ScratchFolder folder;
  EXPECT_EQ(open_error(folder.file("none.npy")),
            folder.file("none.npy") + ": cannot be opened: No such file or directory");
  EXPECT_EQ(open_error(folder.path().string()),
            folder.path().string() + ": is a directory; name a file in it");
  EXPECT_EQ(open_error(folder.file("empty.npy", "")), folder.file("empty.npy") + ": is empty");
  EXPECT_EQ(open_error(folder.file("empty.bin", ""), raw("cf32_le")),
            folder.file("empty.bin") + ": is empty");
  EXPECT_EQ(open_error(folder.file("two\nlines")),
            folder.path().string() + "/two\ufffdlines: cannot be opened: No such file or directory");
}

TEST(Files, ThatMayNotBeReadAreNamed) {
  const ScratchFolder folder;
  const std::string path = folder.file("secret.npy", "x");
  ASSERT_EQ(::chmod(path.c_str(), 0), 0);
  // Root reads everything, so the rest is done as somebody else.
  const bool root = ::geteuid() == 0;
  if (root) {
    ASSERT_EQ(::seteuid(65534), 0);
  }
  const std::string error = open_error(path);
  if (root) {
    ASSERT_EQ(::seteuid(0), 0);
  }
  EXPECT_EQ(error, path + ": cannot be opened: Permission denied");
}

TEST(Files, ThatShrinkAfterOpeningAreTruncated) {
  const ScratchFolder folder;
  const std::string path = folder.file("a.bin", std::string(800, 'x'));
  const auto source = open_source(path, raw("rf64_le"));
  ASSERT_EQ(::truncate(path.c_str(), 420), 0);
  std::vector<double> samples(100);
  EXPECT_EQ(error_of([&] { (void)source->read(0, std::span(samples)); }),
            path + ": is truncated: 100 samples were promised, it holds 52");
}

TEST(Files, AreKnownByTheirFirstBytesWhenTheNameSaysNothing) {
  const ScratchFolder folder;
  write_npy<float>(folder.file("a.npy"), std::vector<float>{1, 2});
  std::filesystem::rename(folder.file("a.npy"), folder.file("a"));
  EXPECT_THAT(read_all<float>(*open_source(folder.file("a"))), ElementsAre(1, 2));
}

TEST(PipeSource, RawSamplesAreReadInOrderToTheEnd) {
  std::vector<double> values(100000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::sqrt(static_cast<double>(i));
  const Pipe pipe(bytes_of(values));
  const auto source = open_source(pipe.path(), raw("rf64_le"));
  EXPECT_EQ(source->info().length, std::nullopt);
  EXPECT_FALSE(source->info().any_order);
  EXPECT_EQ(read_all<double>(*source), values);
}

TEST(PipeSource, BlocksThatNeedConversionAreReadInOrder) {
  std::vector<std::uint8_t> values(300001);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::uint8_t>(i * 31);
  const Pipe pipe(bytes_of(values));
  const auto source = open_source(pipe.path(), raw("ru8"));
  const auto samples = read_all<float>(*source);
  ASSERT_EQ(samples.size(), values.size());
  EXPECT_TRUE(std::equal(samples.begin(), samples.end(), values.begin()));
}

TEST(PipeSource, NpyIsRecognisedAndItsLengthKnown) {
  std::vector<float> values(5000, 0.25F);
  const std::vector<std::uint64_t> shape = {5000};
  const Pipe pipe(make_npy_header(sample_type_of<float>(), shape) + bytes_of(values));
  const auto source = open_source(pipe.path());
  EXPECT_EQ(source->sample_count(), 5000U);
  EXPECT_EQ(read_all<float>(*source), values);
}

TEST(PipeSource, SoundIsReadWholeFirst) {
  const Pipe pipe(test::file_text(test::repository() / "data/perc_bell.flac"));
  EXPECT_EQ(open_source(pipe.path())->sample_count(), 296317U);
}

TEST(PipeSource, GivenUpItEndsWithWhatCame) {
  for (const bool while_it_waits : {false, true}) {
    int ends[2] = {-1, -1};
    ASSERT_EQ(::pipe(ends), 0);
    const std::string came = bytes_of(std::vector<double>{1, 2, 3, 4}) + "half";
    ASSERT_EQ(::write(ends[1], came.data(), came.size()), static_cast<ssize_t>(came.size()));
    const auto source = open_source("/dev/fd/" + std::to_string(ends[0]), raw("rf64_le"));
    std::vector<double> values(9);
    EXPECT_EQ(source->read(0, std::span(values).first(2)), 2U);
    EXPECT_FALSE(source->given_up());
    if (!while_it_waits) source->give_up();
    std::size_t got = 0;
    // Waits for more, whose writer is here.
    std::thread reader([&] { got = source->read(2, std::span(values)); });
    if (while_it_waits) {
      for (int left = 1; left > 0; std::this_thread::yield()) ASSERT_EQ(::ioctl(ends[0], FIONREAD, &left), 0);
      source->give_up();
    }
    reader.join();
    EXPECT_TRUE(source->given_up());
    if (while_it_waits) {
      EXPECT_EQ(got, 2U);
      EXPECT_THAT(std::span(values).first(2), ElementsAre(3, 4));
    } else {
      EXPECT_LE(got, 2U);  // as many as it had read by then
    }
    EXPECT_EQ(source->read(2 + got, std::span(values)), 0U);
    for (const int end : ends) ::close(end);
  }
}

TEST(PipeSource, StandardInputIsDash) {
  const Pipe pipe(bytes_of<float>({1, 2, 3}));
  const int saved = ::dup(STDIN_FILENO);
  ASSERT_EQ(::dup2(pipe.fd(), STDIN_FILENO), STDIN_FILENO);
  const auto samples = read_all<float>(*open_source("-", raw("rf32_le")));
  const std::string empty = error_of([] { (void)read_all<float>(*open_source("-", raw("rf32_le"))); });
  const std::string unknown = open_error("-");
  if (saved >= 0) {
    ::dup2(saved, STDIN_FILENO);
    ::close(saved);
  }
  EXPECT_THAT(samples, ElementsAre(1, 2, 3));
  EXPECT_EQ(empty, "standard input: holds no samples");
  EXPECT_THAT(unknown, StartsWith("standard input: is no .npy, "));
}

TEST(PipeSource, EndingInsideASampleIsAnError) {
  const Pipe pipe(std::string(19, 'x'));
  const auto source = open_source(pipe.path(), raw("cf32_le"));
  EXPECT_EQ(error_of([&] { (void)read_all<std::complex<float>>(*source); }),
            pipe.path() + ": ends inside a sample: 3 bytes are left for one of 8 bytes (cf32_le)");
  for (const char* type : {"cf32_le", "cf32_be", "ci32_le"}) {  // the samples before it come first
    const Pipe other(std::string(19, 'x'));
    const auto source_of_type = open_source(other.path(), raw(type));
    std::vector<std::complex<float>> samples(5);
    EXPECT_EQ(source_of_type->read(0, std::span(samples)), 2U);
    EXPECT_THROW((void)source_of_type->read(2, std::span(samples)), DataError);
  }
}

TEST(PipeSource, EndingBeforeThePromisedLengthIsAnErrorWithoutTheMemoryItPromised) {
  const std::vector<std::uint64_t> shape = {std::uint64_t{1} << 50};
  const Pipe pipe(make_npy_header(sample_type_of<double>(), shape) + std::string(80, 'x'));
  const auto source = open_source(pipe.path());
  EXPECT_EQ(error_of([&] { (void)read_all<double>(*source); }),
            pipe.path() + ": is truncated: 1125899906842624 samples were promised, it holds 10");
}

TEST(PipeSource, OutOfOrderIsACallersMistake) {
  const Pipe pipe(std::string(4000, 'x'));
  const auto source = open_source(pipe.path(), raw("ri8"));
  std::vector<float> samples(100);
  EXPECT_EQ(source->read(0, std::span(samples)), 100U);
  EXPECT_THROW((void)source->read(50, std::span(samples)), std::logic_error);
  EXPECT_THROW((void)source->read(200, std::span(samples)), std::logic_error);
  EXPECT_EQ(source->read(100, std::span(samples)), 100U);
}

TEST(NonFinite, IsCountedAndPasses) {
  const ScratchFolder folder;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  write_npy<float>(folder.file("a.npy"), std::vector<float>{1, nan, -inf, 0});
  const auto real = read_all<float>(*open_source(folder.file("a.npy")));
  EXPECT_EQ(count_non_finite<float>(real), 2U);
  EXPECT_TRUE(std::isnan(real[1]));
  using Complex = std::complex<double>;
  EXPECT_EQ(count_non_finite<Complex>(std::vector<Complex>{{1, nan}, {inf, nan}, {1, 2}, {-inf, 0}}), 3U);
  // What double holds and float does not.
  write_npy<double>(folder.file("b.npy"), std::vector<double>{1e300, 1});
  EXPECT_EQ(count_non_finite<float>(read_all<float>(*open_source(folder.file("b.npy")))), 1U);
}

// --- SigMF ---

std::string meta(const std::string& global_extra, const std::string& captures = "[]") {
  return R"({"global": {"core:version": "1.0.0", )" + global_extra + R"(}, "captures": )" + captures +
         R"(, "annotations": [{"core:sample_start": 1, "core:datatype": "nonsense"}]})";
}

TEST(Sigmf, EitherNameOpensTheRecording) {
  const ScratchFolder folder;
  const std::string meta_path =
      folder.file("r.sigmf-meta",
                  meta(R"("core:datatype": "ci16_le", "core:sample_rate": 2.5e6, "core:num_channels": 1)"));
  const std::string data_path = folder.file("r.sigmf-data", bytes_of<std::int16_t>({1, -2, 3, -4}));
  for (const std::string& path : {meta_path, data_path}) {
    const auto source = open_source(path);
    EXPECT_EQ(source->info().sample_rate_hz, 2.5e6);
    EXPECT_THAT(read_all<std::complex<float>>(*source),
                ElementsAre(std::complex<float>(1, -2), std::complex<float>(3, -4)));
  }
}

TEST(Sigmf, TheDatasetMayHaveAnotherName) {
  const ScratchFolder folder;
  const std::string path =
      folder.file("r.sigmf-meta", meta(R"("core:datatype": "ru8", "core:dataset": "other.bin")"));
  (void)folder.file("other.bin", "\x01\x02");
  EXPECT_THAT(read_all<double>(*open_source(path)), ElementsAre(1, 2));
  EXPECT_EQ(open_source(path)->info().sample_rate_hz, 0);
}

TEST(Sigmf, MissingHalvesAreNamed) {
  const ScratchFolder folder;
  const std::string path = folder.file("r.sigmf-meta", meta(R"("core:datatype": "ru8")"));
  EXPECT_EQ(open_error(path), folder.file("r.sigmf-data") + ": cannot be opened: No such file or directory");
  EXPECT_EQ(open_error(folder.file("s.sigmf-data", "xx")),
            folder.file("s.sigmf-meta") + ": cannot be opened: No such file or directory");
}

TEST(Sigmf, DamagedOrUnsupportedMetadataIsSaidToBe) {
  const auto error = [](const std::string& text) {
    return error_of([&] { (void)parse_sigmf_meta("m", text); });
  };
  const std::string type = R"("core:datatype": "cf32_le")";
  EXPECT_EQ(error(meta(type)), "no error");
  EXPECT_THAT(error("{"), StartsWith("m: is not SigMF metadata: "));
  EXPECT_EQ(error("[1]"), "m: is not SigMF metadata: it has no \"global\" object");
  EXPECT_EQ(error(R"({"global": 3})"), "m: is not SigMF metadata: it has no \"global\" object");
  EXPECT_EQ(error(R"({"global": {}})"), "m: does not name its samples' type (core:datatype)");
  EXPECT_EQ(error(meta(R"("core:datatype": 8)")), "m: does not name its samples' type (core:datatype)");
  EXPECT_THAT(error(meta(R"("core:datatype": "cf16_le")")),
              StartsWith("m: core:datatype 'cf16_le' is not one of cf32_le, "));
  for (const char* rate : {"0", "-5", "\"fast\"", "null"}) {
    EXPECT_EQ(error(meta(type + R"(, "core:sample_rate": )" + rate)),
              "m: core:sample_rate must be a positive number of samples per second");
  }
  EXPECT_THAT(error(meta(type + R"(, "core:num_channels": 2)")), StartsWith("m: has several channels"));
  EXPECT_EQ(error(meta(type + R"(, "core:num_channels": "2")")),
            "m: core:num_channels must be a whole number");
  EXPECT_THAT(error(meta(type + R"(, "core:trailing_bytes": 1)")), HasSubstr("headers or trailers"));
  EXPECT_THAT(error(meta(type, R"([{"core:header_bytes": 1}])")), HasSubstr("headers or trailers"));
  EXPECT_THAT(error(meta(type + R"(, "core:metadata_only": true)")), HasSubstr("without its samples"));
  for (const char* dataset : {"\"../etc/passwd\"", "\"/etc/passwd\"", "\"\"", "7"}) {
    EXPECT_EQ(error(meta(type + R"(, "core:dataset": )" + dataset)),
              "m: core:dataset must name a file in the same folder");
  }
}

// --- Sound ---

// The figures are those of the reference decoder: `flac -d perc_bell.flac` (1.4.2), its WAV file's 16-bit numbers read by Python.
TEST(Sound, DecodesTheRecordingAsTheReferenceDecoderDoes) {
  const std::string path = (test::repository() / "data/perc_bell.flac").string();
  const std::int64_t first[2][4] = {{1, -4, -26, -90}, {-2, -9, 13, 16}};
  const std::int64_t middle[2][3] = {{81, 36, -22}, {146, 99, 16}};
  const std::int64_t sum[2] = {41245, 31958};
  const std::int64_t energy[2] = {1101039731843, 766419530644};
  for (unsigned channel = 0; channel < 2; ++channel) {
    const auto source = open_source(path, {.raw_type = {}, .channel = channel});
    EXPECT_EQ(source->info().sample_rate_hz, 44100);
    EXPECT_EQ(source->info().length, 296317U);
    EXPECT_EQ(source->info().channels, 2U);
    EXPECT_FALSE(source->info().is_complex || source->info().from_threads);
    EXPECT_THAT(source->info().kind, HasSubstr("FLAC"));
    const auto samples = read_all<double>(*source);
    ASSERT_EQ(samples.size(), 296317U);
    std::int64_t found_sum = 0;
    std::int64_t found_energy = 0;
    for (const double sample : samples) {
      const double value = sample * 32768;
      ASSERT_EQ(value, std::nearbyint(value));
      found_sum += static_cast<std::int64_t>(value);
      found_energy += static_cast<std::int64_t>(value * value);
    }
    EXPECT_EQ(found_sum, sum[channel]);
    EXPECT_EQ(found_energy, energy[channel]);
    for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(samples[i] * 32768, first[channel][i]);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(samples[100000 + i] * 32768, middle[channel][i]);

    std::vector<float> part(3);
    EXPECT_EQ(source->read(100000, std::span(part)), 3U);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(part[i] * 32768, middle[channel][i]);
    EXPECT_EQ(source->read(296316, std::span(part)), 1U);
  }
  const auto mean = read_all<std::complex<double>>(*open_source(path));
  EXPECT_EQ(mean[1], std::complex<double>((-4 - 9) / 2.0 / 32768, 0));
}

std::string corpus_sound(const std::string& name) {
  return (test::repository() / "tests/fuzz/corpus/sound" / name).string();
}

// scripts/make_fuzz_corpus.py encoded 0.5 sin(0.1 k), k counting over all channels.
TEST(Sound, ReadsEveryKindWithinItsResolution) {
  const struct {
    const char* name;
    std::size_t channels;
    double tolerance;
  } kinds[] = {{"pcm16.wav", 2, 1.0 / 32768},  {"pcm24.wav", 1, 1.0 / 8388608},
               {"float.wav", 1, 1e-7},         {"double.wav", 3, 0},
               {"ulaw.wav", 1, 0.02},          {"pcm16.aiff", 2, 1.0 / 32768},
               {"pcm16.flac", 2, 1.0 / 32768}, {"pcm24.flac", 1, 1.0 / 8388608}};
  for (const auto& kind : kinds) {
    for (unsigned channel = 0; channel < kind.channels; ++channel) {
      const auto source = open_source(corpus_sound(kind.name), {.raw_type = {}, .channel = channel});
      EXPECT_EQ(source->info().sample_rate_hz, 48000) << kind.name;
      EXPECT_EQ(source->info().channels, kind.channels) << kind.name;
      const auto samples = read_all<double>(*source);
      ASSERT_EQ(samples.size(), kind.channels == 3 ? 16U : 64U) << kind.name;
      for (std::size_t i = 0; i < samples.size(); ++i) {
        const auto k = static_cast<double>(i * kind.channels + channel);
        EXPECT_NEAR(samples[i], 0.5 * std::sin(0.1 * k), kind.tolerance + 1e-15) << kind.name << " " << i;
      }
    }
  }
  EXPECT_EQ(open_source(corpus_sound("opus.ogg"))->info().sample_rate_hz, 48000);
  EXPECT_EQ(read_all<float>(*open_source(corpus_sound("opus.ogg"))).size(), 960U);
}

TEST(Sound, AHeaderWrittenBeforeTheLengthWasKnownIsFine) {
  EXPECT_EQ(read_all<float>(*open_source(corpus_sound("unknown_length.wav"))).size(), 64U);
}

TEST(Sound, NamesWhatIsWrong) {
  const ScratchFolder folder;
  const std::string flac = (test::repository() / "data/perc_bell.flac").string();
  EXPECT_EQ(open_error(flac, {.raw_type = {}, .channel = 2}),
            flac + ": has no channel 2: it has 2, counted from 0");
  EXPECT_EQ(open_error(folder.file("a.wav", "RIFX, or what")),
            folder.file("a.wav") + ": is not sound: it does not begin as a WAV, FLAC, Ogg or AIFF file does");
  EXPECT_EQ(open_error(folder.file("b.wav", std::string("RIFF\x04\0\0\0WAVE", 12)))
                .substr(0, folder.file("b.wav").size() + 21),
            folder.file("b.wav") + ": cannot be decoded: ");
  EXPECT_EQ(
      open_error(corpus_sound("truncated.wav")),
      corpus_sound("truncated.wav") + ": is truncated: 9 bytes of samples are missing, it holds 61 samples");
  const std::string cut = folder.file("cut.flac", test::file_text(flac).substr(0, 200000));
  EXPECT_THAT(error_of([&] { (void)read_all<float>(*open_source(cut)); }),
              StartsWith(cut + ": is truncated: 296317 samples were promised, it holds "));
}

}  // namespace
}  // namespace papfft::app::io
