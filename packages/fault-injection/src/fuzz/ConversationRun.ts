/** Runs `conversations` over one store, and verifies the store at the end. */
import { StorageSuite } from "@tachograph/testkit"
import { Storage } from "@tachograph/core"
import { PostgresStorage } from "@tachograph/storage-postgres"
import { SqliteStorage } from "@tachograph/storage-sqlite"
import * as Effect from "effect/Effect"
import { readFileSync } from "node:fs"
import type { Postgres } from "../harness/Postgres.ts"
import * as Server from "../harness/Server.ts"
import * as Store from "../harness/Store.ts"
import { Conversations, type Options } from "./Conversations.ts"
import type { Tally } from "./Tally.ts"

export type RunOptions = Pick<Options, "seed" | "events" | "progress"> & { readonly command?: string }

/** Describes what a verification of a store finds that no server has open. */
const verify = (store: Store.SqliteStore | Store.PostgresStore): Promise<ReadonlyArray<string>> => {
  const layer =
    store.kind === "sqlite"
      ? SqliteStorage.layer({ filename: store.file })
      : PostgresStorage.layerNoMigrations({
          url: store.postgres.url,
          schema: new URL(store.url).searchParams.get("schema")!
        })
  return Effect.runPromise(
    Effect.flatMap(Storage, StorageSuite.Verifying.verify).pipe(
      Effect.map(({ findings }) =>
        findings.map(({ eventId, problem, reason }) => `verify: ${problem} ${eventId}: ${reason}`)
      ),
      Effect.provide(layer)
    )
  )
}

const check = async (
  store: Store.SqliteStore | Store.PostgresStore,
  { book }: Conversations
): Promise<ReadonlyArray<string>> => {
  const problems = [...(await verify(store)), ...(await store.problems())]
  if (store.kind !== "sqlite") return problems
  // Closing the store has scrubbed it.
  const content = readFileSync(store.file)
  const kept = new Set(book.sessions)
  const names = new Set(book.erased.map(({ session }) => session).filter((session) => !kept.has(session)))
  for (const name of names)
    if (content.includes(name)) problems.push(`the file has the name of ${name}, which was erased`)
  return problems
}

const overStore = async (store: Store.SqliteStore | Store.PostgresStore, options: RunOptions): Promise<Tally> => {
  const run = new Conversations({ command: Server.defaultCommand, ...options, storage: store.url, isLasting: true })
  while (run.tally.of("events") < options.events && run.tally.wrongs === 0) await run.leg()
  await run.finish()
  for (const problem of await check(store, run)) run.tally.addWrong(0, problem)
  await store.remove()
  return run.tally
}

export const overSqlite = (options: RunOptions): Promise<Tally> => overStore(Store.sqlite(), options)

export const overPostgres = (postgres: Postgres, options: RunOptions): Promise<Tally> =>
  overStore(Store.postgres(postgres), options)

export const inMemory = async (options: RunOptions): Promise<Tally> => {
  const run = new Conversations({ command: Server.defaultCommand, ...options, storage: "memory:", isLasting: false })
  await run.leg()
  return run.tally
}
