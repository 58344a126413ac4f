// The team of threads of the kernel machines.
#include "pegasos/team.hpp"

#include <atomic>
#include <thread>

#include "check.hpp"

namespace {

using namespace tests;

void a_team_runs_every_task_once() {
  for (int n_threads : {-1, 0, 1, 2, 3, 4, 5}) {
    pegasos::Team team(n_threads);
    CHECK(team.size() == std::max(1, n_threads), std::to_string(n_threads));
    int wrong = 0;
    for (int64_t round = 0; round < 1000; ++round) {
      const int64_t n = round % 11;
      // Plain integers: a task that ran twice or came late would be a race, and be seen.
      std::vector<int64_t> done(n, -1);
      std::vector<int> member(n, -1);
      team.run(n, [&](int64_t k, int who) {
        done[k] = done[k] == -1 ? round * n + k : -2;
        member[k] = who;
      });
      for (int64_t k = 0; k < n; ++k)
        wrong += done[k] != round * n + k || member[k] < 0 || member[k] >= team.size();
    }
    CHECK(wrong == 0, std::to_string(n_threads) + " threads");
  }
}

// As many tasks as members, each waiting for all others: every member has exactly one of them.
void members_of_a_team_share_no_scratch() {
  for (int n_threads = 1; n_threads <= 5; ++n_threads) {
    pegasos::Team team(n_threads);
    for (int round = 0; round < 20; ++round) {
      std::atomic<int> started{0};
      std::vector<int> member(team.size(), -1);
      team.run(team.size(), [&](int64_t k, int who) {
        for (++started; started < team.size();) std::this_thread::yield();
        member[k] = who;
      });
      std::sort(member.begin(), member.end());
      bool each_once = true;
      for (int k = 0; k < team.size(); ++k) each_once = each_once && member[k] == k;
      CHECK(each_once, std::to_string(n_threads) + " threads");
    }
  }
}

void a_team_without_work_ends() {
  for (int round = 0; round < 50; ++round) {
    pegasos::Team idle(1 + round % 5);
    if (round % 2) idle.run(1, [](int64_t, int) {});
  }
  CHECK(true, "no deadlock");
}

}  // namespace

void tests::team_tests() {
  a_team_runs_every_task_once();
  members_of_a_team_share_no_scratch();
  a_team_without_work_ends();
}
