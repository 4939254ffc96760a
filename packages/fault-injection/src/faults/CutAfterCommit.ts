import { CuttingProxy } from "@tachograph/testkit"
import { setTimeout as wait } from "node:timers/promises"
import * as Ledger from "../harness/Ledger.ts"
import type { Fault } from "../harness/Trial.ts"

/**
 * What the database says when events are committed: the CommandComplete message of a COMMIT, or of a statement outside of a transaction
 * that returns a row, as the one does that appends events. https://www.postgresql.org/docs/current/protocol-message-formats.html
 */
const committed = {
  citus: Buffer.from("C\0\0\0\x0bCOMMIT\0", "latin1"),
  postgres: Buffer.from("C\0\0\0\x0dSELECT 1\0Z\0\0\0\x05I", "latin1")
}

/** How often a round cuts before it sees a replay. */
const maxAttempts = 20

const through = ({ port }: CuttingProxy.CuttingProxy, url: string): string => {
  const proxied = new URL(url)
  proxied.host = `127.0.0.1:${port}`
  return proxied.href
}

export const cutAfterCommit: Fault = {
  name: "cut-after-commit",
  promise: "PostgreSQL commits but its response is lost; the retry with the same Idempotency-Key stores one event",
  storages: ["postgres", "citus"],
  rounds: 20,
  run: async (trial) => {
    const { store } = trial
    const { hostname: host, port } = new URL(store.url)
    const at = store.kind === "citus" ? committed.citus : committed.postgres
    const proxy = await CuttingProxy.start({ host, port: Number(port), from: "server", at })
    trial.after(proxy.close)
    const server = await trial.serve({ storage: through(proxy, store.url) })
    let replays = 0
    await trial.eachRound(async (round) => {
      const random = trial.random(round)
      const load = await trial.load(server, { name: `round ${round}`, clients: 8, retries: true })
      await load.acknowledged(random(1, 50))
      const before = proxy.cuts()
      const isReplayed = () => Ledger.acknowledged(load.entries).some(({ isReplay }) => isReplay)
      // Other answers are cut as well, such as those of sums.
      for (let attempt = 0; attempt < maxAttempts && !isReplayed(); attempt++) {
        proxy.cut(random(1, 4))
        await load.acknowledged(50)
        await wait(random(0, 100))
      }
      const entries = await load.stop()
      const acknowledged = Ledger.acknowledged(entries)
      replays += acknowledged.filter(({ isReplay }) => isReplay).length
      trial.expect(proxy.cuts() > before, `round ${round}: no connection was closed`)
      trial.expect(acknowledged.length === entries.length, `round ${round}: some events were never acknowledged`)
      trial.sent(entries)
    })
    trial.note(`${proxy.cuts()} connections were closed, ${replays} events were acknowledged as replays`)
    trial.expect(replays > 0, "no event was acknowledged as a replay, so the fault had no effect")
  }
}
