/** Process that reads from a server until it is told to stop: `ReadersProcess.ts URL READING`. */
import type { Reading, ReadersResult } from "./Readers.ts"
import { answerTo, clientOf } from "./Servers.ts"

const [url = "", text = ""] = process.argv.slice(2)
const reading = JSON.parse(text) as Reading

/** Pages between two large events. */
const pagesPerLargeEvent = 5

/** In no event. */
const rareWord = "quizzaciously"

const { get } = clientOf(url)
const result = { pages: 0, largeEvents: 0, exported: 0, longestMs: 0 }

const read = async (path: string) => {
  const startedAt = performance.now()
  const bytes = await get(path)
  result.longestMs = Math.max(result.longestMs, performance.now() - startedAt)
  return bytes
}

/** One page after the other, and again from the first. */
const readPages = async (path: string, afterPage: (n: number) => Promise<void> = async () => {}) => {
  let cursor = ""
  for (let n = 1; ; n++) {
    const page = (await read(`${path}${cursor}`)).toString()
    result.pages++
    const next = /"next_cursor":"([^"]+)"/.exec(page)?.[1]
    cursor = next === undefined ? "" : `&cursor=${next}`
    await afterPage(n)
  }
}

const readLarge = (largeEvents: ReadonlyArray<string>) => async (n: number) => {
  if (n % pagesPerLargeEvent > 0) return
  await read(`/api/v1/events/${largeEvents[n % largeEvents.length]}`)
  result.largeEvents++
}

const exportAll = async () => {
  for await (const chunk of await answerTo(url, "/api/v1/export")) result.exported += chunk.length
}

const readersOf = (given: Reading): ReadonlyArray<() => Promise<unknown>> => {
  if (given.kind === "search") return [() => readPages(`/api/v1/search?q=${rareWord}`)]
  if (given.kind === "pages") {
    const reader = () => readPages("/api/v1/events?limit=100", readLarge(given.largeEvents))
    return Array.from({ length: given.clients }, () => reader)
  }
  return [
    async () => {
      for (;;) await exportAll()
    }
  ]
}

for (const reader of readersOf(reading)) {
  reader().catch((error) => {
    console.error(error)
    process.exit(1)
  })
}

process.once("message", () => process.send?.(result satisfies ReadersResult))
process.once("disconnect", () => process.exit(0))
