// Waiting for another thread that will be ready in microseconds: too soon to sleep for.
#pragma once

#include <thread>

namespace pegasos {

template <class Ready>
void wait_until(Ready ready) {
  constexpr int kSpins = 4000;
  for (int spins = 0; !ready(); ++spins)
    if (spins > kSpins) std::this_thread::yield();
}

}  // namespace pegasos
