import { Payloads } from "@tachograph/testkit"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { SessionIndex } from "../../src/payload/SessionIndex.ts"
import * as PieceScanner from "../../src/payload/scan/PieceScanner.ts"
import * as Pack from "../../src/payload/format/Pack.ts"
import * as PiecePolicy from "../../src/payload/scan/PiecePolicy.ts"
import * as Split from "../../src/payload/Split.ts"
import { anyCalls, growing, largeCalls, noise } from "./Conversations.ts"
import { opened, RecordedSession, type Texts } from "./RecordedSession.ts"

/** What a process knows of the session when a call comes. */
const state = fc.oneof(
  { arbitrary: fc.constant({ kind: "kept" as const }), weight: 5 },
  { arbitrary: fc.constant({ kind: "forgotten" as const }), weight: 2 },
  { arbitrary: fc.constant({ kind: "of another process" as const }), weight: 3 },
  { arbitrary: fc.constant({ kind: "with marks of before" as const }), weight: 1 },
  { arbitrary: fc.constant({ kind: "of two calls in one batch" as const }), weight: 2 },
  { arbitrary: fc.record({ kind: fc.constant("from a chain on" as const), chain: fc.nat(5) }), weight: 2 },
  { arbitrary: fc.constant({ kind: "of counts alone" as const }), weight: 1 },
  { arbitrary: fc.constant({ kind: "half forgotten" as const }), weight: 2 }
)

type State = typeof state extends fc.Arbitrary<infer A> ? A : never

/** Records the calls with a state of the session index before each, and reads every one of them back. */
const record = (calls: ReadonlyArray<Texts>, states: ReadonlyArray<State>): RecordedSession => {
  const session = new RecordedSession()
  let mine = new SessionIndex()
  let other = new SessionIndex()
  for (const [index, texts] of calls.entries()) {
    const state = states[index % states.length]!
    // As they were when the event was opened: since then another process may have appended.
    const { knownPrefixes } = mine
    switch (state.kind) {
      case "kept":
        session.record(texts, session.refresh(mine))
        break
      case "forgotten":
        session.record(texts, (mine = session.reread()))
        break
      case "of another process":
        session.record(texts, session.refresh(other))
        break
      case "with marks of before":
        session.record(texts, (mine = session.reread()), knownPrefixes)
        break
      case "of two calls in one batch": {
        const fork = session.refresh(mine).fork()
        const drafts = [texts, texts].map((each) => {
          const draft = Split.split(opened(each, knownPrefixes).payload, fork)
          fork.learn(draft.learned)
          session.append(each, draft)
          return draft
        })
        for (const { learned } of drafts) mine.learn(learned)
        break
      }
      case "from a chain on":
        session.record(texts, (other = session.reread(session.chainStarts[state.chain])))
        break
      case "half forgotten":
        session.refresh(mine).forgetHalf()
        session.record(texts, mine, knownPrefixes)
        break
      case "of counts alone":
        session.record(texts, (mine = session.reread(session.packs.length + 1)))
        break
    }
  }
  session.checkAll()
  return session
}

