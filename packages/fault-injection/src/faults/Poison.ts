import * as Events from "../harness/Events.ts"
import * as Http from "../harness/Http.ts"
import type { Entry } from "../harness/Ledger.ts"
import * as Load from "../harness/Load.ts"
import type { Store } from "../harness/Store.ts"
import type { Fault } from "../harness/Trial.ts"

/** At once. */
const events = 100

/** Has the database refuse a session. */
const refuse = (store: Store, session: string) =>
  store.run(
    store.kind === "sqlite"
      ? `CREATE TRIGGER "${session}" BEFORE INSERT ON sessions WHEN NEW.session_id = '${session}'
         BEGIN SELECT RAISE(ABORT, 'as the fault wants it'); END`
      : `ALTER TABLE sessions ADD CONSTRAINT "${session}" CHECK (session_id <> '${session}')`
  )

export const poison: Fault = {
  name: "poison",
  promise: "the database refuses one event of 100 sent at once; 99 × 200 and one error",
  storages: ["sqlite", "postgres"],
  rounds: 3,
  run: async (trial) => {
    const server = await trial.serve()
    const http = Http.open(server.url, server.key)
    const fingerprintId = await Load.fingerprint(http)
    const send = async (place: Events.Place): Promise<Entry> => {
      const { status, text } = await http.call("POST", "/api/v1/events", Events.bodyOf(place, fingerprintId))
      const body = JSON.parse(text)
      return {
        ...place,
        after: "",
        ms: 0,
        outcome:
          status === 200
            ? { is: "acknowledged", id: body.event_id, receivedAt: body.received_at, isReplay: false }
            : { is: "refused", why: `${status} ${body.type}` }
      }
    }
    await trial.eachRound(async (round) => {
      const poisonous = trial.random(round)(1, events)
      const sessionOf = (n: number) => `poison ${round}.${n}`
      await refuse(trial.store, sessionOf(poisonous))
      const entries = await Promise.all(
        Array.from({ length: events }, (_, n) => send({ session: sessionOf(n + 1), call: 1, size: 500 }))
      )
      for (const { outcome, session } of entries) {
        const expected = session === sessionOf(poisonous) ? "500 internal" : "acknowledged"
        const seen = outcome.is === "refused" ? outcome.why : outcome.is
        trial.expect(seen === expected, `${session} was ${seen}: expected ${expected}`)
      }
      trial.sent(entries)
    })
    http.close()
  }
}
