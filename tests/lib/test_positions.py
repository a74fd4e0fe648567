"""Pictures of positions: hands start at twelve, turn clockwise; waves follow bits."""

import nmt_lib as nmt


def test_hands_start_at_twelve_and_turn_clockwise() -> None:
    clocks = {"0": nmt.sinusoids(1, 4), "1": nmt.sinusoids(1, 4, start=1)}
    first, second, *_ = nmt.plot_hands(clocks, ["fast", "slow"]).axes
    tips = [axis.lines[1].get_xydata()[1].tolist() for axis in (first, second)]
    assert tips[0][0] == 0 < tips[0][1], "up at position 0"
    assert tips[1][0] > 0.7 > tips[1][1] > 0, "to the right after one radian"


def test_a_wave_passes_through_the_middle_of_its_bits() -> None:
    _, right = nmt.plot_bits(3).axes
    steps, wave = (line.get_ydata() for line in right.lines[:2])
    assert len(steps) == 8
    assert round(float(wave[0])) == steps[0] == 0 and steps[1] == 1
