/** Times as people ask for them. The server reads them, and so do the pages of the viewer: both say the same of each. */

/** Half an hour into a day in Berlin whose day before had 23 hours. */
export const now = "2026-03-29T22:30:00.000Z"

export const zone = "Europe/Berlin"

/** What they mean now in this zone. */
export const meanings: ReadonlyArray<readonly [text: string, iso: string]> = [
  ["today", "2026-03-29T22:00:00.000Z"],
  ["yesterday", "2026-03-28T23:00:00.000Z"],
  ["2026-03-28", "2026-03-27T23:00:00.000Z"],
  ["2024-02-29", "2024-02-28T23:00:00.000Z"],
  ["90m", "2026-03-29T21:00:00.000Z"],
  ["24h", "2026-03-28T22:30:00.000Z"],
  ["7d", "2026-03-22T22:30:00.000Z"],
  ["4w", "2026-03-01T22:30:00.000Z"]
]

/** No times. */
export const none: ReadonlyArray<string> = [
  ...["", "tomorrow", "Today", "0h", "01h", "100000h", "24", "7y", "1767225600"],
  ...["2026-02-30", "2025-02-29", "2026-13-01", "2026-00-10", "2026-99-99", "2026-1-1"]
]
