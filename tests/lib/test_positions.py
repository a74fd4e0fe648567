"""Pictures of positions: hands start at twelve, turn clockwise; waves follow bits."""

import numpy as np

import nmt_lib as nmt


def test_hands_start_at_twelve_and_turn_clockwise() -> None:
    clocks = {"0": nmt.sinusoids(1, 4), "1": nmt.sinusoids(1, 4, start=1)}
    first, second, *_ = nmt.plot_hands(clocks, ["fast", "slow"]).axes
    tips = [axis.lines[1].get_xydata()[1].tolist() for axis in (first, second)]
    assert tips[0][0] == 0 < tips[0][1], "up at position 0"
    assert tips[1][0] > 0.7 > tips[1][1] > 0, "to the right after one radian"


def test_a_wave_follows_its_bit() -> None:
    _, right = nmt.plot_bits(3).axes
    for k in range(3):
        steps, wave = right.lines[2 * k : 2 * k + 2]
        bits = steps.get_ydata() + 1.6 * k
        curve = np.interp(range(8), *wave.get_xydata().T) + 1.6 * k
        assert curve.round().tolist() == bits.tolist() == [p >> k & 1 for p in range(8)]
