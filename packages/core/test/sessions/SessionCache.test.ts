import { describe, expect, it } from "vitest"
import { ProjectId } from "../../src/domain/Project.ts"
import * as PieceScanner from "../../src/payload/scan/PieceScanner.ts"
import { SessionIndex } from "../../src/payload/SessionIndex.ts"
import * as Split from "../../src/payload/Split.ts"
import { type KnownSession, SessionCache, unknownSession } from "../../src/sessions/SessionCache.ts"
import { keyOf } from "../../src/sessions/SessionKey.ts"

/** A session whose index contains this many messages. */
const known = (messages: number, number = 1): KnownSession => {
  const index = new SessionIndex()
  const list = Array.from({ length: messages }, (_, n) => `{"role":"user","content":"message ${number} ${n}"}`)
  index.learn(Split.split(PieceScanner.ofTexts(`{"messages":[${list.join()}]}`, "{}"), index).learned)
  return { ...unknownSession(), state: { number, generation: 0 }, index }
}

const costOf = (session: KnownSession, key: string) => session.index.costBytes + 2 * key.length

describe("SessionCache", () => {
  it("uses different keys for sessions of the same name in different projects", () => {
    const [a, b] = [ProjectId.make("a"), ProjectId.make("ab")]
    expect(keyOf(a, "bc")).not.toBe(keyOf(b, "c"))
    expect(keyOf(a, "s")).not.toBe(keyOf(b, "s"))
  })

  it("evicts the least recently used session, and stays within its limit", () => {
    const keys = ["a", "b", "c", "d", "e", "f", "g", "h"]
    const cost = costOf(known(10), "a")
    const cache = new SessionCache(5 * cost)
    for (const key of keys.slice(0, 5)) cache.set(key, known(10))
    expect(cache.bytes).toBe(5 * cost)
    cache.set("a", cache.get("a")!)
    cache.set("f", known(10))
    expect(keys.filter((key) => cache.get(key) !== undefined)).toEqual(["a", "c", "d", "e", "f"])
    expect(cache.bytes).toBe(5 * cost)
    cache.delete("c")
    cache.delete("c")
    expect(cache.bytes).toBe(4 * cost)
    for (const key of keys) cache.delete(key)
    expect(cache.bytes).toBe(0)
  })

  it("deletes a session by its number in its project, also after its name was given to another one", () => {
    const [a, b] = [ProjectId.make("a"), ProjectId.make("b")]
    const cache = new SessionCache(1_000_000)
    for (const project of [a, b]) cache.set(keyOf(project, "s"), known(10, 7))
    cache.set(keyOf(a, "new"), unknownSession())
    cache.deleteNumber(a, 7)
    cache.deleteNumber(a, 8)
    expect(cache.get(keyOf(a, "s"))).toBeUndefined()
    expect(cache.get(keyOf(a, "new"))).toBeDefined()
    expect(cache.get(keyOf(b, "s"))).toBeDefined()
    cache.set(keyOf(b, "s"), known(10, 9))
    cache.deleteNumber(b, 7)
    expect(cache.get(keyOf(b, "s"))?.state?.number).toBe(9)
    cache.deleteNumber(b, 9)
    cache.delete(keyOf(a, "new"))
    expect(cache.bytes).toBe(0)
  })

  it("counts the growth of a session", () => {
    const cache = new SessionCache(1_000_000)
    const session = known(10)
    cache.set("a", session)
    const before = cache.bytes
    const more = PieceScanner.ofTexts(`{"messages":["${"one more message".repeat(3)}"]}`, "{}")
    session.index.learn(Split.split(more, session.index).learned)
    cache.set("a", session)
    expect(cache.bytes).toBe(costOf(session, "a"))
    expect(cache.bytes).toBeGreaterThan(before)
  })

  it("caches nothing if its size is 0", () => {
    const cache = new SessionCache(0)
    cache.set("a", known(0))
    expect(cache.get("a")).toBeUndefined()
    expect(cache.bytes).toBe(0)
    expect(cache.knownPrefixesOf("a").list).toEqual([])
  })

  it("returns the known prefixes of a cached session, and none for an unknown one", () => {
    const cache = new SessionCache(1_000_000)
    expect(cache.knownPrefixesOf("a")).toBe(PieceScanner.noKnownPrefixes)
    cache.set("a", unknownSession())
    expect(cache.knownPrefixesOf("a")).toBe(PieceScanner.noKnownPrefixes)
    const session = known(20, 7)
    cache.set("a", session)
    expect(cache.knownPrefixesOf("a")).toEqual({ session: 7, generation: 0, list: session.index.knownPrefixes })
    expect(session.index.knownPrefixes).toHaveLength(1)
  })

  it("computes the deferred hashes of a large first call whose text exceeds the limit", () => {
    const list = Array.from({ length: 100 }, (_, n) => `{"role":"user","content":"${`${n} `.repeat(1000)}"}`)
    const payload = PieceScanner.ofTexts(`{"messages":[${list.join()}]}`, "{}")
    const index = new SessionIndex()
    index.learn(Split.split(payload, index).learned)
    const cache = new SessionCache(payload.text.length)
    cache.set("a", { ...unknownSession(), index })
    const { index: cached } = cache.get("a")!
    expect(cached.costBytes).toBeLessThanOrEqual(payload.text.length / 4)
    expect(Split.split(payload, cached).added).toEqual({ history: 0, parts: 0 })
  })
})
