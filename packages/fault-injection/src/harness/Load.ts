/** Clients that send events, one after the other each, and write down what became of every one. */
import { setTimeout as wait } from "node:timers/promises"
import * as Events from "./Events.ts"
import * as Http from "./Http.ts"
import type { Entry, Outcome } from "./Ledger.ts"
import type { Server } from "./Server.ts"

export interface Options {
  readonly clients: number
  /** Of the sessions' names: no two loads may share it. */
  readonly name: string
  /** Letters of each message; 500 unless given. */
  readonly size?: number
  /** Between a refusal and the next event, in milliseconds; 20 unless given. */
  readonly pause?: number
  /** Whether each event is sent again under its `Idempotency-Key`, until it is acknowledged. */
  readonly repeats?: boolean
}

export interface Load {
  readonly entries: ReadonlyArray<Entry>
  /** Waits until so many were acknowledged, or fails after half a minute. */
  readonly acknowledged: (count: number) => Promise<void>
  /** The same for refusals. */
  readonly refused: (count: number) => Promise<void>
  /** Waits for the answers that are due. */
  readonly stop: () => Promise<ReadonlyArray<Entry>>
}

/** Calls of one session. */
const calls = 12

/** Where nobody listens, and after a refusal, in milliseconds. */
const moment = 20

const patience = 30_000

/** A fingerprint for events to name. */
export const fingerprint = async (http: Http.Http): Promise<string> => {
  const body = JSON.stringify({ language: "typescript", language_version: "7", system: "linux" })
  const { status, text } = await http.call("PUT", "/api/v1/fingerprints", body)
  if (status !== 200) throw new Error(`A fingerprint was refused: ${status} ${text}`)
  return JSON.parse(text).fingerprint_id
}

const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code

export const start = async (server: Server, options: Options): Promise<Load> => {
  const { clients, name, pause = moment, repeats = false, size = 500 } = options
  const http = Http.open(server.url, server.key)
  const fingerprintId = await fingerprint(http)
  const entries: Array<Entry> = []
  let isRunning = true
  const seen = { acknowledged: 0, refused: 0, unknown: 0 }
  let latest = ""

  /** Undefined where nobody listened: nothing was sent. */
  const send = async (
    place: Events.Place
  ): Promise<{ readonly outcome: Outcome; readonly pause: number } | undefined> => {
    const headers = repeats ? { "idempotency-key": Events.markerOf(place) } : {}
    try {
      const answer = await http.call("POST", "/api/v1/events", Events.bodyOf(place, fingerprintId), headers)
      const body = JSON.parse(answer.text)
      if (answer.status === 200) {
        const isReplay = answer.headers["idempotent-replayed"] === "true"
        return { outcome: { is: "acknowledged", id: body.event_id, receivedAt: body.received_at, isReplay }, pause: 0 }
      }
      return { outcome: { is: "refused", why: `${answer.status} ${body.type}` }, pause }
    } catch (error) {
      if (codeOf(error) === "ECONNREFUSED") return undefined
      return { outcome: { is: "unknown", why: codeOf(error) ?? String(error) }, pause: moment }
    }
  }

  const client = async (number: number) => {
    for (let sent = 0; isRunning;) {
      const session = `${name} ${number}.${Math.floor(sent / calls)}`
      const place: Events.Place = { session, call: (sent % calls) + 1, size }
      const after = latest
      const began = performance.now()
      let last = await send(place)
      // Even when the load is stopped: what was begun is brought to its end.
      while (repeats && last?.outcome.is !== "acknowledged" && performance.now() - began < patience) {
        await wait(last?.pause ?? moment)
        last = (await send(place)) ?? last
      }
      if (last === undefined) {
        await wait(moment)
        continue
      }
      sent++
      entries.push({ ...place, after, outcome: last.outcome, ms: performance.now() - began })
      seen[last.outcome.is]++
      if (last.outcome.is === "acknowledged") {
        if (last.outcome.id > latest) latest = last.outcome.id
      } else if (isRunning) await wait(last.pause)
    }
  }

  const working = Promise.all(Array.from({ length: clients }, (_, number) => client(number)))
  const more = async (kind: Outcome["is"], count: number) => {
    const until = seen[kind] + count
    const began = performance.now()
    while (seen[kind] < until) {
      if (performance.now() - began > patience) {
        throw new Error(`Of ${count} events, ${seen[kind] + count - until} were ${kind} in ${patience} ms`)
      }
      await wait(5)
    }
  }
  return {
    entries,
    acknowledged: (count) => more("acknowledged", count),
    refused: (count) => more("refused", count),
    stop: async () => {
      isRunning = false
      await working
      http.close()
      return entries
    }
  }
}
