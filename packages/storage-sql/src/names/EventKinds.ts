/**
 * The numbers of the rows of `event_kinds`: what many events have in common, such as their fingerprint and their price. Rows are
 * only ever added, so each process reads those once that it has not seen. That two rows may be the same does no harm.
 */
import type { AppendEvent } from "@tachograph/core"
import * as Effect from "effect/Effect"
import type { SqlClient } from "effect/sql"
import * as BulkValues from "../dialect/BulkValues.ts"
import * as Attempts from "../sql/Attempts.ts"
import * as EventColumns from "../sql/EventColumns.ts"

/** Kinds of a project that are cached. An older one gets another number when it recurs. */
const maxCached = 10_000

/** A number that is higher is damaged: the next one is not counted from it. */
const maxNumber = 2 ** 30

const keyOf = (
  { api, fingerprintId, price, priceIsExact, unpriced, unpricedParts }: Omit<EventColumns.EventKind, "rules">,
  rules: string
): string =>
  `${fingerprintId} ${api} ${priceIsExact} ${unpriced} ${unpricedParts} ${rules}${price === null ? "" : `=${price}`}`

/** Events that get the numbers of their kinds. */
type Numbered = ReadonlyArray<Pick<AppendEvent, "rules" | "summary">>

/** The kinds of a project. */
interface Known {
  /** The highest number that was read. */
  last: number
  readonly numbers: Map<string, number>
  /** By numbers. */
  readonly rules: Map<number, string>
}

export type EventKinds = ReturnType<typeof make>

export const make = (sql: SqlClient.SqlClient) => {
  const projects = new Map<number, Known>()
  const { columns, decode, encode } = EventColumns.kinds(sql)

  const knownOf = (project_id: number): Known => {
    const known = projects.get(project_id) ?? { last: 0, numbers: new Map(), rules: new Map() }
    projects.set(project_id, known)
    return known
  }

  const add = (known: Known, key: string | undefined, number: number): void => {
    const [oldest] = known.numbers.keys()
    if (known.numbers.size >= maxCached) known.numbers.delete(oldest!)
    if (key !== undefined) known.numbers.set(key, number)
    known.last = number
  }

  /** Reads the newest of the rows that were added since. */
  const readAdded = Effect.fnUntraced(function* (project_id: number, known: Known) {
    const rows = yield* sql<EventColumns.KindRow>`SELECT kind_number, ${columns} FROM event_kinds
      WHERE project_id = ${project_id} AND kind_number > ${known.last} AND kind_number < ${maxNumber}
      ORDER BY kind_number DESC LIMIT ${maxCached}`
    for (const row of rows.toReversed()) {
      const kind = decode(row)
      add(known, kind && keyOf(kind, kind.rules), row.kind_number)
    }
  })

  /** Adds a row. Returns false if another one takes its number at the same time. */
  const insert = (project_id: number, kind_number: number, kind: EventColumns.EventKind) =>
    Effect.map(
      Effect.catchIf(
        sql`INSERT INTO event_kinds ${sql.insert({ project_id, kind_number, ...encode(kind) })}`,
        ({ reason }) => reason._tag === "UniqueViolation",
        () => Effect.succeed(undefined)
      ),
      (inserted) => inserted !== undefined
    )

  const ensure = Effect.fnUntraced(function* (project_id: number, kind: EventColumns.EventKind) {
    const known = knownOf(project_id)
    const key = keyOf(kind, kind.rules)
    const attempt = Attempts.make("Numbering the kind of an event")
    for (;;) {
      yield* readAdded(project_id, known)
      const number = known.numbers.get(key)
      if (number !== undefined) return number
      const next = known.last + 1
      if (yield* insert(project_id, next, kind)) {
        // Unless another fiber has read it meanwhile.
        if (known.last < next) add(known, key, next)
        return next
      }
      yield* attempt
    }
  })

  /** By the numbers of kinds; those that are damaged are not in it. */
  const rulesOf = Effect.fnUntraced(function* (project_id: number, numbers: ReadonlyArray<number>) {
    const { rules } = knownOf(project_id)
    if (rules.size > maxCached) rules.clear()
    const missing = Array.from(new Set(numbers)).filter((number) => !rules.has(number))
    for (const chunk of BulkValues.chunks(missing)) {
      const rows = yield* sql<{ kind_number: number; rules: string }>`SELECT kind_number, rules FROM event_kinds
        WHERE project_id = ${project_id} AND ${BulkValues.isAmong(sql, "kind_number", "integer", chunk)}`
      for (const row of rows) rules.set(row.kind_number, row.rules)
    }
    return rules
  })

  /**
   * The number of each event's kind; creates those that do not exist. Do not call it in a transaction: a rollback would leave wrong
   * numbers in the cache.
   */
  const ensureAll = Effect.fnUntraced(function* (project_id: number, events: Numbered) {
    const { numbers } = knownOf(project_id)
    const kinds: Array<number> = []
    for (const { rules, summary } of events) {
      kinds.push(numbers.get(keyOf(summary, rules)) ?? (yield* ensure(project_id, { ...summary, rules })))
    }
    return kinds
  })

  /** The number of each event's kind; undefined if one is not known to the process. */
  const cached = (project_id: number, events: Numbered): ReadonlyArray<number> | undefined => {
    const { numbers } = knownOf(project_id)
    const kinds: Array<number> = []
    for (const { rules, summary } of events) {
      const number = numbers.get(keyOf(summary, rules))
      if (number === undefined) return undefined
      kinds.push(number)
    }
    return kinds
  }

  return { cached, ensureAll, rulesOf }
}
