"""Metrics are what the parser of Prometheus reads, whatever labels are called."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from dowse.interfaces.http.prometheus_text import Histogram, Series


def parsed(lines):
    (family,) = text_string_to_metric_families("".join(f"{line}\n" for line in lines))
    return family.type, {(each.name, *each.labels.values()): each.value for each in family.samples}


@given(st.lists(st.sampled_from(["plain", 'a"b', "a\\b", "a\nb", "ü\\n"]), min_size=1))
def test_counters(names):
    series = Series("counter", "dowse_things_total", "Things", "name", "status")
    for name in names:
        series.add(name, "200")
    expected = {("dowse_things_total", name, "200"): names.count(name) for name in names}
    assert parsed(series.lines()) == ("counter", expected)


def test_a_gauge_without_labels_is_zero_at_first_and_may_fall():
    gauge = Series("gauge", "dowse_in_flight", "Requests being answered")
    assert parsed(gauge.lines()) == ("gauge", {("dowse_in_flight",): 0})
    gauge.add()
    gauge.add(amount=-1)
    gauge.add(amount=-1)
    assert parsed(gauge.lines()) == ("gauge", {("dowse_in_flight",): -1})


def test_buckets_are_cumulative_and_have_their_bound_in_them():
    histogram = Histogram("dowse_seconds", "Time", "lane", (0.1, 1))
    for value in (0.05, 0.1, 0.5, 7):
        histogram.observe("words", value)
    kind, samples = parsed(histogram.lines())
    buckets = {bound: samples["dowse_seconds_bucket", "words", bound] for bound in ("0.1", "1", "+Inf")}
    assert (kind, buckets) == ("histogram", {"0.1": 2, "1": 3, "+Inf": 4})
    assert samples["dowse_seconds_count", "words"] == 4
    assert abs(samples["dowse_seconds_sum", "words"] - 7.65) < 1e-9
