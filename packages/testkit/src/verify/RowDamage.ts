/** Damage to single rows, and what it is made with. */
import type { Verifier } from "@tachograph/core"
import type { Change, Row, Table, Tables, Value } from "./Rows.ts"

export type Problem = Verifier.Problem

export interface RowDamage {
  readonly name: string
  /** The changed rows, among those of the store that `Store` records. */
  readonly change: (tables: Tables) => ReadonlyArray<Change>
  readonly problems: ReadonlyArray<Problem>
  /** What cannot be read of the damaged events, if there are any. */
  readonly lost?: Verifier.Lost
}

export const first = <A>(rows: ReadonlyArray<A>, isWanted: (row: A) => boolean): A => {
  const row = rows.find(isWanted)
  if (row === undefined) throw new Error("The store has no such row")
  return row
}

/** Rows of the session of this name. */
export const ofSession = (tables: Tables, table: Table, name: string) => {
  const { project_id, session_number } = first(tables.sessions, (row) => row["session_id"] === name)
  return tables[table].filter((row) => row["project_id"] === project_id && row["session_number"] === session_number)
}

export const update = (table: Table, from: Row, columns: Row): Change => ({ table, from, to: { ...from, ...columns } })
export const remove = (table: Table, from: Row): Change => ({ table, from, to: undefined })

export const flipped = (value: Value | undefined, at = 0.5): Uint8Array => {
  const bytes = Buffer.from(value as Uint8Array)
  bytes[Math.floor(at * bytes.length)]! ^= 1
  return bytes
}

export const plus = (value: Value | undefined, amount: number): number => Number(value) + amount

/** One event of a session in which no event was erased. */
export const event = (tables: Tables) => ofSession(tables, "events", "whole")[5]!

export const hex = (value: Value | undefined): string => Buffer.from(value as Uint8Array).toString("hex")

/** A number that no row has. */
export const nowhere = 1_000_000
