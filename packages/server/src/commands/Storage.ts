/** `tachograph storage`: the size of the payloads, by project, agent and session. */
import { type Errors, type ProjectId, Storage, type StorageUsage } from "@tachograph/core"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { Command, Flag } from "effect/cli"
import type { CommandError } from "../terminal/CliErrors.ts"
import * as Project from "../config/Project.ts"
import * as Setting from "../config/Setting.ts"
import * as StorageSetting from "../config/StorageSetting.ts"
import * as Bytes from "../terminal/Bytes.ts"
import * as Json from "../terminal/Json.ts"
import * as Output from "../terminal/Output.ts"
import * as Table from "../terminal/Table.ts"

const project = Project.setting("Show only this project")

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
  const projects = yield* Project.select(selected)
  return yield* Effect.forEach(projects, (project) =>
    Effect.map(storage.usage(project, maxSessions), (usage) => ({ project, ...usage }))
  )
})

type Counters = Pick<StorageUsage, "events" | "sentBytes" | "newBytes" | "storedBytes">

const counters = ({ events, newBytes, sentBytes, storedBytes }: Counters): ReadonlyArray<string> => [
  String(events),
  Bytes.format(sentBytes),
  Bytes.format(newBytes),
  Bytes.format(storedBytes),
  storedBytes === 0 ? "" : (sentBytes / storedBytes).toFixed(1)
]

const rowsOf = ({ agents, project, sessions, shared, ...all }: ProjectUsage) => [
  ["project", Table.printable(project), ...counters(all)],
  ["shared", `${shared.pieces} pieces`, "", "", Bytes.format(shared.newBytes), Bytes.format(shared.storedBytes), ""],
  ...agents.map(({ agent, ...own }) => ["agent", Table.printable(agent), ...counters(own)]),
  ...sessions.map(({ session, ...own }) => ["session", Table.printable(session), ...counters(own)])
]

const heading = ["", "NAME", "EVENTS", "SENT", "NEW", "STORED", "SENT/STORED"]
const rightAligned = new Set([2, 3, 4, 5, 6])

export const storage = Command.make(
  "storage",
  {
    storage: StorageSetting.persistentSetting.flag,
    project: project.flag,
    sessions: sessions.flag,
    json: Flag.Boolean("json").pipe(Flag.withDefault(false), Flag.withDescription("Print JSON, with sizes in bytes"))
  },
  Effect.fnUntraced(function* (flags) {
    const selected = yield* project.resolveOption(flags.project)
    const maxSessions = yield* sessions.resolve(flags.sessions)
    const purpose = { access: "update", contents: "events" } as const
    const usage = yield* StorageSetting.withExisting(flags.storage, purpose, usageOf(selected, maxSessions))
    yield* Output.print(
      flags.json ? Json.format(usage) : Table.format([heading, ...usage.flatMap(rowsOf)], rightAligned)
    )
  })
).pipe(Command.withDescription("Print the size of the payloads: as sent, the new part of it, and as stored"))
