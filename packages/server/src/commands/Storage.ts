/** `tachograph storage`: the size of the payloads, by project, agent and session. */
import { type Errors, ProjectId, Storage, type StorageUsage } from "@tachograph/core"
import { Console, Effect, Option, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import { CommandError } from "../terminal/CliErrors.ts"
import * as Setting from "../config/Setting.ts"
import * as StorageChoice from "../config/StorageChoice.ts"
import * as Table from "../terminal/Table.ts"

const project = Setting.make({
  name: "project",
  metavar: "NAME",
  description: "Show only this project",
  default: undefined,
  expected: "a name of 1 to 255 characters",
  parse: Schema.decodeUnknownOption(ProjectId)
})

const maxListedSessions = 1_000

const sessions = Setting.make({
  name: "sessions",
  metavar: "COUNT",
  description: "How many of each project's largest sessions are listed",
  default: "10",
  expected: `a number from 0 to ${maxListedSessions}`,
  parse: (text) =>
    Option.filter(Option.some(/^\d{1,4}$/.test(text) ? Number(text) : -1), (n) => n >= 0 && n <= maxListedSessions)
})

interface ProjectUsage extends StorageUsage {
  readonly project: ProjectId
}

const usageOf = Effect.fnUntraced(function* (
  selected: Option.Option<ProjectId>,
  maxSessions: number
): Effect.fn.Return<ReadonlyArray<ProjectUsage>, CommandError | Errors.StorageUnavailable, Storage> {
  const storage = yield* Storage
  const all = yield* storage.listProjects
  if (Option.isSome(selected) && !all.includes(selected.value)) {
    return yield* new CommandError({
      message: `There is no project ${Table.printable(JSON.stringify(selected.value))}`
    })
  }
  const projects = Option.match(selected, { onNone: () => [...all].sort(), onSome: (project) => [project] })
  return yield* Effect.forEach(projects, (project) =>
    Effect.map(storage.usage(project, maxSessions), (usage) => ({ project, ...usage }))
  )
})

const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"]

/** `512 B`, `1.5 KiB`. */
const bytes = (count: number): string => {
  let value = count
  let unit = 0
  // 1023.95 and more would be rounded to 1024.0: use the next unit.
  while (value >= 1023.95 && unit < units.length - 1) {
    value /= 1024
    unit++
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`
}

type Counters = Pick<StorageUsage, "events" | "sentBytes" | "newBytes" | "storedBytes">

const counters = ({ events, newBytes, sentBytes, storedBytes }: Counters): ReadonlyArray<string> => [
  String(events),
  bytes(sentBytes),
  bytes(newBytes),
  bytes(storedBytes),
  storedBytes === 0 ? "" : (sentBytes / storedBytes).toFixed(1)
]

const rowsOf = ({ agents, project, sessions, shared, ...all }: ProjectUsage) => [
  ["project", Table.printable(project), ...counters(all)],
  ["shared", `${shared.pieces} pieces`, "", "", bytes(shared.newBytes), bytes(shared.storedBytes), ""],
  ...agents.map(({ agent, ...own }) => ["agent", Table.printable(agent), ...counters(own)]),
  ...sessions.map(({ session, ...own }) => ["session", Table.printable(session), ...counters(own)])
]

const heading = ["", "NAME", "EVENTS", "SENT", "NEW", "STORED", "SENT/STORED"]
const rightAligned = new Set([2, 3, 4, 5, 6])

/** JSON with the field names of the HTTP API. */
const toJson = (usage: ReadonlyArray<ProjectUsage>): string =>
  JSON.stringify(usage, (_, value: unknown) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.fromEntries(
          Object.entries(value).map(([key, field]) => [
            key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
            field
          ])
        )
      : value
  )

export const storage = Command.make(
  "storage",
  {
    storage: StorageChoice.setting.flag,
    project: project.flag,
    sessions: sessions.flag,
    json: Flag.Boolean("json").pipe(Flag.withDefault(false), Flag.withDescription("Print JSON, with sizes in bytes"))
  },
  Effect.fnUntraced(function* (flags) {
    const selected = yield* project.resolveOption(flags.project)
    const maxSessions = yield* sessions.resolve(flags.sessions)
    const purpose = { mayCreate: false, contents: "events" } as const
    const usage = yield* StorageChoice.withExisting(flags.storage, purpose, usageOf(selected, maxSessions))
    yield* Console.log(flags.json ? toJson(usage) : Table.format([heading, ...usage.flatMap(rowsOf)], rightAligned))
  })
).pipe(Command.withDescription("Print the size of the payloads: as sent, the new part of it, and as stored"))
