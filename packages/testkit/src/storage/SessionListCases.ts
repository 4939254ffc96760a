/** Lists of sessions while others record, and as they were. */
import { firstIdOf, SessionId, type SessionPlace, type StoredSession } from "@tachograph/core"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import { expect } from "vitest"
import { append, appendEvent, project } from "../Samples.ts"
import type { Test } from "./Cases.ts"
import {
  allSessions,
  beginMs,
  deriveAll,
  eventOf,
  fieldsOf,
  fill,
  idAt,
  inMemory,
  type Port,
  timeAt
} from "./RollupEvents.ts"

export const define = (test: Test) => {
  test("loses and repeats no session while others are recorded", (storage) =>
    Effect.gen(function* () {
      for (const order of ["asc", "desc"] as const) {
        const offset = order === "asc" ? 0 : 300
        yield* fill(storage, offset, offset + 200)
        const before = (yield* allSessions(storage, {}, order, 1000)).map(({ session }) => session)
        const found: Array<string> = []
        let after: SessionPlace | undefined
        let next = offset + 200
        do {
          const page = yield* storage.listSessions(project, { order, limit: 5, after })
          found.push(...page.rows.map(({ session }) => session))
          after = page.next
          // In the sessions that are in the list and in others, some of which are derived.
          const ms = timeAt(next)
          yield* append(storage, [
            eventOf(next),
            appendEvent(idAt(ms + 1, next), {
              ...fieldsOf(next),
              session: SessionId.make(before[(next * 7) % before.length]!),
              receivedAt: DateTime.makeUnsafe(ms + 1)
            })
          ])
          next++
          if (next % 3 === 0) yield* deriveAll(storage, 100, eventOf(next - 2).summary.id)
        } while (after !== undefined)
        expect(found).toEqual(before)
      }
    }))

  test("loses and repeats no session while others are recorded below an imported event of the future", (storage) =>
    Effect.gen(function* () {
      let ms = 0
      for (const order of ["asc", "desc"] as const) {
        const newEvent = Effect.fnUntraced(function* (session: string) {
          ms = Math.max(ms + 1, DateTime.toEpochMillis(yield* DateTime.now))
          return { ...appendEvent(firstIdOf(ms), { session: SessionId.make(session) }), hasNewId: true }
        })
        const names = Array.from({ length: 12 }, (_, n) => `${order}${n}`)
        for (const [n, name] of names.entries()) {
          const id = idAt(timeAt(n), order === "asc" ? n : 100 + n)
          yield* append(storage, [appendEvent(id, { session: SessionId.make(name) })])
        }
        const future = DateTime.toEpochMillis(yield* DateTime.now) + 5 * 365 * 86_400_000
        yield* append(storage, [
          appendEvent(idAt(future, order === "asc" ? 1 : 2), { session: SessionId.make(names[4]!) })
        ])
        const before = (yield* allSessions(storage, {}, order, 1000)).map(({ session }) => session)
        expect(before.length).toBe(order === "asc" ? 12 : 24)
        const found: Array<string> = []
        let after: SessionPlace | undefined
        do {
          const page = yield* storage.listSessions(project, { order, limit: 2, after })
          found.push(...page.rows.map(({ session }) => session))
          after = page.next
          // One that was listed, and one that will be.
          for (const name of [found.at(-1)!, before.find((each) => !found.includes(each)) ?? before[0]!]) {
            yield* append(storage, [yield* newEvent(name)])
          }
          yield* deriveAll(storage, 500, yield* storage.watermark(project))
        } while (after !== undefined)
        expect(found).toEqual(before)
      }
    }))

  test("lists many sessions as they were, after all of them went on", (storage) =>
    inMemory((memory) =>
      Effect.gen(function* () {
        const sessions = 2_100
        const at = (n: number) =>
          appendEvent(idAt(beginMs + n, n), {
            session: SessionId.make(`s${(11 * n) % sessions}`),
            receivedAt: DateTime.makeUnsafe(beginMs + n)
          })
        for (const each of [storage, memory]) {
          for (let from = 0; from < 2 * sessions; from += 300) {
            yield* append(
              each,
              Array.from({ length: 300 }, (_, n) => at(from + n))
            )
          }
        }
        const asOf = at(sessions + 99).summary.id
        const list = Effect.fnUntraced(function* (from: Port, order: "asc" | "desc", limit: number) {
          const found: Array<string> = []
          let after: SessionPlace | undefined = { asOf, last: undefined, recent: [], given: 0 }
          do {
            const page: { readonly rows: ReadonlyArray<StoredSession>; readonly next: SessionPlace | undefined } =
              yield* from.listSessions(project, { order, limit, after })
            found.push(...page.rows.map(({ events, session }) => `${session} ${events}`))
            after = page.next
          } while (after !== undefined)
          return found
        })
        yield* deriveAll(storage, 1_000)
        for (const order of ["asc", "desc"] as const) {
          const expected = yield* list(memory, order, 10_000)
          expect(expected.length).toBe(sessions)
          expect(yield* list(storage, order, 400)).toEqual(expected)
        }
      })
    ))
}
