/** The states that the session index of a writing process can be in when a call arrives. */
import fc from "fast-check"
import { SessionIndex } from "../../src/payload/SessionIndex.ts"
import * as Split from "../../src/payload/Split.ts"
import { opened, RecordedSession, type Texts } from "./RecordedSession.ts"

export const indexState = fc.oneof(
  { arbitrary: fc.constant({ kind: "current" as const }), weight: 5 },
  { arbitrary: fc.constant({ kind: "reread" as const }), weight: 2 },
  { arbitrary: fc.constant({ kind: "of another process" as const }), weight: 3 },
  { arbitrary: fc.constant({ kind: "reread, with older prefixes" as const }), weight: 1 },
  { arbitrary: fc.constant({ kind: "two calls in one batch" as const }), weight: 2 },
  { arbitrary: fc.record({ kind: fc.constant("partly read" as const), chain: fc.nat(5) }), weight: 2 },
  { arbitrary: fc.constant({ kind: "counts only" as const }), weight: 1 },
  { arbitrary: fc.constant({ kind: "half evicted" as const }), weight: 2 }
)

type IndexState = typeof indexState extends fc.Arbitrary<infer A> ? A : never

/** Records calls with a state of the session index before each, and checks that each reads back. */
export const recordAll = (calls: ReadonlyArray<Texts>, states: ReadonlyArray<IndexState>): RecordedSession => {
  const session = new RecordedSession()
  let mine = new SessionIndex()
  let other = new SessionIndex()
  for (const [index, texts] of calls.entries()) {
    const state = states[index % states.length]!
    // Those known when the event was opened. Another process may have appended since.
    const { knownPrefixes } = mine
    switch (state.kind) {
      case "current":
        session.record(texts, session.refresh(mine))
        break
      case "reread":
        session.record(texts, (mine = session.reread()))
        break
      case "of another process":
        session.record(texts, session.refresh(other))
        break
      case "reread, with older prefixes":
        session.record(texts, (mine = session.reread()), knownPrefixes)
        break
      case "two calls in one batch": {
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
      case "partly read":
        session.record(texts, (other = session.reread(session.chainStarts[state.chain])))
        break
      case "half evicted":
        session.refresh(mine).forgetHalf()
        session.record(texts, mine, knownPrefixes)
        break
      case "counts only":
        session.record(texts, (mine = session.reread(session.packs.length + 1)))
        break
    }
  }
  session.checkAll()
  return session
}
