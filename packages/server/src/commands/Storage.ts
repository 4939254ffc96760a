/** `tachograph storage`: what payloads take, by project, agent and session. */
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
  description: "One project; all of them unless given",
  default: undefined,
  expected: "a name of 1 to 255 characters",
  parse: Schema.decodeUnknownOption(ProjectId)
})

const maxSessions = 1_000

const sessions = Setting.make({
  name: "sessions",
  metavar: "COUNT",
  description: "How many of each project's largest sessions are told one by one",
  default: "10",
  expected: `a number from 0 to ${maxSessions}`,
  parse: (text) =>
    Option.filter(Option.some(/^\d{1,4}$/.test(text) ? Number(text) : -1), (n) => n >= 0 && n <= maxSessions)
})

interface ProjectUsage extends StorageUsage {
  readonly project: ProjectId
}

const usageOf = Effect.fnUntraced(function* (
  wanted: Option.Option<ProjectId>,
  largest: number
): Effect.fn.Return<ReadonlyArray<ProjectUsage>, CommandError | Errors.StorageUnavailable, Storage> {
  const storage = yield* Storage
  const all = yield* storage.listProjects
  if (Option.isSome(wanted) && !all.includes(wanted.value)) {
    return yield* new CommandError({ message: `There is no project ${Table.printable(JSON.stringify(wanted.value))}` })
  }
  const projects = Option.match(wanted, { onNone: () => [...all].sort(), onSome: (one) => [one] })
  return yield* Effect.forEach(projects, (project) =>
    Effect.map(storage.usage(project, largest), (usage) => ({ project, ...usage }))
  )
})

const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"]

/** `512 B`, `1.5 KiB`. */
const bytes = (count: number): string => {
  let value = count
  let unit = 0
  // What would be written as 1024.0 is one of the next unit.
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
const figures = new Set([2, 3, 4, 5, 6])

/** With the names of the interface's fields. */
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
    json: Flag.Boolean("json").pipe(Flag.withDefault(false), Flag.withDescription("Print JSON, in bytes"))
  },
  Effect.fnUntraced(function* (flags) {
    const wanted = yield* project.resolveOption(flags.project)
    const largest = yield* sessions.resolve(flags.sessions)
    const look = { purpose: "look", kept: "events" } as const
    const usage = yield* StorageChoice.withLasting(flags.storage, look, usageOf(wanted, largest))
    yield* Console.log(flags.json ? toJson(usage) : Table.format([heading, ...usage.flatMap(rowsOf)], figures))
  })
).pipe(Command.withDescription("Print what payloads take: as sent, what of it was new, and as stored"))
