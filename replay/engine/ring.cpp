#include "replay/engine/ring.hpp"

namespace simreplay::engine {
namespace {

constexpr int token_tag = 2;
constexpr int token_words = 4;

}  // namespace

Ring::Ring(MPI_Comm comm) : comm_(comm) {
  MPI_Comm_rank(comm_, &rank_);
  MPI_Comm_size(comm_, &size_);
  if (size_ == 1) return;
  if (rank_ == 0) {
    holds_ = true;
    held_.black = 1;  // the first round starts with the first pass
  }
  post();
}

Ring::~Ring() {
  if (incoming_ != MPI_REQUEST_NULL) {
    MPI_Cancel(&incoming_);
    MPI_Wait(&incoming_, MPI_STATUS_IGNORE);
  }
  MPI_Wait(&outgoing_, MPI_STATUS_IGNORE);
}

void Ring::post() {
  MPI_Irecv(&arriving_, token_words, MPI_INT64_T, (rank_ + size_ - 1) % size_, token_tag, comm_, &incoming_);
}

void Ring::send(const Token& token) {
  MPI_Wait(&outgoing_, MPI_STATUS_IGNORE);
  leaving_ = token;
  MPI_Isend(&leaving_, token_words, MPI_INT64_T, (rank_ + 1) % size_, token_tag, comm_, &outgoing_);
  holds_ = false;
}

Ring::Verdict Ring::pass(std::int64_t balance, bool failed) {
  if (size_ == 1) return failed ? Verdict::failed : Verdict::ended;
  if (!holds_) {
    int came = 0;
    MPI_Test(&incoming_, &came, MPI_STATUS_IGNORE);
    if (!came) return Verdict::going;
    held_ = arriving_;
    holds_ = true;
    post();
  }
  Token token = held_;
  if (token.stop) {
    const Verdict verdict = token.failed ? Verdict::failed : Verdict::ended;
    if (rank_ != 0) send(token);
    return verdict;
  }
  token.failed |= failed ? 1 : 0;
  if (rank_ != 0) {
    token.balance += balance;
    token.black |= black_ ? 1 : 0;
  } else {
    const bool quiet = !token.black && !black_ && token.balance + balance == 0;
    token = {.balance = 0, .black = 0, .failed = token.failed, .stop = quiet || token.failed ? 1 : 0};
  }
  black_ = false;
  send(token);
  return Verdict::going;
}

}  // namespace simreplay::engine
