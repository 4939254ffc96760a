/** People with what their calls add up to. */
import * as Effect from "effect/Effect"
import type { StorageUnavailable } from "../domain/Errors.ts"
import { type Person, PersonId } from "../domain/Person.ts"
import type { ProjectId } from "../domain/Project.ts"
import type { Order, Sort } from "../domain/Sort.ts"
import type { UsageGroup } from "../domain/UsageGroup.ts"
import type { Storage } from "../Storage.ts"
import { type ListPage, maxPageBytes } from "../storage/Lists.ts"

/** People with what their calls add up to, if there are any. */
export interface PersonUsage {
  readonly person: Person
  readonly usage: UsageGroup | undefined
}

export interface PeopleQuery {
  /** Undefined for the order of creation. Otherwise only people who have calls are listed. */
  readonly sort?: Sort | undefined
  readonly order?: Order | undefined
  /** The number of the last person of the page before; where people are sorted, how many were on the pages before. */
  readonly after: number | undefined
  readonly limit: number
}

const ofPeople = { groupBy: ["person"], timeZone: "UTC" } as const

type Page = Effect.Effect<ListPage<PersonUsage, number>, StorageUnavailable>

const inOrder = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  project: ProjectId,
  { after, limit }: PeopleQuery
) {
  const { next, rows } = yield* storage.listPeople(project, { after, limit, maxBytes: maxPageBytes })
  const people = rows.map(({ id }) => id)
  const { groups } =
    people.length === 0
      ? { groups: [] }
      : yield* storage.sumUsage(project, { ...ofPeople, people, limit: people.length })
  const usage = new Map(groups.map((group) => [group.person, group]))
  return { rows: rows.map((person) => ({ person, usage: usage.get(person.id) })), next }
})

/** The people of groups, as many as have `maxPageBytes` of properties in total, and one at least. */
const inSort = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  project: ProjectId,
  { after = 0, limit, order, sort }: PeopleQuery
) {
  const page = yield* storage.sumUsage(project, { ...ofPeople, sort, order, after: [after], limit })
  const rows: Array<PersonUsage> = []
  let [bytes, taken] = [0, 0]
  for (const usage of page.groups) {
    const { person: id } = usage
    // Calls without a person, or of one who was erased meanwhile.
    const person =
      id === null || id === undefined
        ? undefined
        : yield* Effect.catchTag(storage.getPerson(project, PersonId.make(id)), "person-not-found", () =>
            Effect.succeed(undefined)
          )
    bytes += person === undefined ? 0 : Buffer.byteLength(person.properties)
    if (bytes > maxPageBytes && rows.length > 0) return { rows, next: after + taken }
    taken++
    if (person !== undefined) rows.push({ person, usage })
  }
  return { rows, next: page.next === undefined ? undefined : after + taken }
})

export const list = (storage: Storage["Service"], project: ProjectId, query: PeopleQuery): Page =>
  query.sort === undefined ? inOrder(storage, project, query) : inSort(storage, project, query)
