/** Compares a store with many events with an empty or small one. */
import * as Databases from "../harness/Databases.ts"
import * as Interleaved from "../harness/Interleaved.ts"
import * as Harness from "../harness/Servers.ts"
import { integer, print, progress, spread } from "../harness/Table.ts"
import { compare, ratioOf } from "./Comparison.ts"
import * as FilledStore from "./FilledStore.ts"
import type { Options } from "./Options.ts"
import * as Servers from "./Servers.ts"

const makers = ({ postgres }: Options): ReadonlyArray<readonly [kind: string, make: () => Databases.Database]> => [
  ["SQLite", Databases.sqlite],
  ...(postgres === undefined ? [] : [["Postgres", () => Databases.postgres(postgres.url)] as const])
]

export const full = async (options: Options): Promise<void> => {
  for (const [kind, make] of makers(options)) {
    const store = await FilledStore.open(make, options.events)
    await compare(options, {
      title: `With ${integer(options.events)} events, ${kind}`,
      connections: 64,
      contenders: [
        Servers.tachographOver(`with ${integer(options.events)} events`, store),
        Servers.tachograph("initially empty", make)
      ],
      key: "perSecond",
      target: "≥ 0.85×",
      notes: ["The recorded events belong to agents and people that the large store has, and to new sessions."]
    })
  }
}

/** Events of the small store. */
const smallStoreEvents = 1_000

/** Lists read in one round. */
const reads = 100

const path = `/api/v1/events?session=${FilledStore.listed.session}&order=desc&limit=100`

export const list = async (options: Options): Promise<void> => {
  const rows: Array<ReadonlyArray<string>> = []
  for (const [kind, make] of makers(options)) {
    const servers: Array<Harness.Server> = []
    try {
      for (const events of [options.events, smallStoreEvents]) {
        const server = await Harness.start(await FilledStore.open(make, events))
        servers.push(server)
        const { events: listed } = JSON.parse((await server.get(path)).toString()) as {
          readonly events: Array<unknown>
        }
        if (listed.length !== 100) throw new Error(`Expected a list of 100 events, got ${listed.length}`)
      }
      progress(`list: ${kind}`)
      const [large = [], small = []] = await Interleaved.averages(
        options.runs,
        reads,
        servers.map((server) => () => server.get(path))
      )
      rows.push([kind, spread(large, 2), spread(small, 2), ratioOf(large, small), "≤ 2×"])
    } finally {
      for (const server of servers) await server.stop()
    }
  }
  print({
    title: "Listing the newest 100 events of a session, ms",
    columns: ["storage", `among ${integer(options.events)}`, `among ${integer(smallStoreEvents)}`, "ratio", "target"],
    rows,
    notes: [
      `\`GET ${path}\`, of a session of ${FilledStore.listed.events} events spread over the store. Medians of ${options.runs} rounds of ${reads} ` +
        "sequential reads (range), interleaved."
    ]
  })
}
