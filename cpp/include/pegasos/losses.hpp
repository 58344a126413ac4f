// The two losses of a margin z = y <w, x>, each with what the solvers need of its conjugate.
//
// value(z)        the loss
// slope(s, scale) -loss'(z) at z = s / scale, the dual mass in [0, 1] that a visit at margin z earns;
//                 scale = 0 stands for w = 0, that is z = 0
// gain(b)         the dual value of mass b, -loss*(-b): concave, gain(0) = 0
// smooth_slope    the slope where the corner of the hinge is rounded to a ramp of this width; also a dual mass
//                 to start from, given the margin at a good w
// curvature(b)    -d smooth_slope/dz where that is b
// ascend(b, z, q) the mass that maximises the dual along one coordinate, from mass b at margin z, where
//                 q = s_i ||x_i||^2 / (lam S) is what one unit of mass adds to the margin
#pragma once

#include <cmath>

#include "pegasos/lanes.hpp"

namespace pegasos {

enum class LossName { hinge, log };

inline namespace PEGASOS_LEVEL {

PEGASOS_INLINE double clip01(double b) { return b < 0 ? 0 : (b > 1 ? 1 : b); }

struct Hinge {  // max(0, 1 - z);  gain(b) = b
  static PEGASOS_INLINE double value(double z) { return z < 1 ? 1 - z : 0; }
  static PEGASOS_INLINE double slope(double s, double scale) {
    return (s < scale || scale == 0) ? 1 : 0;
  }
  static PEGASOS_INLINE double gain(double b) { return b; }
  static PEGASOS_INLINE double gain_at(double, double slope) { return slope; }
  // Exact masses are 1 left of the hinge and 0 right of it; near it they are unknown: a ramp.
  static PEGASOS_INLINE double smooth_slope(double z, double width) {
    return clip01((1 + width / 2 - z) / width);
  }
  static PEGASOS_INLINE double curvature(double b, double width) {
    return b > 0 && b < 1 ? 1 / width : 0;
  }
  // Over-relaxed by `relaxation` in (0, 2): the dual still grows with every step.
  static PEGASOS_INLINE double ascend(double b, double z, double q, double relaxation) {
    // The quotient does not wait for z, which ends a long chain of additions. q - q is 0, or NaN for a
    // norm that has overflowed: it must not pass for a row that never moves.
    const double per_slack = relaxation / q + (q - q);
    return q > 0 ? clip01(b + (1 - z) * per_slack) : 1;
  }
};

struct Log {  // log(1 + exp(-z));  gain(b) = entropy of (b, 1 - b)
  static PEGASOS_INLINE double value(double z) {
    return (z < 0 ? -z : 0) + std::log1p(std::exp(-std::fabs(z)));
  }
  static PEGASOS_INLINE double sigmoid(double z) {
    const double e = std::exp(-std::fabs(z));
    return (z < 0 ? e : 1) / (1 + e);
  }
  static PEGASOS_INLINE double slope(double s, double scale) {
    return scale == 0 ? 0.5 : sigmoid(-s / scale);
  }
  static PEGASOS_INLINE double gain(double b) {
    return (b > 0 ? -b * std::log(b) : 0) + (b < 1 ? -(1 - b) * std::log1p(-b) : 0);
  }
  // gain(slope) for slope = sigmoid(-z), without cancellation
  static PEGASOS_INLINE double gain_at(double z, double slope) {
    return value(std::fabs(z)) + std::fabs(z) * (z < 0 ? 1 - slope : slope);
  }
  static PEGASOS_INLINE double smooth_slope(double z, double) { return sigmoid(-z); }
  static PEGASOS_INLINE double curvature(double b, double) { return b * (1 - b); }
  // The maximiser is sigmoid(u) with f(u) = u + q sigmoid(u) - r = 0, r = q b - z. f is convex left of 0
  // and concave right of it, so Newton from these starts is monotone. It needs no relaxation.
  static PEGASOS_INLINE double ascend(double b, double z, double q, double) {
    const double r = q * b - z;
    const bool negative = q / 2 > r;
    double u = negative ? (r < 0 ? r : 0) : (r > q ? r - q : 0);
    for (int k = 0; k < 100; ++k) {
      const double p = sigmoid(u);
      const double step = (u + q * p - r) / (1 + q * p * (1 - p));
      u -= step;
      if (std::fabs(step) <= 1e-12 * (1 + std::fabs(u))) break;
    }
    return sigmoid(u);
  }
};

// Calls use(Loss{}) with the type that the name stands for.
template <class Use>
void with_loss(LossName name, Use use) {
  if (name == LossName::hinge)
    use(Hinge{});
  else
    use(Log{});
}

}  // namespace PEGASOS_LEVEL
}  // namespace pegasos
