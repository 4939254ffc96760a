/** What a page of failures looks at, and that it says so. Which calls are in which group, `HttpSuite` says. */
import { describe, expect, it } from "@effect/vitest"
import { Samples } from "@tachograph/testkit"
import { Effect } from "effect"
import { CurrentProject, defaultProject } from "../../src/domain/Project.ts"
import { SessionId } from "../../src/domain/Session.ts"
import * as MemoryStorage from "../../src/memory/MemoryStorage.ts"
import * as Failures from "../../src/read/Failures.ts"
import { Storage } from "../../src/Storage.ts"
import type { Service } from "../Recording.ts"

/** Failed calls, each alone in its session: in groups that take turns. */
const filled = Effect.fnUntraced(function* (calls: number, groups: number) {
  const storage = yield* Storage
  yield* Samples.append(
    storage,
    Array.from({ length: calls }, (_, n) =>
      Samples.appendEvent(Samples.eventId(n), {
        session: SessionId.make(`s${n}`),
        errorType: "overloaded_error",
        errorCode: `code ${n % groups}`
      })
    )
  )
  return storage
}, Effect.provide(MemoryStorage.layer))

const pageOf = (storage: Service, query: Pick<Failures.FailureQuery, "after" | "limit">) => {
  const damaged: Array<string> = []
  const { listFailures } = Failures.make(storage, (id) => Effect.sync(() => void damaged.push(id)))
  const page = Effect.provideService(listFailures(query), CurrentProject, defaultProject)
  return Effect.map(page, (page) => ({ ...page, damaged }))
}

describe("A page of failures", () => {
  it.effect("looks at 10,000 failed calls, and says where it stopped", () =>
    Effect.gen(function* () {
      const storage = yield* filled(10_050, 3)
      const first = yield* pageOf(storage, { after: undefined, limit: 5 })
      expect([first.events, first.next]).toEqual([10_000, Samples.eventId(50)])
      expect(first.failures.map(({ events, sessions }) => [events, sessions])).toEqual([
        [3334, 3334],
        [3333, 3333],
        [3333, 3333]
      ])
      const last = yield* pageOf(storage, { after: first.next, limit: 5 })
      expect([last.events, last.next]).toEqual([50, undefined])
    })
  )

  it.effect("ends before a group too many", () =>
    Effect.gen(function* () {
      const page = yield* pageOf(yield* filled(20, 4), { after: undefined, limit: 3 })
      expect([page.failures.length, page.events, page.next]).toEqual([3, 3, Samples.eventId(17)])
    })
  )

  it.effect("counts damaged calls, and groups the others; a message that cannot be read is none", () =>
    Effect.gen(function* () {
      const storage = yield* filled(6, 2)
      const changed: Service = {
        ...storage,
        findEvents: (...query) =>
          Effect.map(storage.findEvents(...query), ({ next, rows }) => ({
            next,
            rows: rows.map((row) =>
              row.id === Samples.eventId(3) ? { ...row, checksums: { ...row.checksums, summary: 0 } } : row
            )
          }))
      }
      const page = yield* pageOf(changed, { after: undefined, limit: 9 })
      expect([page.events, page.damagedEvents, page.damaged[0]]).toEqual([6, 1, Samples.eventId(3)])
      // The packs of the samples are none.
      expect(page.failures.map(({ events, message }) => [events, message])).toEqual([
        [3, null],
        [2, null]
      ])
    })
  )
})