describe("Split", () => {
  it("joins to the same bytes, for any session and any state of sessionIndex", () => {
    fc.assert(
      fc.property(anyCalls, fc.array(state, { minLength: 1, maxLength: 8 }), (calls, states) => {
        record(calls, states)
      }),
      { numRuns: 400 }
    )
  })

  it("joins to the same bytes where packs stand alone, chains end and hashing is put off", () => {
    fc.assert(
      fc.property(largeCalls, fc.array(state, { minLength: 1, maxLength: 8 }), (calls, states) => {
        record(calls, states)
      }),
      { numRuns: 50 }
    )
  })

  it("joins to the same bytes over several chains", () => {
    const calls = growing(40, 4000)
    const kinds = new Map<string, number>()
    fc.assert(
      fc.property(fc.array(state, { minLength: 1, maxLength: 8 }), (states) => {
        const { packs } = record(calls, states)
        for (const { bytes, number } of packs) {
          const { kind } = Pack.readHead(number, bytes)
          kinds.set(kind, (kinds.get(kind) ?? 0) + 1)
        }
      }),
      { numRuns: 4 }
    )
    expect(kinds.get("starts")).toBeGreaterThan(4)
    expect(kinds.get("continues")).toBeGreaterThan(4)
  })

  it.each(Object.entries(Payloads.hurtful))("joins %s", (_, text) => {
    const messages = `[${Array.from({ length: 7 }, () => text).join(",")}]`
    const calls = [
      { inputs: text, output: text },
      { inputs: messages, output: messages },
      { inputs: `{"messages": ${messages}}`, output: `[${text}]` }
    ]
    record([...calls, ...calls], [{ kind: "kept" }])
    record([...calls, ...calls], [{ kind: "forgotten" }])
  })

  it("reads an event from the packs that it names where an answer comes back as an element of the history", () => {
    const session = new RecordedSession()
    const sessionIndex = new SessionIndex()
    const item = `{"type":"message","text":"${noise(1, 300)}"}`
    // Stands alone, so that no chain brings it along.
    session.record(
      { inputs: "1", output: `[${item},["${Array.from({ length: 12 }, (_, n) => noise(n, 4000)).join('","')}"]]` },
      sessionIndex
    )
    session.record({ inputs: `[${item}]`, output: "2" }, sessionIndex)
    session.record({ inputs: `[${item}]`, output: "3" }, sessionIndex)
  })

  it("reads an event from the packs that it names where its conversation's beginning rests on older ones", () => {
    const session = new RecordedSession()
    const sessionIndex = new SessionIndex()
    const block = `{"type":"text","text":"${noise(1, 300)}"}`
    const texts = Array.from({ length: 12 }, (_, n) => noise(n, 4000)).join('","')
    session.record({ inputs: "1", output: `[${block},["${texts}"]]` }, sessionIndex)
    const messages = Array.from({ length: 7 }, (_, n) => `{"role":"user","content":[${block},${n}]}`)
    session.record({ inputs: `[${messages}]`, output: "2" }, sessionIndex)
    expect(opened({ inputs: `[${messages}]`, output: "3" }, sessionIndex.knownPrefixes).reduced).toContain("[0,")
    session.record({ inputs: `[${messages}]`, output: "3" }, sessionIndex)
    // Nothing but the beginning, of which pieces rest on the first pack.
    session.record({ inputs: `[${messages.slice(0, 3)}]`, output: "4" }, sessionIndex)
  })

  it("writes the same when the same payload is split again, as after another process was faster", () => {
    const session = new RecordedSession()
    const sessionIndex = new SessionIndex()
    const calls = growing(10, 100)
    for (const texts of calls) {
      const { payload } = opened(texts, sessionIndex.knownPrefixes)
      const drafts = [1, 2].map(() => Split.split(payload, sessionIndex))
      expect(drafts[0]!.pack.bytes().equals(drafts[1]!.pack.bytes())).toBe(true)
      sessionIndex.learn(drafts[1]!.learned)
      session.append(texts, drafts[1]!)
    }
    session.checkAll()
    expect(opened(calls.at(-1)!, sessionIndex.knownPrefixes).reduced).toContain("[0,")
  })

  it("knows a large first call's messages by their numbers in the history, though parts of it are the same", () => {
    const item = `{"type":"text","text":"${noise(1, PiecePolicy.sharedBytes)}"}`
    const texts = { inputs: `[[${item}],${item},"${noise(2, 70_000)}"]`, output: "1" }
    const session = new RecordedSession()
    const sessionIndex = new SessionIndex()
    session.record(texts, sessionIndex)
    expect(session.record(texts, sessionIndex).added).toEqual({ history: 0, parts: 0 })
  })

  it("keeps what stands before the first element of a conversation that is worth being a piece", () => {
    const session = new RecordedSession()
    const sessionIndex = new SessionIndex()
    const long = Array.from({ length: 6 }, (_, n) => `"${n}${noise(n, 30)}"`).join(",")
    for (let call = 0; call < 3; call++) session.record({ inputs: `["hi",${long}]`, output: "1" }, sessionIndex)
    for (let call = 0; call < 3; call++) session.record({ inputs: `{"a":[{},1,${long}]}`, output: "1" }, sessionIndex)
  })

  it("knows how a conversation began, however it is spaced and however fast it grows", () => {
    for (const comma of [",", ", ", ",\n"]) {
      for (const first of [1, 4, 5, 6, 7]) {
        const session = new RecordedSession()
        const sessionIndex = new SessionIndex()
        const message = (n: number) => `{"role":"user","content":"${n}"}`
        for (let count = first; count < first + 40; count += 2) {
          const messages = Array.from({ length: count }, (_, n) => message(n)).join(comma)
          session.record({ inputs: `{"messages":[${messages}]}`, output: "1" }, sessionIndex)
        }
        const messages = Array.from({ length: first + 42 }, (_, n) => message(n)).join(comma)
        const { reduced } = opened({ inputs: `{"messages":[${messages}]}`, output: "1" }, sessionIndex.knownPrefixes)
        // What is left to parse: one "0", the last elements, and what is new.
        expect(JSON.parse(reduced).properties.inputs.messages.length).toBeLessThan(12)
      }
    }
  })

  it("goes on over both of two conversations that take turns", () => {
    const session = new RecordedSession()
    const sessionIndex = new SessionIndex()
    const [a, b] = [growing(20, 30), growing(20, 40)]
    for (let call = 0; call < 20; call++) {
      const sent = opened(a[call]!, sessionIndex.knownPrefixes).reduced.length
      if (call > 5) expect(sent).toBeLessThan(700)
      session.record(a[call]!, sessionIndex)
      session.record(b[call]!, sessionIndex)
    }
  })

  it("writes nothing again that is known", () => {
    fc.assert(
      fc.property(anyCalls, fc.boolean(), (calls, forgets) => {
        const session = new RecordedSession()
        let sessionIndex = new SessionIndex()
        for (const texts of calls) session.record(texts, sessionIndex)
        if (forgets) sessionIndex = session.reread()
        for (const texts of calls) {
          const { added, shared } = session.record(texts, sessionIndex)
          expect(added).toEqual({ history: 0, parts: 0 })
          expect(shared).toEqual([])
        }
      }),
      { numRuns: 150 }
    )
  })

  it("writes nothing again of large calls that is known, with small ones between them", () => {
    const large = { inputs: `[${Array.from({ length: 40 }, (_, n) => `"${n}${noise(n, 2000)}"`)}]`, output: "1" }
    const small = { inputs: "[]", output: "1" }
    const session = new RecordedSession()
    const sessionIndex = new SessionIndex()
    expect(session.record(large, sessionIndex).added.history).toBe(40)
    session.record(small, sessionIndex)
    expect(session.record(large, sessionIndex).added).toEqual({ history: 0, parts: 0 })
  })

  it("writes nothing again of a large first call whose second was written in the same batch", () => {
    const texts = { inputs: `[${Array.from({ length: 40 }, (_, n) => `"${n}${noise(n, 2000)}"`)}]`, output: "1" }
    const sessionIndex = new SessionIndex()
    const fork = sessionIndex.fork()
    const drafts = [1, 2].map(() => {
      const draft = Split.split(opened(texts, []).payload, fork)
      fork.learn(draft.learned)
      return draft
    })
    expect(drafts.map(({ added }) => added.history)).toEqual([40, 0])
    for (const { learned } of drafts) sessionIndex.learn(learned)
    expect(Split.split(opened(texts, []).payload, sessionIndex).added).toEqual({ history: 0, parts: 0 })
  })

  it("writes a few dozen bytes for a call that repeats a long history", () => {
    for (const comma of [",", ", "]) {
      const session = new RecordedSession()
      const sessionIndex = new SessionIndex()
      const calls = growing(80, 300, comma)
      for (const texts of calls) session.record(texts, sessionIndex)
      expect(session.record(calls.at(-1)!, sessionIndex).pack.bytes().length).toBeLessThan(60)
      expect(session.record(calls.at(-1)!, session.reread()).pack.bytes().length).toBeLessThan(60)
    }
  })

  it("gives a part that comes back as a message one number in the history, however often it stands there", () => {
    const session = new RecordedSession()
    const sessionIndex = new SessionIndex()
    const item = `{"type":"message","text":"${noise(1, 300)}"}`
    session.record({ inputs: "1", output: `[${item}]` }, sessionIndex)
    expect(session.record({ inputs: `[${item},${item},${item}]`, output: "1" }, sessionIndex).added.history).toBe(1)
  })

  it("names a large text once however often an event has it", () => {
    const text = `"${noise(1, PiecePolicy.sharedBytes)}"`
    const texts = { inputs: `{"system":${text},"messages":[${text},{"content":${text}}]}`, output: text }
    const { shared } = new RecordedSession().record(texts, new SessionIndex())
    expect(shared.map(({ size }) => size)).toEqual([text.length])
  })

  it("names a large text once in a large first call too", () => {
    const text = `"${noise(1, 40_000)}"`
    const { shared } = new RecordedSession().record({ inputs: `[${text},${text}]`, output: text }, new SessionIndex())
    expect(new Set(shared.map(({ sha256 }) => sha256.toString("hex"))).size).toBe(1)
    expect(shared.length).toBe(1)
  })

  it("takes nesting, many elements, and strings of nothing but escapes", () => {
    const deep = "[".repeat(100_000) + "]".repeat(100_000)
    const deepObjects = `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`
    const many = `[${Array.from({ length: 100_000 }, (_, n) => n).join(",")}]`
    const pieces = `[${Array.from({ length: 20_000 }, (_, n) => `"${"0".repeat(16)}${n}"`).join(",")}]`
    const manyArrays = `{${Array.from({ length: 20_000 }, (_, n) => `"${n}":["${"x".repeat(20)}"]`).join(",")}}`
    const wide = `${`["${noise(1, 300)}",`.repeat(500)}1${"]".repeat(500)}`
    const backslashes = `"${"\\\\".repeat(200_000)}"`
    const quotes = `["${'\\"'.repeat(200_000)}","\\\\"]`
    for (const text of [deep, deepObjects, many, pieces, manyArrays, wide, backslashes, quotes]) {
      record(
        [
          { inputs: text, output: text },
          { inputs: `{"messages":[${text},${text}]}`, output: `[${text}]` },
          { inputs: text, output: "1" }
        ],
        [{ kind: "kept" }]
      )
    }
  })

  it("marks texts that were stored before without knowing anything", () => {
    fc.assert(
      fc.property(anyCalls, ([texts]) => {
        const session = new RecordedSession()
        const { inputs, output } = texts!
        const sessionIndex = new SessionIndex()
        session.append(texts!, Split.split(PieceScanner.ofTexts(inputs, output), sessionIndex))
        session.checkAll()
      }),
      { numRuns: 100 }
    )
  })
})
