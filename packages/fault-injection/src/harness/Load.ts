/** Concurrent clients that send events one after the other and record each outcome. */
import { setImmediate as nextTurn, setTimeout as wait } from "node:timers/promises"
import * as Events from "./Events.ts"
import * as Http from "./Http.ts"
import type { Entry, Outcome } from "./Ledger.ts"
import type { Server } from "./Server.ts"

export interface Options {
  readonly clients: number
  /** Prefix of the session names: unique for each load. */
  readonly name: string
  /** Characters of each message. Default: 500. */
  readonly size?: number
  /** Pause after a refused event (ms). Default: 20. */
  readonly pauseMs?: number
  /** Pause of a client after an acknowledged event (ms). Default: none. */
  readonly restMs?: number
  /** Whether to retry each event with its `Idempotency-Key` until it is acknowledged. */
  readonly retries?: boolean
}

export interface Load extends Pick<Options, "clients"> {
  readonly entries: ReadonlyArray<Entry>
  /** Waits until `count` more events are acknowledged. Rejects after 30 s. */
  readonly acknowledged: (count: number) => Promise<void>
  /** Waits until `count` more events are refused. Rejects after 30 s. */
  readonly refused: (count: number) => Promise<void>
  /** Stops sending, and waits for outstanding responses. */
  readonly stop: () => Promise<ReadonlyArray<Entry>>
}

/** Events per session. */
const eventsPerSession = 12

/** Pause after a broken connection, and after a refusal by default (ms). */
const defaultPauseMs = 20

/** Pause after a refused connection (ms): the server has ended, and until the next one starts each attempt fails. */
const refusedConnectionPauseMs = 100

const timeoutMs = 30_000

/** Registers a fingerprint and returns its id. */
export const fingerprint = async (http: Http.Http): Promise<string> => {
  const body = JSON.stringify({ language: "typescript", language_version: "7", system: "linux" })
  const { status, text } = await http.call("PUT", "/api/v1/fingerprints", body)
  if (status !== 200) throw new Error(`A fingerprint was refused: ${status} ${text}`)
  return JSON.parse(text).fingerprint_id
}

const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code

/** The type of an error. An answer that is not the server's own has none, and is a refusal nevertheless. */
const typeOf = (text: string): string => {
  try {
    return JSON.parse(text).type
  } catch {
    return "without a type"
  }
}

export const start = async (server: Server, options: Options): Promise<Load> => {
  const { clients, name, pauseMs = defaultPauseMs, restMs = 0, retries = false, size = 500 } = options
  const http = Http.open(server.url, server.key)
  const fingerprintId = await fingerprint(http)
  const entries: Array<Entry> = []
  let isRunning = true
  const counts = { acknowledged: 0, refused: 0, unknown: 0 }
  let latestId = ""

  let lastTurn = Promise.resolve()
  /**
   * Resolves in a turn of the event loop of its own. Clients whose pauses end together would make all their bodies in one turn, and read
   * the first answer after the last body: that time would count as the server's.
   */
  const ownTurn = () => (lastTurn = lastTurn.then(() => nextTurn()))

  /** Undefined if the connection was refused, so that nothing was sent. */
  const send = async (
    spec: Events.EventSpec,
    body: string
  ): Promise<{ readonly outcome: Outcome; readonly pauseMs: number } | undefined> => {
    const headers = retries ? { "idempotency-key": Events.markerOf(spec) } : {}
    try {
      const answer = await http.call("POST", "/api/v1/events", body, headers)
      if (answer.status === 200) {
        const isReplay = answer.headers["idempotent-replayed"] === "true"
        const { event_id: id, received_at: receivedAt } = JSON.parse(answer.text)
        return { outcome: { kind: "acknowledged", id, receivedAt, isReplay }, pauseMs: restMs }
      }
      const retryAfter = answer.headers["retry-after"]
      return { outcome: { kind: "refused", reason: `${answer.status} ${typeOf(answer.text)}`, retryAfter }, pauseMs }
    } catch (error) {
      if (codeOf(error) === "ECONNREFUSED") return undefined
      return { outcome: { kind: "unknown", reason: codeOf(error) ?? String(error) }, pauseMs: defaultPauseMs }
    }
  }

  const client = async (number: number) => {
    for (let sent = 0; isRunning;) {
      const session = `${name} ${number}.${Math.floor(sent / eventsPerSession)}`
      const spec: Events.EventSpec = { session, call: (sent % eventsPerSession) + 1, size }
      await ownTurn()
      const body = Events.bodyOf(spec, fingerprintId)
      const after = latestId
      const startedAt = performance.now()
      let last = await send(spec, body)
      // Retries continue after `stop`, until the event is acknowledged.
      while (retries && last?.outcome.kind !== "acknowledged" && performance.now() - startedAt < timeoutMs) {
        await wait(last?.pauseMs ?? refusedConnectionPauseMs)
        last = (await send(spec, body)) ?? last
      }
      if (last === undefined) {
        if (isRunning) await wait(refusedConnectionPauseMs)
        continue
      }
      sent++
      entries.push({ ...spec, after, outcome: last.outcome, ms: performance.now() - startedAt })
      counts[last.outcome.kind]++
      if (last.outcome.kind === "acknowledged") {
        if (last.outcome.id > latestId) latestId = last.outcome.id
      }
      if (isRunning && last.pauseMs > 0) await wait(last.pauseMs)
    }
  }

  const working = Promise.all(Array.from({ length: clients }, (_, number) => client(number)))
  const waitFor = async (kind: Outcome["kind"], count: number) => {
    const initial = counts[kind]
    const startedAt = performance.now()
    while (counts[kind] < initial + count) {
      if (performance.now() - startedAt > timeoutMs) {
        throw new Error(`Expected ${count} ${kind} events within ${timeoutMs} ms, got ${counts[kind] - initial}`)
      }
      await wait(5)
    }
  }
  return {
    clients,
    entries,
    acknowledged: (count) => waitFor("acknowledged", count),
    refused: (count) => waitFor("refused", count),
    stop: async () => {
      isRunning = false
      await working
      http.close()
      return entries
    }
  }
}
