import { fileURLToPath } from "node:url"
import * as Http from "../harness/Http.ts"
import * as Ledger from "../harness/Ledger.ts"
import * as Processes from "../harness/Processes.ts"
import type { Server } from "../harness/Server.ts"
import { type Fault, MissingRequirement } from "../harness/Trial.ts"

const shiftedClock = fileURLToPath(new URL("../harness/ShiftedClock.ts", import.meta.url))

const halfHourMs = 1_800_000

/** Events per page: few, to read many pages. */
const pageSize = 20

/** Pause of a client between two events (ms): without it, the longer pages are read, the more there are of them. */
const restMs = 50

/**
 * The ids of all events, read page by page; in ascending order up to the page with this id, if it is given: pages would follow what
 * is recorded meanwhile.
 */
const readAll = async (server: Server, order: "asc" | "desc", last?: string): Promise<ReadonlyArray<string>> => {
  const http = Http.open(server.url, server.key)
  const ids: Array<string> = []
  const query = new URLSearchParams({ order, limit: String(pageSize) })
  for (;;) {
    const { status, text } = await http.call("GET", `/api/v1/events?${query}`)
    if (status !== 200) throw new Error(`A page was answered with ${status} ${text}`)
    const page = JSON.parse(text)
    for (const event of page.events) ids.push(event.event_id)
    if (page.next_cursor === null || (order === "asc" && last !== undefined && ids.at(-1)! >= last)) break
    query.set("cursor", page.next_cursor)
  }
  http.close()
  return ids
}

export const clock: Fault = {
  name: "clock",
  promise: "the clock jumps an hour ahead and behind; ids still increase, and pages lose and repeat no event",
  storages: ["sqlite", "postgres"],
  rounds: 3,
  run: async (trial) => {
    const server = await trial.serve({ env: { NODE_OPTIONS: `--import="${shiftedClock}"` } })
    const earlier = await readAll(server, "asc")
    const all: Array<Ledger.Entry> = []
    await trial.eachRound(async (round) => {
      const random = trial.random(round)
      const load = await trial.load(server, { name: `round ${round}`, clients: 8, restMs })
      // An hour ahead, back, an hour behind, and back.
      for (let jump = 1; jump <= 4; jump++) {
        await load.acknowledged(random(10, 60))
        Processes.signal([server.pid], "SIGUSR2")
        const before = Ledger.acknowledged([...all, ...load.entries])
        const newest = before
          .map(({ id }) => id)
          .toSorted()
          .at(-1)
        const ids = await readAll(server, jump % 2 === 1 ? "asc" : "desc", newest)
        const unique = new Set(ids)
        trial.expect(unique.size === ids.length, `round ${round}, jump ${jump}: pages repeat events`)
        const lost = before.filter(({ id }) => !unique.has(id))
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
      if (times.at(-1)! - times[0]! < halfHourMs) {
        throw new MissingRequirement("The fault needs a server that runs on Node: the server's clock did not jump.")
      }
      for (const { after, id } of events) {
        trial.expect(id > after, `round ${round}: ${id} was assigned after ${after}, but is not greater`)
      }
      const sorted = [...earlier, ...Ledger.acknowledged(all).map(({ id }) => id)].sort()
      const [asc, desc] = [await readAll(server, "asc"), await readAll(server, "desc")]
      trial.expect(
        JSON.stringify(asc) === JSON.stringify(sorted),
        `round ${round}: pages differ from the acknowledged events and the earlier ones`
      )
      trial.expect(
        JSON.stringify(desc.toReversed()) === JSON.stringify(asc),
        `round ${round}: ascending and descending pages differ`
      )
      trial.sent(entries)
    })
  }
}
