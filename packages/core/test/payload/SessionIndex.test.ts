import { RandomJson } from "@tachograph/testkit"
import { hash } from "node:crypto"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Join from "../../src/payload/Join.ts"
import { SessionIndex } from "../../src/payload/SessionIndex.ts"
import * as Pack from "../../src/payload/format/Pack.ts"
import * as PackContent from "../../src/payload/format/PackContent.ts"
import * as Split from "../../src/payload/Split.ts"
import { anyCalls, growing, largeCalls, noise } from "./Conversations.ts"
import { opened, RecordedSession, type Texts } from "./RecordedSession.ts"

const keyOfText = (text: string) => Join.keyOf(hash("sha256", text, "buffer"))

const draft = (texts: Texts, index: SessionIndex, knownPrefixes = index.knownPrefixes) =>
  Split.split(opened(texts, knownPrefixes).payload, index)

describe("SessionIndex", () => {
  it("is the same when read from the packs as the index that wrote them", () => {
    fc.assert(
      fc.property(anyCalls, (calls) => {
        const session = new RecordedSession()
        const index = new SessionIndex()
        for (const texts of calls) {
          const [own, reread] = [index, session.reread()].map((each) => draft(texts, each, []))
          expect(own!.pack.bytes().equals(reread!.pack.bytes())).toBe(true)
          session.record(texts, index)
        }
        const again = session.reread()
        expect(again.chain).toEqual(index.chain)
        expect(again.counts).toEqual(index.counts)
        expect(again.packs).toBe(index.packs)
      }),
      { numRuns: RandomJson.runs(80) }
    )
  })

  it("writes the same pack whether or not a known prefix is recognised", () => {
    for (const comma of [",", ", "]) {
      const session = new RecordedSession()
      const index = new SessionIndex()
      for (const texts of growing(30, 200, comma)) {
        const bytes = draft(texts, session.reread()).pack.bytes()
        expect(session.record(texts, index).pack.bytes().equals(bytes)).toBe(true)
      }
    }
  })

  it("contains all values of large calls when read from the packs", () => {
    fc.assert(
      fc.property(largeCalls, (calls) => {
        const session = new RecordedSession()
        const index = new SessionIndex()
        for (const texts of calls) session.record(texts, index)
        const again = session.reread()
        for (const texts of calls) {
          expect(draft(texts, again).added).toEqual({ history: 0, parts: 0 })
          expect(draft(texts, again).shared).toEqual([])
        }
      }),
      { numRuns: RandomJson.runs(20) }
    )
  })

  it("contains the values of packs that another process wrote", () => {
    fc.assert(
      fc.property(anyCalls, fc.array(fc.boolean(), { minLength: 1, maxLength: 6 }), (calls, turns) => {
        const session = new RecordedSession()
        const [one, two] = [new SessionIndex(), new SessionIndex()]
        for (const [index, texts] of calls.entries()) {
          session.record(texts, session.refresh(turns[index % turns.length]! ? one : two))
        }
        for (const index of [session.refresh(one), session.refresh(two)]) {
          for (const texts of calls) expect(draft(texts, index).added).toEqual({ history: 0, parts: 0 })
        }
      }),
      { numRuns: RandomJson.runs(60) }
    )
  })

  it("ignores packs that it has already", () => {
    const session = new RecordedSession()
    const index = new SessionIndex()
    for (const texts of growing(10, 100)) session.record(texts, index)
    const { costBytes } = index
    index.read(Pack.open(session.packs), session.shared, {
      packs: 10,
      history: session.history,
      parts: session.parts
    })
    expect(index.costBytes).toBe(costBytes)
  })

  it("reads packs in small steps, and changes in the last one", () => {
    const session = new RecordedSession()
    const writer = new SessionIndex()
    for (const texts of growing(30, 100)) session.record(texts, writer)
    const index = new SessionIndex()
    const packs = Pack.open(session.packs).map((pack) => ({ ...pack, contents: PackContent.read(pack.content) }))
    const steps = index.reading(packs, session.shared, { packs: 30, history: session.history, parts: session.parts })
    let count = 0
    while (steps.next().done !== true) {
      count++
      expect([index.packs, index.isEmpty, index.contentBytes]).toEqual([0, true, 0])
    }
    expect(count).toBeGreaterThanOrEqual(30 + session.history + session.parts)
    expect(index.packs).toBe(30)
    expect(draft(growing(30, 100).at(-1)!, index).added).toEqual({ history: 0, parts: 0 })
  })

  it("returns the packs that pieces depend on", () => {
    const session = new RecordedSession()
    const index = new SessionIndex()
    const block = `{"type":"text","text":"${noise(1, 300)}"}`
    // This pack stands alone, so the packs that depend on it are in another chain.
    session.record(
      {
        inputs: "1",
        output: `[${block},"${noise(2, 3000)}",["${Array.from({ length: 10 }, (_, n) => noise(n, 4000)).join('","')}"]]`
      },
      index
    )
    const other = session.reread()
    session.record({ inputs: `[{"role":"assistant","content":[${block}]}]`, output: "1" }, index)
    session.record({ inputs: "[]", output: "1" }, index)
    expect(index.packsOf(-1)).toEqual([{ from: 1, to: 1 }])
    expect(index.packsOf(1)).toEqual([{ from: 1, to: 2 }])
    expect(session.reread().packsOf(1)).toEqual([{ from: 1, to: 2 }])
    const added = Pack.open(session.packs.slice(1)).map(({ content }) => PackContent.read(content))
    expect(other.dependenciesOf(added)).toEqual([{ from: 1, to: 1 }])
  })

  it("omits values that cannot be joined, and stores them again", () => {
    const session = new RecordedSession()
    const index = new SessionIndex()
    const block = `{"type":"text","text":"${noise(1, 300)}"}`
    session.record(
      { inputs: "1", output: `[${block},["${Array.from({ length: 10 }, (_, n) => noise(n, 4000)).join('","')}"]]` },
      index
    )
    const message = `{"role":"assistant","content":[${block}]}`
    const texts = { inputs: `[${message},"${noise(3, 60)}"]`, output: "1" }
    session.record(texts, index)
    const partly = session.reread(2)
    expect(partly.numberOf(keyOfText(message))).toBeUndefined()
    expect(partly.counts).toEqual(index.counts)
    expect(session.record(texts, partly).added.parts).toBe(1)
    expect(session.record(texts, partly).added).toEqual({ history: 0, parts: 0 })
    session.checkAll()
  })

  it("does not contain erased pieces", () => {
    const session = new RecordedSession()
    const [one, two] = [`"${noise(1, 60)}"`, `"${noise(2, 60)}"`]
    const texts = { inputs: `[${one},${two}]`, output: "1" }
    session.record(texts, new SessionIndex())
    const { added, before, history, inputs, output } = PackContent.read(Pack.open(session.packs)[0]!.content)
    const bytesOf = ({ content, end, start }: PackContent.TemplateSpan) => content.subarray(start, end)
    const content = PackContent.write({ before, added }, [
      bytesOf(inputs),
      bytesOf(output),
      Buffer.of(0),
      bytesOf(history[1]!)
    ])
    session.packs[0] = { number: 1, bytes: Pack.write(1, content, [], undefined).bytes() }

    const index = session.reread()
    expect(index.numberOf(keyOfText(""))).toBeUndefined()
    expect(index.numberOf(keyOfText(one))).toBeUndefined()
    expect(index.numberOf(keyOfText(two))).toBe(2)
    expect(session.record(texts, index).added).toEqual({ history: 1, parts: 0 })
  })

  it("learns in a fork what the original would, without changing the original", () => {
    fc.assert(
      fc.property(anyCalls, fc.nat(10), (calls, at) => {
        const session = new RecordedSession()
        const index = new SessionIndex()
        for (const texts of calls.slice(0, at)) session.record(texts, index)
        const { knownPrefixes, chain, counts, packs } = index
        const fork = index.fork()
        const drafts = calls.slice(at).map((texts) => {
          const next = draft(texts, fork)
          fork.learn(next.learned)
          session.append(texts, next)
          return next
        })
        expect({ ...index }).toEqual({ knownPrefixes, chain, counts, packs })
        for (const { learned } of drafts) index.learn(learned)
        session.checkAll()
        for (const texts of calls) {
          expect(draft(texts, fork).pack.bytes().equals(draft(texts, index).pack.bytes())).toBe(true)
          expect(draft(texts, fork).added).toEqual({ history: 0, parts: 0 })
        }
      }),
      { numRuns: RandomJson.runs(60) }
    )
  })

  it("is empty until it learns a value", () => {
    const index = new SessionIndex()
    expect(index.isEmpty).toBe(true)
    expect(index.fork().isEmpty).toBe(true)
    // Hashing is deferred to the first look-up.
    const first = draft({ inputs: `["${noise(1, 70_000)}"]`, output: "1" }, index)
    expect(first.learned.deferredHashes).toBeDefined()
    expect(index.isEmpty).toBe(true)
    index.learn(first.learned)
    expect(index.isEmpty).toBe(false)
    expect(index.fork().isEmpty).toBe(false)
    expect(index.fork().numberOf(keyOfText(`"${noise(1, 70_000)}"`))).toBe(1)
  })

  it("counts the text of deferred hashes in its cost until they are computed", () => {
    const index = new SessionIndex()
    const { costBytes } = index
    index.learn(draft({ inputs: `["${noise(1, 70_000)}"]`, output: "1" }, index).learned)
    expect(index.costBytes - costBytes).toBeGreaterThan(70_000)
    index.numberOf("any key")
    expect(index.costBytes - costBytes).toBeLessThan(10_000)
  })

  it("removes the older half of its values, repeatedly until it is empty", () => {
    const session = new RecordedSession()
    const index = new SessionIndex()
    const calls = growing(20, 100)
    for (const texts of calls) session.record(texts, index)
    const [first, last] = [calls[0]!.inputs, calls.at(-1)!.inputs].map((inputs) =>
      keyOfText(JSON.stringify(JSON.parse(inputs).messages.at(-1)))
    )
    const { chain, counts, packs } = index
    let { costBytes } = index
    expect(index.numberOf(first!)).toBe(1)
    for (let times = 0; index.forgetHalf(); times++) {
      expect(index.costBytes).toBeLessThan(costBytes)
      costBytes = index.costBytes
      if (times === 0) {
        expect(index.numberOf(first!)).toBeUndefined()
        expect(index.numberOf(last!)).toBe(counts.history)
      }
      expect(times).toBeLessThan(20)
    }
    expect(index.isEmpty).toBe(true)
    expect([index.chain, index.counts, index.packs]).toEqual([chain, counts, packs])
    session.record(calls.at(-1)!, index)
    session.checkAll()
  })

  it("keeps the known prefixes of the latest four conversations", () => {
    const session = new RecordedSession()
    const index = new SessionIndex()
    const conversation = (seed: number) =>
      `[${Array.from({ length: 8 }, (_, n) => `"${noise(seed, 20)} ${n}"`).join(",")}]`
    for (let seed = 0; seed < 9; seed++) session.record({ inputs: conversation(seed), output: "1" }, index)
    expect(index.knownPrefixes.length).toBe(4)
    const parsed = (seed: number) =>
      JSON.parse(opened({ inputs: conversation(seed), output: "1" }, index.knownPrefixes).reduced.toString())
    expect([3, 4, 5, 8].map((seed) => parsed(seed).properties.inputs[0] === 0)).toEqual([false, false, true, true])
  })
})
