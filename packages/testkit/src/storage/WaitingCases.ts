/** Parts of events that are not complete yet. */
import { maxWaitingPageParts, ProjectId, type Storage, type WaitingPart, type WaitingPlace } from "@tachograph/core"
import * as Effect from "effect/Effect"
import { expect } from "vitest"
import * as Statements from "../check/Statements.ts"
import { project } from "../Samples.ts"
import { other, type Test } from "./Cases.ts"

/** More than any page has. */
const maxBytes = 2 ** 30

const contentOf = (seed: number, bytes: number) => new Uint8Array(bytes).fill(seed)

const partOf = (group: string, part: string, fields: Partial<WaitingPart> = {}): WaitingPart => {
  const size = fields.size ?? 10
  return { group, part, since: 1_000, due: 61_000, size, content: contentOf(size % 256, size), ...fields }
}

/** All pages of a group. */
const readAll = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  group: string,
  pageBytes = maxBytes,
  inProject = project
) {
  const pages: Array<ReadonlyArray<WaitingPart>> = []
  let after: WaitingPlace | undefined
  do {
    const page = yield* storage.readWaiting(inProject, group, after, pageBytes)
    pages.push(page.rows.map((row) => ({ ...row, content: Uint8Array.from(row.content) })))
    after = page.next
  } while (after !== undefined)
  return pages
})

/** Groups that have more parts than none. */
const grown = (...groups: ReadonlyArray<string>) => new Map(groups.map((group) => [group, 0]))

const namesOf = (parts: ReadonlyArray<WaitingPart>) => parts.map(({ part }) => part)

