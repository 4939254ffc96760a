import { describe, expect, it } from "vitest"
import { type Row, rowsOf } from "../../app/pages/session/TraceRows.ts"
import type { Call, Step } from "../../app/server/Types.ts"

const at = (ms: number): string => new Date(ms).toISOString()

const step = (span_id: string, parent_span_id: string | null, ms: number, duration_ms: number | null = 1) =>
  ({ trace_id: "t", span_id, parent_span_id, occurred_at: at(ms), duration_ms }) as Step

const call = (event_id: string, parent: unknown, ms: number, trace_id: string | null = "t") =>
  ({
    ...{ event_id, trace_id, span_id: event_id, occurred_at: at(ms), duration_ms: 2 },
    recorded: { otlp: { parent } }
  }) as unknown as Call

const written = (rows: ReadonlyArray<Row>) =>
  rows.map((row) => {
    if (row.kind === "trace") return `${row.id} ${row.durationMs} ms`
    return `${"  ".repeat(row.depth)}${row.kind === "call" ? row.call.event_id : row.step.span_id} ${row.begin} ${row.length}`
  })

describe("rowsOf", () => {
  it("makes a tree of each trace, by the starts of its spans; what began together is longest first", () => {
    const rows = rowsOf(
      [call("c2", "a", 6), call("c1", "a", 0), call("alone", null, 3, null)],
      [step("tool", "a", 4, 2), step("a", null, 0, 8), step("b", "c1", 1, null), step("orphan", "gone", 7)]
    )
    expect(written(rows)).toEqual([
      "t 8 ms",
      "a 0 1",
      "  c1 0 0.25",
      "    b 0.125 0",
      "  tool 0.5 0.25",
      "  c2 0.75 0.25",
      "orphan 0.875 0.125",
      "null 2 ms",
      "alone 0 1"
    ])
  })

  it("leaves out nothing: spans that are their own ancestors, or have the same id", () => {
    const rows = rowsOf([call("c", 5, 9)], [step("a", "b", 0), step("b", "a", 1), step("s", "s", 2), step("c", "s", 3)])
    expect(
      written(rows)
        .slice(1)
        .map((row) => row.split(/ (?=\d)/)[0])
    ).toEqual(["s", "  c", "c", "a", "  b"])
  })

  it("takes spans below one another as deep as they come", () => {
    const steps = Array.from({ length: 20_000 }, (_, index) => step(String(index), String(index - 1), index))
    const last = rowsOf([], steps).at(-1)
    expect(last).toMatchObject({ kind: "step", depth: 19_999 })
  })
})
