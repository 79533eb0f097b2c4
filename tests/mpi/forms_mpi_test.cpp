// SPDX-License-Identifier: MIT
// Every operation with MPI's arguments, blocking, started and persistent, gives what MPI's own gives: datatypes with gaps, blocks
// anywhere, MPI_IN_PLACE.
#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "papfft/mpi.hpp"
#include "tests/support/call_forms.hpp"
#include "tests/support/mpi_collectives.hpp"

namespace papfft::comm {
namespace {

using namespace test;

constexpr int kBlock = 40;

/// One rank's arguments for all operations. An element may be an int with a gap behind it.
struct Arguments {
  Arguments(const Collectives& comm, bool has_gaps_in)
      : has_gaps(has_gaps_in), rank(comm.rank()), ranks(comm.size()) {
    if (has_gaps) {
      MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &gaps.t);
    } else {
      MPI_Type_dup(MPI_INT, &gaps.t);
    }
    MPI_Type_commit(&gaps.t);
    type = has_gaps ? gaps.t : MPI_INT;
    for (int r = 0; r < ranks; ++r) {
      counts.push_back(r % 3 == 2 ? 0 : kBlock - r);
      displs.push_back(r * (kBlock + 1));
      pair_counts.push_back((rank + r) % 4 == 3 ? 0 : kBlock - rank - r);
      byte_displs.push_back(displs.back() * static_cast<int>(sizeof(int)) * ints());
      types.push_back(type);
    }
  }
  /// Ints from one element to the next.
  [[nodiscard]] int ints() const { return has_gaps ? 2 : 1; }
  [[nodiscard]] std::size_t room() const { return static_cast<std::size_t>((kBlock + 1) * ranks * ints()); }

  bool has_gaps;
  int rank;
  int ranks;
  Type gaps;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  std::vector<int> counts, displs, pair_counts, byte_displs;
  std::vector<MPI_Datatype> types;
};

/// What of the receive buffer holds the input of a call in place.
enum class InPlace : std::uint8_t { none, own_block, own_displaced, whole };

struct Case {
  const char* name;
  InPlace in_place;  ///< also at the root alone, where there is a root
  bool is_rooted;
  bool takes_gaps;
  /// MPI's own. @param send  may be MPI_IN_PLACE
  std::function<void(const Arguments&, void* send, void* recv, int root)> mpi;
  std::function<void(MpiSession&, Form, const std::function<void()>& fill, const Arguments&, void* send,
                     void* recv, int root, std::string_view algorithm)>
      ours;
};

#define PAPFFT_CASE(Name, name, in_place, is_rooted, takes_gaps, ...)                                      \
  {                                                                                                        \
#name, InPlace::in_place, is_rooted, takes_gaps,                                                         \
        []([[maybe_unused]] const Arguments& a, void* send, void* recv, [[maybe_unused]] int root) {         \
          MPI_##Name(__VA_ARGS__, MPI_COMM_WORLD);                                                           \
        },                                                                                                   \
        [](MpiSession& session, Form form, const std::function<void()>& fill,                                \
           [[maybe_unused]] const Arguments& a, void* send, void* recv, [[maybe_unused]] int root,           \
           std::string_view algorithm) { PAPFFT_MPI_FORMS(name, __VA_ARGS__, algorithm); } \
  }

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      PAPFFT_CASE(Scatter, scatter, none, true, true, send, kBlock, a.type, recv, kBlock, a.type, root),
      PAPFFT_CASE(Gather, gather, own_block, true, true, send, kBlock, a.type, recv, kBlock, a.type, root),
      PAPFFT_CASE(Reduce, reduce, whole, true, false, send, recv, kBlock, MPI_INT, MPI_SUM, root),
      PAPFFT_CASE(Allgather, allgather, own_block, false, true, send, kBlock, a.type, recv, kBlock, a.type),
      PAPFFT_CASE(Allgatherv, allgatherv, own_displaced, false, true, send,
                  a.counts[static_cast<std::size_t>(a.rank)], a.type, recv, a.counts.data(), a.displs.data(),
                  a.type),
      PAPFFT_CASE(Allreduce, allreduce, whole, false, false, send, recv, kBlock, MPI_INT, MPI_SUM),
      PAPFFT_CASE(Reduce_scatter, reduce_scatter, whole, false, false, send, recv, a.counts.data(), MPI_INT,
                  MPI_SUM),
      PAPFFT_CASE(Reduce_scatter_block, reduce_scatter_block, whole, false, false, send, recv, kBlock,
                  MPI_INT, MPI_SUM),
      PAPFFT_CASE(Alltoall, alltoall, whole, false, true, send, kBlock, a.type, recv, kBlock, a.type),
      PAPFFT_CASE(Alltoallv, alltoallv, whole, false, true, send, a.pair_counts.data(), a.displs.data(),
                  a.type, recv, a.pair_counts.data(), a.displs.data(), a.type),
      PAPFFT_CASE(Alltoallw, alltoallw, whole, false, true, send, a.pair_counts.data(), a.byte_displs.data(),
                  a.types.data(), recv, a.pair_counts.data(), a.byte_displs.data(), a.types.data()),
      PAPFFT_CASE(Gatherv, gatherv, own_displaced, true, true, send,
                  a.counts[static_cast<std::size_t>(a.rank)], a.type, recv, a.counts.data(), a.displs.data(),
                  a.type, root),
      PAPFFT_CASE(Scatterv, scatterv, none, true, true, send, a.counts.data(), a.displs.data(), a.type, recv,
                  a.counts[static_cast<std::size_t>(a.rank)], a.type, root),
  };
  return all;
}

