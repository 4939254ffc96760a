/** Goes through all rows of a project in steps: the events and packs of its sessions, and the shared pieces. */
import type { EventId, ListedShared, PackPage, ProjectId, SessionEvent } from "@tachograph/core"
import * as Effect from "effect/Effect"
import type { SqlClient, SqlError } from "effect/sql"
import * as Bucket from "../dialect/Bucket.ts"
import * as EventIndex from "../dialect/EventIndex.ts"
import * as StoredBytes from "../dialect/StoredBytes.ts"
import * as UuidColumn from "../dialect/UuidColumn.ts"
import type * as Projects from "../names/Projects.ts"
import { fittingRows, type Size } from "../sql/FittingRows.ts"
import { type Integer, type SessionRow, toSessionState } from "../sql/RowDecoding.ts"

/** Rows in one page. */
const maxRows = 500

interface PackRow extends Readonly<Record<keyof SessionRow, Integer | null>> {
  readonly pending_sweep: Integer
  readonly pack_number: Integer | null
  readonly agent_number: Integer
  readonly kept: Integer
  readonly pack: Uint8Array
}

export const make = (sql: SqlClient.SqlClient, projects: Projects.Projects) => {
  const toStored = UuidColumn.encoder(sql)
  const ascending = EventIndex.direction(sql, "asc")

  const sessionEvents = Effect.fn("SqlStorage.sessionEvents")(function* (
    project: ProjectId,
    session: number,
    after: SessionEvent | undefined,
    limit: number
  ): Effect.fn.Return<ReadonlyArray<SessionEvent>, SqlError.SqlError> {
    const project_id = yield* projects.find(project)
    const isAfter =
      after === undefined
        ? sql.literal("")
        : sql`AND (agent_number, event_id) > (${after.agent}, ${toStored(after.id)})`
    const rows = yield* sql<{ agent_number: Integer; event_id: UuidColumn.StoredId }>`
      SELECT agent_number, ${StoredBytes.select(sql, "e.event_id")} FROM events e ${EventIndex.hint(sql, "events_by_session")}
      WHERE ${Bucket.isOfSession(sql, project_id, session)} ${isAfter}
      ORDER BY e.agent_number ${ascending}, e.event_id ${ascending} LIMIT ${limit}`
    return rows.map(({ agent_number, event_id }) => ({
      id: UuidColumn.decode(event_id) as EventId,
      agent: Number(agent_number)
    }))
  })

  const listPacks = Effect.fn("SqlStorage.listPacks")(function* (
    project: ProjectId,
    session: number,
    above: number,
    maxBytes: number
  ): Effect.fn.Return<PackPage, SqlError.SqlError> {
    const project_id = yield* projects.find(project)
    const isOfSession = Bucket.isOfSession(sql, project_id, session)
    const sizes = yield* sql<Size & { pack_number: Integer }>`SELECT pack_number, octet_length(pack) AS size FROM packs
      WHERE ${isOfSession} AND pack_number > ${above} ORDER BY pack_number LIMIT ${maxRows + 1}`
    const count = fittingRows(sizes, maxRows, maxBytes)
    const to = Number(sizes[count - 1]?.pack_number ?? above)
    // One row without a pack if there is none, and without a state if there is no session.
    const rows =
      yield* sql<PackRow>`SELECT s.session_number, s.generation, s.packs, s.history, s.parts, s.pending_sweep,
        k.pack_number, k.agent_number, k.kept, ${StoredBytes.select(sql, "k.pack")}
      FROM (SELECT 1 AS one) one
      LEFT JOIN (SELECT * FROM sessions WHERE ${isOfSession}) s ON true
      LEFT JOIN (SELECT * FROM packs WHERE ${isOfSession} AND pack_number > ${above} AND pack_number <= ${to}) k ON true
      ORDER BY k.pack_number`
    const [first] = rows
    return {
      state:
        first === undefined || first.session_number === null
          ? undefined
          : { ...toSessionState(first as SessionRow), pendingSweep: Number(first.pending_sweep) },
      packs: rows.flatMap(({ agent_number, kept, pack, pack_number }) => {
        if (pack_number === null) return []
        const of = { isKept: Number(kept) > 0, isOfSteps: Number(kept) === 2, agent: Number(agent_number) }
        return [{ number: Number(pack_number), bytes: pack, ...of }]
      }),
      isLast: count === sizes.length
    }
  })

  const listShared = Effect.fn("SqlStorage.listShared")(function* (
    project: ProjectId,
    after: Uint8Array | undefined,
    maxBytes: number
  ): Effect.fn.Return<ReadonlyArray<ListedShared>, SqlError.SqlError> {
    const project_id = yield* projects.find(project)
    const isAfter = sql`project_id = ${project_id} AND sha256 > ${after ?? new Uint8Array(0)}`
    const sizes = yield* sql<
      Size & { sha256: Uint8Array }
    >`SELECT sha256, octet_length(piece) AS size FROM shared_pieces
      WHERE ${isAfter} ORDER BY sha256 LIMIT ${maxRows + 1}`
    const last = sizes[fittingRows(sizes, maxRows, maxBytes) - 1]
    if (last === undefined) return []
    const rows = yield* sql<{
      sha256: Uint8Array
      size: Integer
      checksum: Integer
      piece: Uint8Array
      is_owned: Integer
    }>`
      SELECT sha256, size, checksum, ${StoredBytes.select(sql, "piece")}, CASE WHEN EXISTS (SELECT 1 FROM shared_piece_owners o
        WHERE o.project_id = s.project_id AND o.sha256 = s.sha256${Bucket.andSame(sql, "o", "s")}) THEN 1 ELSE 0 END AS is_owned
      FROM shared_pieces s WHERE ${isAfter} AND sha256 <= ${last.sha256} ORDER BY sha256`
    return rows.map(({ checksum, is_owned, piece, sha256, size }) => ({
      sha256,
      bytes: piece,
      size: Number(size),
      isOwned: Number(is_owned) === 1,
      checksum: Number(checksum)
    }))
  })

  return { sessionEvents, listPacks, listShared }
}
