/** Which events have the names of a filter: as conditions, and as walks along the indexes that have them. */
import type { EventQuery } from "@tachograph/core"
import * as Effect from "effect/Effect"
import type { SqlClient, Statement } from "effect/sql"
import * as Bucket from "../dialect/Bucket.ts"
import * as EventStreams from "./EventStreams.ts"
import * as TimeWalks from "./TimeWalks.ts"
import type * as Walks from "./Walks.ts"

export type Filter = Pick<EventQuery, "agent" | "agentVersion" | "person" | "session">

/** The numbers of the names in a filter; undefined for those that it does not name. A version has its number within the agent. */
export interface Numbers {
  readonly session?: number
  readonly agent?: number
  readonly person?: number
  readonly version?: number
}

const given = (...conditions: ReadonlyArray<Statement.Fragment | undefined>) =>
  conditions.filter((condition) => condition !== undefined)

/** The names of a query; undefined if it has none. */
export const namesOf = ({ agent, agentVersion, person, session }: EventQuery): Filter | undefined => {
  const filter = { agent, agentVersion, person, session }
  return Object.values(filter).every((name) => name === undefined) ? undefined : filter
}

export const make = (sql: SqlClient.SqlClient) => {
  const { isOfTimes } = TimeWalks.make(sql)

  /** Undefined if a name does not exist. */
  const numbersOf = Effect.fnUntraced(function* (project_id: number, { agent, agentVersion, person, session }: Filter) {
    const select = (number: string, table: string, name: string, value: string) =>
      sql`SELECT ${sql(number)} FROM ${sql(table)} WHERE project_id = ${project_id} AND ${sql(name)} = ${value}`
    const queries: Array<readonly [name: keyof Numbers, query: Statement.Fragment]> = []
    if (session !== undefined) {
      const ofBucket = Bucket.and(sql, Bucket.ofSession(session))
      queries.push(["session", sql`${select("session_number", "sessions", "session_id", session)}${ofBucket}`])
    }
    if (person !== undefined) queries.push(["person", select("person_number", "people", "person_id", person)])
    const ofAgent = agent !== undefined && select("agent_number", "agents", "agent_name", agent)
    if (ofAgent) queries.push(["agent", ofAgent])
    if (agentVersion !== undefined) {
      const ofVersion = select("agent_version_number", "agent_versions", "agent_version_name", agentVersion)
      queries.push(["version", ofAgent ? sql`${ofVersion} AND agent_number = (${ofAgent})` : sql`${ofVersion} LIMIT 1`])
    }
    const [row] = yield* sql<Readonly<Record<keyof Numbers, number | null>>>`SELECT ${sql.csv(
      queries.map(([name, query]) => sql`(${query}) AS ${sql(name)}`)
    )}`
    return queries.every(([name]) => row![name] !== null) ? (row as Numbers) : undefined
  })

  /** The conditions that an event has all of these names. */
  const conditionsOf = (
    project_id: number,
    { agentVersion }: Filter,
    { agent, person, session }: Numbers
  ): ReadonlyArray<Statement.Fragment> =>
    given(
      session === undefined ? undefined : sql`e.session_number = ${session}`,
      person === undefined ? undefined : sql`e.person_number = ${person}`,
      agent === undefined ? undefined : sql`e.agent_number = ${agent}`,
      agentVersion === undefined ? undefined : isOf(project_id, agentVersion)
    )

  /** Each of the walks finds the same events. */
  const walksOf = (
    project_id: number,
    { agentVersion }: Filter,
    { agent, person, session, version }: Numbers
  ): ReadonlyArray<Walks.Walk> => {
    const isOfSession = session === undefined ? undefined : sql`e.session_number = ${session}`
    const isOfPerson = person === undefined ? undefined : sql`e.person_number = ${person}`
    const isOfVersion = agentVersion === undefined ? undefined : isOf(project_id, agentVersion)
    const walks: Array<Walks.Walk> = []
    if (session !== undefined) {
      const streams = EventStreams.of("events_by_session", session, agent)
      walks.push({ way: streams, conditions: given(isOfPerson, isOfVersion) })
    }
    if (person !== undefined) {
      const streams = EventStreams.of("events_by_person", person, agent)
      walks.push({ way: streams, conditions: given(isOfSession, isOfVersion) })
    }
    if (agentVersion !== undefined) {
      const streams =
        agent === undefined ? EventStreams.ofVersion(agentVersion) : EventStreams.of("events_by_agent", agent, version)
      walks.push({ way: streams, conditions: given(isOfSession, isOfPerson) })
    }
    if (walks.length === 0) walks.push({ way: EventStreams.of("events_by_agent", agent!), conditions: [] })
    return walks
  }

  /** Whether an event is of a version of this name, of any agent. */
  const isOf = (project_id: number, agentVersion: string) =>
    sql`EXISTS (SELECT 1 FROM agent_versions v WHERE v.project_id = ${project_id}
      AND v.agent_version_name = ${agentVersion} AND v.agent_number = e.agent_number
      AND v.agent_version_number = e.agent_version_number)`

  /** Whether an event is of the project and these names: for queries that the nodes of a distributed database answer. */
  const whereOf = (project_id: number, query: EventQuery, numbers: Numbers) =>
    sql`${sql.and([sql`e.project_id = ${project_id}`, ...conditionsOf(project_id, query, numbers), ...isOfTimes(query)])}${
      query.session === undefined ? sql.literal("") : Bucket.and(sql, Bucket.ofSession(query.session), "e.")
    }`

  return { numbersOf, conditionsOf, walksOf, whereOf }
}
