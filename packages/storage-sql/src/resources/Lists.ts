/** Lists of fingerprints, agents, versions and people: pages in the order of their primary keys. */
import {
  type AgentName,
  type AgentVersion,
  Errors,
  type FingerprintId,
  type ListPage,
  type ListQuery,
  type ProjectId,
  type StoredFingerprint
} from "@tachograph/core"
import * as Effect from "effect/Effect"
import type { SqlClient, SqlError, Statement } from "effect/sql"
import * as UuidColumn from "../dialect/UuidColumn.ts"
import type * as Projects from "../names/Projects.ts"
import { fittingRows, type Size } from "../sql/FittingRows.ts"
import {
  agentColumns,
  type AgentRow,
  agentVersionColumns,
  type AgentVersionRow,
  fingerprintColumns,
  type FingerprintRow,
  isJsonObject,
  personColumns,
  type PersonRow,
  toAgent,
  toAgentVersion,
  toFingerprint,
  toPerson
} from "../sql/RowDecoding.ts"
import * as SqlErrors from "../sql/SqlErrors.ts"

interface Listed {
  readonly table: string
  readonly key: string
  readonly columns: string
  /** The column of free text. */
  readonly text: string
}

const lists = {
  fingerprints: { table: "fingerprints", key: "fingerprint_id", columns: fingerprintColumns, text: "fields" },
  agents: { table: "agents", key: "agent_number", columns: agentColumns, text: "description" },
  agentVersions: {
    table: "agent_versions",
    key: "agent_version_number",
    columns: agentVersionColumns,
    text: "description"
  },
  people: { table: "people", key: "person_number", columns: personColumns, text: "properties" }
} as const satisfies Readonly<Record<string, Listed>>

const nothing = { rows: [], next: undefined }

export const make = (sql: SqlClient.SqlClient, projects: Projects.Projects) => {
  const toStoredId = UuidColumn.encoder(sql)

  /** Looks at the sizes first, so that a page of long texts is short. */
  const page = Effect.fnUntraced(function* <Row extends object, Key>(
    { columns, key, table, text }: Listed,
    isOfParent: Statement.Fragment,
    { after, limit, maxBytes }: ListQuery<Key>
  ): Effect.fn.Return<ListPage<Row, unknown>, SqlError.SqlError> {
    const rest = after === undefined ? isOfParent : sql`${isOfParent} AND ${sql(key)} > ${after}`
    const sizes = yield* sql<Size & { readonly key: unknown }>`
      SELECT ${sql(key)} AS key, coalesce(octet_length(${sql(text)}), 0) AS size FROM ${sql(table)}
      WHERE ${rest} ORDER BY ${sql(key)} LIMIT ${limit + 1}`
    const count = fittingRows(sizes, limit, maxBytes)
    const last = sizes[count - 1]?.key
    if (last === undefined) return nothing
    const rows = yield* sql<Row>`SELECT ${sql.literal(columns)} FROM ${sql(table)}
      WHERE ${rest} AND ${sql(key)} <= ${last} ORDER BY ${sql(key)}`
    return { rows, next: count < sizes.length ? last : undefined }
  })

  const numbered = <Row, Item>({ next, rows }: ListPage<Row, unknown>, toItem: (row: Row) => Item) => ({
    rows: rows.map(toItem),
    next: next === undefined ? undefined : Number(next)
  })

  const listFingerprints = Effect.fn("SqlStorage.listFingerprints")(function* (
    project: ProjectId,
    { after, ...query }: ListQuery<FingerprintId>
  ): Effect.fn.Return<ListPage<StoredFingerprint, FingerprintId>, SqlError.SqlError> {
    const number = yield* projects.find(project)
    const { next, rows } = yield* page<FingerprintRow, UuidColumn.StoredId>(
      lists.fingerprints,
      sql`project_id = ${number}`,
      { ...query, after: after === undefined ? undefined : toStoredId(after) }
    )
    return {
      rows: rows.map(toFingerprint),
      next: next === undefined ? undefined : (UuidColumn.decode(next as UuidColumn.StoredId) as FingerprintId)
    }
  })

  const listAgents = Effect.fn("SqlStorage.listAgents")(function* (project: ProjectId, query: ListQuery<number>) {
    const number = yield* projects.find(project)
    return numbered(yield* page<AgentRow, number>(lists.agents, sql`project_id = ${number}`, query), toAgent)
  })

  const listAgentVersions = Effect.fn("SqlStorage.listAgentVersions")(function* (
    project: ProjectId,
    agent: AgentName,
    query: ListQuery<number>
  ): Effect.fn.Return<ListPage<AgentVersion, number>, SqlError.SqlError | Errors.AgentNotFound> {
    const number = yield* projects.find(project)
    const [found] = yield* sql<Pick<AgentRow, "agent_number">>`SELECT agent_number FROM agents
      WHERE project_id = ${number} AND agent_name = ${agent}`
    if (found === undefined) return yield* new Errors.AgentNotFound()
    const isOfAgent = sql`project_id = ${number} AND agent_number = ${found.agent_number}`
    return numbered(yield* page<AgentVersionRow, number>(lists.agentVersions, isOfAgent, query), toAgentVersion)
  })

  const listPeople = Effect.fn("SqlStorage.listPeople")(function* (project: ProjectId, query: ListQuery<number>) {
    const number = yield* projects.find(project)
    const found = yield* page<PersonRow, number>(lists.people, sql`project_id = ${number}`, query)
    if (!found.rows.every(({ properties }) => properties === null || isJsonObject(properties))) {
      return yield* Effect.fail(SqlErrors.damage("The properties of a person are not JSON"))
    }
    return numbered(found, toPerson)
  })

  return { listFingerprints, listAgents, listAgentVersions, listPeople }
}
