/** Whether a store that has many events is as fast as one that has none. */
import * as Databases from "../harness/Databases.ts"
import * as Harness from "../harness/Servers.ts"
import { integer, print, progress, spread } from "../harness/Table.ts"
import { alternate } from "../harness/Turns.ts"
import { compare, ratioOf } from "./Comparison.ts"
import * as Filling from "./Filling.ts"
import type { Options } from "./Options.ts"
import * as Servers from "./Servers.ts"

const makers = ({ postgres }: Options): ReadonlyArray<readonly [kind: string, make: () => Databases.Database]> => [
  ["SQLite", Databases.sqlite],
  ...(postgres === undefined ? [] : [["Postgres", () => Databases.postgres(postgres.url)] as const])
]

export const full = async (options: Options): Promise<void> => {
  for (const [kind, make] of makers(options)) {
    const store = await Filling.store(make, options.events)
    await compare(options, {
      title: `With ${integer(options.events)} events, ${kind}`,
      connections: 64,
      contenders: [
        Servers.oursOver(`with ${integer(options.events)} events`, store),
        Servers.ours("empty at the start", make)
      ],
      key: "perSecond",
      asked: "≥ 0.85×",
      notes: ["What is recorded is of agents and people that the full store has, too, and of new sessions."]
    })
  }
}

/** Events of the small store that a list is compared in. */
const few = 1_000

/** Lists that are read in one turn. */
const reads = 100

const path = `/api/v1/events?session=${Filling.listed.session}&order=desc&limit=100`

export const list = async (options: Options): Promise<void> => {
  const rows: Array<ReadonlyArray<string>> = []
  for (const [kind, make] of makers(options)) {
    const servers: Array<Harness.Server> = []
    try {
      for (const events of [options.events, few]) {
        const server = await Harness.start(await Filling.store(make, events))
        servers.push(server)
        const { events: found } = JSON.parse((await server.get(path)).toString()) as { readonly events: Array<unknown> }
        if (found.length !== 100) throw new Error(`A list of ${found.length} events: expected 100`)
      }
      progress(`list: ${kind}`)
      const [amongAll = [], amongFew = []] = await alternate(
        options.runs,
        reads,
        servers.map((server) => () => server.get(path))
      )
      rows.push([kind, spread(amongAll, 2), spread(amongFew, 2), ratioOf(amongAll, amongFew), "≤ 2×"])
    } finally {
      for (const server of servers) await server.stop()
    }
  }
  print({
    title: "The newest 100 events of one session, ms",
    columns: ["in", `among ${integer(options.events)}`, `among ${integer(few)}`, "ratio", "asked"],
    rows,
    notes: [
      `\`GET ${path}\`, of a session of ${Filling.listed.events} events, which lie among all the others. Medians of ${options.runs} times ${reads} ` +
        "reads (range), turn by turn, one after the other."
    ]
  })
}
