import { fileURLToPath } from "node:url"
import * as Http from "../harness/Http.ts"
import * as Ledger from "../harness/Ledger.ts"
import * as Processes from "../harness/Processes.ts"
import type { Server } from "../harness/Server.ts"
import { type Fault, LeftOut } from "../harness/Trial.ts"

const shiftedClock = fileURLToPath(new URL("../harness/ShiftedClock.ts", import.meta.url))

const halfAnHour = 1_800_000

/** Events of one page: few, so that many pages are turned. */
const pageSize = 20

/** The ids of all events, page by page. */
const walk = async (server: Server, order: "asc" | "desc"): Promise<ReadonlyArray<string>> => {
  const http = Http.open(server.url, server.key)
  const ids: Array<string> = []
  const query = new URLSearchParams({ order, limit: String(pageSize) })
  for (;;) {
    const { status, text } = await http.call("GET", `/api/v1/events?${query}`)
    if (status !== 200) throw new Error(`A page was refused: ${status} ${text}`)
    const page = JSON.parse(text)
    for (const event of page.events) ids.push(event.event_id)
    if (page.next_cursor === null) break
    query.set("cursor", page.next_cursor)
  }
  http.close()
  return ids
}

export const clock: Fault = {
  name: "clock",
  promise: "the clock jumps an hour back and forth; ids keep rising, and pages lose and repeat nothing",
  storages: ["sqlite", "postgres"],
  rounds: 3,
  run: async (trial) => {
    const server = await trial.serve({ env: { NODE_OPTIONS: `--import="${shiftedClock}"` } })
    const all: Array<Ledger.Entry> = []
    await trial.eachRound(async (round) => {
      const random = trial.random(round)
      const load = await trial.load(server, { name: `round ${round}`, clients: 8 })
      // Ahead, back, behind, and back.
      for (let jump = 1; jump <= 4; jump++) {
        await load.acknowledged(random(10, 60))
        Processes.signal([server.pid], "SIGUSR2")
        const before = Ledger.acknowledged([...all, ...load.entries])
        const ids = await walk(server, jump % 2 === 1 ? "asc" : "desc")
        const seen = new Set(ids)
        trial.expect(seen.size === ids.length, `round ${round}, jump ${jump}: pages repeat events`)
        const lost = before.filter(({ id }) => !seen.has(id))
        trial.expect(
          lost.length === 0,
          `round ${round}, jump ${jump}: pages lose ${lost.map(({ id }) => id).join(", ")}`
        )
      }
      await load.acknowledged(10)
      const entries = await load.stop()
      all.push(...entries)
      const events = Ledger.acknowledged(entries)
      const times = events.map(({ receivedAt }) => Date.parse(receivedAt)).sort((a, b) => a - b)
      if (times.at(-1)! - times[0]! < halfAnHour)
        throw new LeftOut("the server's clock did not jump: is it no Node program?")
      for (const { after, id } of events) {
        trial.expect(id > after, `round ${round}: ${id} came after ${after}`)
      }
      const sorted = Ledger.acknowledged(all)
        .map(({ id }) => id)
        .sort()
      const [asc, desc] = [await walk(server, "asc"), await walk(server, "desc")]
      trial.expect(
        JSON.stringify(asc) === JSON.stringify(sorted),
        `round ${round}: pages are not what was acknowledged`
      )
      trial.expect(
        JSON.stringify(desc.toReversed()) === JSON.stringify(asc),
        `round ${round}: pages differ by their order`
      )
      trial.sent(entries)
    })
  }
}
