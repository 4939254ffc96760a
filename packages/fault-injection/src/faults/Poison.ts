import { setTimeout as wait } from "node:timers/promises"
import * as Events from "../harness/Events.ts"
import * as Http from "../harness/Http.ts"
import type { Entry } from "../harness/Ledger.ts"
import * as Load from "../harness/Load.ts"
import type { Store } from "../harness/Store.ts"
import type { Fault } from "../harness/Trial.ts"

/** Concurrent events. */
const concurrentEvents = 100

/** A slow machine refuses a part of the concurrent events as `overloaded`. */
const maxAttempts = 10

/** Makes the database reject a session. */
const reject = (store: Store, session: string) =>
  store.run(
    store.kind === "sqlite"
      ? `CREATE TRIGGER "${session}" BEFORE INSERT ON sessions WHEN NEW.session_id = '${session}'
         BEGIN SELECT RAISE(ABORT, 'rejected by the fault'); END`
      : `ALTER TABLE sessions ADD CONSTRAINT "${session}" CHECK (session_id <> '${session}')`
  )

export const poison: Fault = {
  name: "poison",
  promise: "the database rejects one of 100 concurrent events; 99 × 200 and one error",
  storages: ["sqlite", "postgres"],
  rounds: 3,
  run: async (trial) => {
    const server = await trial.serve()
    const http = Http.open(server.url, server.key)
    const fingerprintId = await Load.fingerprint(http)
    /** Sends an event. If the server is overloaded, sends it again when the server says. */
    const send = async (spec: Events.EventSpec, attemptsLeft = maxAttempts): Promise<Entry> => {
      const { headers, status, text } = await http.call("POST", "/api/v1/events", Events.bodyOf(spec, fingerprintId))
      const body = JSON.parse(text)
      if (body.type === "overloaded" && attemptsLeft > 1) {
        await wait(1000 * Number(headers["retry-after"]))
        return send(spec, attemptsLeft - 1)
      }
      return {
        ...spec,
        after: "",
        ms: 0,
        outcome:
          status === 200
            ? { kind: "acknowledged", id: body.event_id, receivedAt: body.received_at, isReplay: false }
            : { kind: "refused", reason: `${status} ${body.type}`, retryAfter: headers["retry-after"] }
      }
    }
    await trial.eachRound(async (round) => {
      const rejected = trial.random(round)(1, concurrentEvents)
      const sessionOf = (n: number) => `poison ${round}.${n}`
      await reject(trial.store, sessionOf(rejected))
      const entries = await Promise.all(
        Array.from({ length: concurrentEvents }, (_, n) => send({ session: sessionOf(n + 1), call: 1, size: 500 }))
      )
      for (const { outcome, session } of entries) {
        const expected = session === sessionOf(rejected) ? "500 internal" : "acknowledged"
        const actual = outcome.kind === "refused" ? outcome.reason : outcome.kind
        trial.expect(actual === expected, `${session} was ${actual}: expected ${expected}`)
      }
      trial.sent(entries)
    })
    http.close()
  }
}
