import { describe, expect, it } from "vitest"
import { ProjectId } from "../../src/domain/Project.ts"
import * as PieceScanner from "../../src/payload/scan/PieceScanner.ts"
import { SessionIndex } from "../../src/payload/SessionIndex.ts"
import * as Split from "../../src/payload/Split.ts"
import { type KnownSession, SessionCache, unknownSession } from "../../src/sessions/SessionCache.ts"
import { keyOf } from "../../src/sessions/SessionKey.ts"

/** A session of which so many messages are known. */
const known = (messages: number, number = 1): KnownSession => {
  const sessionIndex = new SessionIndex()
  const list = Array.from({ length: messages }, (_, n) => `{"role":"user","content":"message ${number} ${n}"}`)
  sessionIndex.learn(Split.split(PieceScanner.ofTexts(`{"messages":[${list.join()}]}`, "{}"), sessionIndex).learned)
  return { ...unknownSession(), state: { number, generation: 0 }, index: sessionIndex }
}

const costOf = (session: KnownSession, key: string) => session.index.cost + 2 * key.length

describe("SessionCache", () => {
  it("tells sessions of the same name in different projects apart", () => {
    const [a, b] = [ProjectId.make("a"), ProjectId.make("ab")]
    expect(keyOf(a, "bc")).not.toBe(keyOf(b, "c"))
    expect(keyOf(a, "s")).not.toBe(keyOf(b, "s"))
  })

  it("forgets the session that was used least recently, and never takes more than it may", () => {
    const keys = ["a", "b", "c", "d", "e", "f", "g", "h"]
    const cost = costOf(known(10), "a")
    const memory = new SessionCache(5 * cost)
    for (const key of keys.slice(0, 5)) memory.set(key, known(10))
    expect(memory.bytes).toBe(5 * cost)
    memory.set("a", memory.get("a")!)
    memory.set("f", known(10))
    expect(keys.filter((key) => memory.get(key) !== undefined)).toEqual(["a", "c", "d", "e", "f"])
    expect(memory.bytes).toBe(5 * cost)
    memory.delete("c")
    memory.delete("c")
    expect(memory.bytes).toBe(4 * cost)
    for (const key of keys) memory.delete(key)
    expect(memory.bytes).toBe(0)
  })

  it("counts what a session has grown by", () => {
    const memory = new SessionCache(1_000_000)
    const session = known(10)
    memory.set("a", session)
    const before = memory.bytes
    const more = PieceScanner.ofTexts(`{"messages":["${"one more message".repeat(3)}"]}`, "{}")
    session.index.learn(Split.split(more, session.index).learned)
    memory.set("a", session)
    expect(memory.bytes).toBe(costOf(session, "a"))
    expect(memory.bytes).toBeGreaterThan(before)
  })

  it("remembers nothing where it may not", () => {
    const memory = new SessionCache(0)
    memory.set("a", known(0))
    expect(memory.get("a")).toBeUndefined()
    expect(memory.bytes).toBe(0)
    expect(memory.knownPrefixesOf("a").list).toEqual([])
  })

  it("knows the knownPrefixes of the session as it was, and none of one that it does not know", () => {
    const memory = new SessionCache(1_000_000)
    expect(memory.knownPrefixesOf("a")).toBe(PieceScanner.noKnownPrefixes)
    memory.set("a", unknownSession())
    expect(memory.knownPrefixesOf("a")).toBe(PieceScanner.noKnownPrefixes)
    const session = known(20, 7)
    memory.set("a", session)
    expect(memory.knownPrefixesOf("a")).toEqual({ session: 7, generation: 0, list: session.index.knownPrefixes })
    expect(session.index.knownPrefixes).toHaveLength(1)
  })

  it("knows a large first call by its values, where its text is more than it may keep", () => {
    const list = Array.from({ length: 100 }, (_, n) => `{"role":"user","content":"${`${n} `.repeat(1000)}"}`)
    const payload = PieceScanner.ofTexts(`{"messages":[${list.join()}]}`, "{}")
    const sessionIndex = new SessionIndex()
    sessionIndex.learn(Split.split(payload, sessionIndex).learned)
    const memory = new SessionCache(payload.text.length)
    memory.set("a", { ...unknownSession(), index: sessionIndex })
    const { index: kept } = memory.get("a")!
    expect(kept.cost).toBeLessThanOrEqual(payload.text.length / 4)
    expect(Split.split(payload, kept).added).toEqual({ history: 0, parts: 0 })
  })
})