export const define = (test: Test) => {
  test("keeps parts, and reads those of a group, the oldest first", (storage) =>
    Effect.gen(function* () {
      const parts = [
        partOf("a", "2", { since: 3_000 }),
        partOf("b", "1"),
        partOf("a", "3", { since: 2_000, due: 70_000, size: 0 }),
        partOf("a", "1", { since: 3_000 }),
        partOf("~".repeat(100), `{"` + "\\".repeat(98))
      ]
      yield* storage.hold(project, parts)
      yield* storage.hold(project, [])
      expect(yield* readAll(storage, "a")).toEqual([[parts[2], parts[3], parts[0]]])
      expect(yield* readAll(storage, "~".repeat(100))).toEqual([[parts[4]]])
      expect(yield* readAll(storage, "none")).toEqual([[]])
      expect(yield* storage.listWaitingGroups(project, undefined, 9)).toEqual(["a", "b", "~".repeat(100)])
      expect(yield* storage.listWaitingGroups(project, "a", 1)).toEqual(["b"])
      expect(yield* storage.countWaiting).toBe(5)
    }))

  test("ends parts that are never due after those of their groups that are", (storage) =>
    Effect.gen(function* () {
      const context = (group: string, since: number) => partOf(group, "context", { since, due: undefined })
      yield* storage.hold(project, [context("a", 1_000), context("b", 1_000), context("c", 3_000), partOf("b", "1")])
      expect(yield* storage.countWaiting).toBe(1)
      yield* storage.makeDue(project, grown("a", "b", "c"), 2_000)
      expect(yield* storage.dueGroups(90_000, 9)).toEqual([{ project, group: "b" }])
      yield* storage.endContexts(3_000)
      expect(yield* storage.listWaitingGroups(project, undefined, 9)).toEqual(["b", "c"])
      yield* storage.postpone(project, "b", 80_000)
      yield* storage.endWaiting(project, "b", [partOf("b", "1")])
      yield* storage.endContexts(3_001)
      expect(yield* storage.listWaitingGroups(project, undefined, 9)).toEqual([])
    }))

  test("keeps the larger content of a part that comes again, and the earlier times", (storage) =>
    Effect.gen(function* () {
      yield* storage.hold(project, [partOf("a", "1", { size: 20 })])
      yield* storage.hold(project, [partOf("a", "1", { since: 900, due: 62_000, size: 19 })])
      // Twice in the same call.
      const larger = partOf("a", "1", { since: 1_100, size: 21 })
      yield* storage.hold(project, [larger, partOf("a", "1", { due: 60_500, size: 5 })])
      const kept = { ...larger, since: 900, due: 60_500 }
      expect(yield* readAll(storage, "a")).toEqual([[kept]])
      // Of two of the same size the first one counts.
      yield* storage.hold(project, [{ ...larger, content: contentOf(99, 21) }])
      expect(yield* readAll(storage, "a")).toEqual([[kept]])
      expect(yield* storage.countWaiting).toBe(1)
    }))

  test("separates the groups of projects", (storage) =>
    Effect.gen(function* () {
      const [here, there] = [partOf("a", "1", { size: 3 }), partOf("a", "1", { size: 4, due: 50_000 })]
      yield* storage.hold(project, [here])
      yield* storage.hold(other, [there])
      expect(yield* readAll(storage, "a")).toEqual([[here]])
      expect(yield* readAll(storage, "a", maxBytes, other)).toEqual([[there]])
      const unknown = ProjectId.make("unknown")
      yield* storage.makeDue(unknown, grown("a"), 0)
      yield* storage.postpone(unknown, "a", 99_000)
      yield* storage.endWaiting(unknown, "a", [here, there])
      yield* storage.endWaiting(project, "a", [there])
      expect(yield* storage.dueGroups(61_000, 9)).toEqual([
        { project: other, group: "a" },
        { project, group: "a" }
      ])
      yield* storage.endWaiting(other, "a", [there])
      expect(yield* storage.listWaitingGroups(project, undefined, 9)).toEqual(["a"])
      expect(yield* storage.listWaitingGroups(other, undefined, 9)).toEqual([])
    }))

  test("has a group due with the first of its parts", (storage) =>
    Effect.gen(function* () {
      yield* storage.hold(project, [
        partOf("late", "1", { due: 3_000 }),
        partOf("early", "1", { due: 9_000 }),
        partOf("early", "2", { due: 1_000 }),
        partOf("early", "3", { due: 2_000 })
      ])
      const due = (now: number, limit = 9) =>
        Effect.map(storage.dueGroups(now, limit), (groups) => groups.map(({ group }) => group))
      expect(yield* due(999)).toEqual([])
      expect(yield* due(1_000)).toEqual(["early"])
      expect(yield* due(3_000)).toEqual(["early", "late"])
      expect(yield* due(3_000, 1)).toEqual(["early"])
      yield* storage.postpone(project, "early", 5_000)
      expect(yield* due(4_999)).toEqual(["late"])
      expect(yield* due(5_000)).toEqual(["late", "early"])
      yield* storage.postpone(project, "late", 1)
      expect(yield* due(2_999)).toEqual([])
    }))

  test("makes groups due earlier, and never later", (storage) =>
    Effect.gen(function* () {
      const groups = Array.from({ length: 1_200 }, (_, n) => `group ${n}`)
      const idle = yield* Statements.count(storage.makeDue(project, grown(...groups.slice(0, 100)), 500))
      expect(idle[1]).toBeLessThanOrEqual(2)
      yield* storage.hold(project, [partOf("group 1", "1"), partOf("group 1100", "1"), partOf("other", "1")])
      yield* storage.hold(project, [partOf("group 1", "2"), partOf("group 3", "1", { due: 400 })])
      yield* storage.makeDue(project, grown(...groups), 500)
      yield* storage.makeDue(project, grown(...groups), 600)
      const due = Effect.map(storage.dueGroups(500, 9), (all) => all.map(({ group }) => group))
      expect(yield* due).toEqual(["group 3", "group 1", "group 1100"])
    }))

  test("makes groups due that have more parts than are known", (storage) =>
    Effect.gen(function* () {
      yield* storage.hold(project, [
        partOf("same", "1"),
        partOf("same", "2"),
        partOf("grown", "1"),
        partOf("grown", "2")
      ])
      yield* storage.makeDue(
        project,
        new Map([
          ["same", 2],
          ["grown", 1],
          ["none", 0]
        ]),
        500
      )
      expect(yield* storage.dueGroups(500, 9)).toEqual([{ project, group: "grown" }])
      yield* storage.hold(project, [partOf("context", "1", { due: undefined })])
      const among = yield* storage.waitingAmong(project, ["none", "grown", "context", "same"])
      expect(among.toSorted()).toEqual(["grown", "same"])
      expect(yield* storage.waitingAmong(other, ["same"])).toEqual([])
      expect(yield* storage.waitingAmong(project, [])).toEqual([])
    }))

  test("finds due groups beside one with very many parts", (storage) =>
    Effect.gen(function* () {
      const many = Array.from({ length: 3_000 }, (_, n) => partOf("many", `${n}`, { size: 1 }))
      yield* storage.hold(project, [...many, partOf("few", "1", { due: 62_000 })])
      expect((yield* storage.dueGroups(99_000, 9))[0]).toEqual({ project, group: "many" })
      yield* storage.endWaiting(project, "many", many)
      expect(yield* storage.dueGroups(99_000, 9)).toEqual([{ project, group: "few" }])
      expect(yield* storage.countWaiting).toBe(1)
    }))

  test("reads a group in pages of bounded size", (storage) =>
    Effect.gen(function* () {
      const sizes = [30, 70, 1, 120, 5, 5]
      const parts = sizes.map((size, n) => partOf("a", `${n}`, { size, since: n }))
      yield* storage.hold(project, parts)
      const pages = yield* readAll(storage, "a", 100)
      expect(pages.map(namesOf)).toEqual([["0", "1"], ["2"], ["3"], ["4", "5"]])
      expect(pages.flat()).toEqual(parts)

      const many = Array.from({ length: maxWaitingPageParts + 1 }, (_, n) => partOf("b", `${n}`, { size: 1 }))
      yield* storage.hold(project, many)
      const [first, second] = yield* readAll(storage, "b")
      expect([first?.length, second?.length]).toEqual([maxWaitingPageParts, 1])
      // Of the same time: in the order of their names.
      expect([...namesOf(first!), ...namesOf(second!)]).toEqual(namesOf(many).toSorted())
    }))

  test("keeps long contents byte for byte, beside short ones", (storage) =>
    Effect.gen(function* () {
      const lengths = [0, 100, 64 * 1024, 64 * 1024 + 1, 3_000_001, 5_000_000]
      const parts = lengths.map((size, n) => ({ ...partOf("a", `${n}`, { since: n, size: size * 3 }) }))
      const held = parts.map((part, n) => ({ ...part, content: contentOf(n + 1, lengths[n]!) }))
      yield* storage.hold(project, held)
      const [read] = yield* readAll(storage, "a")
      expect(namesOf(read!)).toEqual(namesOf(held))
      for (const [n, { content }] of read!.entries()) {
        expect(Buffer.compare(content, held[n]!.content)).toBe(0)
      }
    }))

  test("ends only what was read", (storage) =>
    Effect.gen(function* () {
      yield* storage.hold(project, [partOf("a", "1"), partOf("a", "2"), partOf("b", "1")])
      const [read] = yield* readAll(storage, "a")
      const larger = partOf("a", "2", { size: 11 })
      const added = partOf("a", "3")
      yield* storage.hold(project, [larger, added])
      yield* storage.endWaiting(project, "a", read!)
      expect(yield* readAll(storage, "a")).toEqual([[larger, added]])
      yield* storage.endWaiting(project, "a", read!)
      yield* storage.endWaiting(project, "a", [])
      yield* storage.endWaiting(project, "a", [larger, added])
      expect(yield* readAll(storage, "a")).toEqual([[]])
      expect(yield* storage.listWaitingGroups(project, undefined, 9)).toEqual(["b"])
    }))

  test("holds and ends the same parts from several sides", (storage) =>
    Effect.gen(function* () {
      const names = Array.from({ length: 60 }, (_, n) => `${n}`)
      const groups = ["a", "b", "c"]
      const held = (size: number, order: ReadonlyArray<string>) =>
        storage.hold(
          project,
          groups.flatMap((group) => order.map((part) => partOf(group, part, { size })))
        )
      const seen = new Map<string, number>()
      const finish = Effect.fnUntraced(function* (group: string) {
        const { rows } = yield* storage.readWaiting(project, group, undefined, maxBytes)
        for (const { part, size } of rows) {
          seen.set(`${group} ${part}`, Math.max(seen.get(`${group} ${part}`) ?? 0, size))
        }
        yield* storage.endWaiting(project, group, rows.toReversed())
      })
      const rounds = Array.from({ length: 8 }, (_, n) => [
        held(2 * n + 1, names),
        held(2 * n + 2, names.toReversed()),
        storage.makeDue(project, grown(...groups.toReversed()), 5),
        ...groups.map(finish)
      ])
      yield* Effect.all(rounds.flat(), { concurrency: 8 })
      yield* Effect.forEach(groups, finish)
      expect(yield* storage.countWaiting).toBe(0)
      // The richest content of each was seen before it was deleted.
      expect(Array.from(seen.values())).toEqual(Array.from({ length: 180 }, () => 16))
    }))
}
