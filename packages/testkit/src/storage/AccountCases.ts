/** Leases, the list of projects, and storage usage. */
import { AgentName, ProjectId, SessionId } from "@tachograph/core"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import { expect } from "vitest"
import { append, appendEvent, eventId, project } from "../Samples.ts"
import { other, type Test } from "./Cases.ts"

export const define = (test: Test) => {
  test("grants a lease to one holder at a time", (storage) =>
    Effect.gen(function* () {
      const at = (hours: number) => Effect.map(DateTime.now, DateTime.add({ hours }))
      const take = (name: string, holder: string, hours: number) =>
        Effect.flatMap(at(hours), (until) => storage.takeLease(name, holder, until))
      expect(yield* take("retention", "a", 1)).toBe(true)
      expect(yield* take("retention", "b", 1)).toBe(false)
      expect(yield* take("something else", "b", 1)).toBe(true)
      expect(yield* take("retention", "a", 2)).toBe(true)
      expect(yield* take("retention", "b", 3)).toBe(false)
      // The holder releases it by setting an expiry in the past.
      expect(yield* take("retention", "a", -1)).toBe(true)
      expect(yield* take("retention", "b", 1)).toBe(true)
      expect(yield* take("retention", "a", 1)).toBe(false)
      expect(yield* take("retention", "b", -1)).toBe(true)
      const concurrent = yield* Effect.forEach(["a", "b", "c", "d"], (holder) => take("retention", holder, 1), {
        concurrency: "unbounded"
      })
      expect(concurrent.filter((taken) => taken)).toHaveLength(1)
    }))

  test("lists the projects that contain anything", (storage) =>
    Effect.gen(function* () {
      expect(yield* storage.listProjects).toEqual([])
      const none = ProjectId.make("none")
      // Reading and erasing do not create a project.
      yield* storage.listEvents(none, { order: "asc", limit: 1 })
      yield* storage.usage(none, 1)
      yield* storage.listPendingSweep(none, 1)
      yield* storage.getSession(none, SessionId.make("s1"))
      yield* storage.eraseEvents(none, { session: SessionId.make("s1") }, 1)
      yield* storage.sweepPacks(none, 1, { to: 1, limit: 1, above: 1 }, () => ({
        packs: [],
        pieces: 0,
        done: undefined,
        value: 0
      }))
      expect(yield* storage.listProjects).toEqual([])
      yield* append(storage, [appendEvent(eventId(1), {}, other)])
      yield* append(storage, [appendEvent(eventId(2), {}, project)])
      expect([...(yield* storage.listProjects)].sort()).toEqual([project, other])
    }))

  test("reports usage, largest first, with a limit on sessions", (storage) =>
    Effect.gen(function* () {
      const event = (n: number, session: string, agent: string, size: number) => {
        const appended = appendEvent(eventId(n), {
          session: SessionId.make(session),
          agent: AgentName.make(agent),
          inputsBytes: 100 * n,
          outputBytes: n
        })
        return { ...appended, pack: { ...appended.pack, bytes: new Uint8Array(size), newBytes: 10 * size } }
      }
      yield* append(storage, [
        event(1, "small", "a", 10),
        event(2, "large", "a", 300),
        event(3, "large", "b", 500),
        event(4, "middle", "b", 40)
      ])
      yield* append(storage, [appendEvent(eventId(9), {}, other)])
      const all = { events: 4, sentBytes: 1010, newBytes: 8500, storedBytes: 850 }
      const usage = yield* storage.usage(project, 2)
      expect(usage).toEqual({
        ...all,
        shared: { pieces: 0, newBytes: 0, storedBytes: 0 },
        agents: [
          { agent: "b", events: 2, sentBytes: 707, newBytes: 5400, storedBytes: 540 },
          { agent: "a", events: 2, sentBytes: 303, newBytes: 3100, storedBytes: 310 }
        ],
        sessions: [
          { session: "large", events: 2, sentBytes: 505, newBytes: 8000, storedBytes: 800 },
          { session: "middle", events: 1, sentBytes: 404, newBytes: 400, storedBytes: 40 }
        ]
      })
      expect((yield* storage.usage(project, 0)).sessions).toEqual([])
      expect((yield* storage.usage(project, 10)).sessions).toHaveLength(3)
      // Erased payloads count until they are swept.
      yield* storage.eraseEvents(project, { session: SessionId.make("large") }, 1)
      expect(yield* storage.usage(project, 0)).toMatchObject({ ...all, events: 3, sentBytes: 1010 - 202 })
    }))

  test("finds the largest of many sessions, which grow and shrink by small steps", (storage) =>
    Effect.gen(function* () {
      const sizes = new Map<string, number>()
      const agents = ["a", "b"].map((name) => AgentName.make(name))
      for (let round = 0; round < 8; round++) {
        const events = Array.from({ length: 60 }, (_, n) => {
          const session = SessionId.make(`s${(n * 7) % 40}`)
          // Sizes of which many are nearly equal. What they add up to is many steps of the order.
          const size = 1 + 50 * (((n * n + round * 11) % 17) + (n % 3) * 40)
          sizes.set(session, (sizes.get(session) ?? 0) + size)
          const event = appendEvent(eventId(n, round), { session, agent: agents[n % 2]! })
          return { ...event, pack: { ...event.pack, bytes: new Uint8Array(size) } }
        })
        yield* append(storage, events)
        const ordered = Array.from(sizes.values()).sort((a, b) => b - a)
        for (const limit of [1, 7, 40]) {
          const { sessions } = yield* storage.usage(project, limit)
          expect(sessions.map(({ storedBytes }) => storedBytes)).toEqual(ordered.slice(0, limit))
          for (const { session, storedBytes } of sessions) expect(storedBytes).toBe(sizes.get(session))
        }
      }
      const largest = (yield* storage.usage(project, 1)).sessions[0]!.session
      const state = (yield* storage.getSession(project, largest))!
      yield* storage.sweepPacks(
        project,
        state.number,
        { to: state.packs, limit: 1_000, above: state.packs },
        ({ packs }) => ({
          packs: packs.map(({ bytes, number }) => ({
            number,
            bytes: Buffer.from(bytes.subarray(0, 1)),
            formerNewBytes: 5,
            newBytes: 1
          })),
          pieces: 0,
          done: undefined,
          value: 0
        })
      )
      sizes.set(largest, state.packs)
      const { agents: ofAgents, sessions } = yield* storage.usage(project, 40)
      expect(sessions.map(({ storedBytes }) => storedBytes)).toEqual(Array.from(sizes.values()).sort((a, b) => b - a))
      const total = (of: ReadonlyArray<{ readonly storedBytes: number }>) =>
        of.reduce((sum, { storedBytes }) => sum + storedBytes, 0)
      expect(total(ofAgents)).toBe(total(sessions))
    }))
}
