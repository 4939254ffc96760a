/** Events a second, against what somebody could use instead. */
import * as Databases from "../harness/Databases.ts"
import { progress } from "../harness/Table.ts"
import { compare } from "./Comparison.ts"
import type { Options } from "./Options.ts"
import * as Servers from "./Servers.ts"

/** The events route alone. */
export const route = (options: Options): Promise<void> =>
  compare(options, {
    title: "The events route without storage",
    connections: 32,
    contenders: [
      Servers.without("Tachograph, without storage", "recorder"),
      Servers.without("the same, and all but the storage", "storage"),
      Servers.rawHttp
    ],
    key: "perSecond",
    asked: "≥ 0.5×",
    notes: [
      "Without storage: the router as it is, key, checks and receipt; an event is thrown away where the recorder would take it. " +
        "All but the storage: payloads are split, compressed and gathered into batches, which a storage takes and forgets."
    ]
  })

export const sqlite = (options: Options): Promise<void> =>
  compare(options, {
    title: "SQLite",
    connections: 64,
    contenders: [Servers.ours("Tachograph, SQLite", Databases.sqlite), Servers.httpSqlite],
    key: "perSecond",
    asked: "≥ 0.5×"
  })

export const postgres = async (options: Options): Promise<void> => {
  if (options.postgres === undefined) return progress("postgres: only where there is Postgres; left out")
  const { url } = options.postgres
  await compare(options, {
    title: "Postgres",
    connections: 64,
    contenders: [Servers.ours("Tachograph, Postgres", () => Databases.postgres(url)), Servers.fastifyPg(url)],
    key: "perSecond",
    asked: "≥ 2×"
  })
}

/** What it costs the routes of an application that Tachograph stands in front of. */
export const embed = (options: Options): Promise<void> =>
  compare(options, {
    title: "An Express application's own route",
    connections: 32,
    get: "/own",
    contenders: [Servers.express("Express, Tachograph in front", "mounted"), Servers.express("Express alone", "alone")],
    key: "perSecond",
    asked: "≥ 0.95×"
  })
