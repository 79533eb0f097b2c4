/* SPDX-License-Identifier: MIT */
/* What the shared libraries export. Everything else is compiled with -fvisibility=hidden. */
#ifndef PAPFFT_EXPORT_H_
#define PAPFFT_EXPORT_H_

#if defined(__GNUC__)
#define PAPFFT_API __attribute__((visibility("default")))
#define PAPFFT_LOCAL __attribute__((visibility("hidden")))
#else
#define PAPFFT_API
#define PAPFFT_LOCAL
#endif

#endif /* PAPFFT_EXPORT_H_ */
