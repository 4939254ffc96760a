import { describe, expect, it } from "vitest"
import * as PrometheusText from "../../src/response/PrometheusText.ts"

const one = `# HELP requests_total Requests, by a "label" of \\\\ theirs
# TYPE requests_total counter
requests_total{path="/a b",status="200"} 3
requests_total{path="}",status="200"} 1
# TYPE queue gauge
queue 2.5
# HELP seconds Seconds
# TYPE seconds histogram
seconds_bucket{le="0.1"} 1
seconds_bucket{le="+Inf"} 2
seconds_sum 1.25
seconds_count 2
`

const other = `# HELP requests_total Requests, by a "label" of \\\\ theirs
# TYPE requests_total counter
requests_total{path="/a b",status="200"} 4
requests_total{path="/a b",status="404"} 1
# HELP seconds Seconds
# TYPE seconds histogram
seconds_bucket{le="0.1"} 0
seconds_bucket{le="+Inf"} 1
seconds_sum 0.5
seconds_count 1
# TYPE nodejs_eventloop_lag_seconds gauge
nodejs_eventloop_lag_seconds 0.2
`

describe("Exposition", () => {
  it("renders what it parsed without a change", () => {
    expect(PrometheusText.render(PrometheusText.parse(one))).toBe(one)
    expect(PrometheusText.render(PrometheusText.parse(""))).toBe("")
  })

  it("adds up series with the same name and labels, and describes each family once", () => {
    const lag = PrometheusText.gauge("nodejs_eventloop_lag_seconds", "Lag", 0.1)
    expect(PrometheusText.render(PrometheusText.sum([...[one, other].map(PrometheusText.parse), lag]))).toBe(
      `# HELP requests_total Requests, by a "label" of \\\\ theirs
# TYPE requests_total counter
requests_total{path="/a b",status="200"} 7
requests_total{path="}",status="200"} 1
requests_total{path="/a b",status="404"} 1
# TYPE queue gauge
queue 2.5
# HELP seconds Seconds
# TYPE seconds histogram
seconds_bucket{le="0.1"} 1
seconds_bucket{le="+Inf"} 3
seconds_sum 1.75
seconds_count 3
# TYPE nodejs_eventloop_lag_seconds gauge
nodejs_eventloop_lag_seconds 0.2
`
    )
  })

  it("removes gauges, and keeps counters and histograms", () => {
    expect(Array.from(PrometheusText.withoutGauges(PrometheusText.parse(one)).keys())).toEqual([
      "requests_total",
      "seconds"
    ])
  })
})