std::vector<int> input(int call, int rank, std::size_t count) {
  std::vector<int> v(count);
  for (std::size_t i = 0; i < count; ++i) v[i] = call * 100003 + rank * 1009 + static_cast<int>(i);
  return v;
}

/// Makes one call and compares it with MPI's own.
class Comparison {
 public:
  Comparison(MpiSession& session, const Case& c, const Arguments& arguments, int call)
      : session_(session),
        case_(c),
        a_(arguments),
        call_(call),
        root_(c.is_rooted ? call % arguments.ranks : 0) {}

  void run(Form form, bool in_place, std::string_view algorithm) {
    const bool here = in_place && case_.in_place != InPlace::none && (!case_.is_rooted || a_.rank == root_);
    const std::vector<int> data = input(call_, a_.rank, a_.room());
    std::vector<int> expected(a_.room(), -1);
    if (here) place_input(expected, data);
    std::vector<int> send = data;
    case_.mpi(a_, here ? MPI_IN_PLACE : send.data(), expected.data(), root_);

    std::vector<int> got(a_.room(), -1);
    std::vector<int> ours(a_.room());
    const auto fill = [&] {
      ours = data;
      if (here) place_input(got, data);
    };
    case_.ours(session_, form, fill, a_, here ? MPI_IN_PLACE : ours.data(), got.data(), root_, algorithm);
    EXPECT_EQ(got, expected) << case_.name << ' ' << algorithm << ' ' << name_of(form)
                             << (in_place ? " in place" : "") << (a_.has_gaps ? " with gaps" : "");
  }

 private:
  void place_input(std::vector<int>& recv, const std::vector<int>& data) const {
    const auto rank = static_cast<std::size_t>(a_.rank);
    int first = 0;
    int count = static_cast<int>(recv.size());
    if (case_.in_place == InPlace::own_block) {
      first = a_.rank * kBlock * a_.ints();
      count = kBlock * a_.ints();
    } else if (case_.in_place == InPlace::own_displaced) {
      first = a_.displs[rank] * a_.ints();
      count = a_.counts[rank] * a_.ints();
    }
    for (int i = first; i < first + count; i += a_.ints())
      recv[static_cast<std::size_t>(i)] = data[static_cast<std::size_t>(i)];
  }

  MpiSession& session_;
  const Case& case_;
  const Arguments& a_;
  int call_;
  int root_;
};

