/** Process that reads from a server until it is told to stop: `ReadersProcess.ts URL CLIENTS EVENT_ID...`. */
import type { ReadersResult } from "./Readers.ts"
import { clientOf } from "./Servers.ts"

const [url = "", clients = "0", ...largeEvents] = process.argv.slice(2)

/** Pages between two large events. */
const pagesPerLargeEvent = 5

const { get } = clientOf(url)
const result = { pages: 0, largeEvents: 0, longestMs: 0 }

const read = async (path: string) => {
  const startedAt = performance.now()
  const bytes = await get(path)
  result.longestMs = Math.max(result.longestMs, performance.now() - startedAt)
  return bytes
}

const readAll = async () => {
  let cursor = ""
  for (let n = 1; ; n++) {
    const page = (await read(`/api/v1/events?limit=100${cursor}`)).toString()
    result.pages++
    const next = /"next_cursor":"([^"]+)"/.exec(page)?.[1]
    cursor = next === undefined ? "" : `&cursor=${next}`
    if (n % pagesPerLargeEvent > 0) continue
    await read(`/api/v1/events/${largeEvents[n % largeEvents.length]}`)
    result.largeEvents++
  }
}

for (let client = 0; client < Number(clients); client++) {
  readAll().catch((error) => {
    console.error(error)
    process.exit(1)
  })
}

process.once("message", () => process.send?.(result satisfies ReadersResult))
process.once("disconnect", () => process.exit(0))
