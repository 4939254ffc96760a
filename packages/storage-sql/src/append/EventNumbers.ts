/** The numbers of what events and steps name: people, sessions, and the versions of agents. Those that do not exist are created. */
import type { EventSummary, NewPack } from "@tachograph/core"
import * as Effect from "effect/Effect"
import type { SqlClient } from "effect/sql"
import * as Bucket from "../dialect/Bucket.ts"
import * as TwoPhaseCommit from "../dialect/TwoPhaseCommit.ts"
import type * as AgentVersionNumbers from "../names/AgentVersionNumbers.ts"
import * as NumberedNames from "../names/NumberedNames.ts"
import * as SessionNumbers from "../names/SessionNumbers.ts"

/** What an event, or a group of steps, names. */
export type Names = Pick<EventSummary, "agent" | "agentVersion" | "person" | "receivedAt" | "session">

/** A pack to append. */
export interface Appended {
  readonly pack: NewPack
  readonly summary: Names
}

/** Within a transaction. `areNew`: whether a person or a version is, of which every node of a distributed database has a copy. */
export const make = (sql: SqlClient.SqlClient, agentVersions: AgentVersionNumbers.AgentVersions) =>
  Effect.fnUntraced(function* (project_id: number, appended: ReadonlyArray<Appended>, summaries: ReadonlyArray<Names>) {
    const people = new Map(
      summaries.flatMap(({ person, receivedAt }) =>
        person === null ? [] : [[person, { properties: null, created_at: receivedAt.epochMilliseconds }] as const]
      )
    )
    const expected = new Map<string, number>()
    const newSessions = new Map<string, NumberedNames.Columns>()
    for (const { pack, summary } of appended) {
      if (pack.session === undefined) newSessions.set(summary.session, {})
      else expected.set(summary.session, pack.session.number)
    }
    // Reads first, then locks the project's row (agents, people, sessions) and after it the agents' rows (versions).
    const foundVersions = yield* agentVersions.find(project_id, summaries)
    const foundPeople = yield* NumberedNames.find(sql, NumberedNames.people, project_id, Array.from(people.keys()))
    const missingVersions = agentVersions.missingOf(summaries, foundVersions)
    const areNew = missingVersions.length > 0 || foundPeople.size < people.size
    // Rather than wait for the project's row, which a transaction in doubt keeps locked.
    if (areNew) yield* TwoPhaseCommit.refuseInDoubt(sql)
    const createdAgents = yield* agentVersions.createAgents(project_id, missingVersions, foundVersions)
    const peopleNumbers = yield* NumberedNames.ensure(sql, NumberedNames.people, project_id, people, foundPeople)
    const created = Bucket.isDistributed(sql)
      ? yield* SessionNumbers.ensure(sql, project_id, Array.from(newSessions.keys()))
      : yield* NumberedNames.ensure(sql, NumberedNames.sessions, project_id, newSessions)
    const sessions = new Map([...expected, ...created])
    const versions = yield* agentVersions.createVersions(createdAgents)
    return { areNew, people: peopleNumbers, sessions, versions }
  })

export type Numbers = Effect.Success<ReturnType<ReturnType<typeof make>>>
