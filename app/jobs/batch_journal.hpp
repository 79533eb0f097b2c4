// SPDX-License-Identifier: MIT
#pragma once
#include "app/io/row_files.hpp"
#include "app/io/source.hpp"
#include "app/jobs/transform_plan.hpp"

namespace papfft::app {

/// What a batch's partial files say about themselves, so that another job can go on with them: what the vectors depend on, and
/// how this job computes them, which may change from job to job. Neither the number of ranks nor the engine changes a vector but
/// for its last bits.
/// @param input  its samples are read as complex ones of either precision. @throws io::DataError
[[nodiscard]] io::RowJournal batch_journal(const TransformOptions& options, const TransformPlan& plan,
                                           int ranks, io::Source& input);

}  // namespace papfft::app
