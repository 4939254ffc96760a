import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import { empty, PagedList, type State } from "../../app/server/PagedList.ts"

interface Row {
  readonly id: string
  readonly at: number
}

/** A list whose pages have two rows, the latest first. */
const make = (stored: Array<Row>) => {
  let shown: State<Row> = empty
  let reads = 0
  let answerMs = 0
  const source = {
    read: async (cursor: string | null) => {
      reads++
      vi.advanceTimersByTime(answerMs)
      const rows = stored
        .toSorted((one, other) => other.at - one.at)
        .filter(({ at }) => at < Number(cursor ?? Infinity))
      return { rows: rows.slice(0, 2), next: rows.length > 2 ? String(rows[1]!.at) : null }
    },
    idOf: ({ id }: Row) => id,
    orderOf: ({ at }: Row) => String(at)
  }
  const list = new PagedList(source, new AbortController().signal, empty, (state) => void (shown = state))
  return {
    list,
    ids: () => shown.rows.map(({ id }) => id).join(""),
    shown: () => shown,
    reads: () => reads,
    answerAfter: (ms: number) => void (answerMs = ms)
  }
}

const rows = (ids: string, from = 0): Array<Row> => Array.from(ids, (id, index) => ({ id, at: from - index }))

// Only the answers take time.
beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

describe("PagedList", () => {
  it("reads on until it meets what it knows", async () => {
    const stored = rows("abcd")
    const { ids, list } = make(stored)
    await list.refresh()
    await list.more()
    expect(ids()).toBe("abcd")
    stored.push(...rows("vwxyz", 10))
    await list.refresh()
    expect(ids()).toBe("vwxyzabcd")
  })

  it("leaves out a row that is gone, wherever it was", async () => {
    const stored = rows("abcdef")
    const { ids, list } = make(stored)
    await list.refresh()
    await list.more()
    stored.splice(3, 1)
    list.remove("d")
    expect(ids()).toBe("abc")
    await list.refresh()
    await list.more()
    expect(ids()).toBe("abcef")
  })

  it("does not take a row that moved for the end of what is new", async () => {
    const stored = rows("abcd")
    const { ids, list } = make(stored)
    await list.refresh()
    await list.more()
    stored.push(...rows("wxyz", 10))
    stored[2] = { id: "c", at: 11 }
    await list.refresh()
    expect(ids()).toBe("cwxyzabd")
  })

  it("begins anew where more is new than it reads at a time", async () => {
    const stored = rows("ab")
    const { ids, list, reads, shown } = make(stored)
    await list.refresh()
    stored.push(...rows("klmnopqrstuvwxyz", 100))
    await list.refresh()
    expect([ids(), reads()]).toEqual(["klmnopqrst", 6])
    while (shown().next !== null) await list.more()
    expect(ids()).toBe("klmnopqrstuvwxyzab")
  })

  it.each([
    [250, "wxyab", 3],
    [251, "wx", 2]
  ])("reads on where its first page came after %i ms: %s", async (ms, shown, count) => {
    const stored = rows("ab")
    const { answerAfter, ids, list, reads } = make(stored)
    await list.refresh()
    stored.push(...rows("wxy", 10))
    answerAfter(ms)
    await list.refresh()
    expect([ids(), reads()]).toEqual([shown, count])
  })

  it("reads one page at a time after it began anew, until it meets what it knows", async () => {
    const stored = rows("ab")
    const { ids, list, reads } = make(stored)
    await list.refresh()
    stored.push(...rows("klmnopqrstuvwxyz", 100))
    await list.refresh()
    stored.push(...rows("klmnopqrstuvwxyz".toUpperCase(), 200))
    await list.refresh()
    expect([ids(), reads()]).toEqual(["KL", 7])
    stored.push(...rows("1", 300))
    await list.refresh()
    expect([ids(), reads()]).toEqual(["1KL", 8])
    stored.push(...rows("234", 400))
    await list.refresh()
    expect([ids(), reads()]).toEqual(["2341KL", 10])
  })

  it("forgets rows that are gone", async () => {
    const stored = rows("abcdef")
    const { ids, list } = make(stored)
    await list.refresh()
    await list.more()
    stored.splice(0, 1)
    await list.refresh()
    expect(ids()).toBe("bcd")
    stored.splice(1)
    await list.refresh()
    expect(ids()).toBe("b")
  })
})
