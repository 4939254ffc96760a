/** Sessions, their packs, and the shared pieces that these name. */
import type { PackRanges, ProjectId, SessionId, SessionState, StoredPack } from "@tachograph/core"
import { Effect } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { hexOf } from "../sql/Hex.ts"
import type * as Projects from "../names/Projects.ts"

export interface SessionRow {
  readonly session_number: number | string
  readonly generation: number | string
  readonly packs: number | string
  readonly history: number | string
  readonly parts: number | string
}

export const toSessionState = (row: SessionRow): SessionState => ({
  number: Number(row.session_number),
  generation: Number(row.generation),
  packs: Number(row.packs),
  history: Number(row.history),
  parts: Number(row.parts)
})

interface PackRow {
  readonly pack_number: number | string
  readonly pack: Uint8Array
}

/** No pack has a higher number. */
export const maxPack = 2 ** 31 - 1

/** More names in one statement than this are asked for in several. */
const namesAtOnce = 500

/** SQLite takes no more than 1,000 conditions in a row: https://sqlite.org/limits.html#max_expr_depth */
const rangesInRow = 500

export const make = (sql: SqlClient.SqlClient, projects: Projects.Projects) => {
  const getSession = Effect.fn("SqlStorage.getSession")(function* (project: ProjectId, session: SessionId) {
    const number = yield* projects.find(project)
    if (number === undefined) return undefined
    const [row] = yield* sql<SessionRow>`SELECT session_number, generation, packs, history, parts FROM sessions
      WHERE project_id = ${number} AND session_id = ${session}`
    return row && toSessionState(row)
  })

  /** The lowest of the newest packs that have no more bytes together; above all numbers if there is none. */
  const leastOfNewest = Effect.fnUntraced(function* (
    isOfSession: Statement.Fragment,
    inRanges: Statement.Fragment,
    bytes: number
  ) {
    const sizes = yield* sql<{ pack_number: number | string; size: number | string }>`
      SELECT pack_number, length(pack) AS size FROM packs WHERE ${isOfSession} AND ${inRanges}
      ORDER BY pack_number DESC`
    let least = maxPack
    let left = bytes
    for (const { pack_number, size } of sizes) {
      left -= Number(size)
      if (left < 0) break
      least = Number(pack_number)
    }
    return least
  })

  const readPacks = Effect.fn("SqlStorage.readPacks")(function* (
    project: ProjectId,
    session: number,
    ranges: PackRanges.PackRanges,
    newestBytes?: number
  ) {
    const number = yield* projects.find(project)
    if (number === undefined || ranges.length === 0) return []
    const isOfSession = sql`project_id = ${number} AND session_number = ${session}`
    const inEach = ranges.map(({ from, to }) =>
      from === to ? sql`pack_number = ${from}` : sql`pack_number BETWEEN ${from} AND ${to}`
    )
    const groups = Array.from({ length: Math.ceil(inEach.length / rangesInRow) }, (_, group) =>
      sql.or(inEach.slice(group * rangesInRow, (group + 1) * rangesInRow))
    )
    const inRanges = sql.or(groups)
    const least = newestBytes === undefined ? 0 : yield* leastOfNewest(isOfSession, inRanges, newestBytes)
    const rows = yield* sql<PackRow>`SELECT pack_number, pack FROM packs
      WHERE ${isOfSession} AND ${inRanges} AND pack_number >= ${least} ORDER BY pack_number`
    return rows.map((row): StoredPack => ({ number: Number(row.pack_number), bytes: row.pack }))
  })

  /** Of the names in their order, those whose texts have no more bytes together. */
  const fitting = Effect.fnUntraced(function* (project_id: number, names: ReadonlyArray<Uint8Array>, bytes: number) {
    const sizes = new Map<string, number>()
    for (let at = 0; at < names.length; at += namesAtOnce) {
      const rows = yield* sql<{ sha256: Uint8Array; size: number | string }>`SELECT sha256, size FROM shared_pieces
        WHERE project_id = ${project_id} AND ${sql.in("sha256", names.slice(at, at + namesAtOnce))}`
      for (const { sha256, size } of rows) sizes.set(hexOf(sha256), Number(size))
    }
    let left = bytes
    return names.filter((name) => (left -= sizes.get(hexOf(name)) ?? 0) >= 0)
  })

  const readShared = Effect.fn("SqlStorage.readShared")(function* (
    project: ProjectId,
    names: ReadonlyArray<Uint8Array>,
    mostBytes?: number
  ) {
    const number = yield* projects.find(project)
    if (number === undefined) return []
    const wanted = mostBytes === undefined ? names : yield* fitting(number, names, mostBytes)
    const found: Array<{ readonly sha256: Uint8Array; readonly bytes: Uint8Array }> = []
    for (let at = 0; at < wanted.length; at += namesAtOnce) {
      const rows = yield* sql<{ sha256: Uint8Array; piece: Uint8Array }>`SELECT sha256, piece FROM shared_pieces
        WHERE project_id = ${number} AND ${sql.in("sha256", wanted.slice(at, at + namesAtOnce))}`
      for (const { piece, sha256 } of rows) found.push({ sha256, bytes: piece })
    }
    return found
  })

  return { getSession, readPacks, readShared }
}
