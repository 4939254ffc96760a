import { Payloads, RandomJson } from "@tachograph/testkit"
import fc from "fast-check"
import { hash } from "node:crypto"
import { describe, expect, it } from "vitest"
import { SessionIndex } from "../../src/payload/SessionIndex.ts"
import * as PieceScanner from "../../src/payload/scan/PieceScanner.ts"
import * as Join from "../../src/payload/Join.ts"
import * as PackHead from "../../src/payload/format/PackHead.ts"
import * as PackRanges from "../../src/payload/format/PackRanges.ts"
import * as PiecePolicy from "../../src/payload/scan/PiecePolicy.ts"
import * as Split from "../../src/payload/Split.ts"
import { anyCalls, growing, largeCalls, noise } from "./Conversations.ts"
import { indexState, recordAll } from "./IndexStates.ts"
import { opened, RecordedSession } from "./RecordedSession.ts"

describe("Split", () => {
  it("joins to the same bytes for any session and any state of the index", () => {
    fc.assert(
      fc.property(anyCalls, fc.array(indexState, { minLength: 1, maxLength: 8 }), (calls, states) => {
        recordAll(calls, states)
      }),
      { numRuns: RandomJson.runs(100) }
    )
  })

  it("joins to the same bytes if packs stand alone, chains end and hashes are deferred", () => {
    fc.assert(
      fc.property(largeCalls, fc.array(indexState, { minLength: 1, maxLength: 8 }), (calls, states) => {
        recordAll(calls, states)
      }),
      { numRuns: RandomJson.runs(50) }
    )
  })

  it("joins to the same bytes over several chains", () => {
    const calls = growing(40, 4000)
    const kinds = new Map<string, number>()
    fc.assert(
      fc.property(fc.array(indexState, { minLength: 1, maxLength: 8 }), (states) => {
        const { packs } = recordAll(calls, states)
        for (const { bytes, number } of packs) {
          const { kind } = PackHead.read(number, bytes)
          kinds.set(kind, (kinds.get(kind) ?? 0) + 1)
        }
      }),
      { numRuns: RandomJson.runs(4) }
    )
    expect(kinds.get("starts")).toBeGreaterThan(RandomJson.runs(4))
    expect(kinds.get("continues")).toBeGreaterThan(RandomJson.runs(4))
  })

  it("bounds what a read of an event unpacks, and stores again what is beyond it", () => {
    const session = new RecordedSession()
    const index = new SessionIndex()
    // A text of few values, which are looked at one by one.
    const bulk = `{"bulk":[0${" ".repeat(3_000_000)},0]}`
    const message = (n: number) => `{"role":"user","content":"short message ${n} ${noise(n, 150)}"}`
    // More than a read unpacks.
    const count = 16
    for (let n = 0; n < count; n++) session.record({ inputs: `{"messages":[${message(n)}]}`, output: bulk }, index)
    const contentOf = (number: number) => PackHead.contentBytesOf(session.packs[number - 1]!.bytes)
    const neededBy = (number: number) =>
      session.needed(number).reduce((sum, pack) => sum + (pack.number === number ? 0 : contentOf(pack.number)), 0)
    expect(contentOf(1)).toBeGreaterThan(3_000_000)

    const all = { inputs: `{"messages":[${Array.from({ length: count }, (_, n) => message(n)).join()}]}`, output: "{}" }
    for (const texts of [all, all, { ...all, output: "[]" }]) {
      const { number } = session.record(texts, index)
      expect(neededBy(number)).toBeLessThanOrEqual(32 * 1024 * 1024 + all.inputs.length)
    }
    // What was stored again is referenced from then on.
    expect(contentOf(count + 1)).toBeGreaterThan(500)
    expect(contentOf(count + 3)).toBeLessThan(200)
    const reread = session.reread()
    session.record(all, reread)
    expect(neededBy(count + 4)).toBeLessThanOrEqual(32 * 1024 * 1024 + all.inputs.length)
  })

  it("sums up what a read unpacks a bounded number of times, whatever the number of packs", () => {
    let sums = 0
    class CountingIndex extends SessionIndex {
      override contentBytesOf(ranges: PackRanges.PackRanges): number {
        sums++
        return super.contentBytesOf(ranges)
      }
    }
    const index = new CountingIndex()
    const message = (n: number) => `{"role":"user","content":"message ${n}"}`
    const packs = 20_000
    // Each pack stands alone, and has one message.
    for (let number = 1; number <= packs; number++) {
      const key = Join.keyOf(hash("sha256", message(number), "buffer"))
      index.learn({
        facts: {
          number,
          before: { history: number - 1, parts: 0 },
          chainStart: number,
          contentBytes: 32 * 1024,
          dependencies: PackRanges.none
        },
        after: { history: number, parts: 0 },
        chain: undefined,
        numbers: new Map([[key, number]]),
        knownPrefixes: [],
        deferredHashes: undefined
      })
    }
    const everySecond = Array.from({ length: packs / 2 }, (_, n) => message(2 * n + 1))
    for (const messages of [everySecond, everySecond.toReversed()]) {
      sums = 0
      const { added } = Split.split(opened({ inputs: `[${messages.join(",")}]`, output: "1" }, []).payload, index)
      // All are needed only up to a number of bytes; the others are stored again.
      expect(added.history).toBeGreaterThan(messages.length / 2)
      expect(added.history).toBeLessThan(messages.length)
      expect(sums).toBeLessThanOrEqual(4_096)
    }
  })

  it.each(Object.entries(Payloads.awkward))("joins %s", (_, text) => {
    const messages = `[${Array.from({ length: 7 }, () => text).join(",")}]`
    const calls = [
      { inputs: text, output: text },
      { inputs: messages, output: messages },
      { inputs: `{"messages": ${messages}}`, output: `[${text}]` }
    ]
    recordAll([...calls, ...calls], [{ kind: "current" }])
    recordAll([...calls, ...calls], [{ kind: "reread" }])
  })

  it("reads an event from the packs that it names if an output recurs as an element of the history", () => {
    const session = new RecordedSession()
    const index = new SessionIndex()
    const item = `{"type":"message","text":"${noise(1, 300)}"}`
    // This pack stands alone, so that it is not included in a chain.
    session.record(
      { inputs: "1", output: `[${item},["${Array.from({ length: 12 }, (_, n) => noise(n, 4000)).join('","')}"]]` },
      index
    )
    session.record({ inputs: `[${item}]`, output: "2" }, index)
    session.record({ inputs: `[${item}]`, output: "3" }, index)
  })

  it("reads an event from the packs that it names if its known prefix depends on older ones", () => {
    const session = new RecordedSession()
    const index = new SessionIndex()
    const block = `{"type":"text","text":"${noise(1, 300)}"}`
    const texts = Array.from({ length: 12 }, (_, n) => noise(n, 4000)).join('","')
    session.record({ inputs: "1", output: `[${block},["${texts}"]]` }, index)
    const messages = Array.from({ length: 7 }, (_, n) => `{"role":"user","content":[${block},${n}]}`)
    session.record({ inputs: `[${messages}]`, output: "2" }, index)
    expect(opened({ inputs: `[${messages}]`, output: "3" }, index.knownPrefixes).reduced.toString()).toContain("[0,")
    session.record({ inputs: `[${messages}]`, output: "3" }, index)
    // Only the known prefix, whose pieces depend on the first pack.
    session.record({ inputs: `[${messages.slice(0, 3)}]`, output: "4" }, index)
  })

  it("writes the same pack if a payload is split again after a conflict", () => {
    const session = new RecordedSession()
    const index = new SessionIndex()
    const calls = growing(10, 100)
    for (const texts of calls) {
      const { payload } = opened(texts, index.knownPrefixes)
      const drafts = [1, 2].map(() => Split.split(payload, index))
      expect(drafts[0]!.pack.bytes().equals(drafts[1]!.pack.bytes())).toBe(true)
      index.learn(drafts[1]!.learned)
      session.append(texts, drafts[1]!)
    }
    session.checkAll()
    expect(opened(calls.at(-1)!, index.knownPrefixes).reduced.toString()).toContain("[0,")
  })

  it("finds the messages of a large first call in the history even if its parts are equal to them", () => {
    const item = `{"type":"text","text":"${noise(1, PiecePolicy.minSharedBytes)}"}`
    const texts = { inputs: `[[${item}],${item},"${noise(2, 70_000)}"]`, output: "1" }
    const session = new RecordedSession()
    const index = new SessionIndex()
    session.record(texts, index)
    expect(session.record(texts, index).added).toEqual({ history: 0, parts: 0 })
  })

  it("keeps elements before the first one that is large enough to be a piece", () => {
    const session = new RecordedSession()
    const index = new SessionIndex()
    const long = Array.from({ length: 6 }, (_, n) => `"${n}${noise(n, 30)}"`).join(",")
    for (let call = 0; call < 3; call++) session.record({ inputs: `["hi",${long}]`, output: "1" }, index)
    for (let call = 0; call < 3; call++) session.record({ inputs: `{"a":[{},1,${long}]}`, output: "1" }, index)
  })

  it("finds the known prefix of a conversation with any spacing and growth", () => {
    for (const comma of [",", ", ", ",\n"]) {
      for (const first of [1, 4, 5, 6, 7]) {
        const session = new RecordedSession()
        const index = new SessionIndex()
        const message = (n: number) => `{"role":"user","content":"${n}"}`
        for (let count = first; count < first + 40; count += 2) {
          const messages = Array.from({ length: count }, (_, n) => message(n)).join(comma)
          session.record({ inputs: `{"messages":[${messages}]}`, output: "1" }, index)
        }
        const messages = Array.from({ length: first + 42 }, (_, n) => message(n)).join(comma)
        const { reduced } = opened({ inputs: `{"messages":[${messages}]}`, output: "1" }, index.knownPrefixes)
        // The reduced form has one "0" for the prefix, the last elements, and the new ones.
        expect(JSON.parse(reduced.toString()).properties.inputs.messages.length).toBeLessThan(12)
      }
    }
  })

  it("keeps the known prefixes of two alternating conversations", () => {
    const session = new RecordedSession()
    const index = new SessionIndex()
    const [a, b] = [growing(20, 30), growing(20, 40)]
    for (let call = 0; call < 20; call++) {
      const sent = opened(a[call]!, index.knownPrefixes).reduced.length
      if (call > 5) expect(sent).toBeLessThan(700)
      session.record(a[call]!, index)
      session.record(b[call]!, index)
    }
  })

  it("does not write known values again", () => {
    fc.assert(
      fc.property(anyCalls, fc.boolean(), (calls, isReread) => {
        const session = new RecordedSession()
        let index = new SessionIndex()
        for (const texts of calls) session.record(texts, index)
        if (isReread) index = session.reread()
        for (const texts of calls) {
          const { added, shared } = session.record(texts, index)
          expect(added).toEqual({ history: 0, parts: 0 })
          expect(shared).toEqual([])
        }
      }),
      { numRuns: RandomJson.runs(100) }
    )
  })

  it("does not write known values of large calls again after small ones", () => {
    const large = { inputs: `[${Array.from({ length: 40 }, (_, n) => `"${n}${noise(n, 2000)}"`)}]`, output: "1" }
    const small = { inputs: "[]", output: "1" }
    const session = new RecordedSession()
    const index = new SessionIndex()
    expect(session.record(large, index).added.history).toBe(40)
    session.record(small, index)
    expect(session.record(large, index).added).toEqual({ history: 0, parts: 0 })
  })

  it("does not write the values of a large first call again for the second call in the same batch", () => {
    const texts = { inputs: `[${Array.from({ length: 40 }, (_, n) => `"${n}${noise(n, 2000)}"`)}]`, output: "1" }
    const index = new SessionIndex()
    const fork = index.fork()
    const drafts = [1, 2].map(() => {
      const draft = Split.split(opened(texts, []).payload, fork)
      fork.learn(draft.learned)
      return draft
    })
    expect(drafts.map(({ added }) => added.history)).toEqual([40, 0])
    for (const { learned } of drafts) index.learn(learned)
    expect(Split.split(opened(texts, []).payload, index).added).toEqual({ history: 0, parts: 0 })
  })

  it("writes a few dozen bytes for a call that repeats a long history", () => {
    for (const comma of [",", ", "]) {
      const session = new RecordedSession()
      const index = new SessionIndex()
      const calls = growing(80, 300, comma)
      for (const texts of calls) session.record(texts, index)
      expect(session.record(calls.at(-1)!, index).pack.bytes().length).toBeLessThan(60)
      expect(session.record(calls.at(-1)!, session.reread()).pack.bytes().length).toBeLessThan(60)
    }
  })

  it("gives a part that recurs as several messages one number in the history", () => {
    const session = new RecordedSession()
    const index = new SessionIndex()
    const item = `{"type":"message","text":"${noise(1, 300)}"}`
    session.record({ inputs: "1", output: `[${item}]` }, index)
    expect(session.record({ inputs: `[${item},${item},${item}]`, output: "1" }, index).added.history).toBe(1)
  })

  it("stores a text that occurs several times in an event once as a shared piece", () => {
    const text = `"${noise(1, PiecePolicy.minSharedBytes)}"`
    const texts = { inputs: `{"system":${text},"messages":[${text},{"content":${text}}]}`, output: text }
    const { shared } = new RecordedSession().record(texts, new SessionIndex())
    expect(shared.map(({ size }) => size)).toEqual([text.length])
  })

  it("stores a repeated text of a large first call once as a shared piece", () => {
    const text = `"${noise(1, 40_000)}"`
    const { shared } = new RecordedSession().record({ inputs: `[${text},${text}]`, output: text }, new SessionIndex())
    expect(new Set(shared.map(({ sha256 }) => sha256.toString("hex"))).size).toBe(1)
    expect(shared.length).toBe(1)
  })

  it("joins deep nesting, many elements, and strings of escapes only", () => {
    const deep = "[".repeat(100_000) + "]".repeat(100_000)
    const deepObjects = `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`
    const many = `[${Array.from({ length: 100_000 }, (_, n) => n).join(",")}]`
    const pieces = `[${Array.from({ length: 20_000 }, (_, n) => `"${"0".repeat(16)}${n}"`).join(",")}]`
    const manyArrays = `{${Array.from({ length: 20_000 }, (_, n) => `"${n}":["${"x".repeat(20)}"]`).join(",")}}`
    const wide = `${`["${noise(1, 300)}",`.repeat(500)}1${"]".repeat(500)}`
    const backslashes = `"${"\\\\".repeat(200_000)}"`
    const quotes = `["${'\\"'.repeat(200_000)}","\\\\"]`
    for (const text of [deep, deepObjects, many, pieces, manyArrays, wide, backslashes, quotes]) {
      recordAll(
        [
          { inputs: text, output: text },
          { inputs: `{"messages":[${text},${text}]}`, output: `[${text}]` },
          { inputs: text, output: "1" }
        ],
        [{ kind: "current" }]
      )
    }
  })

  it("joins texts that were scanned without known prefixes", () => {
    fc.assert(
      fc.property(anyCalls, ([texts]) => {
        const session = new RecordedSession()
        const { inputs, output } = texts!
        const index = new SessionIndex()
        session.append(texts!, Split.split(PieceScanner.ofTexts(inputs, output), index))
        session.checkAll()
      }),
      { numRuns: RandomJson.runs(100) }
    )
  })
})
