/** Where a session is in a list: by the time of its last call, then by its number. A UUID of both, so that databases compare it. */
import type * as Brand from "effect/Brand"
import * as EventTime from "./EventTime.ts"
import * as Uuid from "./Uuid.ts"

export type SessionRank = Brand.Branded<string, "SessionRank">

const digits = 8

/** With number 0, before all sessions of the millisecond. */
export const of = (lastCallMs: number, session: number): SessionRank =>
  (EventTime.firstIdOf(lastCallMs).slice(0, -digits) + session.toString(16).padStart(digits, "0")) as SessionRank

/** When the last call took place (epoch ms). */
export const msOf: (rank: SessionRank) => number = Uuid.timeOf

export const sessionOf = (rank: SessionRank): number => Number.parseInt(rank.slice(-digits), 16)

/** Orders ranks. */
export const by =
  (order: "asc" | "desc") =>
  (a: SessionRank, b: SessionRank): number => {
    if (a === b) return 0
    return a < b === (order === "asc") ? -1 : 1
  }
