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

const draft = (texts: Texts, sessionIndex: SessionIndex, knownPrefixes = sessionIndex.knownPrefixes) =>
  Split.split(opened(texts, knownPrefixes).payload, sessionIndex)

describe("SessionIndex", () => {
  it("is the same, read again from the packs, as that which wrote them", () => {
    fc.assert(
      fc.property(anyCalls, (calls) => {
        const session = new RecordedSession()
        const sessionIndex = new SessionIndex()
        for (const texts of calls) {
          const [own, reread] = [sessionIndex, session.reread()].map((each) => draft(texts, each, []))
          expect(own!.pack.bytes().equals(reread!.pack.bytes())).toBe(true)
          session.record(texts, sessionIndex)
        }
        const again = session.reread()
        expect(again.chain).toEqual(sessionIndex.chain)
        expect(again.counts).toEqual(sessionIndex.counts)
        expect(again.packs).toBe(sessionIndex.packs)
      }),
      { numRuns: 80 }
    )
  })

  it("names pieces alike, whether or not the beginning of a conversation is recognised", () => {
    for (const comma of [",", ", "]) {
      const session = new RecordedSession()
      const sessionIndex = new SessionIndex()
      for (const texts of growing(30, 200, comma)) {
        const bytes = draft(texts, session.reread()).pack.bytes()
        expect(session.record(texts, sessionIndex).pack.bytes().equals(bytes)).toBe(true)
      }
    }
  })

  it("knows as much, read again, of large calls", () => {
    fc.assert(
      fc.property(largeCalls, (calls) => {
        const session = new RecordedSession()
        const sessionIndex = new SessionIndex()
        for (const texts of calls) session.record(texts, sessionIndex)
        const again = session.reread()
        for (const texts of calls) {
          expect(draft(texts, again).added).toEqual({ history: 0, parts: 0 })
          expect(draft(texts, again).shared).toEqual([])
        }
      }),
      { numRuns: 20 }
    )
  })

  it("knows as much of packs that others wrote as of its own", () => {
    fc.assert(
      fc.property(anyCalls, fc.array(fc.boolean(), { minLength: 1, maxLength: 6 }), (calls, turns) => {
        const session = new RecordedSession()
        const [one, two] = [new SessionIndex(), new SessionIndex()]
        for (const [index, texts] of calls.entries()) {
          session.record(texts, session.refresh(turns[index % turns.length]! ? one : two))
        }
        for (const sessionIndex of [session.refresh(one), session.refresh(two)]) {
          for (const texts of calls) expect(draft(texts, sessionIndex).added).toEqual({ history: 0, parts: 0 })
        }
      }),
      { numRuns: 60 }
    )
  })

  it("is not read twice, nor moved by what it was before", () => {
    const session = new RecordedSession()
    const sessionIndex = new SessionIndex()
    for (const texts of growing(10, 100)) session.record(texts, sessionIndex)
    const { cost } = sessionIndex
    sessionIndex.read(Pack.open(session.packs), session.shared, {
      packs: 10,
      history: session.history,
      parts: session.parts
    })
    expect(sessionIndex.cost).toBe(cost)
  })

  it("tells the packs that pieces rest on", () => {
    const session = new RecordedSession()
    const sessionIndex = new SessionIndex()
    const block = `{"type":"text","text":"${noise(1, 300)}"}`
    // Stands alone, so that what rests on it lies in another chain.
    session.record(
      {
        inputs: "1",
        output: `[${block},"${noise(2, 3000)}",["${Array.from({ length: 10 }, (_, n) => noise(n, 4000)).join('","')}"]]`
      },
      sessionIndex
    )
    const other = session.reread()
    session.record({ inputs: `[{"role":"assistant","content":[${block}]}]`, output: "1" }, sessionIndex)
    session.record({ inputs: "[]", output: "1" }, sessionIndex)
    expect(sessionIndex.packsOf(-1)).toEqual([{ from: 1, to: 1 }])
    expect(sessionIndex.packsOf(1)).toEqual([{ from: 1, to: 2 }])
    expect(session.reread().packsOf(1)).toEqual([{ from: 1, to: 2 }])
    const news = Pack.open(session.packs.slice(1)).map(({ content }) => PackContent.read(content))
    expect(other.dependenciesOf(news)).toEqual([{ from: 1, to: 1 }])
  })

  it("leaves unknown what cannot be put together, and stores it again", () => {
    const session = new RecordedSession()
    const sessionIndex = new SessionIndex()
    const block = `{"type":"text","text":"${noise(1, 300)}"}`
    session.record(
      { inputs: "1", output: `[${block},["${Array.from({ length: 10 }, (_, n) => noise(n, 4000)).join('","')}"]]` },
      sessionIndex
    )
    const message = `{"role":"assistant","content":[${block}]}`
    const texts = { inputs: `[${message},"${noise(3, 60)}"]`, output: "1" }
    session.record(texts, sessionIndex)
    const partly = session.reread(2)
    expect(partly.numberOf(keyOfText(message))).toBeUndefined()
    expect(partly.counts).toEqual(sessionIndex.counts)
    expect(session.record(texts, partly).added.parts).toBe(1)
    expect(session.record(texts, partly).added).toEqual({ history: 0, parts: 0 })
    session.checkAll()
  })

  it("does not know pieces that were erased", () => {
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

    const sessionIndex = session.reread()
    expect(sessionIndex.numberOf(keyOfText(""))).toBeUndefined()
    expect(sessionIndex.numberOf(keyOfText(one))).toBeUndefined()
    expect(sessionIndex.numberOf(keyOfText(two))).toBe(2)
    expect(session.record(texts, sessionIndex).added).toEqual({ history: 1, parts: 0 })
  })

  it("learns on a fork without the original's knowing, and the same", () => {
    fc.assert(
      fc.property(anyCalls, fc.nat(10), (calls, at) => {
        const session = new RecordedSession()
        const sessionIndex = new SessionIndex()
        for (const texts of calls.slice(0, at)) session.record(texts, sessionIndex)
        const { knownPrefixes, chain, counts, packs } = sessionIndex
        const fork = sessionIndex.fork()
        const drafts = calls.slice(at).map((texts) => {
          const made = draft(texts, fork)
          fork.learn(made.learned)
          session.append(texts, made)
          return made
        })
        expect({ ...sessionIndex }).toEqual({ knownPrefixes, chain, counts, packs })
        for (const { learned } of drafts) sessionIndex.learn(learned)
        session.checkAll()
        for (const texts of calls) {
          expect(draft(texts, fork).pack.bytes().equals(draft(texts, sessionIndex).pack.bytes())).toBe(true)
          expect(draft(texts, fork).added).toEqual({ history: 0, parts: 0 })
        }
      }),
      { numRuns: 60 }
    )
  })

  it("is empty until something is known", () => {
    const sessionIndex = new SessionIndex()
    expect(sessionIndex.isEmpty).toBe(true)
    expect(sessionIndex.fork().isEmpty).toBe(true)
    // Hashed when somebody asks.
    const made = draft({ inputs: `["${noise(1, 70_000)}"]`, output: "1" }, sessionIndex)
    expect(made.learned.deferredHashes).toBeDefined()
    expect(sessionIndex.isEmpty).toBe(true)
    sessionIndex.learn(made.learned)
    expect(sessionIndex.isEmpty).toBe(false)
    expect(sessionIndex.fork().isEmpty).toBe(false)
    expect(sessionIndex.fork().numberOf(keyOfText(`"${noise(1, 70_000)}"`))).toBe(1)
  })

  it("costs more the more is known, with the text that waits to be hashed", () => {
    const sessionIndex = new SessionIndex()
    const { cost } = sessionIndex
    sessionIndex.learn(draft({ inputs: `["${noise(1, 70_000)}"]`, output: "1" }, sessionIndex).learned)
    expect(sessionIndex.cost - cost).toBeGreaterThan(70_000)
    sessionIndex.numberOf("asked for")
    expect(sessionIndex.cost - cost).toBeLessThan(10_000)
  })

  it("forgets the older half, again and again, until there is nothing left to forget", () => {
    const session = new RecordedSession()
    const sessionIndex = new SessionIndex()
    const calls = growing(20, 100)
    for (const texts of calls) session.record(texts, sessionIndex)
    const [first, last] = [calls[0]!.inputs, calls.at(-1)!.inputs].map((inputs) =>
      keyOfText(JSON.stringify(JSON.parse(inputs).messages.at(-1)))
    )
    const { chain, counts, packs } = sessionIndex
    let { cost } = sessionIndex
    expect(sessionIndex.numberOf(first!)).toBe(1)
    for (let times = 0; sessionIndex.forgetHalf(); times++) {
      expect(sessionIndex.cost).toBeLessThan(cost)
      cost = sessionIndex.cost
      if (times === 0) {
        expect(sessionIndex.numberOf(first!)).toBeUndefined()
        expect(sessionIndex.numberOf(last!)).toBe(counts.history)
      }
      expect(times).toBeLessThan(20)
    }
    expect(sessionIndex.isEmpty).toBe(true)
    expect([sessionIndex.chain, sessionIndex.counts, sessionIndex.packs]).toEqual([chain, counts, packs])
    session.record(calls.at(-1)!, sessionIndex)
    session.checkAll()
  })

  it("remembers the knownPrefixes of the conversations that were last seen, few of them", () => {
    const session = new RecordedSession()
    const sessionIndex = new SessionIndex()
    const conversation = (seed: number) =>
      `[${Array.from({ length: 8 }, (_, n) => `"${noise(seed, 20)} ${n}"`).join(",")}]`
    for (let seed = 0; seed < 9; seed++) session.record({ inputs: conversation(seed), output: "1" }, sessionIndex)
    expect(sessionIndex.knownPrefixes.length).toBe(4)
    const parsed = (seed: number) =>
      JSON.parse(opened({ inputs: conversation(seed), output: "1" }, sessionIndex.knownPrefixes).reduced)
    expect([3, 4, 5, 8].map((seed) => parsed(seed).properties.inputs[0] === 0)).toEqual([false, false, true, true])
  })
})
