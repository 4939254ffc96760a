/** What it brings that requests share a transaction, and what it costs one that is alone. */
import * as Databases from "../harness/Databases.ts"
import { progress } from "../harness/Table.ts"
import { compare } from "./Comparison.ts"
import type { Options } from "./Options.ts"
import * as Servers from "./Servers.ts"

const onAndOff = (make: () => Databases.Database): ReadonlyArray<Servers.Contender> => [
  Servers.ours("group commit on", make),
  Servers.ours("group commit off", make, { groupCommit: false })
]

const off = "Off: every event is a transaction of its own, ten at once in Postgres, as many as it has connections."

export const groupCommit = async (options: Options): Promise<void> => {
  if (options.postgres === undefined) return progress("group-commit: only where there is Postgres; left out")
  const { url } = options.postgres
  await compare(options, {
    title: "Group commit, Postgres",
    connections: 64,
    contenders: onAndOff(() => Databases.postgres(url)),
    key: "perSecond",
    asked: "≥ 2×",
    notes: [off]
  })
}

export const latency = async (options: Options): Promise<void> => {
  const latencyOf = (kind: string, make: () => Databases.Database) =>
    compare(options, {
      title: `One connection, ${kind}`,
      connections: 1,
      contenders: onAndOff(make),
      key: "median",
      asked: "≤ 1.1×",
      notes: [off]
    })
  await latencyOf("SQLite", Databases.sqlite)
  if (options.postgres === undefined) return progress("latency: without Postgres")
  const { url } = options.postgres
  await latencyOf("Postgres", () => Databases.postgres(url))
}
