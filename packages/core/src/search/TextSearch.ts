/** Finds texts in the events that a filter finds. */
import { inProject } from "../domain/Project.ts"
import type { Role } from "../domain/Role.ts"
import type * as DamageLog from "../read/DamageLog.ts"
import * as EventPages from "../read/EventPages.ts"
import type { Storage } from "../Storage.ts"
import type { Result } from "../storage/Result.ts"
import * as Search from "./Search.ts"

export interface TextQuery extends EventPages.EventFilterQuery {
  /** Not empty. */
  readonly text: string
  /** Otherwise upper and lower case are alike. */
  readonly isCaseSensitive: boolean
  /** Who said it. By default all but instructions. */
  readonly roles?: ReadonlyArray<Role> | "any" | undefined
  readonly after: Search.SearchPlace | undefined
  /** At least 1. */
  readonly limit: number
  /** A page ends with the first result in the last one of so many sessions. At least 1. */
  readonly maxSessions?: number | undefined
}

export interface TextSearch {
  /**
   * Texts of the events that a filter finds, the newest first. A page may have fewer results than `limit`, or none, although there
   * are more: it ends when enough was looked at.
   */
  readonly search: (query: TextQuery) => Result<Search.SearchPage>
}

export const make = (storage: Storage["Service"], logDamage: DamageLog.OnDamage): TextSearch => ({
  search: inProject("search", (project, { fields = {}, ...query }) => {
    const { after, isCaseSensitive, limit, maxSessions, roles, text } = query
    const names = EventPages.boundsOf(query)
    const sought = { text, isCaseSensitive, roles, names, fields, after, limit, maxSessions }
    return Search.search(storage, project, sought, logDamage)
  })
})
