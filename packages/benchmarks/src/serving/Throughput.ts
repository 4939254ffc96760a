/** Events per second, compared with simpler servers. */
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
      Servers.withStub("Tachograph without recorder", "recorder"),
      Servers.withStub("Tachograph without storage", "storage"),
      Servers.rawHttp
    ],
    key: "perSecond",
    target: "≥ 0.5×",
    notes: [
      "Without recorder: the router checks the key, validates the event and returns a receipt; the recorder is a stub. " +
        "Without storage: payloads are also split, compressed and collected into batches; the storage is a stub."
    ]
  })

export const sqlite = (options: Options): Promise<void> =>
  compare(options, {
    title: "SQLite",
    connections: 64,
    contenders: [Servers.tachograph("Tachograph, SQLite", Databases.sqlite), Servers.httpSqlite],
    key: "perSecond",
    target: "≥ 0.5×"
  })

export const postgres = async (options: Options): Promise<void> => {
  if (options.postgres === undefined) return progress("postgres: skipped, needs Postgres")
  const { url } = options.postgres
  await compare(options, {
    title: "Postgres",
    connections: 64,
    contenders: [Servers.tachograph("Tachograph, Postgres", () => Databases.postgres(url)), Servers.fastifyPg(url)],
    key: "perSecond",
    target: "≥ 2×"
  })
}

/** The cost for an application's own routes when Tachograph is mounted before them. */
export const embed = (options: Options): Promise<void> =>
  compare(options, {
    title: "An Express application's own route",
    connections: 32,
    get: "/own",
    contenders: [Servers.express("Express with Tachograph", "mounted"), Servers.express("Express alone", "alone")],
    key: "perSecond",
    target: "≥ 0.95×"
  })
