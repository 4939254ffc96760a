/** How long the pages of the viewer take in a real browser, and what two of them take from recording. */
import { defaultProject, derive, Storage, Throttle } from "@tachograph/core"
import * as Effect from "effect/Effect"
import * as Databases from "../harness/Databases.ts"
import * as Load from "../harness/Load.ts"
import { largest } from "../harness/Options.ts"
import * as SeededStore from "../harness/SeededStore.ts"
import * as Serve from "../harness/Serve.ts"
import { clientOf } from "../harness/Servers.ts"
import { integer, megabytes, print, progress, spread } from "../harness/Table.ts"
import { ratioOf } from "../serving/Comparison.ts"
import type { Options } from "../serving/Options.ts"
import * as Browser from "./Browser.ts"
import * as Stored from "./Stored.ts"

const connections = 64

const percentile95 = (values: ReadonlyArray<number>): number =>
  values.toSorted((a, b) => a - b)[Math.ceil(0.95 * values.length) - 1]!

const repeat = async <A>(count: number, name: string, once: () => Promise<A>): Promise<ReadonlyArray<A>> => {
  const all: Array<A> = []
  for (let run = 1; run <= count; run++) {
    progress(`viewer: ${name}, ${run} of ${count}`)
    all.push(await once())
  }
  return all
}

type Row = readonly [what: string, measured: string, target: string]

const msOf = (all: ReadonlyArray<number>): string => `${spread(all, 0)} ms`

const ofPages = async (browser: Browser.Browser, url: string, options: Options): Promise<ReadonlyArray<Row>> => {
  const client = clientOf(url)
  const workload = largest(options)
  progress(`viewer: recording ${workload.name}`)
  const stored = await Stored.record(client, workload)
  client.close()
  const place = (session: string) => `#/sessions/${encodeURIComponent(session)}`

  const run = await repeat(options.runs, workload.name, async () => {
    const opened = await Browser.open(browser, url, place(stored.session), ".list-row")
    const moved = await opened.movedBytes()
    await opened.close()
    return { shown: opened.shownAfterMs, moved }
  })
  const long = await repeat(options.runs, "10,000 messages", async () => {
    const opened = await Browser.open(browser, url, place(Stored.longSession), ".list-row")
    await opened.movedBytes()
    const frames = await Browser.framesWhileScrolling(opened.page, ".scroller", options.seconds)
    await opened.close()
    return { shown: opened.shownAfterMs, frame: percentile95(frames) }
  })
  const large = await repeat(options.runs, "30 MB", async () => {
    const opened = await Browser.open(browser, url, `#/events/${stored.largeEventId}?tab=raw`, ".raw-row")
    await opened.movedBytes()
    const { page } = opened
    await page.keyboard.press("Control+f")
    const field = page.getByRole("textbox", { name: "Find in this page" })
    await field.waitFor()
    const startedAt = performance.now()
    await field.fill("the NEEDLE is")
    await page.locator(".find output").getByText("1 of 1").waitFor()
    const found = performance.now() - startedAt
    await opened.close()
    return { shown: opened.shownAfterMs, found }
  })
  return [
    [`${workload.name}, ${integer(stored.calls)} calls: on screen`, msOf(run.map(({ shown }) => shown)), "≤ 700 ms"],
    ["the same: moved", `${megabytes(Math.max(...run.map(({ moved }) => moved)))} MB`, "≤ 0.3 MB"],
    ["10,000 messages: on screen", msOf(long.map(({ shown }) => shown)), "≤ 1,000 ms"],
    ["the same, scrolled: 95 % of frames", msOf(long.map(({ frame }) => frame)), "≤ 33 ms"],
    ["an event of 30 MB: first line", msOf(large.map(({ shown }) => shown)), "≤ 2,000 ms"],
    ["the same: found its last line", msOf(large.map(({ found }) => found)), "≤ 300 ms"]
  ]
}

const ofManySessions = async (browser: Browser.Browser, options: Options): Promise<ReadonlyArray<Row>> => {
  const database = Databases.sqlite()
  await Effect.runPromise(
    Effect.provide(
      Effect.gen(function* () {
        const storage = yield* Storage
        yield* Effect.promise(() => SeededStore.fill(storage, options.events, () => {}))
        // As a server does beside recording.
        yield* derive(storage, defaultProject, Throttle.unthrottled)
      }),
      database.storage
    )
  )
  const served = await Serve.serve(Databases.urlOf(database))
  try {
    // The first answer starts the thread that reads.
    const shown = await repeat(options.runs + 1, `${integer(options.events)} events`, async () => {
      const opened = await Browser.open(browser, served.url, "#/sessions", ".sessions .id")
      await opened.close()
      return opened.shownAfterMs
    })
    return [[`sessions of ${integer(options.events)} events: first page`, msOf(shown.slice(1)), "≤ 500 ms"]]
  } finally {
    await served.stop()
    await database.remove()
  }
}

/** Long enough (s) for the pages to ask again, which they do less often while a server is busy. */
const leastSeconds = 20

/** Recording with two pages open that follow it, and without, in turns. */
const ofRecording = async (browser: Browser.Browser, url: string, options: Options): Promise<ReadonlyArray<Row>> => {
  const load = { url, connections, seconds: Math.max(leastSeconds, options.seconds) }
  await Load.run({ ...load, seconds: 2 })
  const withPages = async () => {
    const pages = [
      await Browser.open(browser, url, "#/live", "tbody tr"),
      await Browser.open(browser, url, "#/sessions", ".sessions .id")
    ]
    const { perSecond } = await Load.run(load)
    for (const { close } of pages) await close()
    return perSecond
  }
  const alone: Array<number> = []
  const beside: Array<number> = []
  await repeat(options.runs, "recording", async () => {
    const measureAlone = async () => void alone.push((await Load.run(load)).perSecond)
    const measureBeside = async () => void beside.push(await withPages())
    // Neither is always the second, over more data.
    const order = alone.length % 2 === 0 ? [measureAlone, measureBeside] : [measureBeside, measureAlone]
    for (const measure of order) await measure()
  })
  return [
    [
      "recording with two pages open ÷ without, events/s",
      `${spread(beside, 0)} ÷ ${spread(alone, 0)}: ${ratioOf(beside, alone)}`,
      "≥ 0.9×"
    ]
  ]
}

export const viewer = async (options: Options): Promise<void> => {
  const browser = await Browser.launch()
  const database = Databases.sqlite()
  const served = await Serve.serve(Databases.urlOf(database))
  try {
    const rows = [
      ...(await ofPages(browser, served.url, options)),
      ...(await ofRecording(browser, served.url, options)),
      ...(await ofManySessions(browser, options))
    ]
    print({
      title: "The viewer in headless Chromium",
      columns: ["what", "measured", "target"],
      rows,
      notes: [
        `Each in a window of its own with an empty cache, over SQLite; medians of ${options.runs} (range). Server, browser and load share the ` +
          "machine. Frames are the times between two of them while a wheel scrolls as fast as the page takes it. The pages beside recording " +
          `show the live calls and the list of sessions; ${connections} connections record.`
      ]
    })
  } finally {
    await browser.close()
    await served.stop()
    await database.remove()
  }
}