TEST(FormsOverMpi, GiveWhatMpiGives) {
  MpiSession session(MPI_COMM_WORLD, quick(), SessionOptions{});
  int call = 0;
  for (const bool has_gaps : {false, true}) {
    const Arguments arguments(session, has_gaps);
    for (const Case& c : cases()) {
      if (has_gaps && !c.takes_gaps) continue;
      for (const bool in_place : {false, true}) {
        for (const Form form : kForms) Comparison(session, c, arguments, ++call).run(form, in_place, "auto");
      }
    }
  }
  session.close();
}

/// In place the root's block stays where it is.
TEST(FormsOverMpi, ScattersLeaveTheRootsBlockInItsPlace) {
  MpiSession session(MPI_COMM_WORLD, quick(), SessionOptions{});
  const int p = session.size();
  const int me = session.rank();
  for (const Form form : kForms) {
    std::vector<int> whole;
    std::vector<int> mine(kBlock);
    const auto fill = [&] { std::ranges::copy(input(7, 0, whole.size()), whole.begin()); };
    whole.resize(static_cast<std::size_t>(kBlock * p));
    PAPFFT_MPI_FORMS(scatter, whole.data(), kBlock, MPI_INT,
                     me == p - 1 ? MPI_IN_PLACE : static_cast<void*>(mine.data()), kBlock, MPI_INT, p - 1,
                     "auto");
    EXPECT_EQ(whole, input(7, 0, whole.size())) << name_of(form);
    if (me != p - 1) {
      EXPECT_EQ(mine, std::vector<int>(whole.begin() + me * kBlock, whole.begin() + (me + 1) * kBlock))
          << name_of(form);
    }
  }
  session.close();
}

TEST(FormsOverMpi, BroadcastsReachEveryBuffer) {
  MpiSession session(MPI_COMM_WORLD, quick(), SessionOptions{});
  for (const bool has_gaps : {false, true}) {
    const Arguments a(session, has_gaps);
    for (int root = 0; root < session.size(); ++root) {
      for (const std::string_view algorithm : {"auto", "mpi", "bcirculant"}) {
        for (const Form form : kForms) {
          if (form == Form::started && algorithm == "mpi") continue;
          std::vector<int> data(a.room(), -1);
          const std::vector<int> sent = input(root, root, a.room());
          const auto fill = [&] {
            if (session.rank() == root) std::ranges::copy(sent, data.begin());
          };
          PAPFFT_MPI_FORMS(bcast, data.data(), kBlock, a.type, root, algorithm);
          for (int i = 0; i < kBlock * a.ints(); i += a.ints())
            ASSERT_EQ(data[static_cast<std::size_t>(i)], sent[static_cast<std::size_t>(i)])
                << algorithm << name_of(form);
        }
      }
    }
  }
  session.close();
}

/// A user's operation on a datatype with gaps; not commutative.
TEST(FormsOverMpi, ReduceByAUsersOperation) {
  MpiSession session(MPI_COMM_WORLD, quick(), SessionOptions{});
  MPI_Op op = MPI_OP_NULL;
  MPI_Op_create(keep_last, 0, &op);
  const Arguments a(session, true);
  for (const Form form : kForms) {
    std::vector<int> mine(a.room());
    std::vector<int> last(a.room(), -7);
    const auto fill = [&] {
      for (std::size_t i = 0; i < mine.size(); ++i)
        mine[i] = static_cast<int>(i) % 2 == 1 ? 5 : session.rank() + 1;
    };
    PAPFFT_MPI_FORMS(allreduce, mine.data(), last.data(), kBlock, a.type, op, "auto");
    for (int i = 0; i < 2 * kBlock; ++i) {
      EXPECT_EQ(last[static_cast<std::size_t>(i)], i % 2 == 1 ? -7 : session.size()) << name_of(form);
    }
  }
  session.close();
  MPI_Op_free(&op);
}

}  // namespace
}  // namespace papfft::comm
