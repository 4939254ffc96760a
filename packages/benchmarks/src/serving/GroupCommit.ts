/** Throughput gained by group commit, and its latency on a single connection. */
import * as Databases from "../harness/Databases.ts"
import { progress } from "../harness/Table.ts"
import { compare } from "./Comparison.ts"
import type { Options } from "./Options.ts"
import * as Servers from "./Servers.ts"

const onAndOff = (make: () => Databases.Database): ReadonlyArray<Servers.Contender> => [
  Servers.tachograph("group commit on", make),
  Servers.tachograph("group commit off", make, { groupCommit: false })
]

const off = "Off: each event is a separate transaction; ten concurrent ones in Postgres, one per connection."

export const groupCommit = async (options: Options): Promise<void> => {
  if (options.postgres === undefined) return progress("group-commit: skipped, needs Postgres")
  const { url } = options.postgres
  await compare(options, {
    title: "Group commit, Postgres",
    connections: 64,
    contenders: onAndOff(() => Databases.postgres(url)),
    key: "perSecond",
    target: "≥ 2×",
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
      target: "≤ 1.1×",
      notes: [off]
    })
  await latencyOf("SQLite", Databases.sqlite)
  if (options.postgres === undefined) return progress("latency: Postgres skipped")
  const { url } = options.postgres
  await latencyOf("Postgres", () => Databases.postgres(url))
}
