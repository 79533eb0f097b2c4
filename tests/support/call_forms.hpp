// SPDX-License-Identifier: MIT
// One call in each of its forms: blocking, started and persistent.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "papfft/session.hpp"

namespace papfft::comm::test {

enum class Form : std::uint8_t { blocking, started, persistent };
inline constexpr std::array kForms = {Form::blocking, Form::started, Form::persistent};
inline constexpr std::array kFormNames = {"blocking", "started", "persistent"};
inline const char* name_of(Form form) { return kFormNames.at(static_cast<std::size_t>(form)); }

/// @param fill  writes the input; of a persistent call as late as it may come
template <typename Blocking, typename Start, typename Init>
void call_by(Form form, const std::function<void()>& fill, Blocking blocking, Start start, Init init) {
  if (form == Form::persistent) {
    PersistentCall call = init();
    for (int i = 0; i < 2; ++i) {
      call.start();
      fill();
      call.wait();
    }
    return;
  }
  fill();
  if (form == Form::blocking) return blocking();
  Pending call = start();
  call.wait();
}

/// By `form`, with `fill`, of `session`.
#define PAPFFT_TYPED_FORMS(T, name, ...)                                                                  \
  call_by(                                                                                                \
      form, fill, [&] { session.name<T>(__VA_ARGS__); }, [&] { return session.i##name<T>(__VA_ARGS__); }, \
      [&] { return session.name##_init<T>(__VA_ARGS__); })
#define PAPFFT_MPI_FORMS(name, ...)                                                                 \
  call_by(                                                                                          \
      form, fill, [&] { session.name(__VA_ARGS__); }, [&] { return session.i##name(__VA_ARGS__); }, \
      [&] { return session.name##_init(__VA_ARGS__); })

}  // namespace papfft::comm::test
