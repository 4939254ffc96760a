/** Recorders that others make, this one and simpler servers: how each takes calls, and how many it says it has stored. */
import { readdirSync } from "node:fs"
import { dirname, join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import * as Databases from "../harness/Databases.ts"
import type * as Formats from "../harness/Formats.ts"
import * as Packages from "../harness/Packages.ts"
import { progress } from "../harness/Table.ts"
import * as Servers from "./Servers.ts"

export interface Recorder {
  readonly contender: Servers.Contender
  readonly format: Formats.Name
  /** Calls that are stored. Undefined: it stores nothing. */
  readonly kept?: (opened: Servers.Open) => Promise<number>
  /** Where a recorder that others make answers with the first call of a request. */
  readonly readPath?: (request: Buffer) => string
}

/** Of a file in SQLite without the storage's client, which refuses the tables of another program. */
const countEvents = async ({ database }: Servers.Open): Promise<number> => {
  if (database!.kind === "SQLite") {
    using file = new DatabaseSync(Databases.fileOf(database!), { readOnly: true })
    return Number(file.prepare("SELECT count(*) AS kept FROM events").get()!["kept"])
  }
  const [row] = await database!.query((sql) => sql<{ kept: string }>`SELECT count(*) AS kept FROM events`)
  return Number(row!.kept)
}

const storing = (contender: Servers.Contender, format: Formats.Name = "event"): Recorder => ({
  contender,
  format,
  kept: countEvents
})

const sqlite = Servers.tachograph("Tachograph, SQLite", Databases.sqlite)
const postgres = (url: string) => Servers.tachograph("Tachograph, Postgres", () => Databases.postgres(url))

const aigne = (name: string, format: Formats.Name, packages: string): Recorder => ({
  contender: Servers.peer(name, "aigne", packages),
  format,
  kept: async ({ server }) =>
    (JSON.parse((await server.get("/api/trace/tree?pageSize=1")).toString()) as { total: number }).total,
  readPath: (request) =>
    `/api/trace/tree/children/${(JSON.parse(request.toString()) as ReadonlyArray<{ id: string }>)[0]!.id}`
})

const genkit = (packages: string): Recorder => ({
  contender: Servers.peer("Genkit", "genkit", packages),
  format: "genkit",
  kept: async ({ database }) => readdirSync(join(dirname(Databases.fileOf(database!)), ".genkit/traces")).length,
  readPath: (request) => `/api/traces/${(JSON.parse(request.toString()) as { traceId: string }).traceId}`
})

/** Nothing if npm does not install the packages, which it then says. */
const installed = <A>(packages: ReadonlyArray<string>, use: (folder: string) => A): Partial<A> => {
  progress(`peers: installing ${packages.join(" and ")}`)
  try {
    return use(Packages.install(...packages))
  } catch (error) {
    progress(`peers: left out, cannot install ${packages.join(" and ")}: ${(error as Error).message}`)
    return {}
  }
}

/** Those that others make are missing where they cannot be installed, those on Postgres where there is none. */
export const make = (postgresUrl: string | undefined) =>
  ({
    sqlite: storing(sqlite),
    ...(postgresUrl === undefined ? {} : { postgres: storing(postgres(postgresUrl)) }),
    // This package imports dotenv-flow without depending on it.
    ...installed(["@aigne/observability-api@0.11.14", "dotenv-flow@4.1.0"], (folder) => ({
      aigne: aigne("AIGNE", "aigne", folder),
      aigneMany: aigne("AIGNE, 20 in a request", "aigneArray", folder)
    })),
    ...installed(["@genkit-ai/telemetry-server@1.43.0"], (folder) => ({ genkit: genkit(folder) })),
    httpSqlite: storing(Servers.httpSqlite),
    ...(postgresUrl === undefined ? {} : { fastifyPg: storing(Servers.fastifyPg(postgresUrl)) }),
    rawHttp: { contender: Servers.rawHttp, format: "event" },
    sqliteMany: storing({ ...sqlite, name: `${sqlite.name}, 20 in a request` }, "lines")
  }) satisfies Readonly<Record<string, Recorder>>
